// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShortLimits.h"

#include "ReplaceInstructions.h"
#include "llvm/IR/PatternMatch.h"

/// The minimum or maximum of a value and a constant that `op` is, also one that
/// code generation makes of a selection; else not_intrinsic.
static llvm::Intrinsic::ID matchLimit(llvm::Instruction &op, llvm::Value *&x,
                                      llvm::Constant *&limit) {
  using namespace llvm::PatternMatch;
  if (match(&op, m_c_SMin(m_Value(x), m_Constant(limit))))
    return llvm::Intrinsic::smin;
  if (match(&op, m_c_SMax(m_Value(x), m_Constant(limit))))
    return llvm::Intrinsic::smax;
  if (match(&op, m_c_UMin(m_Value(x), m_Constant(limit))))
    return llvm::Intrinsic::umin;
  if (match(&op, m_c_UMax(m_Value(x), m_Constant(limit))))
    return llvm::Intrinsic::umax;
  return llvm::Intrinsic::not_intrinsic;
}

/// The minimum or maximum by way of 32 bits. Null for other operations.
static llvm::Value *limitAsWord(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  llvm::Type *type = op.getType();
  if (!type->isIntOrIntVectorTy() || type->getScalarSizeInBits() > 16)
    return nullptr;
  llvm::Value *x;
  llvm::Constant *limit;
  llvm::Intrinsic::ID id = matchLimit(op, x, limit);
  if (id == llvm::Intrinsic::not_intrinsic)
    return nullptr;
  bool isSigned = id == llvm::Intrinsic::smin || id == llvm::Intrinsic::smax;
  llvm::Type *words = type->getWithNewBitWidth(32);
  llvm::Value *result =
      b.CreateBinaryIntrinsic(id, b.CreateIntCast(x, words, isSigned),
                              b.CreateIntCast(limit, words, isSigned));
  return b.CreateTrunc(result, type);
}

llvm::PreservedAnalyses
mlir::iris::ShortLimitsPass::run(llvm::Function &function,
                                 llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, limitAsWord);
}
