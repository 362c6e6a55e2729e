// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Analysis/PendingAccesses.h"

#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::iris;

using Pending = SmallVector<PendingAccess>;

/// Adds `from` to `into`; true if that is more.
static bool merge(Pending &into, const Pending &from) {
  size_t before = into.size();
  for (const PendingAccess &access : from)
    if (!llvm::is_contained(into, access))
      into.push_back(access);
  return into.size() != before;
}

/// `pending` on the way to another iteration of `loop`.
static Pending makeStale(Pending pending, Operation *loop) {
  for (PendingAccess &access : pending)
    if (loop->isAncestor(access.op) &&
        !(access.staleIn && access.staleIn->isAncestor(loop)))
      access.staleIn = loop;
  return pending;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void PendingAccessWalk::run(Visitor visitor) {
  this->visitor = &visitor;
  (void)walk(function.getFunctionBody(), Pending());
  this->visitor = nullptr;
}

void PendingAccessWalk::walk(Block &block, Pending &pending) {
  for (Operation &op : llvm::make_early_inc_range(block))
    walk(&op, pending);
}

void PendingAccessWalk::walk(Operation *op, Pending &pending) {
  if (isMemoryEffectFree(op))
    return;
  auto order = dyn_cast<ProgramOrderOpInterface>(op);
  OrderedAccesses before =
      order ? order.getOrderBefore() : OrderedAccesses::None;
  OrderedAccesses after = order ? order.getOrderAfter() : OrderedAccesses::None;
  bool isWait = after == OrderedAccesses::ButNeighbours;
  // A row of waits ends here, with the order of its last one.
  if (!isWait)
    llvm::erase_if(pending, [](auto &access) { return access.onlyForWaits; });

  if (before == OrderedAccesses::All)
    pending.clear();
  else if (before == OrderedAccesses::ButNeighbours)
    llvm::erase_if(pending, [](auto &access) {
      return access.threads != MemoryAccess::Threads::Leader;
    });

  SmallVector<MemoryAccess> accesses = getMemoryAccesses(op);
  Pending own;
  for (const MemoryAccess &access : accesses)
    own.emplace_back(access, op);
  // A matmul reads ahead. What its loop depends on is ordered by one barrier
  // before the op, so that the loop has none.
  if (isa<tile::MatmulOp>(op))
    op->getRegion(0).walk([&](Operation *inner) {
      llvm::append_range(accesses, getMemoryAccesses(inner));
    });
  visit(op, accesses, isWait, pending);
  merge(pending, own);
  if (op->getNumRegions() != 0) {
    walkRegions(op, pending);
    merge(pending, own);
  }

  if (after == OrderedAccesses::All)
    pending.clear();
  else if (isWait)
    for (PendingAccess &access : pending)
      access.onlyForWaits = true;
}

void PendingAccessWalk::visit(Operation *op, ArrayRef<MemoryAccess> accesses,
                              bool isWait, Pending &pending) {
  if (ordered.contains(op)) {
    pending.clear();
    return;
  }
  Pending now, relevant;
  for (const MemoryAccess &access : accesses)
    now.emplace_back(access, op);
  llvm::copy_if(pending, std::back_inserter(relevant),
                [&](auto &access) { return isWait || !access.onlyForWaits; });
  if (now.empty() || relevant.empty() || !(*visitor)(op, now, relevant))
    return;
  ordered.insert(op);
  pending.clear();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Pending PendingAccessWalk::walk(Region &region, Pending pending) {
  if (region.hasOneBlock()) {
    walk(region.front(), pending);
    return pending;
  }
  // Any branch may go back.
  llvm::DenseMap<Block *, Pending> entries;
  SmallVector<Block *> worklist;
  Pending ends;
  if (!region.empty()) {
    entries[&region.front()] = std::move(pending);
    worklist.push_back(&region.front());
  }
  while (!worklist.empty()) {
    Block *block = worklist.pop_back_val();
    Pending state = entries[block];
    walk(*block, state);
    if (block->hasNoSuccessors())
      merge(ends, state);
    state = makeStale(std::move(state), region.getParentOp());
    for (Block *next : block->getSuccessors()) {
      bool isFirst = !entries.contains(next);
      if (merge(entries[next], state) || isFirst)
        worklist.push_back(next);
    }
  }
  return ends;
}

/// Walks the regions of `op` as its control flow goes, until what is pending at
/// their entries is known. False as soon as an op got a barrier: less is
/// pending then.
bool PendingAccessWalk::tryWalkRegions(Operation *op, Pending &pending) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  auto getSuccessors = [&](Region *from) {
    SmallVector<RegionSuccessor> successors;
    SmallVector<Region *> regions;
    if (branch && from)
      branch.getSuccessorRegions(*from, successors);
    else if (branch)
      branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (const RegionSuccessor &successor : successors)
      regions.push_back(successor.getSuccessor());
    if (branch)
      return regions;
    // Any region may come next, or none.
    for (Region &region : op->getRegions())
      regions.push_back(&region);
    regions.push_back(nullptr);
    return regions;
  };

  llvm::DenseMap<Region *, Pending> entries;
  SmallVector<Region *> worklist;
  Pending ends;
  auto flow = [&](Region *from, const Pending &state) {
    for (Region *to : getSuccessors(from)) {
      if (!to) {
        merge(ends, state);
        continue;
      }
      bool isFirst = !entries.contains(to);
      if (merge(entries[to], from ? makeStale(state, op) : state) || isFirst)
        worklist.push_back(to);
    }
  };
  flow(nullptr, pending);
  while (!worklist.empty()) {
    Region *region = worklist.pop_back_val();
    size_t orderedBefore = ordered.size();
    Pending state = walk(*region, entries[region]);
    if (ordered.size() != orderedBefore)
      return false;
    if (!region->empty())
      flow(region, state);
  }
  pending = std::move(ends);
  return true;
}

void PendingAccessWalk::walkRegions(Operation *op, Pending &pending) {
  while (!tryWalkRegions(op, pending))
    ;
}
