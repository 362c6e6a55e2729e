// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_DECREASINGINDUCTIONS_H
#define IRIS_TARGET_DECREASINGINDUCTIONS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Drops `nsw` and `nuw` from the subtractions of inductions, in front of the
/// loop vectorizer (`Guard::DecreasingInductions`): of `x - step` it makes
/// multiples of `-step` with the same flags, and a multiple of a negative
/// number wraps around where x does not.
struct DecreasingInductionsPass
    : llvm::PassInfoMixin<DecreasingInductionsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results must not depend on the optimization level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_DECREASINGINDUCTIONS_H
