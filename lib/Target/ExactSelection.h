// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_EXACTSELECTION_H
#define IRIS_TARGET_EXACTSELECTION_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites what instruction selection for AMD GPUs computes with other bits
/// than IEEE 754 says, in LLVM IR that is ready for code generation. LLVM
/// 22.1.8:
///  * narrows a product of f32 to f16 by `v_fma_mixlo_f16 d, a, b, 0`, whose
///    addition turns -0 into +0. As `fma(a, b, -0.0)`, which equals a * b for
///    all operands, it becomes the same instruction with the other zero;
///  * takes `0 - x`, and `y + 0` where it can negate y, for a negation where
///    another instruction reads the result: -0 in place of +0 for x = +0. The
///    zero is hidden from selection, and is a constant again afterwards;
///  * takes `1 / x` of f16 for `v_rcp_f16`, which is not always rounded
///    correctly. The 1 is hidden, too.
///
/// Only code generation may come after this pass: InstCombine undoes it.
struct ExactSelectionPass : llvm::PassInfoMixin<ExactSelectionPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_EXACTSELECTION_H
