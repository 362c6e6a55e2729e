// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusedSizes.h - Flags and staging of a matmul kernel ------*- C++ -*-===//
//
// How many flags a matmul kernel has, and how large its staging buffer is.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_FUSEDSIZES_H
#define IRIS_PLAN_FUSEDSIZES_H

#include "iris/Plan/CopyLayout.h"

namespace irisplan {

/// The number of flags, and the extents of the staging buffer.
template <typename Number>
struct FusedSizes {
  Number numFlags, stagingRows, stagingColumns;
};

/// For the variant copy_engine. An all-gather has a slice for the shard of each
/// member; a reduction has slices for partial sums to send and to receive.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
FusedSizes<Number> getCopiedSizes(Arithmetic &n, const MatmulForm &form,
                                  const MatmulShape<Number> &shape) {
  CopyLayout<Arithmetic> layout(n, form, shape.aRows, shape.bColumns,
                                shape.size);
  Number numFlags = layout.flags.count;
  if (form.kind == MatmulKind::AllGatherMatmul)
    return {numFlags, n.mul(shape.size, layout.rows), shape.aColumns};
  if (form.kind == MatmulKind::MatmulAllGather)
    return {numFlags, n.index(0), n.index(0)};
  Number slices = n.mul(n.index(2), n.sub(shape.size, n.index(1)));
  return {numFlags, n.mul(n.max(slices, n.index(1)), layout.rows),
          shape.bColumns};
}

/// For all variants.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
FusedSizes<Number> getFusedSizes(Arithmetic &n, const MatmulForm &form,
                                 const MatmulShape<Number> &shape) {
  auto tiles = [&](Number extent, int64_t tile) {
    return n.ceilDiv(extent, n.index(tile));
  };
  Number none = n.index(0);
  Number columnTiles = tiles(shape.bColumns, form.tileN);
  if (form.isCopied())
    return getCopiedSizes(n, form, shape);
  // A slice for the shard of each member; a flag for each unit.
  if (form.isStaged()) {
    Number units = n.mul(tiles(shape.aRows, form.tileM),
                         tiles(shape.aColumns, form.kPerFlag * form.tileK));
    return {n.mul(shape.size, units), n.mul(shape.size, shape.aRows),
            shape.aColumns};
  }
  // A slice for each member's partial sum of this rank's rows; a flag for each
  // tile of each slice.
  if (form.kind == MatmulKind::MatmulReduceScatter) {
    Number rows = n.div(shape.aRows, shape.size);
    Number units = n.mul(tiles(rows, form.tileM), columnTiles);
    return {n.mul(shape.size, units), n.mul(shape.size, rows), shape.bColumns};
  }
  // A slice for the partial sums of each split; a counter for each tile.
  if (form.isSplit()) {
    Number units = n.mul(tiles(shape.aRows, form.tileM), columnTiles);
    return {units, n.mul(n.index(form.splitK), shape.aRows), shape.bColumns};
  }
  // This rank's partial sums of all tiles; a flag for each tile of each member.
  if (form.hasStaging()) {
    Number units = n.mul(tiles(shape.aRows, form.tileM), columnTiles);
    return {n.mul(shape.size, units), shape.aRows, shape.bColumns};
  }
  // A flag for each tile of this rank.
  if (form.has(hasCommPrograms)) {
    Number units = n.mul(tiles(shape.aRows, form.tileM), columnTiles);
    return {units, none, none};
  }
  return {none, none, none};
}

} // namespace irisplan

#endif // IRIS_PLAN_FUSEDSIZES_H
