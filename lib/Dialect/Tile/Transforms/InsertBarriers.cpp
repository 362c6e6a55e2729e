// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the promise that a kernel behaves as if one thread executed it, where
// one access to memory depends on another.
//
// The pass walks a kernel in program order with the accesses that nothing has
// ordered yet: the pending ones. Each op says what it orders before and after
// itself and what it accesses (ProgramOrderOpInterface); an access that has to
// come after a pending one gets a barrier before it. Control flow joins what is
// pending on its ways, loops until nothing is added.
//
// An access of an earlier iteration was made with the values of that iteration:
// see PendingAccess::staleIn.
#include "iris/Dialect/Tile/Transforms/Passes.h"

#include "iris/Analysis/AccessConflicts.h"
#include "iris/Analysis/ArgumentOverlaps.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERSPASS
#include "iris/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;
using iris::MemoryAccess;
using iris::OrderedAccesses;
using iris::Overlap;
using iris::PendingAccess;

using Pending = SmallVector<PendingAccess>;

//===----------------------------------------------------------------------===//
// Pending accesses
//===----------------------------------------------------------------------===//

/// Adds `from` to `into`; true if that is more.
static bool merge(Pending &into, const Pending &from) {
  size_t before = into.size();
  for (const PendingAccess &access : from)
    if (!llvm::is_contained(into, access))
      into.push_back(access);
  return into.size() != before;
}

/// `pending` on the way to another round of `loop`.
static Pending makeStale(Pending pending, Operation *loop) {
  for (PendingAccess &access : pending)
    if (loop->isAncestor(access.op) &&
        !(access.staleIn && access.staleIn->isAncestor(loop)))
      access.staleIn = loop;
  return pending;
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

namespace {

/// Pairs of arguments, by number, and what their accesses rely on.
using Overlaps = llvm::MapVector<std::pair<unsigned, unsigned>, Overlap>;

class BarrierInserter {
public:
  explicit BarrierInserter(FunctionOpInterface function)
      : function(function), conflicts(function) {}

  /// Inserts all barriers, then collects what the function relies on.
  Overlaps run();

private:
  void walk(Block &block, Pending &pending);
  void walk(Operation *op, Pending &pending);
  /// Returns what is pending at the ends of the region.
  Pending walk(Region &region, Pending pending);
  void walkRegions(Operation *op, Pending &pending);
  bool tryWalkRegions(Operation *op, Pending &pending);
  void orderAfter(Operation *op, ArrayRef<MemoryAccess> accesses, bool isWait,
                  Pending &pending);
  void collectOverlap(const PendingAccess &before, const PendingAccess &now);

  FunctionOpInterface function;
  iris::AccessConflicts conflicts;
  unsigned numBarriers = 0;
  /// All barriers are there.
  bool collects = false;
  Overlaps overlaps;
};

} // namespace

Overlaps BarrierInserter::run() {
  (void)walk(function.getFunctionBody(), Pending());
  collects = true;
  (void)walk(function.getFunctionBody(), Pending());
  return std::move(overlaps);
}

void BarrierInserter::walk(Block &block, Pending &pending) {
  for (Operation &op : llvm::make_early_inc_range(block))
    walk(&op, pending);
}

void BarrierInserter::walk(Operation *op, Pending &pending) {
  if (isMemoryEffectFree(op))
    return;
  auto order = dyn_cast<iris::ProgramOrderOpInterface>(op);
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

  SmallVector<MemoryAccess> accesses = iris::getMemoryAccesses(op);
  Pending own;
  for (const MemoryAccess &access : accesses)
    own.emplace_back(access, op);
  // A matmul reads ahead. What its loop depends on is ordered by one barrier
  // before the op, so that the loop has none.
  if (isa<MatmulOp>(op))
    op->getRegion(0).walk([&](Operation *inner) {
      llvm::append_range(accesses, iris::getMemoryAccesses(inner));
    });
  orderAfter(op, accesses, isWait, pending);
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

/// Puts a barrier before `op` if one of its `accesses` has to come after a
/// pending one.
void BarrierInserter::orderAfter(Operation *op, ArrayRef<MemoryAccess> accesses,
                                 bool isWait, Pending &pending) {
  auto anyPair = [&](auto predicate) {
    return llvm::any_of(accesses, [&](const MemoryAccess &access) {
      PendingAccess now(access, op);
      return llvm::any_of(pending, [&](const PendingAccess &before) {
        return (isWait || !before.onlyForWaits) && predicate(before, now);
      });
    });
  };
  if (anyPair([&](auto &before, auto &now) {
        return conflicts.needsOrder(before, now);
      })) {
    OpBuilder builder(op);
    gpu::BarrierOp::create(builder, op->getLoc());
    remark::passed(op->getLoc(), remark::RemarkOpts::name("barrier").category(
                                     "tile-insert-barriers"))
        << "barrier before an access that depends on another thread's";
    ++numBarriers;
    pending.clear();
    return;
  }
  if (collects)
    (void)anyPair([&](auto &before, auto &now) {
      collectOverlap(before, now);
      return false;
    });
}

void BarrierInserter::collectOverlap(const PendingAccess &before,
                                     const PendingAccess &now) {
  Overlap needed = conflicts.getNeededOverlap(before, now);
  if (needed == Overlap::Any)
    return;
  auto number = [](Value buffer) {
    Value root = iris::AccessConflicts::getRoot(buffer);
    return cast<BlockArgument>(root).getArgNumber();
  };
  std::pair<unsigned, unsigned> pair =
      std::minmax(number(before.buffer), number(now.buffer));
  Overlap &known = overlaps[pair];
  known = std::max(known, needed);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Pending BarrierInserter::walk(Region &region, Pending pending) {
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
/// their entries is known. False as soon as a barrier was inserted: less is
/// pending then.
bool BarrierInserter::tryWalkRegions(Operation *op, Pending &pending) {
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
    unsigned barriersBefore = numBarriers;
    Pending state = walk(*region, entries[region]);
    if (numBarriers != barriersBefore)
      return false;
    if (!region->empty())
      flow(region, state);
  }
  pending = std::move(ends);
  return true;
}

void BarrierInserter::walkRegions(Operation *op, Pending &pending) {
  while (!tryWalkRegions(op, pending))
    ;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// `iris.argument_overlaps`: the pairs of arguments that the launch checks.
static void setOverlaps(FunctionOpInterface function, Overlaps overlaps) {
  llvm::sort(overlaps, llvm::less_first());
  Builder builder(function.getContext());
  SmallVector<NamedAttribute> fields;
  for (auto [name, kind] :
       {std::pair(iris::kDisjointArguments, Overlap::Disjoint),
        std::pair(iris::kSameOrDisjointArguments, Overlap::SameOrDisjoint)}) {
    SmallVector<Attribute> pairs;
    for (auto &[pair, needed] : overlaps)
      if (needed == kind)
        pairs.push_back(builder.getI64ArrayAttr({pair.first, pair.second}));
    if (!pairs.empty())
      fields.push_back(builder.getNamedAttr(name, builder.getArrayAttr(pairs)));
  }
  if (!fields.empty())
    function->setAttr(iris::kArgumentOverlapsAttr,
                      builder.getDictionaryAttr(fields));
}

namespace {
struct TileInsertBarriersPass
    : tile::impl::TileInsertBarriersPassBase<TileInsertBarriersPass> {
  using TileInsertBarriersPassBase::TileInsertBarriersPassBase;

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      Overlaps overlaps = BarrierInserter(function).run();
      if (!function->hasAttr(iris::kMayOverlapAttr))
        setOverlaps(function, std::move(overlaps));
    });
  }
};
} // namespace
