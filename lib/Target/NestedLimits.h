// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_NESTEDLIMITS_H
#define IRIS_TARGET_NESTEDLIMITS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Separates the NaN from selections that limit a value by a constant K and
/// give K for NaN, `v > K or v is NaN ? K : v`.
///
/// InstCombine of LLVM 22.1.8 (`foldSPFofSPF`) takes such a limit of a value
/// with the same limit for that value, whatever the value is for NaN. Only
/// limits of selections and of values that come from several blocks are
/// rewritten. To be run before LLVM's optimisations.
struct NestedLimitsPass : llvm::PassInfoMixin<NestedLimitsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_NESTEDLIMITS_H
