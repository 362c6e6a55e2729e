// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixKernels.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

static bool isMatrixOp(const llvm::Instruction &instruction) {
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call &&
         call->getCalledFunction()->getName().starts_with("llvm.nvvm.mma.");
}

/// The address space of shared memory.
static constexpr unsigned kShared = 3;

/// A store of a result of less than a register, of which several become one.
static bool isNarrowStore(const llvm::Instruction &instruction) {
  const auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (!store || store->getPointerAddressSpace() == kShared)
    return false;
  const llvm::Type *type = store->getValueOperand()->getType();
  return !type->isPointerTy() && type->getPrimitiveSizeInBits() < 32;
}

llvm::PreservedAnalyses
mlir::iris::LeaveMatrixKernelsPass::run(llvm::Function &function,
                                        llvm::FunctionAnalysisManager &) {
  if (llvm::any_of(llvm::instructions(function), isMatrixOp) &&
      llvm::none_of(llvm::instructions(function),
                    [](const llvm::Instruction &instruction) {
                      return isNarrowStore(instruction) ||
                             instruction.isAtomic();
                    }))
    function.addFnAttr(llvm::Attribute::NoImplicitFloat);
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses
mlir::iris::RestoreMatrixKernelsPass::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &) {
  function.removeFnAttr(llvm::Attribute::NoImplicitFloat);
  return llvm::PreservedAnalyses::all();
}
