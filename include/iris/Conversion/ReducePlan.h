// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the threads of a program reduce a tile, and the memory that they need.
#ifndef IRIS_CONVERSION_REDUCEPLAN_H
#define IRIS_CONVERSION_REDUCEPLAN_H

#include "iris/Analysis/LinearLayout.h"
#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::iris {

/// Combines the elements whose positions differ in one bit of a register, lane
/// or warp number.
struct ReduceStep {
  LayoutDim input;
  unsigned bit;
  /// What the bit changes in the element's index.
  uint64_t basis;
};

/// The steps of a reduction, from the first one.
///
/// If the result depends on the order, they are in the order of the dialect
/// (iris/Dialect/Tile/Utils/Reduction.h). Otherwise the cheap ones come first:
/// registers, lanes, warps.
struct ReducePlan {
  /// The layout of the source when the steps begin. The tile is converted to it
  /// if its own layout spreads a bit of the reduced coordinate over several
  /// input bits.
  LinearLayout layout;
  /// From the source's own layout; nothing if that is `layout`.
  std::optional<LayoutConversion> conversion;
  /// The layout of the result.
  LinearLayout slice;
  llvm::SmallVector<ReduceStep> steps;

  /// True if threads exchange elements before the first step.
  bool needsExchange() const {
    return conversion && !conversion->isWithinThread();
  }

  /// Partial results of the program before step `step`.
  uint64_t getNumPartials(size_t step) const {
    return slice.getNumElements() << (steps.size() - step);
  }
};

/// Returns the plan; nothing if a basis of the source's layout changes the
/// reduced dimension and another one.
std::optional<ReducePlan> planReduction(tile::ReduceOp op);

/// Partial results are exchanged between warps in rounds of at most so many
/// bytes, if the registers of the result can be divided.
inline constexpr uint64_t kMaxRoundBytes = 16384;

/// Returns the register bits whose settings are exchanged in rounds of their
/// own, for an exchange of `numPartials` partial results of `elementBytes`.
uint64_t getRoundBits(const ReducePlan &plan, uint64_t numPartials,
                      uint64_t elementBytes);

/// Bytes of workgroup memory that a reduction needs.
uint64_t getReductionBytes(tile::ReduceOp op);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_REDUCEPLAN_H
