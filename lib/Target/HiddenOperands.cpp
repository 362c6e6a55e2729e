// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HiddenOperands.h"

#include "HideConstant.h"
#include "PreserveControlFlow.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/KnownBits.h"

#define DEBUG_TYPE "iris-hidden-operands"

using llvm::Instruction;
using mlir::iris::Guard;

namespace {
/// The operands to hide of each instruction, in order, each of them once: a
/// zero that is hidden twice is a zero again.
using Operands =
    llvm::MapVector<Instruction *, llvm::SmallSetVector<unsigned, 2>>;
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

/// The words of an integer are added one by one.
static constexpr unsigned kWideBits = 64;
static constexpr unsigned kByteBits = 8;

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

/// Whether the quotient may be 2^(n-1), of numbers of n bits: LLVM takes it for
/// a number of n bits too, -2^(n-1).
static bool mayExceedBits(Instruction &op, unsigned bits,
                          const llvm::DataLayout &layout) {
  auto mayBeNegative = [&](unsigned number) {
    return !llvm::computeKnownBits(op.getOperand(number), layout)
                .isNonNegative();
  };
  return op.getOpcode() == Instruction::SDiv && mayBeNegative(0) &&
         mayBeNegative(1) &&
         bits >= getBits(op.getOperand(1), /*isSigned=*/true, layout);
}

/// Divisions in f32 whose numerator is too large for them, or whose quotient.
/// Constant divisors become multiplications.
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
  if (bits <= kFloatDivisionBits &&
      (bits > kExactDivisionBits + isSigned || mayExceedBits(op, bits, layout)))
    found[&op].insert(0);
}

/// Whether the upper bytes of the value are copies of a sign, above bits that
/// move by whole bytes: an arithmetic shift, or the extension of an integer of
/// few bytes, which is such a shift where the integer is one of a vector.
static bool hasSignBytes(llvm::Value *value) {
  using namespace llvm::PatternMatch;
  constexpr unsigned shortBits = 16;
  const llvm::APInt *amount;
  llvm::Value *narrow;
  if (match(value, m_AShr(m_Value(), m_APInt(amount))))
    return amount->urem(kByteBits) == 0;
  return match(value, m_SExt(m_Value(narrow))) &&
         (narrow->getType()->isIntOrIntVectorTy(kByteBits) ||
          narrow->getType()->isIntOrIntVectorTy(shortBits));
}

/// Users that may select single bytes of a value with bytes of a sign.
static void findSignBytes(Instruction &op, Operands &found) {
  if (!op.isShift() && !op.isBitwiseLogicOp() &&
      !llvm::isa<llvm::TruncInst, llvm::ZExtInst>(op))
    return;
  for (unsigned number = 0; number < op.getNumOperands(); ++number)
    if (hasSignBytes(op.getOperand(number)))
      found[&op].insert(number);
}

/// The bytes by which a logical shift moves an integer to the right, also
/// behind changes of its width; 0 for others.
static unsigned getBytesToTheRight(const llvm::Value *value) {
  using namespace llvm::PatternMatch;
  while (auto *cast = llvm::dyn_cast<llvm::CastInst>(value)) {
    if (!llvm::isa<llvm::TruncInst, llvm::ZExtInst>(cast))
      return 0;
    value = cast->getOperand(0);
  }
  const llvm::APInt *amount;
  return match(value, m_LShr(m_Value(), m_APInt(amount))) &&
                 amount->urem(kByteBits) == 0
             ? unsigned(amount->getLimitedValue() / kByteBits)
             : 0;
}

/// Left shifts of what was shifted to the right by more bytes, so that bytes of
/// zero are in the result; and bytes that are the uppermost ones, which a
/// vector of bytes shifts.
static void findZeroBytes(Instruction &op, Operands &found) {
  using namespace llvm::PatternMatch;
  if (!op.isShift() && !llvm::isa<llvm::TruncInst>(op))
    return;
  unsigned right = getBytesToTheRight(op.getOperand(0));
  const llvm::APInt *amount;
  if (!right)
    return;
  if (match(&op, m_Shl(m_Value(), m_APInt(amount)))) {
    if (amount->urem(kByteBits) == 0 && amount->ult(right * kByteBits))
      found[&op].insert(0);
  } else if (llvm::isa<llvm::TruncInst>(op) &&
             // Of one place a mask of the shifted byte is left, no shift to it.
             !(op.hasOneUse() && op.getOperand(0)->hasOneUse()) &&
             op.getType()->isIntOrIntVectorTy(kByteBits) &&
             op.getOperand(0)->getType()->getScalarSizeInBits() ==
                 (right + 1) * kByteBits) {
    found[&op].insert(0);
  }
}

/// Whether a constant is zero, or a vector with one.
static bool hasZero(llvm::Value *value) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant)
    return false;
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(constant->getType());
  if (!vector)
    return match(constant, llvm::PatternMatch::m_AnyZeroFP());
  return llvm::any_of(llvm::seq(vector->getNumElements()), [&](unsigned i) {
    llvm::Constant *element = constant->getAggregateElement(i);
    return !element || match(element, llvm::PatternMatch::m_AnyZeroFP());
  });
}

/// Zeros that limit a number. It may have a limit on its other side, also one
/// that is found only by instruction selection, such as a selection.
static void findClampedZeros(Instruction &op, Operands &found) {
  auto *limited = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  if (!limited || (limited->getIntrinsicID() != llvm::Intrinsic::minimum &&
                   limited->getIntrinsicID() != llvm::Intrinsic::maximum))
    return;
  for (unsigned number : {0u, 1u})
    if (hasZero(op.getOperand(number)))
      found[&op].insert(number);
}

/// Whether a selection reads the value, or it as bits of another type.
static bool isSelected(const llvm::Value &value) {
  return llvm::any_of(value.users(), [](const llvm::User *user) {
    return llvm::isa<llvm::SelectInst>(user) ||
           (llvm::isa<llvm::BitCastInst>(user) && isSelected(*user));
  });
}

/// Masks of the signs of two words, which are selected as one value of 64 bits.
static void findSignMasks(Instruction &op, Operands &found) {
  using namespace llvm::PatternMatch;
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(op.getType());
  if (!op.isBitwiseLogicOp() || !type || type->getNumElements() != 2 ||
      !type->getElementType()->isIntegerTy(kWideBits / 2))
    return;
  const llvm::APInt *mask;
  if (match(op.getOperand(1), m_APInt(mask)) &&
      (mask->isSignMask() || mask->isMaxSignedValue()) && isSelected(op))
    found[&op].insert(1);
}

static bool isMinOrMax(const llvm::Value *value) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call && llvm::is_contained(
                     {llvm::Intrinsic::minnum, llvm::Intrinsic::maxnum,
                      llvm::Intrinsic::minimum, llvm::Intrinsic::maximum,
                      llvm::Intrinsic::minimumnum, llvm::Intrinsic::maximumnum},
                     call->getIntrinsicID());
}

/// Whether the function has what may become a negative.
static bool hasNegatives(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](Instruction &op) {
    return op.getOpcode() == Instruction::FNeg ||
           op.getOpcode() == Instruction::FSub;
  });
}

/// The outer limits of numbers with two constant limits.
static void findMedians(Instruction &op, Operands &found) {
  if (!isMinOrMax(&op))
    return;
  for (unsigned number : {0u, 1u}) {
    auto *inner = llvm::dyn_cast<Instruction>(op.getOperand(1 - number));
    if (inner && llvm::isa<llvm::Constant>(op.getOperand(number)) &&
        (isMinOrMax(inner) || llvm::isa<llvm::SelectInst>(inner)) &&
        llvm::any_of(inner->operands(), llvm::IsaPred<llvm::Constant>))
      found[&op].insert(number);
  }
}

/// The largest number below 1 as the limit of x - floor(x), where x may be
/// infinite.
static void findFractions(Instruction &op, Operands &found) {
  using namespace llvm::PatternMatch;
  auto *minimum = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  if (!minimum || minimum->hasNoNaNs() ||
      (minimum->getIntrinsicID() != llvm::Intrinsic::minnum &&
       minimum->getIntrinsicID() != llvm::Intrinsic::minimumnum))
    return;
  for (unsigned number : {0u, 1u}) {
    const llvm::APFloat *limit;
    llvm::Value *x;
    if (!match(op.getOperand(number), m_APFloat(limit)) ||
        !match(op.getOperand(1 - number),
               m_FSub(m_Value(x),
                      m_Intrinsic<llvm::Intrinsic::floor>(m_Deferred(x)))))
      continue;
    const llvm::DataLayout &layout = op.getModule()->getDataLayout();
    llvm::APFloat belowOne(limit->getSemantics(), 1);
    belowOne.next(/*nextDown=*/true);
    if (limit->bitwiseIsEqual(belowOne) &&
        !llvm::isKnownNeverInfinity(x, llvm::SimplifyQuery(layout)))
      found[&op].insert(number);
  }
}

/// Constants of comparisons that do not tell NaN from them. The arm of a
/// selection that is the same constant may appear only in instruction
/// selection, from the negative of a selection for example.
static void findSelectedConstants(Instruction &op, Operands &found) {
  auto *comparison = llvm::dyn_cast<llvm::FCmpInst>(&op);
  if (!comparison || (comparison->getPredicate() != llvm::FCmpInst::FCMP_ONE &&
                      comparison->getPredicate() != llvm::FCmpInst::FCMP_UEQ))
    return;
  for (unsigned number : {0u, 1u})
    if (llvm::isa<llvm::Constant>(op.getOperand(number)))
      found[&op].insert(number);
}

namespace {
/// An addition or a subtraction whose carry out may be used: that of an
/// intrinsic, or of a comparison that becomes one.
class CarryingOp {
public:
  explicit CarryingOp(Instruction &op) : op(op) {
    using namespace llvm::PatternMatch;
    isSum = op.getOpcode() == Instruction::Add ||
            match(&op, m_Intrinsic<llvm::Intrinsic::uadd_with_overflow>());
    isDifference =
        op.getOpcode() == Instruction::Sub ||
        match(&op, m_Intrinsic<llvm::Intrinsic::usub_with_overflow>());
  }

  bool matches() const { return isSum || isDifference; }

  /// Of a difference only the minuend is.
  bool mayBeMerged(unsigned number) const { return isSum || number == 0; }

  /// The opcode of what may be merged with it.
  Instruction::BinaryOps getOpcode() const {
    return isSum ? Instruction::Add : Instruction::Sub;
  }

  /// Whether the carry out is used: LLVM finds it in comparisons of the result
  /// with an operand, and of an operand with another or with its complement.
  bool usesCarryOut() const {
    return llvm::isa<llvm::IntrinsicInst>(op) ||
           llvm::any_of(
               op.users(),
               [&](llvm::User *user) { return isCarryOf(op, user); }) ||
           llvm::any_of(op.operands(), [&](llvm::Value *operand) {
             return !llvm::isa<llvm::Constant>(operand) &&
                    llvm::any_of(operand->users(), [&](llvm::User *user) {
                      return isCarryOf(*operand, user);
                    });
           });
  }

private:
  bool isCarryOf(llvm::Value &value, llvm::User *user) const {
    using namespace llvm::PatternMatch;
    auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(user);
    if (!comparison)
      return false;
    llvm::Value *other =
        comparison->getOperand(comparison->getOperand(0) == &value ? 1 : 0);
    // That of x + 1 is x == -1.
    return comparison->isEquality()
               ? match(op.getOperand(1), llvm::PatternMatch::m_One()) &&
                     llvm::isa<llvm::Constant>(other)
               : comparison->isUnsigned() &&
                     (llvm::is_contained(op.operands(), other) ||
                      llvm::isa<llvm::Constant>(other) ||
                      match(other, m_Not(m_Value())));
  }

  Instruction &op;
  bool isSum, isDifference;
};
} // namespace

static bool isCarry(llvm::Value *value) {
  using namespace llvm::PatternMatch;
  return match(value, m_ZExt(m_Value())) && llvm::cast<Instruction>(value)
                                                ->getOperand(0)
                                                ->getType()
                                                ->isIntOrIntVectorTy(1);
}

/// Whether the upper half of `value` is computed, by a multiplication for
/// example, and that of `other` is zero.
static bool hasComputedUpperHalf(llvm::Value *value, llvm::Value *other,
                                 const llvm::DataLayout &layout) {
  return !llvm::isa<llvm::Constant, llvm::Argument, llvm::LoadInst,
                    llvm::PHINode>(value) &&
         other->getType()->isIntOrIntVectorTy(kWideBits) &&
         llvm::computeKnownBits(other, layout).countMaxActiveBits() <=
             kWideBits / 2;
}

/// Whether `value` is an operation of `opcode` to which the carry `other` is
/// added.
static bool isWithCarry(llvm::Value *value, llvm::Value *other,
                        Instruction::BinaryOps opcode) {
  auto *op = llvm::dyn_cast<Instruction>(value);
  return op && op->getOpcode() == opcode && isCarry(other);
}

/// The carry of `x + y` without the sum, `~x < y`: it becomes an addition, too.
static void findComplements(Instruction &op, Operands &found) {
  using namespace llvm::PatternMatch;
  auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&op);
  if (!comparison || !comparison->isUnsigned())
    return;
  const llvm::DataLayout &layout = op.getModule()->getDataLayout();
  auto mayMerge = [&](llvm::Value *value, llvm::Value *other) {
    return isWithCarry(value, other, Instruction::Add) ||
           hasComputedUpperHalf(value, other, layout);
  };
  for (unsigned number : {0u, 1u}) {
    llvm::Value *x, *y = op.getOperand(1 - number);
    if (match(op.getOperand(number), m_Not(m_Value(x))) &&
        (mayMerge(x, y) || mayMerge(y, x)))
      found[&op].insert(number);
  }
}

/// `x + y` where a carry is added to it, or the same of differences. Their sum
/// may become an addition with a carry of its own. So may the upper halves of
/// 64 bits, where one is zero and the other one computed.
static void findCarries(Instruction &op, Operands &found) {
  CarryingOp carrying(op);
  if (!carrying.matches() || !carrying.usesCarryOut())
    return;
  const llvm::DataLayout &layout = op.getModule()->getDataLayout();
  for (unsigned number : {0u, 1u}) {
    llvm::Value *operand = op.getOperand(number);
    llvm::Value *other = op.getOperand(1 - number);
    if (!carrying.mayBeMerged(number))
      continue;
    if (isWithCarry(operand, other, carrying.getOpcode()))
      found[&op].insert(number);
    else if (hasComputedUpperHalf(operand, other, layout))
      found[&op].insert(1 - number);
  }
}

//===----------------------------------------------------------------------===//
// Multiplications of 24 bits
//===----------------------------------------------------------------------===//

/// Bits of the operands that `v_mul_u32_u24` reads.
static constexpr unsigned kMultiplyBits = 24;

/// Multiplications in 64 bits of factors of 24 bits at most, one of them of 24.
static bool multiplies24Bits(Instruction &op) {
  if (op.getOpcode() != Instruction::Mul ||
      !op.getType()->isIntOrIntVectorTy(kWideBits))
    return false;
  const llvm::DataLayout &layout = op.getModule()->getDataLayout();
  unsigned x = getBits(op.getOperand(0), /*isSigned=*/false, layout);
  unsigned y = getBits(op.getOperand(1), /*isSigned=*/false, layout);
  return std::max(x, y) == kMultiplyBits;
}

/// Extends the first factor from 32 bits that are hidden, so that no
/// instruction for 24 bits is taken, and none for 64.
static void hideFactor(Instruction &op) {
  llvm::IRBuilder<> b(&op);
  llvm::Type *narrow = op.getType()->getWithNewBitWidth(kWideBits / 2);
  llvm::Value *factor = b.CreateTrunc(op.getOperand(0), narrow);
  op.setOperand(0,
                b.CreateZExt(mlir::iris::hideValue(b, factor), op.getType()));
}

//===----------------------------------------------------------------------===//
// Hiding
//===----------------------------------------------------------------------===//

static llvm::Value *hide(llvm::IRBuilder<> &b, llvm::Value *value) {
  using namespace llvm::PatternMatch;
  llvm::Type *type = value->getType();
  const llvm::APFloat *number;
  if (match(value, m_APFloat(number)))
    return mlir::iris::hideConstant(b, type, number->bitcastToAPInt());
  const llvm::APInt *integer;
  if (match(value, m_APInt(integer)))
    return mlir::iris::hideConstant(b, type, *integer);
  return mlir::iris::hideValue(b, value);
}

llvm::PreservedAnalyses
mlir::iris::HiddenOperandsPass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &) {
  bool changed = false;
  if (guards.contains(Guard::Multiply24))
    for (Instruction &op : llvm::instructions(function))
      if (multiplies24Bits(op)) {
        hideFactor(op);
        changed = true;
      }
  Operands found;
  const bool findsMedians =
      guards.contains(Guard::NegatedMedians) && hasNegatives(function);
  for (Instruction &op : llvm::instructions(function)) {
    if (guards.contains(Guard::Divisions24))
      findDivisions(op, found);
    if (guards.contains(Guard::SignBytes))
      findSignBytes(op, found);
    if (guards.contains(Guard::ZeroBytes))
      findZeroBytes(op, found);
    if (guards.contains(Guard::SignMasks))
      findSignMasks(op, found);
    if (guards.contains(Guard::SelectedConstants))
      findSelectedConstants(op, found);
    if (guards.contains(Guard::ClampedZeros))
      findClampedZeros(op, found);
    if (findsMedians)
      findMedians(op, found);
    if (guards.contains(Guard::InfiniteFractions))
      findFractions(op, found);
    if (guards.contains(Guard::Carries)) {
      findCarries(op, found);
      findComplements(op, found);
    }
  }
  for (auto &[op, numbers] : found) {
    llvm::IRBuilder<> b(op);
    for (unsigned number : numbers) {
      LDBG() << "hide operand " << number << " of" << *op;
      op->setOperand(number, hide(b, op->getOperand(number)));
    }
  }
  return mlir::iris::preserveControlFlow(changed || !found.empty());
}
