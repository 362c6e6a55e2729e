// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulKernels.h - Generators of matmuls ------------------*- C++ -*-===//
//
// One function per kind; each generates the variant that the config names.
// docs/internals/fused-matmuls.md says why each protocol is correct.
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

/// In the variants that send by copy engine: the program that computes the
/// first tile runs a barrier with its peer programs after that tile, and then
/// signals the caller through `entered`. Copies write memory that earlier calls
/// on peers may still read, so they must not start before this barrier. The
/// compute programs do not wait for it.
void barrierBeforeCopies(MatmulBuilder &k, Value isFirstTile, Value entered);

/// Builds the GPU module for `op` and inserts it before `op`.
FailureOr<gpu::GPUModuleOp> buildMatmulKernel(MatmulKernelOp op);

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULKERNELS_H
