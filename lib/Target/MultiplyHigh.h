// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_MULTIPLYHIGH_H
#define IRIS_TARGET_MULTIPLYHIGH_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Computes shifted multiplications of 16 bits in 32 bits, not in 64
/// (`Guard::MultiplyHigh`): of `trunc (ashr (x * y), 20)`, where x and y are
/// i64 of 16 bits, X86 takes the upper half of the multiplication and shifts it
/// as an unsigned number.
struct MultiplyHighPass : llvm::PassInfoMixin<MultiplyHighPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results must not depend on the optimization level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_MULTIPLYHIGH_H
