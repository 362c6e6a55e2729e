// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CopiedSigns.h"

#include "ReplaceInstructions.h"
#include "llvm/IR/IntrinsicInst.h"

/// The result of a copysign of 16 bits; null for other operations.
static llvm::Value *copyBits(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  constexpr unsigned width = 16;
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::copysign ||
      call->getType()->getScalarSizeInBits() != width)
    return nullptr;
  llvm::Type *integers = call->getType()->getWithNewType(b.getInt16Ty());
  auto getBits = [&](unsigned operand, const llvm::APInt &mask) {
    return b.CreateAnd(b.CreateBitCast(call->getArgOperand(operand), integers),
                       llvm::ConstantInt::get(integers, mask));
  };
  llvm::Value *magnitude = getBits(0, llvm::APInt::getSignedMaxValue(width));
  llvm::Value *sign = getBits(1, llvm::APInt::getSignMask(width));
  return b.CreateBitCast(b.CreateOr(magnitude, sign), call->getType());
}

llvm::PreservedAnalyses
mlir::iris::CopiedSignsPass::run(llvm::Function &function,
                                 llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, copyBits);
}
