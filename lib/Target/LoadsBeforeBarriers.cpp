// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LoadsBeforeBarriers.h"

#include "PreserveControlFlow.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-loads-before-barriers"

using llvm::DominatorTree;
using llvm::Instruction;
using llvm::LoadInst;

/// Address spaces of AMD GPUs whose memory no other thread changes: constants
/// and the thread's own stack.
static constexpr unsigned kConstant = 4, kConstant32Bit = 6, kPrivate = 5;

/// True for fences, barriers and the like: they order the accesses of different
/// threads, and are no stores for MachineSink. LLVM IR has unknown effects for
/// intrinsics that access no memory but have side effects.
static bool isOrdering(const Instruction &instruction) {
  if (llvm::isa<llvm::FenceInst>(instruction))
    return true;
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getMemoryEffects() == llvm::MemoryEffects::unknown() &&
         llvm::none_of(call->args(), [](const llvm::Use &argument) {
           return argument->getType()->isPointerTy();
         });
}

/// True where code generation may end the block: it expands atomics to loops.
static bool mayEndBlock(const Instruction &instruction) {
  return instruction.isTerminator() ||
         llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction);
}

/// True if selection makes a store of the assembly. In LLVM IR all assembly has
/// unknown effects; selection asks whether it clobbers memory.
static bool clobbersMemory(const llvm::InlineAsm &assembly) {
  return llvm::any_of(assembly.ParseConstraints(),
                      [](const llvm::InlineAsm::ConstraintInfo &constraint) {
                        return constraint.Type == llvm::InlineAsm::isClobber &&
                               llvm::is_contained(constraint.Codes, "{memory}");
                      });
}

/// True for what MachineSink moves no load over.
static bool isStore(const Instruction &instruction) {
  const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call && call->isInlineAsm())
    return clobbersMemory(
        *llvm::cast<llvm::InlineAsm>(call->getCalledOperand()));
  return !isOrdering(instruction) && !mayEndBlock(instruction) &&
         instruction.mayWriteToMemory();
}

static bool mayRace(const LoadInst &load) {
  unsigned space = load.getPointerAddressSpace();
  return load.isUnordered() &&
         !load.hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
         space != kConstant && space != kConstant32Bit && space != kPrivate;
}

/// True if a store of the same block comes after `from`, before `to` (null: the
/// end of the block).
static bool hasStoreBetween(const Instruction &from, const Instruction *to) {
  for (const Instruction *at = from.getNextNode(); at && at != to;
       at = at->getNextNode()) {
    if (isStore(*at))
      return true;
    if (mayEndBlock(*at))
      return false;
  }
  return false;
}

namespace {
/// Finds the values that may be computed later than an instruction says that
/// orders.
class LaterValues {
public:
  LaterValues(const Instruction &ordering, const DominatorTree &dominators)
      : ordering(ordering), dominators(dominators) {}

  /// True if all uses of `value` come after the ordering, or may be moved
  /// there with it.
  bool mayFollow(const Instruction &value) {
    auto [found, isNew] = known.try_emplace(&value, false);
    if (!isNew)
      return found->second;
    bool result = !value.use_empty() &&
                  llvm::all_of(value.users(), [&](const llvm::User *user) {
                    return isLater(*llvm::cast<Instruction>(user));
                  });
    return known[&value] = result;
  }

private:
  bool isLater(const Instruction &user) {
    if (dominators.dominates(&ordering, &user))
      return true;
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&user);
    bool canMove = !llvm::isa<llvm::PHINode>(user) && !user.isTerminator() &&
                   !user.mayHaveSideEffects() && !user.mayReadFromMemory() &&
                   !(call && call->isConvergent());
    return canMove && mayFollow(user);
  }

  const Instruction &ordering;
  const DominatorTree &dominators;
  llvm::DenseMap<const Instruction *, bool> known;
};
} // namespace

/// Uses the value as 32-bit words, one by one: selection cannot legalise a fake
/// use of other types.
static void createFakeUses(llvm::IRBuilder<> &b, llvm::Value *value) {
  const llvm::DataLayout &layout = b.GetInsertBlock()->getDataLayout();
  if (value->getType()->isPtrOrPtrVectorTy())
    value = b.CreatePtrToInt(value, layout.getIntPtrType(value->getType()));
  unsigned bits = value->getType()->getPrimitiveSizeInBits().getFixedValue();
  unsigned words = llvm::divideCeil(bits, 32);
  value = b.CreateBitCast(value, b.getIntNTy(bits));
  value = b.CreateZExt(value, b.getIntNTy(32 * words));
  value =
      b.CreateBitCast(value, llvm::FixedVectorType::get(b.getInt32Ty(), words));
  for (unsigned word = 0; word < words; ++word)
    b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::fake_use,
                      {b.CreateExtractElement(value, word)});
}

/// Adds uses in front of `ordering` of the loads that could pass it.
static bool holdLoads(Instruction &ordering, llvm::ArrayRef<LoadInst *> loads,
                      const DominatorTree &dominators) {
  // A store after it in the block holds all of them.
  if (hasStoreBetween(ordering, nullptr))
    return false;
  LaterValues later(ordering, dominators);
  llvm::SmallVector<llvm::Value *> held;
  for (LoadInst *load : loads) {
    if (!dominators.dominates(load, &ordering))
      continue;
    bool isSameBlock = load->getParent() == ordering.getParent();
    if (!hasStoreBetween(*load, isSameBlock ? &ordering : nullptr) &&
        later.mayFollow(*load))
      held.push_back(load);
  }
  if (held.empty())
    return false;
  llvm::IRBuilder<> b(&ordering);
  for (llvm::Value *load : held) {
    LDBG() << "keep" << *load << " before" << ordering;
    createFakeUses(b, load);
  }
  return true;
}

llvm::PreservedAnalyses mlir::iris::LoadsBeforeBarriersPass::run(
    llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
  llvm::SmallVector<LoadInst *> loads;
  llvm::SmallVector<Instruction *> orderings;
  for (Instruction &instruction : llvm::instructions(function)) {
    auto *load = llvm::dyn_cast<LoadInst>(&instruction);
    if (load && mayRace(*load))
      loads.push_back(load);
    // The first of several in a row: a barrier has fences on both sides.
    const Instruction *before = instruction.getPrevNode();
    if (isOrdering(instruction) && !(before && isOrdering(*before)))
      orderings.push_back(&instruction);
  }
  if (loads.empty() || orderings.empty())
    return llvm::PreservedAnalyses::all();
  const auto &dominators =
      analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  bool changed = false;
  for (Instruction *ordering : orderings)
    changed |= holdLoads(*ordering, loads, dominators);
  return mlir::iris::preserveControlFlow(changed);
}
