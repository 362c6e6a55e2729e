// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_LOADSBEFOREBARRIERS_H
#define IRIS_TARGET_LOADSBEFOREBARRIERS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Keeps loads in front of the fences and barriers that follow them, in LLVM IR
/// for AMD GPUs that is ready for code generation.
///
/// MachineSink of LLVM 22.1.8 moves a load into the block where its value is
/// used. It asks `MachineInstr::isSafeToMove` whether a store lies between, for
/// which fences and barriers do not count: the load passes them, and reads what
/// other threads store after the barrier. A use of the value in front of the
/// fence (`llvm.fake.use`, which emits nothing) holds the load there.
///
/// Loads that a store pins already are left alone, such as those of a main loop
/// whose values are stored to LDS behind the barrier.
///
/// Only code generation may come after this pass.
struct LoadsBeforeBarriersPass : llvm::PassInfoMixin<LoadsBeforeBarriersPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  /// A matter of correctness at every optimisation level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_LOADSBEFOREBARRIERS_H
