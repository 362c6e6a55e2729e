// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SHORTNEGATION_H
#define IRIS_TARGET_SHORTNEGATION_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites negations and absolute values of i16 for NVIDIA GPUs, in LLVM IR
/// that is ready for code generation. ptxas (13.0 for sm_90a) computes
/// `neg.s16` and `abs.s16` in a register of 32 bits and takes the result for
/// sign-extended, which 32768, the result for -32768, is not: a division, a
/// comparison or a conversion to 32 bits that follows reads a positive number.
/// In the upper half of 32 bits the result is right, and its shift back extends
/// the sign.
///
/// Only code generation may come after this pass: InstCombine undoes it.
struct ShortNegationPass : llvm::PassInfoMixin<ShortNegationPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SHORTNEGATION_H
