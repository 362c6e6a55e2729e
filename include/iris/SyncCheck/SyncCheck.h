// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncCheck.h - Static checks of synchronization -----------*- C++ -*-===//
//
// Finds errors in how programs of different ranks synchronize, without running
// them. Scalars, control flow and addresses are evaluated for small worlds; the
// contents of tiles are not. What depends on the contents of memory is not
// followed: the check says so, and reports nothing beyond that point.
#ifndef IRIS_SYNCCHECK_SYNCCHECK_H
#define IRIS_SYNCCHECK_SYNCCHECK_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>

namespace mlir::iris {

/// The checks.
enum class SyncCheckKind {
  /// A wait whose flag no signal satisfies.
  Wait,
  /// A barrier that not all ranks execute.
  Barrier,
  /// A flag that is accessed at a scope without the rank that writes it.
  Scope,
  /// A relaxed signal or wait between a store and the read of it.
  Relaxed,
  /// A read of a peer's data before the wait that guards it.
  EarlyRead,
  /// A signal before a store that it announces.
  LateStore,
  /// A wait that an earlier signal satisfies, of the same epoch.
  Epoch,
  /// A store that nothing orders with a read on another rank.
  Unordered,
};

/// An error that the checks have found.
struct SyncFinding {
  SyncCheckKind kind;
  /// The op to change.
  Operation *op;
  /// What is wrong and what to do.
  std::string message;
  /// The other ops that take part, with what they do.
  SmallVector<std::pair<Operation *, std::string>> notes;
};

/// An op beyond which the checks do not follow a program.
struct SyncLimit {
  Operation *op;
  std::string reason;
};

/// What the checks have found, in the order of the source.
struct SyncReport {
  SmallVector<SyncFinding> findings;
  SmallVector<SyncLimit> limits;
};

/// Checks the kernels of `module`, as `@main` launches them. A kernel that no
/// launch of the module names is taken to be launched by all ranks, with the
/// same arguments, and buffers that do not overlap.
///
/// Executes at most `maxOps` ops of each rank; what comes after
/// them is not checked.
///
/// Evaluates ops by their folders, which may exchange operands: `module` should
/// be a clone.
SyncReport checkSynchronization(ModuleOp module, uint64_t maxOps);

} // namespace mlir::iris

#endif // IRIS_SYNCCHECK_SYNCCHECK_H
