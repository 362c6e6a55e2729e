// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarPressure.h"

#include "PreserveControlFlow.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-scalar-pressure"

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;

/// A loop may use this many scalar registers from outside. The rest is for what
/// is computed within.
static constexpr unsigned kMaxRegisters = 64;

namespace {
/// What is done for one loop that is in no other.
class LoopScalars {
public:
  LoopScalars(Loop &loop, llvm::LoopInfo &loops,
              const llvm::UniformityInfo &uniformity)
      : loop(loop), loops(loops) {
    for (BasicBlock *block : loop.blocks())
      for (Instruction &instruction : *block)
        for (llvm::Use &use : instruction.operands())
          if (isOutside(use) && !uniformity.isDivergentUse(use))
            values.insert(use);
  }

  unsigned countRegisters() const {
    unsigned count = 0;
    const llvm::DataLayout &layout = loop.getHeader()->getDataLayout();
    for (llvm::Value *value : values)
      count += isCondition(value)
                   ? 2
                   : llvm::divideCeil(
                         layout.getTypeSizeInBits(value->getType()), 32);
    return count;
  }

  bool recompute();
  bool packConditions();

private:
  static bool isCondition(const llvm::Value *value) {
    return value->getType()->isIntegerTy(1);
  }
  bool isOutside(const llvm::Value *value) const {
    auto *instruction = llvm::dyn_cast<Instruction>(value);
    return instruction ? !loop.contains(instruction)
                       : llvm::isa<llvm::Argument>(value);
  }
  static BasicBlock *getBlock(const llvm::Use &use) {
    auto *user = llvm::cast<Instruction>(use.getUser());
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
      return phi->getIncomingBlock(use);
    return user->getParent();
  }
  /// Whether the use is in an innermost loop of a nest.
  bool isInnermost(BasicBlock *block) const {
    Loop *inner = loops.getLoopFor(block);
    return inner != &loop && inner->isInnermost();
  }

  /// A copy of `value` at the start of `block`, which is no invariant for LLVM.
  /// It costs no instruction.
  static llvm::Value *copy(llvm::Value *value, BasicBlock *block) {
    llvm::IRBuilder<> b(block, block->getFirstInsertionPt());
    return b.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane,
                             {value->getType()}, {value});
  }

  /// Replaces the uses in the loop, but for innermost ones, by what `emit`
  /// gives for their blocks.
  void replace(llvm::Value *value,
               llvm::function_ref<llvm::Value *(BasicBlock *)> emit) {
    llvm::DenseMap<BasicBlock *, llvm::Value *> inBlock;
    for (llvm::Use &use : llvm::make_early_inc_range(value->uses())) {
      BasicBlock *block = getBlock(use);
      if (!loop.contains(block) || isInnermost(block))
        continue;
      llvm::Value *&replacement = inBlock[block];
      if (!replacement)
        replacement = emit(block);
      use.set(replacement);
    }
  }

  Loop &loop;
  llvm::LoopInfo &loops;
  /// What is the same for all threads, made outside and used in the loop.
  llvm::SetVector<llvm::Value *> values;
};
} // namespace

/// Cheap expressions of a value that is alive anyway.
bool LoopScalars::recompute() {
  bool changed = false;
  for (llvm::Value *value : values) {
    auto *op = llvm::dyn_cast<llvm::BinaryOperator>(value);
    // Selection has no readfirstlane of i8 or i128.
    if (!op ||
        !(op->getType()->isIntegerTy(32) || op->getType()->isIntegerTy(64)) ||
        op->isIntDivRem() || op->getOpcode() == Instruction::Mul ||
        !llvm::isa<llvm::ConstantInt>(op->getOperand(1)) ||
        !values.contains(op->getOperand(0)))
      continue;
    // It would stay alive for these.
    if (llvm::any_of(op->uses(), [&](llvm::Use &use) {
          BasicBlock *block = getBlock(use);
          return loop.contains(block) && isInnermost(block);
        }))
      continue;
    replace(op, [&](BasicBlock *block) {
      auto *source = llvm::cast<Instruction>(copy(op->getOperand(0), block));
      Instruction *clone = op->clone();
      clone->setOperand(0, source);
      clone->insertAfter(source->getIterator());
      return clone;
    });
    changed = true;
  }
  return changed;
}

bool LoopScalars::packConditions() {
  constexpr unsigned wordBits = 32;
  llvm::SmallVector<llvm::Value *> conditions;
  for (llvm::Value *value : values)
    if (isCondition(value) && conditions.size() < wordBits)
      conditions.push_back(value);
  BasicBlock *preheader = loop.getLoopPreheader();
  if (conditions.size() < 2 || !preheader)
    return false;
  llvm::IRBuilder<> b(preheader->getTerminator());
  llvm::Value *word = b.getInt32(0);
  for (auto [bit, condition] : llvm::enumerate(conditions))
    word = b.CreateOr(
        word, b.CreateShl(b.CreateZExt(condition, b.getInt32Ty()), bit));
  word = b.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane,
                           {b.getInt32Ty()}, {word});
  llvm::DenseMap<BasicBlock *, llvm::Value *> copies;
  for (auto [bit, condition] : llvm::enumerate(conditions))
    replace(condition, [&, bit = bit](BasicBlock *block) {
      llvm::Value *&here = copies[block];
      if (!here)
        here = copy(word, block);
      llvm::IRBuilder<> inner(
          block, std::next(llvm::cast<Instruction>(here)->getIterator()));
      return inner.CreateICmpNE(inner.CreateAnd(here, 1u << bit),
                                inner.getInt32(0));
    });
  return true;
}

llvm::PreservedAnalyses
mlir::iris::ScalarPressurePass::run(llvm::Function &function,
                                    llvm::FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto &uniformity = analyses.getResult<llvm::UniformityInfoAnalysis>(function);
  bool changed = false;
  for (Loop *loop : loops) {
    LoopScalars scalars(*loop, loops, uniformity);
    LDBG() << function.getName() << ": the loop at "
           << loop->getHeader()->getName() << " uses "
           << scalars.countRegisters()
           << " scalar registers from outside, of which " << kMaxRegisters
           << " may stay";
    if (scalars.countRegisters() <= kMaxRegisters)
      continue;
    changed |= scalars.recompute();
    changed |= scalars.packConditions();
  }
  return mlir::iris::preserveControlFlow(changed);
}
