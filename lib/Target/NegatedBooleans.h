// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_NEGATEDBOOLEANS_H
#define IRIS_TARGET_NEGATEDBOOLEANS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Selects the negatives of booleans that are converted to floats, in LLVM IR
/// that is ready for NVIDIA GPUs: of `neg(cvt(b ? 1 : 0))` ptxas 13.0 makes
/// `b ? -1.0 : 0.0`, whose zero has lost its sign.
struct NegatedBooleansPass : llvm::PassInfoMixin<NegatedBooleansPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_NEGATEDBOOLEANS_H
