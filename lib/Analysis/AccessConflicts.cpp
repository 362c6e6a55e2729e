// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three reasons why two accesses need no barrier, although one of them writes:
//
//  * one thread makes both;
//  * they touch no common element;
//  * each element that both touch is one thread's: windows of one layout that
//    are equal or disjoint.
#include "iris/Analysis/AccessConflicts.h"

#include "CommonElements.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::iris;

using Threads = MemoryAccess::Threads;

static IntegerInterval getRange(DataFlowSolver *solver, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {*constant, *constant};
  const auto *state =
      solver ? solver->lookupState<dataflow::IntegerValueRangeLattice>(value)
             : nullptr;
  if (!state || state->getValue().isUninitialized())
    return IntegerInterval();
  const ConstantIntRanges &range = state->getValue().getValue();
  if (range.smin().getBitWidth() == 0 || range.smin().getBitWidth() > 64)
    return IntegerInterval();
  return {range.smin().getSExtValue(), range.smax().getSExtValue()};
}

AccessConflicts::AccessConflicts(Operation *function)
    : solver(std::make_unique<DataFlowSolver>()) {
  solver->load<dataflow::DeadCodeAnalysis>();
  solver->load<dataflow::SparseConstantPropagation>();
  solver->load<dataflow::IntegerRangeAnalysis>();
  // Without ranges everything may be anywhere.
  if (failed(solver->initializeAndRun(function)))
    solver.reset();
  elements = std::make_unique<CommonElements>(
      function, [this](Value value) { return getRange(solver.get(), value); },
      divisors);
}

AccessConflicts::~AccessConflicts() = default;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value mlir::iris::getSource(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (auto translate = dyn_cast_or_null<TranslateOp>(op))
    return translate.getSource();
  if (auto view = dyn_cast_or_null<ViewLikeOpInterface>(op))
    return view.getViewSource();
  return Value();
}

Value AccessConflicts::getRoot(Value buffer) {
  if (!buffer)
    return Value();
  while (Value source = getSource(buffer))
    buffer = source;
  if (Operation *op = buffer.getDefiningOp())
    return isa<memref::AllocaOp, memref::AllocOp>(op) ? buffer : Value();
  Operation *parent = cast<BlockArgument>(buffer).getOwner()->getParentOp();
  bool isArgument = cast<BlockArgument>(buffer).getOwner()->isEntryBlock() &&
                    isa_and_nonnull<FunctionOpInterface>(parent);
  return isArgument ? buffer : Value();
}

/// The number of the kernel's argument that `root` is; none for memory that the
/// kernel declares or allocates.
static std::optional<unsigned> getArgumentNumber(Value root) {
  auto argument = dyn_cast_or_null<BlockArgument>(root);
  if (!argument)
    return std::nullopt;
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (argument.getArgNumber() >= function.getNumArguments())
    return std::nullopt;
  return argument.getArgNumber();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

bool PendingAccess::isCurrent(Value value) const {
  return !staleIn ||
         !staleIn->isAncestor(value.getParentBlock()->getParentOp());
}

/// True if equal places in both windows are accessed by one thread.
static bool haveSameOwners(const PendingAccess &before,
                           const PendingAccess &now) {
  if (!before.tile || !now.tile ||
      before.tile.getShape() != now.tile.getShape())
    return false;
  std::optional<LinearLayout> layout = getLinearLayout(now.tile);
  if (!layout || layout != getLinearLayout(before.tile))
    return false;
  // Of several threads that load an element only one stores it.
  bool onlyStores = !before.reads && !now.reads;
  return onlyStores || layout->hasUniqueOwners();
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

/// Why the kinds of both accesses say that they need no order; none if they do
/// not say so.
static std::optional<AccessOrder> getKindOrder(const MemoryAccess &before,
                                               const MemoryAccess &now) {
  if (!before.writes && !now.writes)
    return AccessOrder::NoWrite;
  if (before.threads == Threads::Leader && now.threads == Threads::Leader)
    return AccessOrder::OneThread;
  // A load waits for the store that it means. A store that comes after a load
  // of the same place is kept after it by the `iris.leave_if_failed` between
  // them, where all threads have received what they waited for.
  if (before.isPacket && now.isPacket)
    return AccessOrder::Packets;
  return std::nullopt;
}

/// True if the accesses conflict where their roots are the same memory.
bool AccessConflicts::mayConflict(const PendingAccess &before,
                                  const PendingAccess &now) {
  if (!before.buffer || !now.buffer)
    return true;
  return elements->mayExist(before, now, haveSameOwners(before, now));
}

bool AccessConflicts::needsOrder(const PendingAccess &before,
                                 const PendingAccess &now) {
  if (getKindOrder(before, now))
    return false;
  Value a = getRoot(before.buffer), b = getRoot(now.buffer);
  if (a && b && a != b)
    return false;
  return mayConflict(before, now);
}

std::optional<std::pair<const PendingAccess *, const PendingAccess *>>
AccessConflicts::findConflict(ArrayRef<PendingAccess> accesses,
                              ArrayRef<PendingAccess> pending) {
  for (const PendingAccess &now : accesses)
    for (const PendingAccess &before : pending)
      if (needsOrder(before, now))
        return std::pair(&before, &now);
  return std::nullopt;
}

AccessOrder AccessConflicts::explain(const PendingAccess &before,
                                     const PendingAccess &now) {
  if (std::optional<AccessOrder> order = getKindOrder(before, now))
    return *order;
  Value a = getRoot(before.buffer), b = getRoot(now.buffer);
  if (a && b && a != b)
    return AccessOrder::OtherBuffer;
  if (!before.buffer || !now.buffer)
    return AccessOrder::Conflict;
  if (!elements->mayExist(before, now, /*isGrid=*/false))
    return AccessOrder::NoCommonElement;
  return mayConflict(before, now) ? AccessOrder::Conflict
                                  : AccessOrder::SameThreads;
}

StringRef mlir::iris::describe(AccessOrder order) {
  switch (order) {
  case AccessOrder::NoWrite:
    return "neither writes";
  case AccessOrder::OneThread:
    return "thread 0 makes both";
  case AccessOrder::Packets:
    return "the flags of packets order them";
  case AccessOrder::OtherBuffer:
    return "their arguments or allocations differ";
  case AccessOrder::NoCommonElement:
    return "they touch no common element";
  case AccessOrder::SameThreads:
    return "each common element is one thread's";
  case AccessOrder::Conflict:
    return "different threads may touch one element";
  }
  llvm_unreachable("an order of two accesses");
}

Overlap AccessConflicts::getNeededOverlap(const PendingAccess &before,
                                          const PendingAccess &now) {
  Value a = getRoot(before.buffer), b = getRoot(now.buffer);
  if (getKindOrder(before, now) || !getArgumentNumber(a) ||
      !getArgumentNumber(b) || a == b)
    return Overlap::Any;
  return mayConflict(before, now) ? Overlap::Disjoint : Overlap::SameOrDisjoint;
}
