// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_NEGATEDVECTORS_H
#define IRIS_TARGET_NEGATEDVECTORS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Splits negations of vectors of floats for AMD GPUs, in LLVM IR that is ready
/// for instruction selection: none is of several registers then. LLVM takes
/// `fneg (bitcast (build_vector i32 ...))` for that of an f64 and negates the
/// last i32 only (AMDGPUTargetLowering::performFNegCombine), also where the
/// result is a vector, such as of f32. Registers are selected one by one in any
/// case. `fneg (fptrunc x)` becomes `fptrunc (fneg x)`, so vectors that are
/// negated afterwards are rounded element by element.
struct NegatedVectorsPass : llvm::PassInfoMixin<NegatedVectorsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_NEGATEDVECTORS_H
