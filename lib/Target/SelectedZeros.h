// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SELECTEDZEROS_H
#define IRIS_TARGET_SELECTEDZEROS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites comparisons with zero of selections that GPUs have no minimum or
/// maximum for, in LLVM IR that is ready for instruction selection: LLVM takes
/// `x < 0.0 ? x : 0.0` for the minimum, which is -0.0 for -0.0. Compared with
/// the other zero, it has the same result and is no minimum for LLVM.
struct SelectedZerosPass : llvm::PassInfoMixin<SelectedZerosPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SELECTEDZEROS_H
