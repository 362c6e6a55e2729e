// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EarlyReadCheck.cpp - Reads before the wait that guards them --------===//
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

std::optional<SyncFinding>
mlir::iris::sync::findEarlyRead(const Conflict &conflict) {
  ArrayRef<Event> own(conflict.read.program->trace->events);
  ArrayRef<Event> theirs(conflict.store.program->trace->events);
  ArrayRef<Event> before = own.take_front(conflict.read.number);
  for (const Event &wait : own.drop_front(conflict.read.number + 1)) {
    if (wait.kind != Event::Kind::Wait)
      continue;
    // Then the read uses what an earlier iteration has waited for.
    if (llvm::any_of(before, [&](const Event &event) {
          return event.kind == Event::Kind::Wait && event.hasFlagOf(wait);
        }))
      continue;
    for (const Event &signal : theirs.drop_front(conflict.store.number + 1)) {
      if (signal.kind != Event::Kind::Signal || !signal.hasFlagOf(wait))
        continue;
      const Event &read = conflict.read.event();
      SyncFinding finding{SyncCheckKind::EarlyRead, read.op, "", {}};
      finding.message = nameOf(read) +
                        " reads what another rank stores, before the wait "
                        "that guards it; read after the wait";
      finding.notes.emplace_back(wait.op, "the wait");
      finding.notes.emplace_back(conflict.store.event().op, "the store");
      finding.notes.emplace_back(signal.op, "the signal that announces it");
      return finding;
    }
  }
  return std::nullopt;
}
