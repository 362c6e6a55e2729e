// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_PRESERVECONTROLFLOW_H
#define IRIS_TARGET_PRESERVECONTROLFLOW_H

#include "llvm/IR/Analysis.h"

namespace mlir::iris {

/// What stays valid after a pass that replaces instructions within blocks, if
/// it has `changed` any.
inline llvm::PreservedAnalyses preserveControlFlow(bool changed) {
  if (!changed)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

} // namespace mlir::iris

#endif // IRIS_TARGET_PRESERVECONTROLFLOW_H
