// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RelaxedCheck.cpp - Relaxed ops that should order accesses ----------===//
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

namespace {
/// A signal of the program that accesses first, and the wait for it.
struct Edge {
  const Event *signal = nullptr;
  const Event *wait = nullptr;
};
} // namespace

/// The signal and the wait between two accesses of which one is relaxed.
static Edge findEdge(const Executed &first, const Executed &second) {
  ArrayRef<Event> signals(first.program->trace->events);
  ArrayRef<Event> waits(second.program->trace->events);
  for (const Event &wait : llvm::reverse(waits.take_front(second.number))) {
    if (wait.kind != Event::Kind::Wait)
      continue;
    for (const Event &signal : signals.drop_front(first.number + 1))
      if (signal.kind == Event::Kind::Signal && signal.hasFlagOf(wait) &&
          (!signal.isRelease() || !wait.isAcquire()))
        return {&signal, &wait};
  }
  return {};
}

std::optional<SyncFinding>
mlir::iris::sync::findRelaxedOp(const Conflict &conflict) {
  if (!conflict.isMeantOrdered)
    return std::nullopt;
  Edge edge = findEdge(conflict.store, conflict.read);
  if (!edge.signal)
    edge = findEdge(conflict.read, conflict.store);
  if (!edge.signal)
    return std::nullopt;
  bool isWaitRelaxed = !edge.wait->isAcquire();
  const Event &culprit = isWaitRelaxed ? *edge.wait : *edge.signal;
  SyncFinding finding{SyncCheckKind::Relaxed, culprit.op, "", {}};
  finding.message =
      nameOf(culprit) +
      (isWaitRelaxed
           ? " is relaxed: it does not order the accesses after it; expected "
             "sem(acquire), or a fence after it"
           : " is relaxed: it does not order the accesses before it; expected "
             "sem(release), or a fence before it");
  finding.notes.emplace_back(conflict.store.event().op,
                             "this store is not ordered with the read");
  finding.notes.emplace_back(conflict.read.event().op,
                             "the read, on another rank");
  return finding;
}
