// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `tile.reduce` computes, for the lowerings of all targets.
//
// Sums and products of floats round at every step, so their order is part of
// the op: step k = 0, 1, ... combines the partial results of the elements whose
// indices differ in bit k only. In other words, neighbours are combined, x[2i]
// op x[2i + 1], until one element is left. The order depends on the extent of
// the dimension alone. The operands of a step may be swapped: IEEE addition and
// multiplication are commutative (which NaN a result is, is not specified).
//
// All other reductions give the same result in any order. So do `min` and `max`
// of floats: -0.0 is less than +0.0, and NaN propagates.
#ifndef IRIS_DIALECT_TILE_UTILS_REDUCTION_H
#define IRIS_DIALECT_TILE_UTILS_REDUCTION_H

#include "iris/Dialect/Tile/IR/Tile.h"

namespace mlir::tile {

/// True if the result depends on the order of the steps.
bool dependsOnOrder(ReduceOp reduce);

/// The type of partial results: f32 for f16 and bf16.
Type getAccumulatorType(ReduceOp reduce);

/// Converts a scalar between the types of elements and of partial results.
Value convertPartial(OpBuilder &builder, Location loc, Value value, Type type);

/// Returns `lhs` op `rhs` of two scalars.
Value combinePartials(OpBuilder &builder, Location loc, ReduceKind kind,
                      Value lhs, Value rhs);

} // namespace mlir::tile

#endif // IRIS_DIALECT_TILE_UTILS_REDUCTION_H
