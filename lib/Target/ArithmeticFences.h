// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_ARITHMETICFENCES_H
#define IRIS_TARGET_ARITHMETICFENCES_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Removes the fences behind LLVM's optimisations: code generation for AMD GPUs
/// does not know in which registers they are.
struct RemoveArithmeticFencesPass
    : llvm::PassInfoMixin<RemoveArithmeticFencesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_ARITHMETICFENCES_H
