// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_NESTEDMINMAX_H
#define IRIS_TARGET_NESTEDMINMAX_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Hides the value of a minimum or maximum with a constant K, `v > K or v is
/// NaN ? K : v`, behind an arithmetic fence, where it may be a minimum or
/// maximum itself.
///
/// InstCombine of LLVM 22.1.8 (`foldSPFofSPF`) takes min(min(x, K), K) for
/// min(x, K), whatever that gives for NaN. Only those of selections and of
/// values that come from several blocks are rewritten. To be run before LLVM's
/// optimisations.
struct NestedMinMaxPass : llvm::PassInfoMixin<NestedMinMaxPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_NESTEDMINMAX_H
