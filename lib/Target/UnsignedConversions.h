// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_UNSIGNEDCONVERSIONS_H
#define IRIS_TARGET_UNSIGNEDCONVERSIONS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Hides what computes the integers that are converted to floats as unsigned
/// ones, where they may be negative as signed ones. It runs before LLVM's
/// optimisations, which RemoveArithmeticFencesPass ends.
/// * InstCombine takes `uitofp(fptosi x)` for exact if the result has a digit
/// more
///   than x (isKnownExactCastIntToFP): a negative x becomes 2^n + x, of up to n
///   digits.
/// * The SLP vectorizer makes `uitofp(sext x)` a vector of `uitofp x`, and so
///   other values with several copies of the sign (its minimal bit widths).
struct UnsignedConversionsPass : llvm::PassInfoMixin<UnsignedConversionsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_UNSIGNEDCONVERSIONS_H
