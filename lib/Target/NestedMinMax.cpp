// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestedMinMax.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using llvm::PatternMatch::m_APFloat;

namespace {
/// The maximum or minimum of a value and a constant, by a selection.
struct MinMax {
  llvm::SelectInst &select;
  llvm::FCmpInst &comparison;
  llvm::Value *value, *constant;

  static std::optional<MinMax> match(llvm::Instruction &op) {
    auto *select = llvm::dyn_cast<llvm::SelectInst>(&op);
    auto *comparison =
        select ? llvm::dyn_cast<llvm::FCmpInst>(select->getCondition())
               : nullptr;
    if (!comparison)
      return std::nullopt;
    llvm::Value *value = comparison->getOperand(0);
    llvm::Value *constant = comparison->getOperand(1);
    const llvm::APFloat *number;
    if (!llvm::PatternMatch::match(constant, m_APFloat(number)))
      std::swap(value, constant);
    if (!llvm::PatternMatch::match(constant, m_APFloat(number)) ||
        number->isNaN())
      return std::nullopt;
    llvm::Value *first = select->getTrueValue();
    llvm::Value *second = select->getFalseValue();
    if ((first != value || second != constant) &&
        (first != constant || second != value))
      return std::nullopt;
    return MinMax{*select, *comparison, value, constant};
  }

  bool isConstantForNaN() const {
    bool isFirst = comparison.getPredicate() & llvm::FCmpInst::FCMP_UNO;
    return constant ==
           (isFirst ? select.getTrueValue() : select.getFalseValue());
  }
};
} // namespace

/// Whether the value is a selection, or becomes one. LLVM looks through
/// conversions.
static bool mayBeSelection(llvm::Value *value) {
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(value))
    value = cast->getOperand(0);
  return llvm::isa<llvm::SelectInst, llvm::PHINode>(value);
}

/// Makes it that of `value is NaN ? constant : value`.
static void separateNaN(MinMax minMax) {
  llvm::IRBuilder<> b(&minMax.select);
  llvm::Value *isNaN = b.CreateFCmpUNO(minMax.value, minMax.value);
  llvm::Value *number = b.CreateSelect(isNaN, minMax.constant, minMax.value);
  auto replace = [&](llvm::Value *operand) {
    return operand == minMax.value ? number : operand;
  };
  llvm::Value *comparison =
      b.CreateFCmp(minMax.comparison.getPredicate(),
                   replace(minMax.comparison.getOperand(0)),
                   replace(minMax.comparison.getOperand(1)));
  minMax.select.setCondition(comparison);
  minMax.select.setTrueValue(replace(minMax.select.getTrueValue()));
  minMax.select.setFalseValue(replace(minMax.select.getFalseValue()));
}

llvm::PreservedAnalyses
mlir::iris::NestedMinMaxPass::run(llvm::Function &function,
                                  llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<MinMax> found;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (std::optional<MinMax> minMax = MinMax::match(op);
        minMax && minMax->isConstantForNaN() && mayBeSelection(minMax->value))
      found.push_back(*minMax);
  for (const MinMax &minMax : found)
    separateNaN(minMax);
  if (found.empty())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}
