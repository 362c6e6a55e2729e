// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two accesses of one program have to be ordered.
#ifndef IRIS_ANALYSIS_ACCESSCONFLICTS_H
#define IRIS_ANALYSIS_ACCESSCONFLICTS_H

#include "iris/Analysis/Divisibility.h"
#include "iris/Analysis/ProgramOrder.h"
#include "mlir/IR/Value.h"
#include <memory>
#include <optional>

namespace mlir {
class DataFlowSolver;
} // namespace mlir

namespace mlir::iris {

class CommonElements;

/// An access that other threads may not have seen yet.
struct PendingAccess : MemoryAccess {
  PendingAccess(const MemoryAccess &access, Operation *op)
      : MemoryAccess(access), op(op) {}

  Operation *op;
  /// The outermost loop in whose earlier iteration the access was made: values
  /// that are defined in it have changed since. Null if there is none.
  Operation *staleIn = nullptr;
  /// Only waits come before it: see OrderedAccesses::ButNeighbours.
  bool onlyForWaits = false;

  /// True if `value` is the same now as when the access was made.
  bool isCurrent(Value value) const;

  bool operator==(const PendingAccess &other) const {
    return op == other.op && staleIn == other.staleIn &&
           onlyForWaits == other.onlyForWaits &&
           MemoryAccess::operator==(other);
  }
};

/// Why two accesses need no order, or that they do.
enum class AccessOrder {
  /// Neither writes.
  NoWrite,
  /// Thread 0 makes both.
  OneThread,
  /// Both are packet accesses, which their flags order.
  Packets,
  /// They are made through different arguments or allocations.
  OtherBuffer,
  /// No element is touched by both.
  NoCommonElement,
  /// Each element that both touch is accessed by one thread.
  SameThreads,
  /// Different threads may touch one element, and one of them writes.
  Conflict,
};

/// What `order` means, as the end of a sentence.
StringRef describe(AccessOrder order);

/// What two accesses through different arguments of a kernel rely on.
enum class Overlap {
  /// Nothing.
  Any,
  /// The arguments are the same buffer, or share no byte.
  SameOrDisjoint,
  /// The arguments share no byte.
  Disjoint,
};

/// Compares accesses of one function. Barriers may be inserted while it lives;
/// nothing else may change.
///
/// Different coordinates of one buffer are different elements.
class AccessConflicts {
public:
  explicit AccessConflicts(Operation *function);
  ~AccessConflicts();

  /// True if `now` has to come after `before`, and may not without a barrier:
  /// they may touch the same element in different threads, and one of them
  /// writes. Different arguments of a kernel are taken to be different memory;
  /// see `getNeededOverlap`.
  bool needsOrder(const PendingAccess &before, const PendingAccess &now);

  /// A pending access and the one of `accesses` that has to come after it, if
  /// there are such.
  std::optional<std::pair<const PendingAccess *, const PendingAccess *>>
  findConflict(ArrayRef<PendingAccess> accesses,
               ArrayRef<PendingAccess> pending);

  /// Why `needsOrder` answers as it does. Slower: asks more.
  AccessOrder explain(const PendingAccess &before, const PendingAccess &now);

  /// What makes the answer of `needsOrder` right for two accesses through
  /// different arguments; Any for all other ones.
  Overlap getNeededOverlap(const PendingAccess &before,
                           const PendingAccess &now);

  /// The argument or allocation that `buffer` is a view of; null if that is not
  /// known.
  static Value getRoot(Value buffer);

private:
  bool mayConflict(const PendingAccess &before, const PendingAccess &now);

  Divisibility divisors;
  std::unique_ptr<DataFlowSolver> solver;
  std::unique_ptr<CommonElements> elements;
};

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_ACCESSCONFLICTS_H
