// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShortIntegers.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

namespace {
/// A negation or an absolute value of `operand << shift`, which may be -32768.
struct ShortOperation {
  llvm::Value *operand;
  bool isAbsolute = false;
  unsigned shift = 0;
};
} // namespace

static std::optional<ShortOperation> matchShort(llvm::Instruction &op) {
  using namespace llvm::PatternMatch;
  if (!op.getType()->isIntOrIntVectorTy(16))
    return std::nullopt;
  llvm::Value *operand;
  if (match(&op, m_Neg(m_Value(operand))))
    // Of -32768 the result is poison.
    return op.hasNoSignedWrap()
               ? std::nullopt
               : std::optional<ShortOperation>(ShortOperation{operand});
  // Multiplications become shifts and negations.
  const llvm::APInt *factor;
  if (match(&op, m_Mul(m_Value(operand), m_APInt(factor))) &&
      factor->isNegatedPowerOf2() && !factor->isMinSignedValue())
    return ShortOperation{operand, false, factor->countr_zero()};
  if (match(&op, m_Intrinsic<llvm::Intrinsic::abs>(
                     m_Value(operand), llvm::PatternMatch::m_Zero())))
    return ShortOperation{operand, /*isAbsolute=*/true};
  return std::nullopt;
}

static void rewrite(llvm::Instruction &op, ShortOperation from) {
  llvm::IRBuilder<> b(&op);
  llvm::Type *type = op.getType(), *wide = type->getExtendedType();
  llvm::Value *upper =
      b.CreateShl(b.CreateZExt(from.operand, wide), 16 + from.shift);
  llvm::Value *result =
      from.isAbsolute
          ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, upper, b.getFalse())
          : b.CreateNeg(upper);
  result = b.CreateTrunc(b.CreateAShr(result, 16), type);
  result->takeName(&op);
  op.replaceAllUsesWith(result);
  op.eraseFromParent();
}

/// A sum of a vector that becomes additions of two 16-bit halves.
static bool isPackedSum(const llvm::Instruction &op) {
  return op.getOpcode() == llvm::Instruction::Add &&
         op.getType()->isVectorTy() &&
         op.getType()->getScalarSizeInBits() <= 16;
}

static void addElements(llvm::Instruction &op) {
  llvm::IRBuilder<> b(&op);
  auto *type = llvm::cast<llvm::FixedVectorType>(op.getType());
  llvm::Value *result = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    llvm::Value *sum =
        b.CreateAdd(b.CreateExtractElement(op.getOperand(0), i),
                    b.CreateExtractElement(op.getOperand(1), i), "",
                    op.hasNoUnsignedWrap(), op.hasNoSignedWrap());
    result = b.CreateInsertElement(result, sum, i);
  }
  result->takeName(&op);
  op.replaceAllUsesWith(result);
  op.eraseFromParent();
}

llvm::PreservedAnalyses
mlir::iris::ShortIntegersPass::run(llvm::Function &function,
                                   llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (llvm::Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function)))
    if (std::optional<ShortOperation> found = matchShort(op)) {
      rewrite(op, *found);
      changed = true;
    } else if (isPackedSum(op)) {
      addElements(op);
      changed = true;
    }
  return mlir::iris::preserveControlFlow(changed);
}
