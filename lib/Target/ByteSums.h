// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_BYTESUMS_H
#define IRIS_TARGET_BYTESUMS_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Adds vectors of bytes by words, in LLVM IR that is ready for code
/// generation.
///
/// GPUs have no addition of bytes. LLVM takes each byte into a register of its
/// own, so that a reduction needs four times as many as its operands have. Here
/// the low seven bits of each byte of a word are added, which carries into the
/// eighth one only, and the eighth bits are added without a carry: "Hacker's
/// Delight", section 2-18.
struct ByteSumsPass : llvm::PassInfoMixin<ByteSumsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
};

} // namespace mlir::iris

#endif // IRIS_TARGET_BYTESUMS_H
