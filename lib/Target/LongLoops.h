// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_LONGLOOPS_H
#define IRIS_TARGET_LONGLOOPS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Keeps ptxas from unrolling loops that it would end too early or too late, in
/// LLVM IR that is ready for NVIDIA GPUs. ptxas 13.0 unrolls loops with a
/// constant step. It compares the distance from the counter to the limit with a
/// multiple of the step, both of which overflow: of `for (i = -2^31; i < n;
/// i += 2^29)` it executes one iteration. Such loops get the metadata
/// `llvm.loop.unroll.disable`, which LLVM writes as `.pragma "nounroll"`.
struct LongLoopsPass : llvm::PassInfoMixin<LongLoopsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_LONGLOOPS_H
