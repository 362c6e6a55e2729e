// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NarrowRecurrences.h"

#include "PreserveControlFlow.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

using llvm::Instruction;

/// The bits of the number that `op` extends, explicitly or by a mask; 0 if it
/// extends none.
static unsigned getExtendedBits(Instruction &op) {
  using namespace llvm::PatternMatch;
  if (!op.getType()->isIntegerTy())
    return 0;
  if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(op))
    return op.getOperand(0)->getType()->getScalarSizeInBits();
  const llvm::APInt *mask, *left, *right;
  if (match(&op, m_And(m_Value(), m_APInt(mask))) && mask->isShiftedMask())
    return mask->popcount();
  if (match(&op, m_Shr(m_Shl(m_Value(), m_APInt(left)), m_APInt(right))))
    return op.getType()->getIntegerBitWidth() -
           right->getLimitedValue(op.getType()->getIntegerBitWidth());
  return 0;
}

/// Whether an operand of `op` is computed from a number that a loop counts, not
/// from what is loaded.
static bool extendsRecurrence(Instruction &op, llvm::ScalarEvolution &scalars) {
  return llvm::any_of(op.operands(), [&](llvm::Value *operand) {
    return scalars.isSCEVable(operand->getType()) &&
           llvm::SCEVExprContains(scalars.getSCEV(operand),
                                  llvm::IsaPred<llvm::SCEVAddRecExpr>);
  });
}

/// Hides what `op` is from the analysis of recurrences.
static void freeze(Instruction &op) {
  llvm::IRBuilder<> b(op.getNextNode());
  llvm::Value *frozen = b.CreateFreeze(&op);
  op.replaceUsesWithIf(frozen,
                       [&](llvm::Use &use) { return use.getUser() != frozen; });
}

/// Freezes the extensions of a loop but those of the most bits.
static bool freezeNarrowOnes(llvm::Loop &loop, llvm::ScalarEvolution &scalars) {
  llvm::SmallVector<std::pair<Instruction *, unsigned>> extensions;
  unsigned most = 0;
  for (llvm::BasicBlock *block : loop.blocks())
    for (Instruction &op : *block)
      if (unsigned bits = getExtendedBits(op);
          bits != 0 && extendsRecurrence(op, scalars)) {
        extensions.push_back({&op, bits});
        most = std::max(most, bits);
      }
  bool changed = false;
  for (auto [op, bits] : extensions)
    if (bits < most) {
      freeze(*op);
      changed = true;
    }
  return changed;
}

llvm::PreservedAnalyses
mlir::iris::NarrowRecurrencesPass::run(llvm::Function &function,
                                       llvm::FunctionAnalysisManager &manager) {
  auto &scalars = manager.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool changed = false;
  // Only innermost loops are vectorized.
  for (llvm::Loop *loop :
       manager.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost())
      changed |= freezeNarrowOnes(*loop, scalars);
  return mlir::iris::preserveControlFlow(changed);
}
