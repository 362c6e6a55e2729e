// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestedLimits.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using llvm::PatternMatch::m_APFloat;

namespace {
/// A selection of the larger or the smaller of a value and a constant.
struct Limit {
  llvm::SelectInst &select;
  llvm::FCmpInst &comparison;
  llvm::Value *value, *constant;

  static std::optional<Limit> match(llvm::Instruction &op) {
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
    return Limit{*select, *comparison, value, constant};
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
static bool mayBeLimit(llvm::Value *value) {
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(value))
    value = cast->getOperand(0);
  return llvm::isa<llvm::SelectInst, llvm::PHINode>(value);
}

/// The limit of `value is NaN ? constant : value`.
static void separateNaN(Limit limit) {
  llvm::IRBuilder<> b(&limit.select);
  llvm::Value *isNaN = b.CreateFCmpUNO(limit.value, limit.value);
  llvm::Value *number = b.CreateSelect(isNaN, limit.constant, limit.value);
  auto replace = [&](llvm::Value *operand) {
    return operand == limit.value ? number : operand;
  };
  llvm::Value *comparison = b.CreateFCmp(
      limit.comparison.getPredicate(), replace(limit.comparison.getOperand(0)),
      replace(limit.comparison.getOperand(1)));
  limit.select.setCondition(comparison);
  limit.select.setTrueValue(replace(limit.select.getTrueValue()));
  limit.select.setFalseValue(replace(limit.select.getFalseValue()));
}

llvm::PreservedAnalyses
mlir::iris::NestedLimitsPass::run(llvm::Function &function,
                                  llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<Limit> found;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (std::optional<Limit> limit = Limit::match(op);
        limit && limit->isConstantForNaN() && mayBeLimit(limit->value))
      found.push_back(*limit);
  for (const Limit &limit : found)
    separateNaN(limit);
  if (found.empty())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}
