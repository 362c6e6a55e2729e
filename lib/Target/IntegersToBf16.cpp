// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IntegersToBf16.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

/// Bits that f32 holds.
static constexpr unsigned kPrecisionOfF32 = 24;

static bool roundsTwice(const llvm::Instruction &op) {
  return llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(op) &&
         op.getType()->getScalarType()->isBFloatTy() &&
         op.getOperand(0)->getType()->getScalarSizeInBits() > kPrecisionOfF32;
}

llvm::PreservedAnalyses
mlir::iris::IntegersToBf16Pass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (llvm::Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!roundsTwice(op))
      continue;
    llvm::IRBuilder<> b(&op);
    llvm::Type *wide = op.getType()->getWithNewType(b.getDoubleTy());
    llvm::Value *exact = b.CreateCast(
        llvm::cast<llvm::CastInst>(op).getOpcode(), op.getOperand(0), wide);
    llvm::Value *result = b.CreateFPTrunc(exact, op.getType());
    result->takeName(&op);
    op.replaceAllUsesWith(result);
    op.eraseFromParent();
    changed = true;
  }
  return mlir::iris::preserveControlFlow(changed);
}
