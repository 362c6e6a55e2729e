// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on the tile dialect.
#ifndef IRIS_DIALECT_TILE_TRANSFORMS_PASSES_H
#define IRIS_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tile {

/// On a matmul: the layout in which the target gives the result, and takes
/// `init`. Users of the result have it too unless the kernel pins another one.
inline constexpr StringLiteral kResultLayoutAttr = "tile.result_layout";

#define GEN_PASS_DECL
#include "iris/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace mlir::tile

#endif // IRIS_DIALECT_TILE_TRANSFORMS_PASSES_H
