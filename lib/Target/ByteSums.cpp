// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ByteSums.h"

#include "ReplaceInstructions.h"

/// The words that a vector of bytes fills; null for other types.
static llvm::Type *getWordsOf(llvm::Type *type) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector || !vector->getElementType()->isIntegerTy(8) ||
      vector->getNumElements() % 4 != 0)
    return nullptr;
  return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(type->getContext()),
                                    vector->getNumElements() / 4);
}

static llvm::Value *addByWords(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  llvm::Type *words = getWordsOf(op.getType());
  if (op.getOpcode() != llvm::Instruction::Add || !words)
    return nullptr;
  llvm::Value *x = b.CreateBitCast(op.getOperand(0), words);
  llvm::Value *y = b.CreateBitCast(op.getOperand(1), words);
  llvm::Value *low = llvm::ConstantInt::get(words, 0x7f7f7f7f);
  llvm::Value *high = llvm::ConstantInt::get(words, 0x80808080);
  llvm::Value *sum = b.CreateAdd(b.CreateAnd(x, low), b.CreateAnd(y, low));
  sum = b.CreateXor(sum, b.CreateAnd(b.CreateXor(x, y), high));
  return b.CreateBitCast(sum, op.getType());
}

llvm::PreservedAnalyses
mlir::iris::ByteSumsPass::run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, addByWords);
}
