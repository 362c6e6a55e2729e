// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TruncatedComparisons.h"

#include "PreserveControlFlow.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

/// Whether InstCombine moves comparisons to the operands of `value`: to the
/// arms of selections, or through extensions, signs and moves of elements.
static bool passesComparisonsOn(const llvm::Value *value) {
  return llvm::isa<llvm::ExtractElementInst, llvm::FPExtInst, llvm::FreezeInst,
                   llvm::InsertElementInst, llvm::IntrinsicInst, llvm::PHINode,
                   llvm::SelectInst, llvm::ShuffleVectorInst,
                   llvm::UnaryOperator>(value);
}

/// Whether `value` is an f32 rounded to bf16, or may become one in a
/// comparison.
static bool mayBeTruncated(llvm::Value *value) {
  llvm::SetVector<llvm::Value *> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    auto *truncation = llvm::dyn_cast<llvm::FPTruncInst>(values[i]);
    if (truncation && truncation->getDestTy()->getScalarType()->isBFloatTy() &&
        truncation->getSrcTy()->getScalarType()->isFloatTy())
      return true;
    if (passesComparisonsOn(values[i]))
      values.insert_range(llvm::cast<llvm::User>(values[i])->operands());
  }
  return false;
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
      if (!mayBeLarge(comparison->getOperand(1 - i)) || !mayBeTruncated(value))
        continue;
      llvm::IRBuilder<> b(comparison);
      comparison->setOperand(i,
                             b.CreateArithmeticFence(value, value->getType()));
      changed = true;
    }
  }
  return mlir::iris::preserveControlFlow(changed);
}
