// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_MIXEDLIMITS_H
#define IRIS_TARGET_MIXEDLIMITS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites signed minima of unsigned maxima, in LLVM IR that is ready for
/// NVIDIA GPUs: ptxas 13.0 takes `min.s32(max.u32(x, c), k)` for a number from
/// c to k, also if x is negative, and drops masks of the bits above. Negative
/// numbers are selected instead, and limited by a signed maximum otherwise.
struct MixedLimitsPass : llvm::PassInfoMixin<MixedLimitsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_MIXEDLIMITS_H
