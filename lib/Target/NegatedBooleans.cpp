// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NegatedBooleans.h"

#include "ReplaceInstructions.h"
#include "llvm/IR/PatternMatch.h"

/// -x as a selection of two constants, where x is a boolean that was converted
/// to a float. Null for other operations.
static llvm::Value *selectNegative(llvm::Instruction &op,
                                   llvm::IRBuilder<> &b) {
  using namespace llvm::PatternMatch;
  llvm::Value *converted, *boolean;
  if (!match(&op, m_FNeg(m_Value(converted))))
    return nullptr;
  bool isSigned = match(converted, m_SIToFP(m_Value(boolean)));
  if ((!isSigned &&
       !match(converted, m_UIToFP(m_ZExtOrSelf(m_Value(boolean))))) ||
      !boolean->getType()->isIntOrIntVectorTy(1))
    return nullptr;
  return b.CreateSelect(
      boolean, llvm::ConstantFP::get(op.getType(), isSigned ? 1.0 : -1.0),
      llvm::ConstantFP::get(op.getType(), -0.0));
}

llvm::PreservedAnalyses
mlir::iris::NegatedBooleansPass::run(llvm::Function &function,
                                     llvm::FunctionAnalysisManager &) {
  return replaceInstructions(function, selectNegative);
}
