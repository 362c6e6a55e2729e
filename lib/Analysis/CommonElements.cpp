// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommonElements.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::iris;

/// Values that are split into cases take fewer numbers than this.
static constexpr int64_t kFewValues = kMaxGroup + 1;

/// More cases than this are not looked at.
static constexpr uint64_t kMaxCases = 1024;

CommonElements::CommonElements(Operation *function,
                               IndexConstraints::GetRange getRange,
                               Divisibility &divisors)
    : getRange(std::move(getRange)), divisors(divisors) {
  function->walk([&](Operation *op) {
    if (isa<RankOp>(op) && !ownRank)
      ownRank = op->getResult(0);
    else if (isa<GroupIndexOp>(op) && !ownIndex)
      ownIndex = op->getResult(0);
  });
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Follows `buffer`, in whose coordinates `place` is, to the buffer that it is
/// a view of. False if that view is not understood.
bool CommonElements::enterSource(Place &place, Value &buffer, bool isBefore,
                                 IndexConstraints &constraints) {
  auto get = [&](Value value) { return constraints.get(value, isBefore); };
  Operation *op = buffer.getDefiningOp();
  if (auto translate = dyn_cast<TranslateOp>(op)) {
    buffer = translate.getSource();
    return true;
  }
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    buffer = cast.getSource();
    return isa<MemRefType>(buffer.getType());
  }
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    if (subview.getDroppedDims().any() ||
        llvm::any_of(subview.getStaticStrides(), ShapedType::isDynamic))
      return false;
    for (auto [dim, offset, stride] : llvm::enumerate(
             subview.getMixedOffsets(), subview.getStaticStrides())) {
      LinearSum start = isa<Attribute>(offset)
                            ? LinearSum(*getConstantIntValue(offset))
                            : get(cast<Value>(offset));
      place.element[dim] = start + place.element[dim] * stride;
      if (stride != 1)
        place.first.clear();
      if (!place.first.empty())
        place.first[dim] = start + place.first[dim];
    }
    buffer = subview.getSource();
    return true;
  }
  auto view = dyn_cast<memref::ViewOp>(op);
  return view && enterBytes(place, buffer, view, isBefore, constraints);
}

/// Elements of a view of bytes are in row-major order.
bool CommonElements::enterBytes(Place &place, Value &buffer,
                                memref::ViewOp view, bool isBefore,
                                IndexConstraints &constraints) {
  MemRefType type = view.getType();
  Type elementType = type.getElementType();
  if (elementType.isInteger(1) || place.unit != 1)
    return false;
  place.unit = tile::getElementBytes(elementType);
  LinearSum shift = constraints.get(view.getByteShift(), isBefore);
  LinearSum element, first;
  if (!place.element.empty()) // not of a buffer of a single element
    element = place.element.back();
  if (place.element.size() == 1 && !place.first.empty())
    first = place.first.back();
  else
    place.first.clear();
  int64_t stride = 1;
  for (int64_t dim = type.getRank() - 2; dim >= 0; --dim) {
    if (type.isDynamicDim(dim + 1) ||
        llvm::MulOverflow(stride, type.getDimSize(dim + 1), stride)) {
      element = constraints.addVariable({0, IntegerInterval::kMost});
      break;
    }
    element = element + place.element[dim] * stride;
  }
  place.element = {shift + element * place.unit +
                   constraints.addVariable({0, place.unit - 1})};
  if (!place.first.empty())
    place.first = {shift + first * place.unit};
  buffer = view.getSource();
  return true;
}

/// The number of elements of `buffer` along `dim`, if it is known.
static std::optional<OpFoldResult> getSize(Value buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return OpFoldResult(IntegerAttr::get(IndexType::get(type.getContext()),
                                         type.getDimSize(dim)));
  buffer = getOwnBuffer(buffer);
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    if (isa<MemRefType>(cast.getSource().getType()))
      return getSize(cast.getSource(), dim);
  if (auto subview = buffer.getDefiningOp<memref::SubViewOp>())
    if (subview.getDroppedDims().none())
      return subview.getMixedSizes()[dim];
  if (auto view = buffer.getDefiningOp<memref::ViewOp>())
    return OpFoldResult(view.getSizes()[type.getDynamicDimIndex(dim)]);
  return std::nullopt;
}

/// Describes an element that `access` touches, one that is both in the window
/// and in the buffer, in coordinates of `base`.
std::optional<CommonElements::Place>
CommonElements::locate(const MemoryAccess &access, Value base, bool isBefore,
                       IndexConstraints &constraints) {
  Value buffer = access.buffer;
  unsigned rank = cast<MemRefType>(buffer.getType()).getRank();
  if (!access.offsets.empty() && access.offsets.size() != rank)
    return std::nullopt;

  Place place;
  for (unsigned dim = 0; dim < rank; ++dim) {
    LinearSum element = constraints.addVariable({0, IntegerInterval::kMost});
    if (std::optional<OpFoldResult> size = getSize(buffer, dim)) {
      LinearSum end = isa<Attribute>(*size)
                          ? LinearSum(*getConstantIntValue(*size))
                          : constraints.get(cast<Value>(*size), isBefore);
      constraints.addLessOrEqual(element + LinearSum(1), end);
    }
    if (!access.offsets.empty()) {
      int64_t extent = access.tile ? access.tile.getDimSize(dim) : 1;
      LinearSum first = constraints.get(access.offsets[dim], isBefore);
      constraints.addLessOrEqual(first, element);
      constraints.addLessOrEqual(element, first + LinearSum(extent - 1));
      place.first.push_back(first);
    }
    place.element.push_back(element);
  }
  while (buffer != base)
    if (!enterSource(place, buffer, isBefore, constraints))
      return std::nullopt;
  return place;
}

/// Adds that both accesses are to one rank.
void CommonElements::addSameRank(const Query &query,
                                 IndexConstraints &constraints) {
  // World ranks and members of the group are not compared with each other.
  auto getMember = [](Value rank) {
    auto member = rank ? rank.getDefiningOp<GroupMemberOp>() : GroupMemberOp();
    return member ? member.getMember() : Value();
  };
  Value then = query.rankBefore, here = query.rankNow;
  bool areMembers = getMember(then) || getMember(here);
  if (areMembers) {
    then = then ? getMember(then) : ownIndex;
    here = here ? getMember(here) : ownIndex;
  } else {
    then = then ? then : ownRank;
    here = here ? here : ownRank;
  }
  if (then && here)
    constraints.addEqual(constraints.get(then, /*isBefore=*/true),
                         constraints.get(here, /*isBefore=*/false));
}

//===----------------------------------------------------------------------===//
// Bases
//===----------------------------------------------------------------------===//

/// True if equal coordinates of both buffers are the same element, if it is the
/// same memory at all: the same view of one buffer, the same copy of it on
/// another rank, or the same view of arguments that are alike.
static bool haveSameCoordinates(const PendingAccess &before, Value then,
                                Value here) {
  then = getOwnBuffer(then);
  here = getOwnBuffer(here);
  if (then == here)
    return before.isCurrent(here);
  auto typeThen = cast<MemRefType>(then.getType());
  auto typeHere = cast<MemRefType>(here.getType());
  if (typeThen.getShape() != typeHere.getShape() ||
      typeThen.getLayout() != typeHere.getLayout() ||
      typeThen.getElementType() != typeHere.getElementType())
    return false;
  if (isa<BlockArgument>(then) && isa<BlockArgument>(here))
    return AccessConflicts::getRoot(then) && AccessConflicts::getRoot(here);
  Operation *viewThen = then.getDefiningOp();
  Operation *viewHere = here.getDefiningOp();
  if (!viewThen || !viewHere || viewThen->getName() != viewHere->getName() ||
      viewThen->getAttrDictionary() != viewHere->getAttrDictionary() ||
      !isa<ViewLikeOpInterface>(viewHere) ||
      viewHere->getNumOperands() != viewThen->getNumOperands())
    return false;
  Value source = getSource(here);
  for (auto [a, b] :
       llvm::zip(viewThen->getOperands(), viewHere->getOperands()))
    if (b == source ? !haveSameCoordinates(before, a, b)
                    : a != b || !before.isCurrent(b))
      return false;
  return true;
}

/// Finds the first buffers that both accesses are made through whose
/// coordinates are the same.
bool CommonElements::findBases(Query &query) {
  for (Value here = query.now.buffer; here; here = getSource(here))
    for (Value then = query.before.buffer; then; then = getSource(then))
      if (haveSameCoordinates(query.before, then, here)) {
        query.baseBefore = then;
        query.baseNow = here;
        return true;
      }
  return false;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// True if the windows, of one extent, are equal or disjoint. Sums may wrap:
/// extents are powers of two.
bool CommonElements::areOnGrid(const Query &query,
                               IndexConstraints constraints) {
  std::optional<Place> then =
      locate(query.before, query.baseBefore, /*isBefore=*/true, constraints);
  std::optional<Place> here =
      locate(query.now, query.baseNow, /*isBefore=*/false, constraints);
  ArrayRef<int64_t> extents = query.now.tile.getShape();
  if (!then || !here || then->unit != here->unit ||
      then->first.size() != extents.size() ||
      here->first.size() != extents.size())
    return false;
  return llvm::all_of(llvm::seq<size_t>(extents.size()), [&](size_t dim) {
    LinearSum difference = then->first[dim] - here->first[dim];
    return constraints.getDivisor(difference, divisors) >=
           uint64_t(extents[dim] * here->unit);
  });
}

/// True if no element is in both windows.
bool CommonElements::areApart(const Query &query,
                              IndexConstraints constraints) {
  std::optional<Place> then =
      locate(query.before, query.baseBefore, /*isBefore=*/true, constraints);
  std::optional<Place> here =
      locate(query.now, query.baseNow, /*isBefore=*/false, constraints);
  if (!then || !here)
    return false;
  if (then->element.size() != here->element.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(then->element, here->element))
    constraints.addEqual(a, b);
  addSameRank(query, constraints);
  constraints.addControl(query.before.op, /*isBefore=*/true);
  constraints.addControl(query.now.op, /*isBefore=*/false);
  if (auto loop = dyn_cast_or_null<scf::ForOp>(query.before.staleIn))
    if (loop->isProperAncestor(query.now.op))
      constraints.addEarlier(loop);
  return constraints.areContradictory();
}

bool CommonElements::isExcluded(const Query &query,
                                IndexConstraints::Case &chosen,
                                unsigned numChosen) {
  auto isStale = [&](Value value) { return !query.before.isCurrent(value); };
  if ((query.isGrid &&
       areOnGrid(query, IndexConstraints(getRange, isStale, chosen,
                                         /*isModular=*/true))) ||
      areApart(query, IndexConstraints(getRange, isStale, chosen,
                                       /*isModular=*/false)))
    return true;
  if (numChosen == query.branches.size())
    return false;
  IndexSymbol symbol = query.branches[numChosen];
  IntegerInterval range = getRange(symbol.getPointer());
  for (int64_t value = range.least; value <= range.most; ++value) {
    chosen[symbol] = value;
    bool isDone = isExcluded(query, chosen, numChosen + 1);
    chosen.erase(symbol);
    if (!isDone)
      return false;
  }
  return true;
}

/// Collects what the offsets of `access`, the views down to `base` and the rank
/// depend on.
void CommonElements::collectBranches(const MemoryAccess &access, Value base,
                                     Value rank, bool isBefore, Query &query) {
  FewValued few(getRange, kFewValues);
  auto collect = [&](Value value) {
    if (value.getType().isIntOrIndex())
      few.collect(value);
  };
  llvm::for_each(access.offsets, collect);
  for (Value buffer = access.buffer; buffer != base; buffer = getSource(buffer))
    llvm::for_each(buffer.getDefiningOp()->getOperands(), collect);
  if (rank) {
    auto member = rank.getDefiningOp<GroupMemberOp>();
    collect(member ? member.getMember() : rank);
  }
  for (Value value : few.getValues()) {
    IndexSymbol symbol(value, isBefore && !query.before.isCurrent(value));
    if (!llvm::is_contained(query.branches, symbol))
      query.branches.push_back(symbol);
  }
}

/// The rank that `buffer` is on; null if it is this rank, none if that is not
/// known.
static std::optional<Value> getRank(Value buffer) {
  Value rank;
  for (; buffer; buffer = getSource(buffer)) {
    auto translate = buffer.getDefiningOp<TranslateOp>();
    if (translate && rank)
      return std::nullopt;
    if (translate)
      rank = translate.getRank();
  }
  return rank;
}

bool CommonElements::mayExist(const PendingAccess &before,
                              const PendingAccess &now, bool isGrid) {
  // Walks that look for a fixed point ask for the same pairs. Of the ops only
  // the control flow around them counts.
  SmallVector<const void *> key = {before.staleIn, before.op->getParentRegion(),
                                   now.op->getParentRegion(),
                                   isGrid ? this : nullptr};
  for (const PendingAccess *access : {&before, &now}) {
    key.push_back(access->buffer.getAsOpaquePointer());
    key.push_back(access->tile.getAsOpaquePointer());
    for (Value offset : access->offsets)
      key.push_back(offset.getAsOpaquePointer());
  }
  auto [it, isNew] = answers.try_emplace(std::move(key), true);
  if (isNew)
    it->second = findCommon(before, now, isGrid);
  return it->second;
}

bool CommonElements::findCommon(const PendingAccess &before,
                                const PendingAccess &now, bool isGrid) {
  Query query{before, now, isGrid};
  if (!findBases(query))
    return true;
  std::optional<Value> rankBefore = getRank(before.buffer);
  std::optional<Value> rankNow = getRank(now.buffer);
  if (!rankBefore || !rankNow)
    return true;
  query.rankBefore = *rankBefore;
  query.rankNow = *rankNow;

  collectBranches(before, query.baseBefore, query.rankBefore,
                  /*isBefore=*/true, query);
  collectBranches(now, query.baseNow, query.rankNow, /*isBefore=*/false, query);
  uint64_t cases = 1;
  for (auto [i, symbol] : llvm::enumerate(query.branches)) {
    IntegerInterval range = getRange(symbol.getPointer());
    cases *= range.most - range.least + 1;
    if (cases > kMaxCases) {
      query.branches.truncate(i);
      break;
    }
  }
  IndexConstraints::Case chosen;
  return !isExcluded(query, chosen, 0);
}
