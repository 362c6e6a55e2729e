// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_MATRIXKERNELS_H
#define IRIS_TARGET_MATRIXKERNELS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Turns LLVM's vectorizers off in kernels of `mma.sync` that do not
/// communicate (no atomic accesses or fences) and store no single elements of 8
/// or 16 bits to global memory. SLP vectorization takes most of their compile
/// time, as they are long blocks of operands, and finds nothing: tiles are
/// vectors before.
///
/// LLVM has no attribute for that alone. `noimplicitfloat` has no other effect
/// on NVIDIA's GPUs; RestoreMatrixKernelsPass removes it after the vectorizers.
struct LeaveMatrixKernelsPass : llvm::PassInfoMixin<LeaveMatrixKernelsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

/// Removes what LeaveMatrixKernelsPass has set.
struct RestoreMatrixKernelsPass
    : llvm::PassInfoMixin<RestoreMatrixKernelsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace mlir::iris

#endif // IRIS_TARGET_MATRIXKERNELS_H
