// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_COPIEDSIGNS_H
#define IRIS_TARGET_COPIEDSIGNS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Copies signs of f16 and bf16 by operations on bits, in LLVM IR that is ready
/// for instruction selection for AMD GPUs. That takes the sign from what the
/// operand is rounded from or extended from: of f32 and f64 in vectors the
/// wrong bit (SITargetLowering::lowerFCOPYSIGN), and of bf16 for f16 (or of f16
/// for bf16) there is no instruction.
struct CopiedSignsPass : llvm::PassInfoMixin<CopiedSignsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_COPIEDSIGNS_H
