// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Magnitudes.h"

#include "PreserveControlFlow.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/KnownFPClass.h"
#include <cmath>
#include <limits>
#include <optional>

#define DEBUG_TYPE "iris-magnitudes"

namespace {
/// Bounds of a number that is not NaN. They only decide what is guarded, so
/// that rounding does not matter.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  bool areKnown() const { return std::isfinite(least) || std::isfinite(most); }
};
} // namespace

/// Operations that are followed from a comparison to its operands; ptxas
/// follows fewer.
static constexpr unsigned kMaxDepth = 12;

static Bounds hull(Bounds a, Bounds b) {
  return {std::fmin(a.least, b.least), std::fmax(a.most, b.most)};
}

/// The values of a constant's elements.
static Bounds boundsOf(const llvm::Constant &constant) {
  auto valueOf = [](const llvm::Constant *element) {
    auto *number = llvm::dyn_cast_or_null<llvm::ConstantFP>(element);
    return number && !number->isNaN()
               ? Bounds{number->getValueAPF().convertToDouble(),
                        number->getValueAPF().convertToDouble()}
               : Bounds();
  };
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(constant.getType());
  if (!vector)
    return valueOf(&constant);
  Bounds bounds = valueOf(constant.getAggregateElement(0u));
  for (unsigned i = 1; i < vector->getNumElements(); ++i)
    bounds = hull(bounds, valueOf(constant.getAggregateElement(i)));
  return bounds;
}

static Bounds boundsOf(const llvm::Value &value, unsigned depth);

/// Whether a comparison with a constant holds for all numbers between the
/// bounds of its operand, or for none of them; nothing otherwise.
static std::optional<bool> getResultForNumbers(const llvm::Value &condition,
                                               unsigned depth) {
  auto *comparison = llvm::dyn_cast<llvm::FCmpInst>(&condition);
  if (!comparison)
    return std::nullopt;
  Bounds a = boundsOf(*comparison->getOperand(0), depth),
         b = boundsOf(*comparison->getOperand(1), depth);
  switch (comparison->getPredicate()) {
  case llvm::FCmpInst::FCMP_OLT:
  case llvm::FCmpInst::FCMP_ULT:
  case llvm::FCmpInst::FCMP_OLE:
  case llvm::FCmpInst::FCMP_ULE:
    std::swap(a, b);
    [[fallthrough]];
  case llvm::FCmpInst::FCMP_OGT:
  case llvm::FCmpInst::FCMP_UGT:
  case llvm::FCmpInst::FCMP_OGE:
  case llvm::FCmpInst::FCMP_UGE:
    // Equal bounds decide some of the four; all are guarded.
    if (a.least >= b.most)
      return true;
    if (a.most <= b.least)
      return false;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// What the operation says itself.
static Bounds boundsOf(const llvm::Value &value, unsigned depth) {
  using namespace llvm::PatternMatch;
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(&value))
    return boundsOf(*constant);
  auto *op = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!op || depth == kMaxDepth)
    return {};
  llvm::Value *a, *b;
  auto of = [depth](const llvm::Value *operand) {
    return boundsOf(*operand, depth + 1);
  };
  Bounds bounds;
  if (match(&value, m_FNeg(m_Value(a)))) {
    Bounds x = of(a);
    bounds = {-x.most, -x.least};
  } else if (match(&value, m_FAdd(m_Value(a), m_Value(b)))) {
    Bounds x = of(a), y = of(b);
    bounds = {x.least + y.least, x.most + y.most};
  } else if (match(&value, m_FSub(m_Value(a), m_Value(b)))) {
    Bounds x = of(a), y = of(b);
    bounds = {x.least - y.most, x.most - y.least};
  } else if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&value)) {
    // An arm that no number chooses is dropped.
    std::optional<bool> chosen =
        getResultForNumbers(*select->getCondition(), depth + 1);
    Bounds x = of(select->getTrueValue()), y = of(select->getFalseValue());
    bounds = !chosen ? hull(x, y) : *chosen ? x : y;
  } else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&value)) {
    switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::sin:
    case llvm::Intrinsic::cos:
    case llvm::Intrinsic::tanh:
    case llvm::Intrinsic::nvvm_sin_approx_f:
    case llvm::Intrinsic::nvvm_sin_approx_ftz_f:
    case llvm::Intrinsic::nvvm_cos_approx_f:
    case llvm::Intrinsic::nvvm_cos_approx_ftz_f:
      return {-1, 1};
    case llvm::Intrinsic::nvvm_ex2_approx:
    case llvm::Intrinsic::nvvm_ex2_approx_ftz:
      bounds.least = 0;
      break;
    default:
      break;
    }
  }
  // The sign of magnitudes, squares, exponentials and what is made of them.
  llvm::KnownFPClass known =
      llvm::computeKnownFPClass(&value, op->getModule()->getDataLayout());
  if (known.cannotBeOrderedLessThanZero())
    bounds.least = std::fmax(bounds.least, 0);
  if (known.cannotBeOrderedGreaterThanZero())
    bounds.most = std::fmin(bounds.most, 0);
  return bounds;
}

/// Whether the bounds of an operand that is no constant decide an ordered
/// comparison with some element of a constant.
static bool isDecidedByBounds(const llvm::FCmpInst &op) {
  llvm::FCmpInst::Predicate predicate = op.getPredicate();
  const llvm::Value *number = op.getOperand(0), *limit = op.getOperand(1);
  if (llvm::isa<llvm::Constant>(number)) {
    std::swap(number, limit);
    predicate = llvm::FCmpInst::getSwappedPredicate(predicate);
  }
  auto *constant = llvm::dyn_cast<llvm::Constant>(limit);
  if (!constant || !llvm::isa<llvm::Instruction>(number) ||
      !number->getType()->getScalarType()->isFloatTy())
    return false;
  const Bounds limits = boundsOf(*constant);
  const Bounds bounds = boundsOf(*number, 0);
  if (!bounds.areKnown())
    return false;
  switch (predicate) {
  case llvm::FCmpInst::FCMP_OGT:
  case llvm::FCmpInst::FCMP_OGE:
    return bounds.least >= limits.least;
  case llvm::FCmpInst::FCMP_OLT:
  case llvm::FCmpInst::FCMP_OLE:
    return bounds.most <= limits.most;
  default:
    return false;
  }
}

llvm::PreservedAnalyses
mlir::iris::MagnitudesPass::run(llvm::Function &function,
                                llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<llvm::FCmpInst *> found;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (auto *comparison = llvm::dyn_cast<llvm::FCmpInst>(&op))
      if (isDecidedByBounds(*comparison))
        found.push_back(comparison);
  for (llvm::FCmpInst *comparison : found) {
    LDBG() << "guard" << *comparison;
    llvm::IRBuilder<> b(comparison->getNextNode());
    b.SetCurrentDebugLocation(comparison->getDebugLoc());
    llvm::Value *number = comparison->getOperand(
        llvm::isa<llvm::Constant>(comparison->getOperand(0)));
    llvm::Value *isNumber = b.CreateFCmpORD(number, number);
    llvm::Value *result = b.CreateAnd(comparison, isNumber);
    comparison->replaceUsesWithIf(
        result, [&](llvm::Use &use) { return use.getUser() != result; });
  }
  return mlir::iris::preserveControlFlow(!found.empty());
}
