// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_ROTATEDSUMS_H
#define IRIS_TARGET_ROTATEDSUMS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites sums and differences of shifts of one i64, in LLVM IR that is ready
/// for NVIDIA GPUs. ptxas 13.0 compiles (x << c) + (x >> (64 - c)) to a
/// rotation, also where the right shift is arithmetic, and the difference of
/// the two as well. It does not see through complements: a - b is ~(~a + b),
/// and a + b is ~(~a - b).
struct RotatedSumsPass : llvm::PassInfoMixin<RotatedSumsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_ROTATEDSUMS_H
