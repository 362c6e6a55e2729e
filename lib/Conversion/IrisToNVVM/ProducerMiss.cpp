// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProducerMiss.cpp - Why a kernel has no producer warps --------------===//
//
// Producers repeat scalar arithmetic and loads. They cannot repeat
//
// * what is computed from a tile, whose elements the consumers' threads hold;
// * what has an effect besides reading memory, such as an atomic;
// * a load from a buffer that the kernel writes afterwards, if consumers may
//   get there before producers have loaded. Fences order producers after
//   consumers, but not consumers after producers. A matmul does that, which
//   waits for operand tiles that are loaded after the scalar; a branch does
//   not.
//
//===----------------------------------------------------------------------===//

#include "ProducerMiss.h"

#include "ProducerLeads.h"
#include "SpecializeWarps.h"
#include "iris/Analysis/AccessConflicts.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::iris;

/// True if `op` itself may write to the buffer of `root`.
static bool mayWrite(Operation *op, Value root) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return false;
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](auto &effect) {
    Value buffer = effect.getValue();
    if (!isa<MemoryEffects::Write>(effect.getEffect()) || !buffer ||
        !isa<MemRefType>(buffer.getType()))
      return false;
    Value other = AccessConflicts::getRoot(buffer);
    return !root || !other || root == other;
  });
}

namespace {
/// A load that producers repeat.
class LeadLoad {
public:
  LeadLoad(Operation *load, const ProducerLeads &leads)
      : load(load), leads(leads) {}

  /// True if consumers may write to the buffer before producers have loaded.
  bool isOvertaken(ArrayRef<Operation *> writes) {
    if (!findMatmuls(load->getResult(0)))
      return llvm::any_of(writes,
                          [&](Operation *write) { return !isBefore(write); });
    return llvm::any_of(writes, [&](Operation *write) {
      Operation *at = load->getBlock()->findAncestorOpInBlock(*write);
      return at && load->isBeforeInBlock(at) &&
             llvm::any_of(matmuls, [&](Operation *matmul) {
               return !matmul->isBeforeInBlock(at);
             });
    });
  }

private:
  /// Collects the ops of the load's block in which matmuls use `value`; false
  /// if control flow uses it.
  bool findMatmuls(Value value) {
    if (!seen.insert(value).second)
      return true;
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      auto matmul = dyn_cast<tile::MatmulOp>(user);
      if (!matmul)
        matmul = user->getParentOfType<tile::MatmulOp>();
      if (matmul) {
        matmuls.insert(load->getBlock()->findAncestorOpInBlock(*matmul));
        return true;
      }
      Operation *flow = user->getNumRegions() ? user
                        : user->hasTrait<OpTrait::IsTerminator>()
                            ? user->getParentOp()
                            : nullptr;
      auto isLead = [&](Value result) { return leads.contains(result); };
      if (flow)
        return !holdsMatmul(flow) && llvm::none_of(flow->getResults(), isLead);
      return llvm::all_of(user->getResults(), [&](Value result) {
        return !isLead(result) || findMatmuls(result);
      });
    });
  }

  /// True if `write` is not executed after the load.
  bool isBefore(Operation *write) const {
    Operation *at = load;
    while (!at->getBlock()->findAncestorOpInBlock(*write))
      at = at->getParentOp();
    return at->getBlock()->findAncestorOpInBlock(*write)->isBeforeInBlock(at) &&
           !at->getParentOfType<LoopLikeOpInterface>();
  }

  Operation *load;
  const ProducerLeads &leads;
  llvm::SmallDenseSet<Value> seen;
  llvm::SmallPtrSet<Operation *, 4> matmuls;
};
} // namespace

std::optional<ProducerMiss>
mlir::iris::findProducerMiss(FunctionOpInterface function) {
  OwningOpRef<Operation *> copy(function->clone());
  if (auto miss = sliceForProducers(copy.get()->getRegion(0).front()))
    return miss;
  ProducerLeads leads(function);
  std::optional<ProducerMiss> miss;
  function->walk([&](memref::LoadOp load) {
    // Those of a matmul's region come before the operand tiles of a k-block.
    if (!leads.loads.contains(load) || load->getParentOfType<tile::MatmulOp>())
      return WalkResult::advance();
    Value root = AccessConflicts::getRoot(load.getMemRef());
    SmallVector<Operation *> writes;
    function->walk([&](Operation *op) {
      if (mayWrite(op, root))
        writes.push_back(op);
    });
    if (!LeadLoad(load, leads).isOvertaken(writes))
      return WalkResult::advance();
    miss.emplace(load, "what is read before the kernel writes to the buffer");
    return WalkResult::interrupt();
  });
  return miss;
}
