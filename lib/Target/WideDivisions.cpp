// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WideDivisions.h"

#include "PreserveControlFlow.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using llvm::Instruction;

static constexpr unsigned kWideBits = 64;
static constexpr unsigned kNarrowBits = 32;

static bool isSigned(const Instruction &op) {
  return op.getOpcode() == Instruction::SDiv ||
         op.getOpcode() == Instruction::SRem;
}

/// Whether LLVM narrows `op` to a signed division that may overflow. Constant
/// divisors become multiplications; that by -1 a negation.
static bool mayOverflow(const Instruction &op) {
  if (!isSigned(op) || !op.getType()->isIntOrIntVectorTy(kWideBits) ||
      llvm::isa<llvm::Constant>(op.getOperand(1)))
    return false;
  const llvm::DataLayout &layout = op.getModule()->getDataLayout();
  auto signBits = [&](unsigned number) {
    const llvm::Value *operand = op.getOperand(number);
    // Code generation removes the freeze of what is never poison.
    if (auto *freeze = llvm::dyn_cast<llvm::FreezeInst>(operand))
      operand = freeze->getOperand(0);
    return llvm::ComputeNumSignBits(operand, layout);
  };
  // With another bit the numerator is not -2^31.
  return signBits(0) == kWideBits - kNarrowBits + 1 &&
         signBits(1) > kWideBits - kNarrowBits;
}

static void divideMagnitudes(Instruction &op) {
  llvm::IRBuilder<> b(&op);
  llvm::Type *wide = op.getType();
  llvm::Type *narrow = wide->getWithNewBitWidth(kNarrowBits);
  llvm::Value *zero = llvm::Constant::getNullValue(narrow);
  llvm::Value *x = b.CreateTrunc(op.getOperand(0), narrow);
  llvm::Value *y = b.CreateTrunc(op.getOperand(1), narrow);
  // The magnitude of -2^31 is 2^31, an unsigned number.
  auto magnitude = [&](llvm::Value *value) -> llvm::Value * {
    return b.CreateSelect(b.CreateICmpSLT(value, zero), b.CreateNeg(value),
                          value);
  };
  llvm::Value *a = magnitude(x), *c = magnitude(y);
  bool isQuotient = op.getOpcode() == Instruction::SDiv;
  llvm::Value *result =
      b.CreateZExt(isQuotient ? b.CreateUDiv(a, c) : b.CreateURem(a, c), wide);
  llvm::Value *sign = isQuotient ? b.CreateXor(x, y) : x;
  result =
      b.CreateSelect(b.CreateICmpSLT(sign, zero), b.CreateNeg(result), result);
  result->takeName(&op);
  op.replaceAllUsesWith(result);
  op.eraseFromParent();
}

llvm::PreservedAnalyses
mlir::iris::WideDivisionsPass::run(llvm::Function &function,
                                   llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function)))
    if (mayOverflow(op)) {
      divideMagnitudes(op);
      changed = true;
    }
  return mlir::iris::preserveControlFlow(changed);
}
