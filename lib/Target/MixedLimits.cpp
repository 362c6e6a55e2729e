// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MixedLimits.h"

#include "ReplaceInstructions.h"
#include "llvm/IR/PatternMatch.h"

/// smin(umax(x, c), k) where no limit is negative: a negative x is larger than
/// c as an unsigned number, and less than k. Null for other operations.
static llvm::Value *limitSigned(llvm::Instruction &op, llvm::IRBuilder<> &b) {
  using namespace llvm::PatternMatch;
  llvm::Value *x, *least, *most;
  if (!match(&op, m_c_SMin(m_c_UMax(m_Value(x), m_CombineAnd(m_NonNegative(),
                                                             m_Value(least))),
                           m_CombineAnd(m_NonNegative(), m_Value(most)))))
    return nullptr;
  llvm::Value *isNegative =
      b.CreateICmpSLT(x, llvm::Constant::getNullValue(x->getType()));
  llvm::Value *limited = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin,
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, least), most);
  return b.CreateSelect(isNegative, x, limited);
}

llvm::PreservedAnalyses
mlir::iris::MixedLimitsPass::run(llvm::Function &function,
                                 llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, limitSigned);
}
