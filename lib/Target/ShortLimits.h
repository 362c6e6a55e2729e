// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_LIB_TARGET_SHORTLIMITS_H
#define IRIS_LIB_TARGET_SHORTLIMITS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Computes minima and maxima of up to 16 bits and a constant in 32 bits, in
/// LLVM IR that is ready for NVIDIA GPUs. ptxas 13.0 makes `min.s16 z, x, c`
/// and `setp.eq.b16 p, z, c`, also of `z` after a conversion, one instruction
/// for two halves of a register, which sets `p` for each of them: it keeps that
/// of the other half. Such comparisons are made during code generation too, in
/// front of counts of zeros.
struct ShortLimitsPass : llvm::PassInfoMixin<ShortLimitsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_SHORTLIMITS_H
