// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NestedMinMax.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm::PatternMatch;

/// The i16 whose bits, those of a bf16, are the upper half of f32 `value`; null
/// otherwise. This is how the host extends bf16.
static llvm::Value *getBf16Bits(llvm::Value *value) {
  llvm::Value *bits;
  bool isExtension =
      value->getType()->isFloatTy() &&
      match(value, m_BitCast(m_Shl(m_ZExt(m_Value(bits)), m_SpecificInt(16))));
  return isExtension && bits->getType()->isIntegerTy(16) ? bits : nullptr;
}

static llvm::Value *withoutExtension(llvm::Value *value) {
  if (auto *extension = llvm::dyn_cast<llvm::FPExtInst>(value))
    return extension->getOperand(0);
  llvm::Value *bits = getBf16Bits(value);
  return bits ? bits : value;
}

/// The number that `value` is, in f64, where it is one; of i16, as a bf16.
static std::optional<llvm::APFloat> getNumber(llvm::Value *value) {
  const llvm::APFloat *number;
  const llvm::APInt *bits;
  llvm::APFloat wide(0.0);
  if (match(value, m_APFloat(number)))
    wide = *number;
  else if (value->getType()->isIntegerTy(16) && match(value, m_APInt(bits)))
    wide = llvm::APFloat(llvm::APFloat::BFloat(), *bits);
  else
    return std::nullopt;
  if (wide.isNaN())
    return std::nullopt;
  bool losesInfo;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
               &losesInfo);
  return wide;
}

static bool isSameNumber(llvm::Value *a, llvm::Value *b) {
  std::optional<llvm::APFloat> x = getNumber(a), y = getNumber(b);
  return x && y && x->bitwiseIsEqual(*y);
}

/// Whether the value is a selection, or becomes one. LLVM looks through
/// conversions.
static bool mayBeSelection(llvm::Value *value) {
  value = withoutExtension(value);
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(value))
    value = cast->getOperand(0);
  return llvm::isa<llvm::SelectInst, llvm::PHINode>(value);
}

/// Whether both are the same value, or may become it: a selection of which one
/// arm is never chosen becomes the other one.
static bool maySelectTheSame(llvm::Value *a, llvm::Value *b) {
  return withoutExtension(a) == withoutExtension(b) ||
         (mayBeSelection(a) && mayBeSelection(b));
}

namespace {
/// The maximum or minimum of a value and a constant, by a selection. Either the
/// comparison or the selection may be of the extended numbers: LLVM removes the
/// extensions. A bf16 may be selected by its bits.
struct MinMax {
  llvm::SelectInst &select;
  llvm::FCmpInst &comparison;
  /// Numbers of the operands: the value's in the comparison and the selection,
  /// the constant is the other one.
  unsigned compared, selected;

  static std::optional<MinMax> match(llvm::Instruction &op) {
    auto *select = llvm::dyn_cast<llvm::SelectInst>(&op);
    auto *comparison =
        select ? llvm::dyn_cast<llvm::FCmpInst>(select->getCondition())
               : nullptr;
    if (!comparison)
      return std::nullopt;
    for (unsigned compared : {0u, 1u})
      for (unsigned selected : {1u, 2u})
        if (isSameNumber(comparison->getOperand(1 - compared),
                         select->getOperand(3 - selected)) &&
            maySelectTheSame(comparison->getOperand(compared),
                             select->getOperand(selected)))
          return MinMax{*select, *comparison, compared, selected};
    return std::nullopt;
  }

  llvm::Value *getValue() const { return select.getOperand(selected); }

  bool isConstantForNaN() const {
    bool isFirst = comparison.getPredicate() & llvm::FCmpInst::FCMP_UNO;
    return selected != (isFirst ? 1 : 2);
  }
};
} // namespace

/// The value, hidden, and the extensions that it has. The bits of a bf16 are
/// hidden as the f32 that they are half of: x86 has library calls for numbers
/// of bf16.
static llvm::Value *createFenced(llvm::IRBuilder<> &b, llvm::Value *value) {
  auto fence = [&](llvm::Value *number) {
    return b.CreateArithmeticFence(number, number->getType());
  };
  if (getBf16Bits(value))
    return fence(value);
  if (!value->getType()->isIntegerTy())
    return b.CreateFPExt(fence(withoutExtension(value)), value->getType());
  llvm::Value *upper = b.CreateShl(b.CreateZExt(value, b.getInt32Ty()), 16);
  llvm::Value *hidden = fence(b.CreateBitCast(upper, b.getFloatTy()));
  llvm::Value *bits = b.CreateBitCast(hidden, b.getInt32Ty());
  return b.CreateTrunc(b.CreateLShr(bits, 16), value->getType());
}

/// Hides what computes the value.
static void hideValue(MinMax minMax) {
  llvm::IRBuilder<> b(&minMax.select);
  llvm::Value *operands[2] = {minMax.comparison.getOperand(0),
                              minMax.comparison.getOperand(1)};
  operands[minMax.compared] = createFenced(b, operands[minMax.compared]);
  minMax.select.setCondition(
      b.CreateFCmp(minMax.comparison.getPredicate(), operands[0], operands[1]));
  minMax.select.setOperand(minMax.selected, createFenced(b, minMax.getValue()));
}

llvm::PreservedAnalyses
mlir::iris::NestedMinMaxPass::run(llvm::Function &function,
                                  llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<MinMax> found;
  for (llvm::Instruction &op : llvm::instructions(function))
    if (std::optional<MinMax> minMax = MinMax::match(op);
        minMax && minMax->isConstantForNaN() &&
        mayBeSelection(minMax->getValue()))
      found.push_back(*minMax);
  for (const MinMax &minMax : found)
    hideValue(minMax);
  return mlir::iris::preserveControlFlow(!found.empty());
}
