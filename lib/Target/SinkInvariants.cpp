// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SinkInvariants.h"

#include "MachineOpcodes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-sink-invariants"

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;

/// Loops of fewer instructions keep their invariants: computing them again
/// would cost a noticeable part of their time.
static constexpr unsigned kLeastInstructions = 512;

//===----------------------------------------------------------------------===//
// Values and loops
//===----------------------------------------------------------------------===//

/// Whether the value takes few instructions that read registers only.
static bool isCheap(const Instruction &value) {
  if (auto *op = llvm::dyn_cast<llvm::BinaryOperator>(&value))
    return op->getType()->isIntOrIntVectorTy() && !op->isIntDivRem();
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&value))
    return llvm::isa<llvm::MinMaxIntrinsic>(call);
  return llvm::isa<llvm::CastInst, llvm::CmpInst, llvm::SelectInst,
                   llvm::GetElementPtrInst>(value);
}

static bool multipliesMatrices(const Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call)
    return false;
  llvm::StringRef name = call->getCalledFunction()->getName();
  return name.consume_front("llvm.amdgcn.") &&
         (name.starts_with("mfma.") || name.starts_with("smfmac.") ||
          name.starts_with("wmma.") || name.starts_with("swmmac."));
}

/// Whether a loop inside of others executes so much for each value that it may
/// compute them itself.
static bool mayCompute(const Loop &loop) {
  unsigned count = 0;
  for (const BasicBlock *block : loop.blocks()) {
    count += block->size();
    if (llvm::any_of(*block, multipliesMatrices))
      return false;
  }
  return count >= kLeastInstructions;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
/// What is done for one loop.
class LoopInvariants {
public:
  LoopInvariants(Loop &outer, llvm::LoopInfo &loops,
                 llvm::DominatorTree &dominators)
      : outer(outer), loops(loops), dominators(dominators) {
    for (Loop *loop : outer.getLoopsInPreorder())
      if (loop != &outer && !mayCompute(*loop))
        closed.insert(loop);
  }

  /// The number of values that are computed in the loop now.
  unsigned sink();

private:
  BasicBlock *getBlock(const llvm::Use &use) const;
  bool sink(Instruction &value);

  Loop &outer;
  llvm::LoopInfo &loops;
  llvm::DominatorTree &dominators;
  /// Loops that nothing is moved into.
  llvm::SmallPtrSet<Loop *, 8> closed;
};

class SinkInvariants : public llvm::FunctionPass {
public:
  static char ID;
  explicit SinkInvariants(const llvm::StringSet<> &kernels)
      : FunctionPass(ID), kernels(kernels) {}

  llvm::StringRef getPassName() const override {
    return "Iris: compute invariants again in outer loops";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::DominatorTreeWrapperPass>();
    usage.addRequired<llvm::LoopInfoWrapperPass>();
    usage.setPreservesCFG();
  }

  bool runOnFunction(llvm::Function &function) override {
    if (!kernels.contains(function.getName()))
      return false;
    auto &loops = getAnalysis<llvm::LoopInfoWrapperPass>().getLoopInfo();
    auto &dominators =
        getAnalysis<llvm::DominatorTreeWrapperPass>().getDomTree();
    unsigned count = 0;
    for (Loop *loop : loops.getLoopsInPreorder())
      if (loop->isOutermost() ? !loop->isInnermost() : mayCompute(*loop))
        count += LoopInvariants(*loop, loops, dominators).sink();
    LDBG() << function.getName() << ": computes " << count
           << " values again in outer loops";
    return count > 0;
  }

private:
  const llvm::StringSet<> &kernels;
};
} // namespace

char SinkInvariants::ID = 0;

/// The block to compute the value in that `use` needs: that of the use, or the
/// one in front of loops that nothing is moved into.
BasicBlock *LoopInvariants::getBlock(const llvm::Use &use) const {
  auto *user = llvm::cast<Instruction>(use.getUser());
  BasicBlock *block = user->getParent();
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
    block = phi->getIncomingBlock(use);
  BasicBlock *result = block;
  for (Loop *loop = loops.getLoopFor(block); loop && loop != &outer;
       loop = loop->getParentLoop())
    if (closed.contains(loop))
      result = dominators.getNode(loop->getHeader())->getIDom()->getBlock();
  return outer.contains(result) ? result : nullptr;
}

/// Where a copy of the value has to be for `uses`, in `block`.
static BasicBlock::iterator
findInsertionPoint(BasicBlock *block, llvm::ArrayRef<llvm::Use *> uses) {
  BasicBlock::iterator position = block->getTerminator()->getIterator();
  for (llvm::Use *use : uses) {
    auto *user = llvm::cast<Instruction>(use->getUser());
    if (user->getParent() == block && !llvm::isa<llvm::PHINode>(user) &&
        user->comesBefore(&*position))
      position = user->getIterator();
  }
  return position;
}

bool LoopInvariants::sink(Instruction &value) {
  llvm::MapVector<BasicBlock *, llvm::SmallVector<llvm::Use *>> uses;
  for (llvm::Use &use : value.uses()) {
    auto *user = llvm::cast<Instruction>(use.getUser());
    if (!outer.contains(user))
      continue;
    if (BasicBlock *block = getBlock(use))
      uses[block].push_back(&use);
  }
  for (auto &[block, here] : uses) {
    Instruction *copy = value.clone();
    copy->insertBefore(findInsertionPoint(block, here));
    for (llvm::Use *use : here)
      use->set(copy);
  }
  if (value.use_empty())
    value.eraseFromParent();
  return !uses.empty();
}

unsigned LoopInvariants::sink() {
  // Users come before their operands, which the copies use in the loop.
  llvm::SmallVector<Instruction *> values;
  for (BasicBlock *block = outer.getHeader();;) {
    llvm::DomTreeNode *node = dominators.getNode(block)->getIDom();
    if (!node)
      break;
    block = node->getBlock();
    for (Instruction &each : llvm::reverse(*block))
      if (isCheap(each))
        values.push_back(&each);
  }
  return llvm::count_if(values, [&](Instruction *each) { return sink(*each); });
}

void mlir::iris::sinkInvariants(llvm::TargetPassConfig &config,
                                const llvm::StringSet<> &kernels) {
  config.insertPass(
      getCodegenPass("codegenprepare",
                     "comes after the last motion out of loops in LLVM IR"),
      new SinkInvariants(kernels));
}

//===----------------------------------------------------------------------===//
// The gate
//===----------------------------------------------------------------------===//

bool mlir::iris::HoistingGate::isEnabled() const {
  return !kernels.empty() || llvm::getGlobalPassGate().isEnabled();
}

bool mlir::iris::HoistingGate::shouldRunPass(
    llvm::StringRef pass, llvm::StringRef description) const {
  static const llvm::StringRef hoisting =
      llvm::PassRegistry::getPassRegistry()
          ->getPassInfo(&llvm::EarlyMachineLICMID)
          ->getPassName();
  llvm::StringRef function = description;
  if (pass == hoisting && function.consume_front("function (") &&
      function.consume_back(")") && kernels.contains(function))
    return false;
  llvm::OptPassGate &global = llvm::getGlobalPassGate();
  return !global.isEnabled() || global.shouldRunPass(pass, description);
}
