// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Checks.h - What is wrong in an execution -----------------*- C++ -*-===//
//
// One file for each check.
#ifndef IRIS_LIB_SYNCCHECK_CHECKS_H
#define IRIS_LIB_SYNCCHECK_CHECKS_H

#include "Execution.h"

#include "iris/SyncCheck/SyncCheck.h"

namespace mlir::iris::sync {

using Findings = SmallVectorImpl<SyncFinding>;

/// Waits that never end.
void checkWaits(const Execution &execution, Findings &findings);
/// Barriers at which a rank never arrives.
void checkBarriers(const Execution &execution, Findings &findings);
/// Scopes that leave out who writes a flag.
void checkScopes(const Execution &execution, Findings &findings);

/// A write that is still to be executed, and its program, which is null if it
/// has not begun.
struct PendingWrite {
  const Event *write = nullptr;
  const Program *program = nullptr;
};

/// What is wrong with the packets for which a program waits in vain. If
/// `pending` is set, a store of them is only late.
std::optional<SyncFinding> findLostPackets(const Execution &execution,
                                           const Event &load,
                                           PendingWrite &pending);

/// The cause of a conflict, if it is the one that the function is named after.
std::optional<SyncFinding> findRelaxedOp(const Conflict &conflict);
std::optional<SyncFinding> findLateStore(const Conflict &conflict);
std::optional<SyncFinding> findEarlyRead(const Conflict &conflict);
std::optional<SyncFinding> findReusedEpoch(const Conflict &conflict,
                                           const Execution &execution);
/// None of those causes.
SyncFinding describeUnordered(const Conflict &conflict);

/// The name of an op, in quotes, with the word after it that diagnostics have.
std::string nameOf(const Event &event);
/// "ge 5": what the wait waits for; the value is left out if it is not known.
std::string conditionOf(const Event &wait);

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_CHECKS_H
