// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulKernels.h - Generators of matmuls ------------------*- C++ -*-===//
//
// One function per kind; each writes the variant that the config names.
// docs/fused.md says why each protocol is correct.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_MATMULKERNELS_H
#define IRIS_KERNELS_MATMULKERNELS_H

#include "iris/Kernels/MatmulBuilder.h"

namespace mlir::iris {

void buildMatmul(MatmulBuilder &k);
void buildAllGatherMatmul(MatmulBuilder &k);
void buildMatmulAllGather(MatmulBuilder &k);
void buildMatmulReduceScatter(MatmulBuilder &k);
void buildMatmulAllReduce(MatmulBuilder &k);
/// The variant copy_engine of the last two.
void buildCopiedSum(MatmulBuilder &k);

/// What a kernel needs beside its matrices.
struct FusedSizes {
  Value numFlags, stagingRows, stagingColumns;
};
/// Rows and columns of a and b, and members of the group.
struct MatmulShape {
  Value aRows, aColumns, bColumns, size;
};
/// `n` may write to a kernel or to a host program.
FusedSizes getFusedSizes(ScalarBuilder &n, const MatmulConfig &config,
                         const MatmulShape &shape);

/// The variant copy_engine: rows that one member owns, tiles of them, and
/// groups of those, each of which is a copy.  Of an all-reduce whole tiles are
/// dealt out, and the last parts may have fewer.
struct CopiedParts {
  Value rows, rowTiles, groups;
};
/// `rows`: of a.
CopiedParts getCopiedParts(ScalarBuilder &n, const MatmulConfig &config,
                           Value rows, Value size);
/// Where copies leave: the program that has the first tile meets its peer
/// programs when it has computed it, and says so. What is copied lands where
/// earlier calls may still read, so nothing is before that; and nothing waits
/// for it.
void barrierBeforeCopies(MatmulBuilder &k, Value isFirstTile, Value entered);

/// Builds the module that `op` stands for, before it.
FailureOr<gpu::GPUModuleOp> buildMatmulKernel(MatmulKernelOp op);

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULKERNELS_H
