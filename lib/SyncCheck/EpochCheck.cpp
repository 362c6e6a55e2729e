// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EpochCheck.cpp - Epochs that are used again ------------------------===//
//
// A wait for an epoch that an earlier signal has set already does not wait for
// the next signal.
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

/// How often a program and its successors wait for a flag.
static unsigned countWaits(const Execution &execution, unsigned thread,
                           const Event &wait) {
  unsigned count = 0;
  for (const Program &program : execution.getPrograms())
    if (program.thread == thread)
      count += llvm::count_if(program.trace->events, [&](const Event &event) {
        return event.kind == Event::Kind::Wait && event.hasFlagOf(wait);
      });
  return count;
}

std::optional<SyncFinding>
mlir::iris::sync::findReusedEpoch(const Conflict &conflict,
                                  const Execution &execution) {
  const Program &reader = *conflict.read.program;
  ArrayRef<Event> theirs(conflict.store.program->trace->events);
  for (size_t i = conflict.read.number; i-- > 0;) {
    const Event &wait = reader.event(i);
    auto seen = reader.seen.find(i);
    if (wait.kind != Event::Kind::Wait || seen == reader.seen.end() ||
        !seen->second.isKnown())
      continue;
    for (const Event &signal : theirs.drop_front(conflict.store.number + 1)) {
      auto op = dyn_cast<SignalOp>(signal.op);
      if (!op || op.getKind() != SignalKind::Set || !signal.hasFlagOf(wait) ||
          !(signal.value == seen->second) ||
          countWaits(execution, reader.thread, wait) < 2)
        continue;
      SyncFinding finding{SyncCheckKind::Epoch, wait.op, "", {}};
      finding.message = nameOf(wait) +
                        " does not wait again: an earlier signal of the same "
                        "epoch satisfies it; use another epoch each time";
      finding.notes.emplace_back(signal.op, "the signal");
      finding.notes.emplace_back(conflict.store.event().op,
                                 "so this store is not ordered with the read");
      finding.notes.emplace_back(conflict.read.event().op,
                                 "the read, on another rank");
      return finding;
    }
  }
  return std::nullopt;
}
