// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_NARROWRECURRENCES_H
#define IRIS_TARGET_NARROWRECURRENCES_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Leaves the loop vectorizer recurrences of one width in each loop
/// (`Guard::NarrowRecurrences`). It checks before a loop that `i mod 4`, a
/// recurrence of 2 bits, does not wrap around, but not if it has checked that a
/// wider one does not. The narrower ones are frozen, so that it does not know
/// them.
struct NarrowRecurrencesPass : llvm::PassInfoMixin<NarrowRecurrencesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results must not depend on the optimization level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_NARROWRECURRENCES_H
