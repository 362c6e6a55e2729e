// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GuardedShifts.h"

#include "PreserveControlFlow.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using llvm::Instruction;

/// Whether `value` is a shift, or a vector or an element of one that has a
/// shift. Code generation splits vectors.
static bool hasShift(llvm::Value *value) {
  using namespace llvm::PatternMatch;
  llvm::SmallSetVector<llvm::Value *, 8> seen;
  seen.insert(value);
  for (unsigned i = 0; i < seen.size(); ++i) {
    if (match(seen[i], m_Shift(m_Value(), m_Value())))
      return true;
    if (llvm::isa<llvm::InsertElementInst, llvm::ShuffleVectorInst,
                  llvm::ExtractElementInst>(seen[i]))
      for (llvm::Value *operand : llvm::cast<Instruction>(seen[i])->operands())
        seen.insert(operand);
  }
  return false;
}

/// The number of the operand that is 0 instead of a shift of i64; none: there
/// is no such selection.
static std::optional<unsigned> getZeroArm(const Instruction &op) {
  using namespace llvm::PatternMatch;
  if (!llvm::isa<llvm::SelectInst>(op) || !op.getType()->isIntOrIntVectorTy(64))
    return std::nullopt;
  for (unsigned zero : {1u, 2u})
    if (match(op.getOperand(zero), llvm::PatternMatch::m_Zero()) &&
        hasShift(op.getOperand(3 - zero)))
      return zero;
  return std::nullopt;
}

/// A zero that only ptxas knows.
static void hideZero(Instruction &op, unsigned number) {
  llvm::IRBuilder<> b(&op);
  auto *type = llvm::FunctionType::get(b.getInt64Ty(), false);
  auto *assembly = llvm::InlineAsm::get(type, "mov.b64 $0, 0;", "=l",
                                        /*hasSideEffects=*/false);
  llvm::Value *zero = b.CreateCall(type, assembly);
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(op.getType()))
    zero = b.CreateVectorSplat(vector->getElementCount(), zero);
  op.setOperand(number, zero);
}

/// A shift into the sign, without signed wrap.
static bool shiftsIntoSign(const Instruction &op) {
  using namespace llvm::PatternMatch;
  return op.getOpcode() == Instruction::Shl && op.hasNoSignedWrap() &&
         match(op.getOperand(1),
               m_SpecificInt(op.getType()->getScalarSizeInBits() - 1));
}

llvm::PreservedAnalyses
mlir::iris::GuardedShiftsPass::run(llvm::Function &function,
                                   llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &op : llvm::instructions(function)) {
    if (std::optional<unsigned> zero = getZeroArm(op)) {
      hideZero(op, *zero);
      changed = true;
    }
    if (shiftsIntoSign(op)) {
      op.setHasNoSignedWrap(false);
      changed = true;
    }
  }
  return mlir::iris::preserveControlFlow(changed);
}
