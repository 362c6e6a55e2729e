// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_WIDEDIVISIONS_H
#define IRIS_TARGET_WIDEDIVISIONS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Narrows divisions of i64 for AMD GPUs whose operands fit in 32 bits. LLVM
/// 22.1.8 does so too, but signed ones become i32 divisions, which overflow for
/// -2^31 / -1, where i64 has room for the quotient: here they become unsigned
/// divisions of the magnitudes.
///
/// Only code generation may follow this pass.
struct WideDivisionsPass : llvm::PassInfoMixin<WideDivisionsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results must not depend on the optimization level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_WIDEDIVISIONS_H
