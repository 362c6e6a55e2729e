// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Magnitudes.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

/// `fcmp predicate abs(x), c` for a negative c that is not -0; null for
/// others. A magnitude is larger than c unless it is NaN.
static llvm::Value *simplify(llvm::FCmpInst &op, llvm::IRBuilder<> &b) {
  using namespace llvm::PatternMatch;
  llvm::Value *x;
  const llvm::APFloat *limit;
  if (!match(op.getOperand(0),
             m_Intrinsic<llvm::Intrinsic::fabs>(m_Value(x))) ||
      !match(op.getOperand(1), m_APFloat(limit)) || limit->isNaN() ||
      !limit->isNegative() || limit->isZero())
    return nullptr;
  llvm::Value *isNumber = b.CreateFCmpORD(x, x);
  // Bits of a predicate: equal, greater, less, unordered.
  bool ifLarger = op.getPredicate() & llvm::FCmpInst::FCMP_OGT;
  bool ifNaN = op.getPredicate() & llvm::FCmpInst::FCMP_UNO;
  auto constant = [&](bool value) {
    return llvm::ConstantInt::get(op.getType(), value);
  };
  return b.CreateSelect(isNumber, constant(ifLarger), constant(ifNaN));
}

llvm::PreservedAnalyses
mlir::iris::MagnitudesPass::run(llvm::Function &function,
                                llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (llvm::Instruction &op :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *comparison = llvm::dyn_cast<llvm::FCmpInst>(&op);
    if (!comparison)
      continue;
    llvm::IRBuilder<> b(comparison);
    llvm::Value *result = simplify(*comparison, b);
    if (!result)
      continue;
    comparison->replaceAllUsesWith(result);
    comparison->eraseFromParent();
    changed = true;
  }
  return mlir::iris::preserveControlFlow(changed);
}
