// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_BF16EXTENSIONS_H
#define IRIS_TARGET_BF16EXTENSIONS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Extends bf16 by operations on bits, in functions that narrow numbers to f16.
/// It runs before LLVM's optimisations: for an operation on extended bf16 whose
/// result is narrowed to f16, InstCombine narrows the operands, because f16 has
/// more digits. Numbers beyond those of f16 become infinite.
struct Bf16ExtensionsPass : llvm::PassInfoMixin<Bf16ExtensionsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_BF16EXTENSIONS_H
