// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three reasons why two accesses need no barrier, although one of them writes:
//
//  * one thread makes both;
//  * they touch different memory: other allocations, other bytes of one buffer,
//    or windows that are apart;
//  * each element that both touch is one thread's: windows of one layout that
//    are equal or disjoint. The usual tile loop is recognised by divisors:
//    where every offset is a multiple of the tile's extent, windows lie on a
//    grid.
#include "iris/Analysis/AccessConflicts.h"

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
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

using Threads = MemoryAccess::Threads;

AccessConflicts::AccessConflicts(Operation *function)
    : solver(std::make_unique<DataFlowSolver>()) {
  solver->load<dataflow::DeadCodeAnalysis>();
  solver->load<dataflow::SparseConstantPropagation>();
  solver->load<dataflow::IntegerRangeAnalysis>();
  // Without ranges everything may be anywhere.
  if (failed(solver->initializeAndRun(function)))
    solver.reset();
}

AccessConflicts::~AccessConflicts() = default;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The buffer that `buffer` is made of, in one step; null if it is no view.
static Value getSource(Value buffer) {
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

/// An interval of integers, both ends included.
struct AccessConflicts::Range {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();

  /// Every number of this range plus every one of `other`; unbounded where that
  /// does not fit.
  Range operator+(const Range &other) const {
    Range sum;
    if (llvm::AddOverflow(least, other.least, sum.least) ||
        llvm::AddOverflow(most, other.most, sum.most))
      return Range();
    return sum;
  }
  bool isBefore(const Range &other) const { return most < other.least; }
};

AccessConflicts::Range AccessConflicts::getRange(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {*constant, *constant};
  const auto *state =
      solver ? solver->lookupState<dataflow::IntegerValueRangeLattice>(value)
             : nullptr;
  if (!state || state->getValue().isUninitialized())
    return Range();
  const ConstantIntRanges &range = state->getValue().getValue();
  if (range.smin().getBitWidth() == 0 || range.smin().getBitWidth() > 64)
    return Range();
  return {range.smin().getSExtValue(), range.smax().getSExtValue()};
}

/// The bytes of its root that `buffer` may cover. Views that keep to their
/// source cover no more than it does.
AccessConflicts::Range AccessConflicts::getBytes(Value buffer) {
  Value source = getSource(buffer);
  if (!source)
    return {0, std::numeric_limits<int64_t>::max()};
  Operation *op = buffer.getDefiningOp();
  if (isa<memref::ReinterpretCastOp>(op))
    return Range();
  auto view = dyn_cast<memref::ViewOp>(op);
  if (!view)
    return getBytes(source);
  Range first = getRange(view.getByteShift());
  if (source = getOwnBuffer(source); getSource(source))
    first = Range();
  MemRefType type = view.getType();
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  unsigned dynamic = 0;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      size = getRange(view.getSizes()[dynamic++]).most;
    if (llvm::MulOverflow(bytes, std::max<int64_t>(size, 0), bytes))
      return {first.least, std::numeric_limits<int64_t>::max()};
  }
  Range last = first + Range{bytes, bytes};
  return {first.least, last.most == std::numeric_limits<int64_t>::max()
                           ? last.most
                           : last.most - 1};
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// True if `value` is the same now as when `access` was made.
static bool isCurrent(const PendingAccess &access, Value value) {
  return !access.staleIn ||
         !access.staleIn->isAncestor(value.getParentBlock()->getParentOp());
}

/// True if equal coordinates of both accesses are the same element, if it is
/// the same memory at all: the same view of one buffer, or the same copy of it
/// on another rank.
static bool haveSameCoordinates(const PendingAccess &before, Value bufferBefore,
                                Value bufferNow) {
  bufferBefore = getOwnBuffer(bufferBefore);
  bufferNow = getOwnBuffer(bufferNow);
  if (bufferBefore == bufferNow)
    return isCurrent(before, bufferNow);
  // Corresponding views of different arguments.
  auto first = dyn_cast<BlockArgument>(bufferBefore);
  auto second = dyn_cast<BlockArgument>(bufferNow);
  auto typeBefore = cast<MemRefType>(bufferBefore.getType());
  auto typeNow = cast<MemRefType>(bufferNow.getType());
  if (typeBefore.getShape() != typeNow.getShape() ||
      typeBefore.getLayout() != typeNow.getLayout() ||
      typeBefore.getElementType() != typeNow.getElementType())
    return false;
  if (first && second)
    return AccessConflicts::getRoot(first) && AccessConflicts::getRoot(second);
  Operation *viewBefore = bufferBefore.getDefiningOp();
  Operation *viewNow = bufferNow.getDefiningOp();
  if (!viewBefore || !viewNow || viewBefore->getName() != viewNow->getName() ||
      viewBefore->getAttrDictionary() != viewNow->getAttrDictionary() ||
      !isa<ViewLikeOpInterface>(viewNow) ||
      viewNow->getNumOperands() != viewBefore->getNumOperands())
    return false;
  Value source = getSource(bufferNow);
  for (auto [then, here] :
       llvm::zip(viewBefore->getOperands(), viewNow->getOperands()))
    if (here == source ? !haveSameCoordinates(before, then, here)
                       : then != here || !isCurrent(before, here))
      return false;
  return true;
}

static int64_t getExtent(const MemoryAccess &access, unsigned dim) {
  return access.tile ? access.tile.getDimSize(dim) : 1;
}

/// True if no element is in both windows, by the ranges of their offsets.
bool AccessConflicts::areWindowsApart(const PendingAccess &before,
                                      const PendingAccess &now) {
  for (auto [dim, then, here] : llvm::enumerate(before.offsets, now.offsets)) {
    int64_t lastThen = getExtent(before, dim) - 1;
    int64_t lastHere = getExtent(now, dim) - 1;
    Range rangeThen = getRange(then) + Range{0, lastThen};
    Range rangeHere = getRange(here) + Range{0, lastHere};
    if (rangeThen.isBefore(rangeHere) || rangeHere.isBefore(rangeThen))
      return true;
  }
  return false;
}

namespace {
/// A summand, and whether it is taken away.
using Term = llvm::PointerIntPair<Value, 1, bool>;
} // namespace

/// Adds what `value` is the sum of, modulo 2^32.
static void collectTerms(Value value, bool isNegative,
                         SmallVectorImpl<Term> &terms) {
  auto isWide = [](Value value) {
    Type type = value.getType();
    return type.isIndex() || type.isInteger(32) || type.isInteger(64);
  };
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    collectTerms(op->getOperand(0), isNegative, terms);
    collectTerms(op->getOperand(1), isNegative != isa<arith::SubIOp>(op),
                 terms);
  } else if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp,
                             arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(
                 op) &&
             isWide(value) && isWide(op->getOperand(0))) {
    collectTerms(op->getOperand(0), isNegative, terms);
  } else {
    terms.push_back({value, isNegative});
  }
}

/// True if the difference of the offsets is a multiple of `extent`, a power of
/// two: windows of that extent are equal then, or disjoint. What both offsets
/// add falls out, the rest is divisible.
bool AccessConflicts::isMultipleApart(const PendingAccess &before, Value then,
                                      Value here, uint64_t extent) {
  SmallVector<Term> termsThen, termsHere;
  collectTerms(then, /*isNegative=*/false, termsThen);
  collectTerms(here, /*isNegative=*/false, termsHere);
  for (Term term : termsHere) {
    Value value = term.getPointer();
    auto *other = llvm::find_if(termsThen, [&](Term then) {
      return then.getInt() == term.getInt() &&
             isEqualConstantIntOrValue(then.getPointer(), value);
    });
    bool isSame = other != termsThen.end() &&
                  (getConstantIntValue(value) || isCurrent(before, value));
    if (isSame)
      termsThen.erase(other);
    else if (divisors.getDivisor(value) < extent)
      return false;
  }
  return llvm::all_of(termsThen, [&](Term term) {
    return divisors.getDivisor(term.getPointer()) >= extent;
  });
}

/// True if every element that both windows cover is accessed by one thread.
bool AccessConflicts::isEachThreadsOwn(const PendingAccess &before,
                                       const PendingAccess &now) {
  if (!before.tile || !now.tile ||
      before.tile.getShape() != now.tile.getShape())
    return false;
  std::optional<LinearLayout> layout = getLinearLayout(now.tile);
  if (!layout || layout != getLinearLayout(before.tile))
    return false;
  // Of several threads that load an element only one stores it.
  bool onlyStores = !before.reads && !now.reads;
  if (!onlyStores && !layout->hasUniqueOwners())
    return false;

  for (auto [dim, then, here] : llvm::enumerate(before.offsets, now.offsets))
    if (!isMultipleApart(before, then, here, now.tile.getDimSize(dim)))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

/// True unless the kinds of both accesses say that they need no order.
static bool matters(const MemoryAccess &before, const MemoryAccess &now) {
  if (!before.writes && !now.writes)
    return false;
  if (before.threads == Threads::Leader && now.threads == Threads::Leader)
    return false;
  // A load waits for the store that it means. A store that comes after a load
  // of the same place is kept after it by the `iris.leave_if_failed` between
  // them, where all threads have received what they waited for.
  return !before.isPacket || !now.isPacket;
}

/// True if the accesses conflict where their roots are the same memory.
bool AccessConflicts::mayConflict(const PendingAccess &before,
                                  const PendingAccess &now) {
  if (!before.buffer || !now.buffer)
    return true;
  if (before.offsets.size() != now.offsets.size() || before.offsets.empty() ||
      !haveSameCoordinates(before, before.buffer, now.buffer))
    return true;
  return !areWindowsApart(before, now) && !isEachThreadsOwn(before, now);
}

bool AccessConflicts::needsOrder(const PendingAccess &before,
                                 const PendingAccess &now) {
  if (!matters(before, now))
    return false;
  Value a = getRoot(before.buffer), b = getRoot(now.buffer);
  if (a && b && a != b)
    return false;
  if (a && b) {
    Range bytesBefore = getBytes(before.buffer),
          bytesNow = getBytes(now.buffer);
    if (bytesBefore.isBefore(bytesNow) || bytesNow.isBefore(bytesBefore))
      return false;
  }
  return mayConflict(before, now);
}

Overlap AccessConflicts::getNeededOverlap(const PendingAccess &before,
                                          const PendingAccess &now) {
  Value a = getRoot(before.buffer), b = getRoot(now.buffer);
  if (!matters(before, now) || !getArgumentNumber(a) || !getArgumentNumber(b) ||
      a == b)
    return Overlap::Any;
  return mayConflict(before, now) ? Overlap::Disjoint : Overlap::SameOrDisjoint;
}
