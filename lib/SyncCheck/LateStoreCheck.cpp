// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LateStoreCheck.cpp - Signals before the stores that they announce --===//
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

std::optional<SyncFinding>
mlir::iris::sync::findLateStore(const Conflict &conflict) {
  ArrayRef<Event> own(conflict.store.program->trace->events);
  ArrayRef<Event> theirs(conflict.read.program->trace->events);
  // A release after the store could be meant to announce it.
  if (llvm::any_of(own.drop_front(conflict.store.number + 1),
                   [](const Event &event) { return event.isRelease(); }))
    return std::nullopt;
  for (const Event &signal :
       llvm::reverse(own.take_front(conflict.store.number))) {
    if (signal.kind != Event::Kind::Signal)
      continue;
    for (const Event &wait : theirs.take_front(conflict.read.number)) {
      if (wait.kind != Event::Kind::Wait || !wait.hasFlagOf(signal))
        continue;
      SyncFinding finding{SyncCheckKind::LateStore, signal.op, "", {}};
      finding.message = nameOf(signal) +
                        " comes before a store that it announces; signal "
                        "after the store";
      finding.notes.emplace_back(conflict.store.event().op, "the store");
      finding.notes.emplace_back(wait.op, "another rank waits for the signal");
      finding.notes.emplace_back(conflict.read.event().op,
                                 "and reads what is stored");
      return finding;
    }
  }
  return std::nullopt;
}
