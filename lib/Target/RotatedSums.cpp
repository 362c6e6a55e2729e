// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RotatedSums.h"

#include "ReplaceInstructions.h"
#include "llvm/IR/PatternMatch.h"

using llvm::Instruction;

static constexpr unsigned kRotatedBits = 64;

/// x << c and x >> (64 - c), in this order.
static bool areHalves(llvm::Value *up, llvm::Value *down, bool onlyArithmetic) {
  using namespace llvm::PatternMatch;
  llvm::Value *x;
  const llvm::APInt *left, *right;
  if (!match(up, m_Shl(m_Value(x), m_APInt(left))) ||
      left->getLimitedValue() >= kRotatedBits)
    return false;
  if (!match(down, m_AShr(m_Specific(x), m_APInt(right))) &&
      (onlyArithmetic || !match(down, m_LShr(m_Specific(x), m_APInt(right)))))
    return false;
  return left->getZExtValue() + right->getLimitedValue(kRotatedBits) ==
         kRotatedBits;
}

/// Whether ptxas takes the operation for a rotation that it is not.
static bool isMistaken(const Instruction &op) {
  bool isSum = op.getOpcode() == Instruction::Add;
  if ((!isSum && op.getOpcode() != Instruction::Sub) ||
      !op.getType()->isIntOrIntVectorTy(kRotatedBits))
    return false;
  llvm::Value *a = op.getOperand(0), *b = op.getOperand(1);
  return areHalves(a, b, isSum) || areHalves(b, a, isSum);
}

static llvm::Value *combineComplements(Instruction &op, llvm::IRBuilder<> &b) {
  if (!isMistaken(op))
    return nullptr;
  llvm::Value *complement = b.CreateNot(op.getOperand(0));
  return b.CreateNot(op.getOpcode() == Instruction::Sub
                         ? b.CreateAdd(complement, op.getOperand(1))
                         : b.CreateSub(complement, op.getOperand(1)));
}

llvm::PreservedAnalyses
mlir::iris::RotatedSumsPass::run(llvm::Function &function,
                                 llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, combineComplements);
}
