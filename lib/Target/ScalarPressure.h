// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SCALARPRESSURE_H
#define IRIS_TARGET_SCALARPRESSURE_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Shortens the lives of scalar registers around the outer loops of AMD
/// kernels, in LLVM IR that is ready for code generation.
///
/// A kernel with several accesses has many loop-invariant facts: whether a
/// window is aligned, is inside, has small strides; sizes less a tile,
/// pitches in bytes. They are the same for all threads, so each is a scalar
/// register, two for a condition (a lane mask) and for 64 bits, and all of them
/// are alive throughout the loops, with the arguments that they come from.
/// There are about 100. Where a loop needs too many,
///  * its conditions become bits of one word, which a branch tests;
///  * cheap expressions of one other value and a constant are computed again in
///    the blocks that use them.
/// What innermost loops of a nest use stays in registers.
struct ScalarPressurePass : llvm::PassInfoMixin<ScalarPressurePass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SCALARPRESSURE_H
