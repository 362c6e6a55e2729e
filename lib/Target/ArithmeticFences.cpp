// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArithmeticFences.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

llvm::PreservedAnalyses
mlir::iris::RemoveArithmeticFencesPass::run(llvm::Function &function,
                                            llvm::FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (llvm::Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function)))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
        call && call->getIntrinsicID() == llvm::Intrinsic::arithmetic_fence) {
      call->replaceAllUsesWith(call->getArgOperand(0));
      call->eraseFromParent();
      hasChanged = true;
    }
  return mlir::iris::preserveControlFlow(hasChanged);
}
