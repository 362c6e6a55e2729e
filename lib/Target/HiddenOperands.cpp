// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HiddenOperands.h"

#include "HideConstant.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

using llvm::Instruction;
using mlir::iris::Guard;

namespace {
/// The operands to hide of each instruction, in order.
using Operands = llvm::MapVector<Instruction *, llvm::SmallVector<unsigned, 2>>;
} // namespace

//===----------------------------------------------------------------------===//
// What to hide
//===----------------------------------------------------------------------===//

/// Bits of the operands for which LLVM divides in f32.
static constexpr unsigned kFloatDivisionBits = 24;
/// The quotient of a numerator below 2^22 is not rounded up to the next
/// integer: f32 gives it with a relative error below 2^-22.4, and it is
/// 1 / denominator or more below that integer.
static constexpr unsigned kExactDivisionBits = 22;

/// The bits of an operand of a division without those that repeat the sign.
static unsigned getBits(const llvm::Value *value, bool isSigned,
                        const llvm::DataLayout &layout) {
  // Code generation removes the freeze of what is never poison.
  if (auto *freeze = llvm::dyn_cast<llvm::FreezeInst>(value))
    value = freeze->getOperand(0);
  if (isSigned)
    return value->getType()->getScalarSizeInBits() -
           llvm::ComputeNumSignBits(value, layout) + 1;
  return llvm::computeKnownBits(value, layout).countMaxActiveBits();
}

/// Divisions in f32 whose numerator is too large for them. Constant divisors
/// become multiplications.
static void findDivisions(Instruction &op, Operands &found) {
  bool isSigned = op.getOpcode() == Instruction::SDiv ||
                  op.getOpcode() == Instruction::SRem;
  if (!isSigned && op.getOpcode() != Instruction::UDiv &&
      op.getOpcode() != Instruction::URem)
    return;
  const llvm::DataLayout &layout = op.getModule()->getDataLayout();
  if (llvm::isa<llvm::Constant>(op.getOperand(1)) ||
      getBits(op.getOperand(1), isSigned, layout) > kFloatDivisionBits)
    return;
  unsigned bits = getBits(op.getOperand(0), isSigned, layout);
  // One bit is the sign.
  if (bits <= kFloatDivisionBits && bits > kExactDivisionBits + isSigned)
    found[&op].push_back(0);
}

/// Users that select bits of an arithmetic shift by whole bytes.
static void findSignBytes(Instruction &op, Operands &found) {
  using namespace llvm::PatternMatch;
  for (unsigned number = 0; number < op.getNumOperands(); ++number) {
    const llvm::APInt *amount;
    if (match(op.getOperand(number), m_AShr(m_Value(), m_APInt(amount))) &&
        amount->urem(8) == 0 &&
        (op.isShift() || op.isBitwiseLogicOp() ||
         llvm::isa<llvm::TruncInst>(op)))
      found[&op].push_back(number);
  }
}

/// Arms of selections that are the constant of their comparison.
static void findSelectedConstants(Instruction &op, Operands &found) {
  using namespace llvm::PatternMatch;
  auto *select = llvm::dyn_cast<llvm::SelectInst>(&op);
  if (!select)
    return;
  llvm::CmpPredicate predicate;
  llvm::Value *lhs, *rhs;
  if (!match(select->getCondition(),
             m_FCmp(predicate, m_Value(lhs), m_Value(rhs))) ||
      (predicate != llvm::FCmpInst::FCMP_ONE &&
       predicate != llvm::FCmpInst::FCMP_UEQ))
    return;
  for (unsigned number : {1u, 2u})
    if (llvm::Value *arm = select->getOperand(number);
        llvm::isa<llvm::Constant>(arm) && (arm == lhs || arm == rhs))
      found[&op].push_back(number);
}

/// `x + y` where a carry is added to it, or the same of differences. Their sum
/// may become an addition with a carry of its own.
static void findCarries(Instruction &op, Operands &found) {
  using namespace llvm::PatternMatch;
  bool isSum = op.getOpcode() == Instruction::Add ||
               match(&op, m_Intrinsic<llvm::Intrinsic::uadd_with_overflow>());
  bool isDifference =
      op.getOpcode() == Instruction::Sub ||
      match(&op, m_Intrinsic<llvm::Intrinsic::usub_with_overflow>());
  if (!isSum && !isDifference)
    return;
  auto isCarry = [](llvm::Value *value) {
    return match(value, m_ZExt(m_Value())) && llvm::cast<Instruction>(value)
                                                  ->getOperand(0)
                                                  ->getType()
                                                  ->isIntOrIntVectorTy(1);
  };
  for (unsigned number : {0u, 1u}) {
    llvm::Value *operand = op.getOperand(number);
    bool matches =
        isSum ? match(operand, m_Add(m_Value(), m_Value()))
              : number == 0 && match(operand, m_Sub(m_Value(), m_Value()));
    if (!matches || !isCarry(op.getOperand(1 - number)))
      continue;
    // The carry out is that of an intrinsic, or of a comparison that becomes
    // one.
    bool usesCarryOut =
        llvm::isa<llvm::IntrinsicInst>(op) ||
        llvm::any_of(op.users(), llvm::IsaPred<llvm::ICmpInst>) ||
        llvm::any_of(operand->users(), llvm::IsaPred<llvm::ICmpInst>);
    if (usesCarryOut)
      found[&op].push_back(number);
  }
}

//===----------------------------------------------------------------------===//
// Hiding
//===----------------------------------------------------------------------===//

static llvm::Value *hide(llvm::IRBuilder<> &b, llvm::Value *value) {
  llvm::Type *type = value->getType();
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(value)) {
    if (type->isVectorTy())
      constant = constant->getSplatValue();
    auto *number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
    return number ? mlir::iris::hideConstant(
                        b, type, number->getValueAPF().bitcastToAPInt())
                  : value;
  }
  llvm::APInt zero(type->getScalarSizeInBits(), 0);
  return b.CreateOr(value, mlir::iris::hideConstant(b, type, zero));
}

llvm::PreservedAnalyses
mlir::iris::HiddenOperandsPass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  Operands found;
  for (Instruction &op : llvm::instructions(function)) {
    if (guards.contains(Guard::Divisions24))
      findDivisions(op, found);
    if (guards.contains(Guard::SignBytes))
      findSignBytes(op, found);
    if (guards.contains(Guard::SelectedConstants))
      findSelectedConstants(op, found);
    if (guards.contains(Guard::Carries))
      findCarries(op, found);
  }
  if (found.empty())
    return llvm::PreservedAnalyses::all();
  for (auto &[op, numbers] : found) {
    llvm::IRBuilder<> b(op);
    for (unsigned number : numbers)
      op->setOperand(number, hide(b, op->getOperand(number)));
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}
