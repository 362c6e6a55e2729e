// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TruncatedComparisons.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

/// Whether `value` is an f32 rounded to bf16, extended again or not.
static bool isTruncated(llvm::Value *value) {
  if (auto *extension = llvm::dyn_cast<llvm::FPExtInst>(value))
    value = extension->getOperand(0);
  auto *truncation = llvm::dyn_cast<llvm::FPTruncInst>(value);
  return truncation && truncation->getDestTy()->getScalarType()->isBFloatTy() &&
         truncation->getSrcTy()->getScalarType()->isFloatTy();
}

/// Whether `value` is a number of 2^127 or more, has an element that may be
/// one, or may become one.
static bool mayBeLarge(llvm::Value *value) {
  using namespace llvm::PatternMatch;
  const llvm::APFloat *number;
  if (match(value, m_APFloat(number)))
    return number->isFinite() && !number->isZero() && ilogb(*number) >= 127;
  return llvm::isa<llvm::Constant, llvm::SelectInst, llvm::PHINode>(value);
}

llvm::PreservedAnalyses
mlir::iris::TruncatedComparisonsPass::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (llvm::Instruction &op : llvm::instructions(function)) {
    auto *comparison = llvm::dyn_cast<llvm::FCmpInst>(&op);
    if (!comparison)
      continue;
    for (unsigned i : {0u, 1u}) {
      llvm::Value *value = comparison->getOperand(i);
      if (!isTruncated(value) || !mayBeLarge(comparison->getOperand(1 - i)))
        continue;
      llvm::IRBuilder<> b(comparison);
      comparison->setOperand(i,
                             b.CreateArithmeticFence(value, value->getType()));
      changed = true;
    }
  }
  return mlir::iris::preserveControlFlow(changed);
}
