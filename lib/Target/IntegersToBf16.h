// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_INTEGERSTOBF16_H
#define IRIS_TARGET_INTEGERSTOBF16_H

#include "llvm/IR/PassManager.h"

namespace mlir::iris {

/// Converts integers to bf16 by way of f64, which holds them exactly. Code
/// generation of LLVM 22.1.8 goes through f32, and rounds twice.
///
/// Kernels have no such conversions of more than 24 bits
/// (iris-expand-conversions), but InstCombine makes them of ones to f64 that
/// are then narrowed. Only code generation may follow this pass.
struct IntegersToBf16Pass : llvm::PassInfoMixin<IntegersToBf16Pass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &);
  /// Results must not depend on the optimization level.
  static bool isRequired() { return true; }
};

} // namespace mlir::iris

#endif // IRIS_TARGET_INTEGERSTOBF16_H
