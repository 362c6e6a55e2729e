// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SelectedZeros.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

/// Number of the constant operand, the value is the other one.
static std::optional<unsigned> getConstantOperand(llvm::FCmpInst &comparison) {
  for (unsigned number : {0u, 1u})
    if (llvm::isa<llvm::Constant>(comparison.getOperand(number)))
      return number;
  return std::nullopt;
}

/// Whether `value > constant` is compared; of `<`, false; none of the others,
/// which LLVM takes for a minimum or maximum of no zeros only.
static std::optional<bool> isGreater(llvm::FCmpInst &comparison,
                                     unsigned constant) {
  llvm::CmpInst::Predicate predicate = constant == 1
                                           ? comparison.getPredicate()
                                           : comparison.getSwappedPredicate();
  if (!llvm::FCmpInst::isStrictPredicate(predicate))
    return std::nullopt;
  return bool(predicate & llvm::FCmpInst::FCMP_OGT);
}

/// `constant` with each zero in it negative or not.
static llvm::Constant *withZeros(llvm::Constant *constant, bool isNegative) {
  if (auto *number = llvm::dyn_cast<llvm::ConstantFP>(constant))
    return number->isZero()
               ? llvm::ConstantFP::getZero(constant->getType(), isNegative)
               : constant;
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(constant->getType());
  if (!type)
    return constant;
  llvm::SmallVector<llvm::Constant *> elements;
  for (unsigned i = 0, e = type->getNumElements(); i != e; ++i) {
    llvm::Constant *element = constant->getAggregateElement(i);
    if (!element)
      return constant;
    elements.push_back(withZeros(element, isNegative));
  }
  return llvm::ConstantVector::get(elements);
}

/// Whether one of the two operands is selected.
static bool selectsOperand(llvm::FCmpInst &comparison) {
  return llvm::any_of(comparison.users(), [&](llvm::User *user) {
    auto *select = llvm::dyn_cast<llvm::SelectInst>(user);
    if (!select || select->getCondition() != &comparison)
      return false;
    llvm::Value *a = comparison.getOperand(0), *b = comparison.getOperand(1);
    llvm::Value *ifTrue = select->getTrueValue(),
                *ifFalse = select->getFalseValue();
    return (a == ifTrue && b == ifFalse) || (b == ifTrue && a == ifFalse);
  });
}

/// A zero is neither greater nor less than another one, so one operand is
/// selected for both. A GPU's minimum and maximum, for which -0.0 is less than
/// 0.0, give this operand if a value is greater than 0.0, or less than -0.0.
static bool compareWithOtherZero(llvm::FCmpInst &comparison) {
  std::optional<unsigned> number = getConstantOperand(comparison);
  if (!number || !selectsOperand(comparison))
    return false;
  std::optional<bool> greater = isGreater(comparison, *number);
  if (!greater)
    return false;
  auto *old = llvm::cast<llvm::Constant>(comparison.getOperand(*number));
  llvm::Constant *constant = withZeros(old, /*isNegative=*/!*greater);
  comparison.setOperand(*number, constant);
  return constant != old;
}

llvm::PreservedAnalyses
mlir::iris::SelectedZerosPass::run(llvm::Function &function,
                                   llvm::FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (auto *comparison = llvm::dyn_cast<llvm::FCmpInst>(&op))
      hasChanged |= compareWithOtherZero(*comparison);
  return mlir::iris::preserveControlFlow(hasChanged);
}
