// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_REPLACEINSTRUCTIONS_H
#define IRIS_TARGET_REPLACEINSTRUCTIONS_H

#include "PreserveControlFlow.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

namespace mlir::iris {

/// Gives the value in place of an instruction, built in front of it; null to
/// leave the instruction.
using ReplaceFunction =
    llvm::function_ref<llvm::Value *(llvm::Instruction &, llvm::IRBuilder<> &)>;

/// Replaces instructions of a function, within their blocks.
inline llvm::PreservedAnalyses replaceInstructions(llvm::Function &function,
                                                   ReplaceFunction replace) {
  bool changed = false;
  for (llvm::Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    llvm::IRBuilder<> b(&op);
    llvm::Value *result = replace(op, b);
    if (!result)
      continue;
    op.replaceAllUsesWith(result);
    op.eraseFromParent();
    changed = true;
  }
  return preserveControlFlow(changed);
}

} // namespace mlir::iris

#endif // IRIS_TARGET_REPLACEINSTRUCTIONS_H
