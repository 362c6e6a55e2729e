// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixKernels.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

static bool isMatrixOp(const llvm::Instruction &instruction) {
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call &&
         call->getCalledFunction()->getName().starts_with("llvm.nvvm.mma.");
}

llvm::PreservedAnalyses
mlir::iris::LeaveMatrixKernelsPass::run(llvm::Function &function,
                                        llvm::FunctionAnalysisManager &) {
  if (llvm::any_of(llvm::instructions(function), isMatrixOp))
    function.addFnAttr(llvm::Attribute::NoImplicitFloat);
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses
mlir::iris::RestoreMatrixKernelsPass::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &) {
  function.removeFnAttr(llvm::Attribute::NoImplicitFloat);
  return llvm::PreservedAnalyses::all();
}
