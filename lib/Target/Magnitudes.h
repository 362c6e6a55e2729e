// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_MAGNITUDES_H
#define IRIS_TARGET_MAGNITUDES_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites comparisons of magnitudes with negative constants, in LLVM IR that
/// is ready for NVIDIA GPUs: ptxas 13.0 takes abs(x) > c for true, also if x is
/// NaN. Only whether x is NaN matters, so x is compared with itself.
struct MagnitudesPass : llvm::PassInfoMixin<MagnitudesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_MAGNITUDES_H
