// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LongLoops.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using llvm::APInt;
using llvm::ScalarEvolution;
using llvm::SCEV;

/// At least as many iterations as ptxas makes one.
static constexpr unsigned kMostUnrolled = 16;
/// A loop of more iterations takes minutes on any GPU: 2^38.
static constexpr unsigned kTripCountBits = 38;
/// More bits than numbers have, so that nothing here overflows.
static constexpr unsigned kSpareBits = 8;

/// The largest difference of two values of `from` and `to`.
static APInt getDistance(const SCEV *from, const SCEV *to,
                         ScalarEvolution &evolution, unsigned bits) {
  return evolution.getSignedRange(to).getSignedMax().sext(bits) -
         evolution.getSignedRange(from).getSignedMin().sext(bits);
}

/// Whether ptxas may overflow where it counts from `counter` to `limit`.
static bool mayOverflow(const llvm::SCEVAddRecExpr *counter, const SCEV *limit,
                        bool isSigned, ScalarEvolution &evolution) {
  // Loops with another step are not unrolled.
  auto *step =
      llvm::dyn_cast<llvm::SCEVConstant>(counter->getStepRecurrence(evolution));
  if (!step)
    return false;
  unsigned bits = evolution.getTypeSizeInBits(counter->getType());
  unsigned wideBits = bits + kSpareBits + kTripCountBits;
  APInt most = APInt::getLowBitsSet(wideBits, isSigned ? bits - 1 : bits);
  APInt width = step->getAPInt().sext(wideBits).abs();
  if ((width * kMostUnrolled).ugt(most))
    return true;
  if (!isSigned || width.shl(kTripCountBits).ult(most))
    return false;
  bool isUp = step->getAPInt().isStrictlyPositive();
  APInt distance =
      isUp ? getDistance(counter->getStart(), limit, evolution, wideBits)
           : getDistance(limit, counter->getStart(), evolution, wideBits);
  // The start may be that of the counter after its first step.
  return (distance + width).sgt(most);
}

static bool isTooLong(llvm::Loop &loop, ScalarEvolution &evolution) {
  llvm::SmallVector<llvm::BasicBlock *> exiting;
  loop.getExitingBlocks(exiting);
  return llvm::any_of(exiting, [&](llvm::BasicBlock *block) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    auto *comparison =
        branch ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
               : nullptr;
    // Only a relation can hold too long, or not long enough.
    if (!comparison || !comparison->isRelational() ||
        !evolution.isSCEVable(comparison->getOperand(0)->getType()))
      return false;
    const SCEV *sides[] = {evolution.getSCEV(comparison->getOperand(0)),
                           evolution.getSCEV(comparison->getOperand(1))};
    for (unsigned number : {0u, 1u})
      if (auto *counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(sides[number]);
          counter && counter->getLoop() == &loop && counter->isAffine() &&
          mayOverflow(counter, sides[1 - number], comparison->isSigned(),
                      evolution))
        return true;
    return false;
  });
}

llvm::PreservedAnalyses
mlir::iris::LongLoopsPass::run(llvm::Function &function,
                               llvm::FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (isTooLong(*loop, evolution))
      loop->setLoopAlreadyUnrolled();
  // Metadata of loops is no part of any analysis.
  return llvm::PreservedAnalyses::all();
}
