// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Analysis/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace mlir::iris;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Linear algebra over GF(2)
//===----------------------------------------------------------------------===//

namespace {

/// A subspace spanned by linearly independent vectors. Each vector stores the
/// combination of input bits that produces it.
class Span {
public:
  /// Adds the basis of one input bit. Returns false, and adds nothing, if the
  /// vector is already in the span.
  bool insert(uint64_t vector, LayoutIndex bit) {
    if (!reduce(vector, bit))
      return false;
    rows.push_back({vector, bit});
    return true;
  }

  /// Returns inputs whose bases combine to `vector`, if there are any.
  std::optional<LayoutIndex> solve(uint64_t vector) const {
    LayoutIndex position;
    if (reduce(vector, position))
      return std::nullopt;
    return position;
  }

private:
  struct Row {
    uint64_t vector;
    LayoutIndex position;
  };

  /// Subtracts rows from `vector` until none applies; returns true if the
  /// remainder is not zero.
  bool reduce(uint64_t &vector, LayoutIndex &position) const {
    for (const Row &row : rows) {
      // The highest bit of each row is its pivot.
      if (!(vector & llvm::bit_floor(row.vector)))
        continue;
      vector ^= row.vector;
      position.reg ^= row.position.reg;
      position.lane ^= row.position.lane;
      position.warp ^= row.position.warp;
    }
    return vector != 0;
  }

  SmallVector<Row> rows;
};

} // namespace

static LayoutIndex bitOf(LayoutDim dim, unsigned bit) {
  LayoutIndex position;
  switch (dim) {
  case LayoutDim::Register:
    position.reg = uint64_t(1) << bit;
    break;
  case LayoutDim::Lane:
    position.lane = uint64_t(1) << bit;
    break;
  case LayoutDim::Warp:
    position.warp = uint64_t(1) << bit;
    break;
  }
  return position;
}

static uint64_t combine(ArrayRef<uint64_t> bases, uint64_t bits) {
  uint64_t result = 0;
  for (auto [i, basis] : llvm::enumerate(bases))
    if ((bits >> i) & 1)
      result ^= basis;
  return result;
}

static LayoutIndex combine(ArrayRef<LayoutIndex> bases, uint64_t bits) {
  LayoutIndex result;
  for (auto [i, basis] : llvm::enumerate(bases)) {
    if (!((bits >> i) & 1))
      continue;
    result.reg ^= basis.reg;
    result.lane ^= basis.lane;
    result.warp ^= basis.warp;
  }
  return result;
}

static constexpr LayoutDim kInputs[] = {LayoutDim::Register, LayoutDim::Lane,
                                        LayoutDim::Warp};

//===----------------------------------------------------------------------===//
// LayoutConversion
//===----------------------------------------------------------------------===//

LayoutIndex LayoutConversion::apply(LayoutIndex position) const {
  LayoutIndex result = combine(reg, position.reg);
  for (LayoutIndex part :
       {combine(lane, position.lane), combine(warp, position.warp)}) {
    result.reg ^= part.reg;
    result.lane ^= part.lane;
    result.warp ^= part.warp;
  }
  return result;
}

bool LayoutConversion::isWithinThread() const {
  // Registers must not depend on the thread: they cannot be indexed at run
  // time.
  for (const LayoutIndex &basis : reg)
    if (basis.lane || basis.warp)
      return false;
  for (auto [i, basis] : llvm::enumerate(lane))
    if (!(basis == bitOf(LayoutDim::Lane, i)))
      return false;
  for (auto [i, basis] : llvm::enumerate(warp))
    if (!(basis == bitOf(LayoutDim::Warp, i)))
      return false;
  return true;
}

bool LayoutConversion::isWithinWarp() const {
  for (const LayoutIndex &basis : reg)
    if (basis.warp)
      return false;
  for (const LayoutIndex &basis : lane)
    if (basis.warp)
      return false;
  for (auto [i, basis] : llvm::enumerate(warp))
    if (basis.warp != uint64_t(1) << i)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

LinearLayout::LinearLayout(ArrayRef<int64_t> shape, Bases registers,
                           Bases lanes, Bases warps)
    : shape(shape) {
  bases[0] = std::move(registers);
  bases[1] = std::move(lanes);
  bases[2] = std::move(warps);
#ifndef NDEBUG
  for (int64_t extent : shape)
    assert(extent > 0 && llvm::isPowerOf2_64(extent) &&
           "extents must be powers of two");
  for (const Bases &list : bases)
    for (uint64_t basis : list)
      assert(basis < getNumElements() && "basis outside the tile");
#endif
}

/// Drops registers that duplicate the first one, and adds registers for index
/// bits that no input covers.
static void fitRegisters(uint64_t numElements, LinearLayout::Bases &registers,
                         ArrayRef<uint64_t> lanes, ArrayRef<uint64_t> warps,
                         ArrayRef<unsigned> bitOrder) {
  llvm::erase(registers, uint64_t(0));
  Span span;
  for (uint64_t basis : registers)
    span.insert(basis, {});
  for (uint64_t basis : lanes)
    span.insert(basis, {});
  for (uint64_t basis : warps)
    span.insert(basis, {});
  for (unsigned bit : bitOrder) {
    uint64_t basis = uint64_t(1) << bit;
    assert(basis < numElements && "index bit outside the tile");
    if (span.insert(basis, {}))
      registers.push_back(basis);
  }
  (void)numElements;
}

/// Returns the lowest index bit of each dimension.
static SmallVector<unsigned> getShifts(ArrayRef<int64_t> shape) {
  SmallVector<unsigned> shifts(shape.size());
  unsigned shift = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    shifts[d] = shift;
    shift += llvm::Log2_64(shape[d]);
  }
  return shifts;
}

LinearLayout LinearLayout::blocked(ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> sizePerThread,
                                   ArrayRef<int64_t> threadsPerWarp,
                                   ArrayRef<int64_t> warpsPerCta,
                                   ArrayRef<int64_t> order) {
  assert(sizePerThread.size() == shape.size() &&
         threadsPerWarp.size() == shape.size() &&
         warpsPerCta.size() == shape.size() && order.size() == shape.size() &&
         "blocked layout of another rank");
  SmallVector<unsigned> shifts = getShifts(shape);
  SmallVector<unsigned> used(shape.size(), 0);

  // Takes the index bits of each dimension, lowest first. If none are left, the
  // basis is zero and the input bit duplicates elements.
  auto take = [&](ArrayRef<int64_t> counts) {
    Bases result;
    for (int64_t dim : order) {
      for (unsigned i = 0, e = llvm::Log2_64(counts[dim]); i < e; ++i) {
        bool inside = used[dim] < llvm::Log2_64(shape[dim]);
        result.push_back(inside ? uint64_t(1) << (shifts[dim] + used[dim]++)
                                : 0);
      }
    }
    return result;
  };
  Bases registers = take(sizePerThread);
  Bases lanes = take(threadsPerWarp);
  Bases warps = take(warpsPerCta);

  LinearLayout result(shape, {}, lanes, warps);
  SmallVector<unsigned> bitOrder;
  for (int64_t dim : order)
    for (unsigned i = 0, e = llvm::Log2_64(shape[dim]); i < e; ++i)
      bitOrder.push_back(shifts[dim] + i);
  fitRegisters(result.getNumElements(), registers, lanes, warps, bitOrder);
  result.bases[0] = std::move(registers);
  return result;
}

LinearLayout
LinearLayout::fromCoordinates(ArrayRef<int64_t> shape,
                              ArrayRef<SmallVector<int64_t>> registers,
                              ArrayRef<SmallVector<int64_t>> lanes,
                              ArrayRef<SmallVector<int64_t>> warps) {
  SmallVector<unsigned> shifts = getShifts(shape);
  auto flatten = [&](ArrayRef<SmallVector<int64_t>> list) {
    Bases result;
    for (const SmallVector<int64_t> &coordinates : list) {
      assert(coordinates.size() == shape.size() && "basis of another rank");
      uint64_t basis = 0;
      for (auto [d, coordinate] : llvm::enumerate(coordinates))
        basis |= static_cast<uint64_t>(coordinate & (shape[d] - 1))
                 << shifts[d];
      result.push_back(basis);
    }
    return result;
  };
  Bases registerBases = flatten(registers);
  LinearLayout result(shape, {}, flatten(lanes), flatten(warps));
  SmallVector<unsigned> bitOrder;
  for (unsigned i = 0, e = llvm::Log2_64(result.getNumElements()); i < e; ++i)
    bitOrder.push_back(i);
  fitRegisters(result.getNumElements(), registerBases, result.bases[1],
               result.bases[2], bitOrder);
  result.bases[0] = std::move(registerBases);
  return result;
}

LinearLayout LinearLayout::slice(unsigned dim) const {
  unsigned shift = getDimShift(dim);
  unsigned width = llvm::Log2_64(shape[dim]);
  auto removeDim = [&](uint64_t basis) {
    uint64_t low = basis & ((uint64_t(1) << shift) - 1);
    return (basis >> (shift + width) << shift) | low;
  };
  SmallVector<int64_t> sliceShape(shape);
  sliceShape.erase(sliceShape.begin() + dim);
  Bases result[3];
  for (auto [from, to] : llvm::zip_equal(bases, result))
    for (uint64_t basis : from)
      to.push_back(removeDim(basis));
  llvm::erase(result[0], uint64_t(0));
  return LinearLayout(sliceShape, result[0], result[1], result[2]);
}

LinearLayout LinearLayout::transpose(ArrayRef<int64_t> permutation) const {
  SmallVector<int64_t> newShape;
  for (int64_t dim : permutation)
    newShape.push_back(shape[dim]);
  SmallVector<unsigned> newShifts = getShifts(newShape);
  auto permute = [&](uint64_t basis) {
    SmallVector<int64_t> coordinates = getCoordinates(basis);
    uint64_t result = 0;
    for (auto [i, dim] : llvm::enumerate(permutation))
      result |= static_cast<uint64_t>(coordinates[dim]) << newShifts[i];
    return result;
  };
  Bases result[3];
  for (auto [from, to] : llvm::zip_equal(bases, result))
    for (uint64_t basis : from)
      to.push_back(permute(basis));
  return LinearLayout(newShape, result[0], result[1], result[2]);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

uint64_t LinearLayout::getNumElements() const {
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

uint64_t LinearLayout::apply(LayoutIndex position) const {
  return combine(bases[0], position.reg) ^ combine(bases[1], position.lane) ^
         combine(bases[2], position.warp);
}

unsigned LinearLayout::getDimShift(unsigned dim) const {
  unsigned shift = 0;
  for (int64_t extent : ArrayRef(shape).drop_front(dim + 1))
    shift += llvm::Log2_64(extent);
  return shift;
}

uint64_t LinearLayout::getDimMask(unsigned dim) const {
  return static_cast<uint64_t>(shape[dim] - 1) << getDimShift(dim);
}

SmallVector<int64_t> LinearLayout::getCoordinates(uint64_t index) const {
  SmallVector<int64_t> result(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    result[d] = index & (shape[d] - 1);
    index >>= llvm::Log2_64(shape[d]);
  }
  return result;
}

/// Computes the span of a layout's bases, registers first, and the free input
/// bits.
static Span makeSpan(const LinearLayout &layout, LayoutIndex *free = nullptr) {
  Span span;
  for (LayoutDim dim : kInputs) {
    for (auto [i, basis] : llvm::enumerate(layout.getBases(dim))) {
      LayoutIndex bit = bitOf(dim, i);
      if (span.insert(basis, bit) || !free)
        continue;
      free->reg |= bit.reg;
      free->lane |= bit.lane;
      free->warp |= bit.warp;
    }
  }
  return span;
}

bool LinearLayout::isSurjective() const {
  Span span = makeSpan(*this);
  for (uint64_t bit = 1; bit < getNumElements(); bit <<= 1)
    if (!span.solve(bit))
      return false;
  return true;
}

LayoutIndex LinearLayout::getFreeBits() const {
  LayoutIndex free;
  makeSpan(*this, &free);
  return free;
}

std::optional<LayoutIndex> LinearLayout::invert(uint64_t index) const {
  return makeSpan(*this).solve(index);
}

SmallVector<unsigned>
LinearLayout::getContiguousRegisterBits(unsigned dim) const {
  return getRegisterRun(uint64_t(1) << getDimShift(dim), shape[dim]);
}

SmallVector<unsigned> LinearLayout::getRowMajorRegisterBits() const {
  return getRegisterRun(/*step=*/1, getNumElements());
}

/// The register bits of a run of at most `length` elements, `step` apart.
SmallVector<unsigned> LinearLayout::getRegisterRun(uint64_t step,
                                                   uint64_t length) const {
  SmallVector<unsigned> result;
  for (uint64_t index = step; index < step * length; index <<= 1) {
    // Exactly one basis may have this index bit: a register's, and no other
    // bit.
    std::optional<unsigned> registerBit;
    bool disturbed = false;
    for (LayoutDim dim : kInputs) {
      for (auto [i, basis] : llvm::enumerate(getBases(dim))) {
        if (!(basis & index))
          continue;
        if (basis == index && dim == LayoutDim::Register && !registerBit)
          registerBit = i;
        else
          disturbed = true;
      }
    }
    if (!registerBit || disturbed)
      break;
    result.push_back(*registerBit);
  }
  return result;
}

std::optional<LayoutConversion>
LinearLayout::sourceOf(const LinearLayout &source,
                       llvm::function_ref<uint64_t(uint64_t)> project) const {
  Span all = makeSpan(source);
  Span registers, warp;
  for (auto [i, basis] : llvm::enumerate(source.bases[0])) {
    registers.insert(basis, bitOf(LayoutDim::Register, i));
    warp.insert(basis, bitOf(LayoutDim::Register, i));
  }
  for (auto [i, basis] : llvm::enumerate(source.bases[1]))
    warp.insert(basis, bitOf(LayoutDim::Lane, i));

  // Any choice of a source for each input bit gives a linear map, so each bit
  // is mapped to the nearest source.
  auto nearest = [&](LayoutDim dim, unsigned bit,
                     uint64_t basis) -> std::optional<LayoutIndex> {
    if (dim == LayoutDim::Register)
      return all.solve(basis);
    ArrayRef<uint64_t> same = source.getBases(dim);
    if (bit < same.size()) {
      LayoutIndex here = bitOf(dim, bit);
      for (const Span *span : {&registers, &warp}) {
        if (std::optional<LayoutIndex> rest = span->solve(basis ^ same[bit])) {
          rest->lane ^= here.lane;
          rest->warp ^= here.warp;
          return rest;
        }
        if (dim == LayoutDim::Lane)
          break;
      }
    }
    return all.solve(basis);
  };

  LayoutConversion result;
  SmallVector<LayoutIndex> *outputs[] = {&result.reg, &result.lane,
                                         &result.warp};
  for (LayoutDim dim : kInputs) {
    for (auto [i, basis] : llvm::enumerate(getBases(dim))) {
      std::optional<LayoutIndex> position = nearest(dim, i, project(basis));
      if (!position)
        return std::nullopt;
      outputs[static_cast<unsigned>(dim)]->push_back(*position);
    }
  }
  return result;
}

std::optional<LayoutConversion>
LinearLayout::sourceOf(const LinearLayout &source) const {
  return sourceOf(source, [](uint64_t index) { return index; });
}

std::string LinearLayout::toString() const {
  static constexpr const char *kNames[] = {"register", "lane", "warp"};
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [name, list] : llvm::zip_equal(kNames, bases)) {
    os << name << ":";
    for (uint64_t basis : list) {
      os << " (";
      llvm::interleaveComma(getCoordinates(basis), os);
      os << ")";
    }
    os << "\n";
  }
  return text;
}
