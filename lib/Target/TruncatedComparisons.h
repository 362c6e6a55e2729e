// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_LIB_TARGET_TRUNCATEDCOMPARISONS_H
#define IRIS_LIB_TARGET_TRUNCATEDCOMPARISONS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Hides f32 values that are rounded to bf16 from their comparisons with
/// numbers of 2^127 and more. InstCombine of LLVM 22.1.8 (`foldFCmpFpTrunc`)
/// compares the value that is not rounded with the middle of two neighbours of
/// bf16, for which it adds them: the sum of such numbers is infinite in f32. It
/// runs before LLVM's optimisations, which RemoveArithmeticFencesPass ends.
struct TruncatedComparisonsPass
    : llvm::PassInfoMixin<TruncatedComparisonsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_TRUNCATEDCOMPARISONS_H
