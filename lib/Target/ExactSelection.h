// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_EXACTSELECTION_H
#define IRIS_TARGET_EXACTSELECTION_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites LLVM IR that instruction selection for AMD GPUs would compile to
/// code with results other than those of IEEE 754. Applies to IR that is ready
/// for code generation. LLVM 22.1.8:
///   * narrows an f32 multiplication to f16 with `v_fma_mixlo_f16 d, a, b, 0`,
///     whose addition turns -0 into +0. `fma(a, b, -0.0)`, which equals a * b
///     for all operands, becomes the same instruction with the other zero. A
///     division by infinity becomes such a multiplication in instruction
///     selection only, and is hidden from what narrows it;
///   * treats `0 - x`, and `y + 0` if it can negate y, as a negation if another
///     instruction reads the result: -0 instead of +0 for x = +0. The zero is
///     hidden from instruction selection, and is a constant again afterwards;
///   * compiles `1 / x` of f16 to `v_rcp_f16`, which is not always correctly
///     rounded. The 1 is hidden too.
///
/// Only code generation may follow this pass: InstCombine undoes it.
struct ExactSelectionPass : llvm::PassInfoMixin<ExactSelectionPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results must not depend on the optimization level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_EXACTSELECTION_H
