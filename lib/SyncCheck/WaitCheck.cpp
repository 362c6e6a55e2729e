// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WaitCheck.cpp - Waits that never end -------------------------------===//
//
// All programs have come to their end, or to a wait or barrier that does not
// hold. Of the waits, those are reported that nothing could end any more; if
// there is none, programs wait for each other.
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

/// Whether the write could end the wait, as far as its own value tells.
static bool mayEnd(const Event &write, const Event &wait) {
  if ((write.kind != Event::Kind::Signal &&
       write.kind != Event::Kind::Atomic) ||
      !write.hasFlagOf(wait))
    return false;
  auto signal = dyn_cast<SignalOp>(write.op);
  if (!signal || signal.getKind() == SignalKind::Add)
    return true;
  return Execution::satisfies(wait, write.value).value_or(true);
}

namespace {
/// The writes that concern a wait.
struct Writes {
  /// One that would end it.
  PendingWrite pending;
  /// One that is executed and would have ended it.
  const Event *past = nullptr;
  /// One of the flag, with another value.
  const Event *sameFlag = nullptr;
  /// One of the buffer, with another flag.
  const Event *sameBuffer = nullptr;
};
} // namespace

static void addWrite(const Event &event, const Program *program, bool isPending,
                     const Event &wait, Writes &writes) {
  if (mayEnd(event, wait)) {
    if (!isPending) {
      writes.past = &event;
    } else if (!writes.pending.write) {
      writes.pending = {&event, program};
    }
    return;
  }
  if (event.kind != Event::Kind::Signal && event.kind != Event::Kind::Atomic)
    return;
  if (event.hasFlagOf(wait))
    writes.sameFlag = &event;
  else if (event.buffer.root == wait.buffer.root)
    writes.sameBuffer = &event;
}

static Writes findWrites(const Execution &execution, const Event &wait) {
  Writes writes;
  execution.forEachEvent(
      [&](const Event &event, const Program *program, bool isPending) {
        addWrite(event, program, isPending, wait, writes);
      });
  return writes;
}

/// A wait that nothing ends any more.
static SyncFinding describeUnsatisfied(const Event &wait,
                                       const Writes &writes) {
  SyncFinding finding{SyncCheckKind::Wait, wait.op, "", {}};
  std::string text = nameOf(wait) + " never ends: ";
  if (writes.past) {
    finding.message = text +
                      "another signal changes its flag before it is "
                      "seen to be " +
                      conditionOf(wait) + "; wait for ge of an epoch";
    finding.notes.emplace_back(writes.past->op, "it waits for this signal");
  } else if (writes.sameFlag) {
    finding.message = text + "no signal makes its flag " + conditionOf(wait) +
                      "; wait for a value that is signaled";
    finding.notes.emplace_back(writes.sameFlag->op,
                               "its flag is signaled here, with another value");
  } else {
    finding.message =
        text + "no signal of the module sets its flag; signal it, or remove "
               "the wait";
    if (writes.sameBuffer)
      finding.notes.emplace_back(
          writes.sameBuffer->op,
          "another flag of the buffer, or of another rank, is signaled here");
  }
  return finding;
}

/// A wait for a program that waits, too.
static SyncFinding describeCycle(const Event &wait,
                                 const PendingWrite &pending) {
  bool isForPackets = wait.kind == Event::Kind::PacketLoad;
  SyncFinding finding{SyncCheckKind::Wait, wait.op, "", {}};
  finding.message =
      nameOf(wait) + " never ends: " +
      (isForPackets ? "the packets that would end it come after a wait that "
                      "needs this program to go on; store them before waiting"
                    : "the signal that would end it comes after a wait that "
                      "needs this program to go on; signal before waiting");
  finding.notes.emplace_back(pending.write->op,
                             isForPackets ? "the packets" : "the signal");
  const Program *program = pending.program;
  if (program && Execution::isBlocked(*program)) {
    const Event &blocking = program->event(program->next);
    if (blocking.op != wait.op)
      finding.notes.emplace_back(blocking.op,
                                 "its program does not go on from here");
  }
  return finding;
}

void mlir::iris::sync::checkWaits(const Execution &execution,
                                  Findings &findings) {
  if (!execution.getWorld().isWhole)
    return;
  std::optional<SyncFinding> cycle;
  // Whether each program that is stuck waits for another one to go on.
  bool isCyclic = true;
  for (const Program *program : execution.getStuck()) {
    const Event &wait = program->event(program->next);
    PendingWrite pending;
    std::optional<SyncFinding> finding;
    if (wait.kind == Event::Kind::PacketLoad) {
      finding = findLostPackets(execution, wait, pending);
    } else if (wait.kind == Event::Kind::Wait) {
      Writes writes = findWrites(execution, wait);
      pending = writes.pending;
      if (!pending.write)
        finding = describeUnsatisfied(wait, writes);
    } else {
      continue;
    }
    if (finding) {
      findings.push_back(std::move(*finding));
      isCyclic = false;
    } else if (!pending.write) {
      isCyclic = false;
    } else if (!cycle) {
      cycle = describeCycle(wait, pending);
    }
  }
  if (isCyclic && cycle)
    findings.push_back(std::move(*cycle));
}
