// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a function in program order with the accesses that other threads may
// not have seen yet: the pending ones.
//
// Each op says what it orders before and after itself and what it accesses
// (ProgramOrderOpInterface). Control flow joins what is pending on its ways;
// loops are walked until nothing is added. An access of an earlier iteration
// was made with the values of that iteration: see PendingAccess::staleIn.
#ifndef IRIS_ANALYSIS_PENDINGACCESSES_H
#define IRIS_ANALYSIS_PENDINGACCESSES_H

#include "iris/Analysis/AccessConflicts.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::iris {

/// Walks one function. Barriers may be inserted while it lives; nothing else
/// may change.
class PendingAccessWalk {
public:
  /// Sees the accesses that `op` is about to make and the ones that are pending
  /// before it. May be called several times for one op, with more and more
  /// pending accesses. Returns true if a barrier precedes `op` from now on,
  /// whether or not it has been inserted: nothing is pending there any more.
  using Visitor =
      llvm::function_ref<bool(Operation *op, ArrayRef<PendingAccess> accesses,
                              ArrayRef<PendingAccess> pending)>;

  explicit PendingAccessWalk(FunctionOpInterface function)
      : function(function) {}

  /// Walks the whole function. Barriers of earlier calls remain.
  void run(Visitor visitor);

private:
  using Pending = SmallVector<PendingAccess>;

  void walk(Block &block, Pending &pending);
  void walk(Operation *op, Pending &pending);
  /// Returns what is pending at the ends of the region.
  Pending walk(Region &region, Pending pending);
  void walkRegions(Operation *op, Pending &pending);
  bool tryWalkRegions(Operation *op, Pending &pending);
  void visit(Operation *op, ArrayRef<MemoryAccess> accesses, bool isWait,
             Pending &pending);

  FunctionOpInterface function;
  /// Set while `run` is running.
  Visitor *visitor = nullptr;
  /// The ops that a barrier precedes.
  llvm::DenseSet<Operation *> ordered;
};

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_PENDINGACCESSES_H
