// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulForm.h - Tiles and memory of a matmul kernel -------*- C++ -*-===//
//
// How many tiles a matmul has, and what memory it needs. The compiler evaluates
// these formulas in kernels and host programs, the runtime on the host
// (Arithmetic.h).
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_MATMULFORM_H
#define IRIS_PLAN_MATMULFORM_H

#include "iris/Plan/Matmuls.h"

#include <string>

namespace irisplan {

/// The properties of a matmul's kernel that determine its tiles and its memory.
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
  /// Whether the caller of the kernel copies the data between ranks. There is
  /// no object per strategy: the generators are functions that the variants'
  /// rows name, and what else depends on it is memory (below), the runtime's
  /// copies and their cost, one condition each.
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

/// The number of output tiles that one rank computes; each split counts. A tile
/// does not cross the boundary between the rows of two ranks.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
Number countTiles(Arithmetic &n, const MatmulForm &form,
                  const MatmulShape<Number> &shape) {
  bool isScatter = form.kind == MatmulKind::MatmulReduceScatter;
  bool hasRowsOfAllRanks =
      isScatter ||
      (form.kind == MatmulKind::AllGatherMatmul && form.shard == "m");
  Number rows = shape.aRows;
  if (isScatter || form.has(takesGathered))
    rows = n.div(rows, shape.size);
  Number tiles = n.mul(n.ceilDiv(rows, n.index(form.tileM)),
                       n.ceilDiv(shape.bColumns, n.index(form.tileN)));
  if (hasRowsOfAllRanks)
    tiles = n.mul(shape.size, tiles);
  return form.isSplit() ? n.mul(tiles, n.index(form.splitK)) : tiles;
}

/// The number of programs of a launch: one per tile, at most `most`; `most` if
/// there are communication programs.
template <typename Arithmetic, typename Number = typename Arithmetic::Number>
Number countPrograms(Arithmetic &n, const MatmulForm &form,
                     const MatmulShape<Number> &shape, Number most) {
  if (form.has(hasCommPrograms))
    return most;
  return countPrograms(n, countTiles(n, form, shape), most);
}

/// Rows and columns of a matrix.
struct MatrixSize {
  int64_t rows = 0, columns = 0;
};

/// The matrices that a rank passes to a matmul.
struct MatmulMatrices {
  MatrixSize a, b, c;

  MatmulShape<int64_t> shape(int64_t size) const {
    return {a.rows, a.columns, b.columns, size};
  }
};

/// For the problem m x n x k of a caller (ccl::MatmulProblem), in a group of
/// `size` ranks.
MatmulMatrices getMatrices(const MatmulForm &form, int64_t m, int64_t n,
                           int64_t k, int64_t size);

} // namespace irisplan

#endif // IRIS_PLAN_MATMULFORM_H
