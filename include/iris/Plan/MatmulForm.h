// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulForm.h - Tiles and memory of a matmul kernel -------*- C++ -*-===//
//
// How many tiles a matmul has, and how large its flags and its staging buffer
// are. The compiler evaluates these formulas in kernels and host programs, the
// runtime on the host (Arithmetic.h).
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_MATMULFORM_H
#define IRIS_PLAN_MATMULFORM_H

#include "iris/Plan/Matmuls.h"

#include <string>

namespace irisplan {

/// What decides the tiles and the memory of a matmul's kernel.
struct MatmulForm {
  MatmulKind kind = MatmulKind::Matmul;
  const MatmulVariant *variant = nullptr;
  /// The dimension that is sharded over the ranks: "k", "m" or "n".
  std::string shard;
  int64_t tileM = matmul_numbers::tileM.defaultValue;
  int64_t tileN = matmul_numbers::tileN.defaultValue;
  int64_t tileK = matmul_numbers::tileK.defaultValue;
  int64_t groupM = matmul_numbers::groupM.defaultValue;
  int64_t kPerFlag = matmul_numbers::kPerFlag.defaultValue;
  int64_t splitK = matmul_numbers::splitK.defaultValue;

  bool has(MatmulTrait trait) const { return variant->has(trait); }
  /// Whether the caller of the kernel copies the data between ranks.
  bool isCopied() const { return has(copiedByEngine); }
  /// Whether shards of a go through the staging buffer.
  bool isStaged() const {
    return has(movesUnits) ||
           (isCopied() && kind == MatmulKind::AllGatherMatmul);
  }
  /// Whether a is copied in its memory layout, which must then be row-major
  /// without gaps.
  bool copiesA() const { return isStaged() || has(takesGathered); }
  /// Whether whole rows of c are copied, so that its columns cannot be sharded.
  bool copiesRowsOfC() const {
    return isCopied() && kind == MatmulKind::MatmulAllGather;
  }
  /// Whether partial sums of split-K go through the staging buffer.
  bool isSplit() const { return splitK > 1; }
  /// Whether the kernel has a staging buffer.
  bool hasStaging() const {
    return isStaged() || isSplit() || kind == MatmulKind::MatmulReduceScatter ||
           (kind == MatmulKind::MatmulAllReduce && !has(addsInResult));
  }
  /// Whether the kernel has a workspace (FusedWorkspace).
  bool hasWorkspace() const {
    return isSplit() || (kind != MatmulKind::Matmul && !has(takesGathered));
  }
  /// Whether partial sums of a reduction over ranks go through the staging
  /// buffer.
  bool hasPartialSums() const {
    return hasStaging() && !isStaged() && !isSplit();
  }
};

/// Rows and columns of a and b, and the number of ranks in the group.
template <typename Number>
struct MatmulShape {
  Number aRows, aColumns, bColumns, size;
};

/// Output tiles that one rank computes, one for each split. Tiles do not cross
/// the boundary between two ranks' rows.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
Number countTiles(Arithmetic &n, const MatmulForm &form,
                  const MatmulShape<Number> &shape) {
  bool isScatter = form.kind == MatmulKind::MatmulReduceScatter;
  bool isForAll = isScatter || (form.kind == MatmulKind::AllGatherMatmul &&
                                form.shard == "m");
  Number rows = shape.aRows;
  if (isScatter || form.has(takesGathered))
    rows = n.div(rows, shape.size);
  Number tiles = n.mul(n.ceilDiv(rows, n.index(form.tileM)),
                       n.ceilDiv(shape.bColumns, n.index(form.tileN)));
  if (isForAll)
    tiles = n.mul(shape.size, tiles);
  return form.isSplit() ? n.mul(tiles, n.index(form.splitK)) : tiles;
}

/// Programs of a launch: one for each tile, at most `most`; all of them where
/// some only communicate.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
Number countPrograms(Arithmetic &n, const MatmulForm &form,
                     const MatmulShape<Number> &shape, Number most) {
  if (form.has(hasCommPrograms))
    return most;
  return countPrograms(n, countTiles(n, form, shape), most);
}

/// The number of flags, and the extents of the staging buffer.
template <typename Number>
struct FusedSizes {
  Number numFlags, stagingRows, stagingColumns;
};

/// The variant copy_engine: the rows that one member owns, the tile rows in
/// them, and the groups of tile rows; each group is one copy. An all-reduce
/// divides whole tiles among the members, so the last members may own fewer
/// rows.
template <typename Number>
struct CopiedChunk {
  Number rows, rowTiles, groups;
};

/// `rows`: the number of rows of a.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
CopiedChunk<Number> getCopiedChunk(Arithmetic &n, const MatmulForm &form,
                                   Number rows, Number size) {
  CopiedChunk<Number> chunk;
  Number tileRows = n.index(form.tileM);
  if (form.kind == MatmulKind::MatmulReduceScatter)
    rows = n.div(rows, size);
  chunk.rowTiles = n.ceilDiv(rows, tileRows);
  if (form.kind == MatmulKind::MatmulAllReduce) {
    chunk.rowTiles = n.ceilDiv(chunk.rowTiles, size);
    rows = n.mul(chunk.rowTiles, tileRows);
  }
  chunk.rows = rows;
  chunk.groups = n.ceilDiv(chunk.rowTiles, n.index(form.groupM));
  return chunk;
}

/// The flags of the variant copy_engine, in this order. Those that count tiles
/// down are initialized by the caller of the kernel, which waits for 0.
///
///   arrived   of a group that a copy brings (not of a result all-gather)
///   missing   tiles of a group that are not done (not of an all-gather of a)
///   entered   1 until the kernel has passed its barrier (as above)
///   done      tiles of a group that are done (reductions)
template <typename Number>
struct CopiedFlags {
  Number arrived, missing, entered, count;
};

/// `groups`: of one member. The result has the index of the first flag of each
/// kind, and the number of all flags.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
CopiedFlags<Number> getCopiedFlags(Arithmetic &n, const MatmulForm &form,
                                   Number groups, Number size) {
  Number none = n.index(0), one = n.index(1);
  if (form.kind == MatmulKind::MatmulAllGather)
    return {none, none, groups, n.add(groups, one)};
  Number flags = n.mul(size, groups);
  if (form.kind == MatmulKind::AllGatherMatmul)
    return {none, flags, flags, flags};
  Number count = n.add(n.mul(n.index(3), flags), one);
  return {none, flags, n.mul(n.index(2), flags), count};
}

/// The index of the first `done` flag of a reduction.
template <typename Arithmetic, typename Number>
Number getDoneFlag(Arithmetic &n, const CopiedFlags<Number> &flags) {
  return n.add(flags.entered, n.index(1));
}

/// The variant copy_engine. An all-gather: the members' shards of a, below each
/// other. A reduction: slices for partial sums to send and to receive.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
FusedSizes<Number> getCopiedSizes(Arithmetic &n, const MatmulForm &form,
                                  const MatmulShape<Number> &shape) {
  CopiedChunk<Number> chunk = getCopiedChunk(n, form, shape.aRows, shape.size);
  Number numFlags = getCopiedFlags(n, form, chunk.groups, shape.size).count;
  if (form.kind == MatmulKind::AllGatherMatmul)
    return {numFlags, n.mul(shape.size, chunk.rows), shape.aColumns};
  if (form.kind == MatmulKind::MatmulAllGather)
    return {numFlags, n.index(0), n.index(0)};
  Number slices = n.mul(n.index(2), n.sub(shape.size, n.index(1)));
  return {numFlags, n.mul(n.max(slices, n.index(1)), chunk.rows),
          shape.bColumns};
}

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
  // The members' shards of a, below each other; a flag for each unit.
  if (form.isStaged()) {
    Number units = n.mul(tiles(shape.aRows, form.tileM),
                         tiles(shape.aColumns, form.kPerFlag * form.tileK));
    return {n.mul(shape.size, units), n.mul(shape.size, shape.aRows),
            shape.aColumns};
  }
  // The members' partial sums of this rank's rows, below each other; a flag for
  // each tile of each.
  if (form.kind == MatmulKind::MatmulReduceScatter) {
    Number rows = n.div(shape.aRows, shape.size);
    Number units = n.mul(tiles(rows, form.tileM), columnTiles);
    return {n.mul(shape.size, units), n.mul(shape.size, rows), shape.bColumns};
  }
  // The partial sums of each split, below each other; a counter for each tile.
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

#endif // IRIS_PLAN_MATMULFORM_H
