// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_MAGNITUDES_H
#define IRIS_TARGET_MAGNITUDES_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Guards comparisons of f32 with constants, in LLVM IR that is ready for
/// NVIDIA GPUs. ptxas 13.0 derives bounds of magnitudes, squares, exponentials,
/// sines, and of their sums and selections, and decides comparisons by them
/// also for NaN: `abs(x) > -1` and `x * x >= 0` are always true. Comparisons
/// that bounds may decide become `x > c and x == x`; ptxas leaves the second
/// part.
struct MagnitudesPass : llvm::PassInfoMixin<MagnitudesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_MAGNITUDES_H
