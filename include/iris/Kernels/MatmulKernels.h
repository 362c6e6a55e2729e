// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulKernels.h - Generators of matmuls ------------------*- C++ -*-===//
//
// One function per kernel; the rows of Matmuls.def name the function of a
// variant.
// docs/internals/fused-matmuls.md says why each protocol is correct.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_MATMULKERNELS_H
#define IRIS_KERNELS_MATMULKERNELS_H

#include "iris/Kernels/MatmulBuilder.h"

namespace mlir::iris {

// Variants of several kinds may have the same generator.
#define IRIS_MATMUL_VARIANT(Kind, variant, Generator, ...)                     \
  void build##Generator(MatmulBuilder &k);
#define IRIS_UNFUSED_VARIANT(...)
#include "iris/Plan/Matmuls.def"

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
