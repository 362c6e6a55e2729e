// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SHORTINTEGERS_H
#define IRIS_TARGET_SHORTINTEGERS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites arithmetic on i16 for NVIDIA GPUs that ptxas (13.0 for sm_90a)
/// compiles to wrong code, in LLVM IR that is ready for code generation:
///  * `neg.s16` and `abs.s16` are computed in a register of 32 bits, whose
///    result is taken for sign-extended. 32768, the result for -32768, is not:
///    a division, a comparison or a conversion to 32 bits that follows reads a
///    positive number. A multiplication by -2^k is a shift and a negation. In
///    the upper half of 32 bits the result is right, and its shift back extends
///    the sign;
///  * `add.s16x2` lets the lower half overflow into the upper one, which is
///  then
///    too large by one. Vectors of short integers are added element by element.
///
/// Only code generation may come after this pass: InstCombine undoes it.
struct ShortIntegersPass : llvm::PassInfoMixin<ShortIntegersPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SHORTINTEGERS_H
