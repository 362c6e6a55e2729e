// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_GUARDEDSHIFTS_H
#define IRIS_TARGET_GUARDEDSHIFTS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Rewrites shifts that code generation for NVIDIA GPUs would compile to code
/// with other results, in LLVM IR that is ready for it. LLVM 22.1.8:
///   * drops the condition of `n < 64 ? x << n : 0`, because PTX shifts by 64
///     and more give 0. But they read only the lower 32 bits of n. The 0 is
///     hidden (llvm#201165);
///   * multiplies by -2^31 for a sign-extended `shl nsw x, 31`, whose factor is
///     2^31. The flag is dropped (llvm#200924).
///
/// Only code generation may come after this pass.
struct GuardedShiftsPass : llvm::PassInfoMixin<GuardedShiftsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results do not depend on the optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_GUARDEDSHIFTS_H
