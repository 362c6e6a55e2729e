// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the promise that a kernel behaves as if one thread executed it, where
// one access to memory depends on another.
//
// PendingAccessWalk walks a kernel in program order; an access that has to come
// after a pending one gets a barrier before it.
#include "iris/Dialect/Tile/Transforms/Passes.h"

#include "ThreadOrder.h"
#include "iris/Analysis/ArgumentOverlaps.h"
#include "iris/Analysis/PendingAccesses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tile-insert-barriers"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERSPASS
#include "iris/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;
using iris::AccessConflicts;
using iris::Overlap;
using iris::PendingAccess;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// For the log.
static OpWithFlags withoutRegions(Operation *op) {
  return OpWithFlags(op, OpPrintingFlags().skipRegions());
}

/// Adds what makes it right that nothing orders the two accesses.
static void collectOverlap(AccessConflicts &conflicts,
                           const PendingAccess &before,
                           const PendingAccess &now, Overlaps &overlaps) {
  Overlap needed = conflicts.getNeededOverlap(before, now);
  if (needed == Overlap::Any)
    return;
  auto number = [](Value buffer) {
    Value root = AccessConflicts::getRoot(buffer);
    return cast<BlockArgument>(root).getArgNumber();
  };
  addOverlap(overlaps, std::minmax(number(before.buffer), number(now.buffer)),
             needed);
}

void tile::addOverlap(Overlaps &overlaps, std::pair<unsigned, unsigned> pair,
                      Overlap needed) {
  Overlap &known = overlaps[pair];
  known = std::max(known, needed);
}

Overlaps tile::insertBarriers(FunctionOpInterface function, bool remarks) {
  AccessConflicts conflicts(function);
  auto insertBarrier = [&](Operation *op, ArrayRef<PendingAccess> accesses,
                           ArrayRef<PendingAccess> pending) {
    auto conflict = conflicts.findConflict(accesses, pending);
    if (!conflict)
      return false;
    OpBuilder builder(op);
    gpu::BarrierOp::create(builder, op->getLoc());
    if (remarks)
      remark::passed(op->getLoc(), remark::RemarkOpts::name("barrier").category(
                                       "tile-insert-barriers"))
          << "barrier before an access that depends on another thread's";
    LDBG() << "barrier before " << withoutRegions(op) << ", which "
           << describe(*conflict->second) << ", after "
           << withoutRegions(conflict->first->op) << ", which "
           << describe(*conflict->first);
    return true;
  };
  iris::PendingAccessWalk walk(function);
  walk.run(insertBarrier);

  Overlaps overlaps;
  walk.run([&](Operation *op, ArrayRef<PendingAccess> accesses,
               ArrayRef<PendingAccess> pending) {
    if (insertBarrier(op, accesses, pending))
      return true;
    for (const PendingAccess &now : accesses) {
      for (const PendingAccess &before : pending) {
        collectOverlap(conflicts, before, now, overlaps);
        LDBG(2) << "no barrier between " << withoutRegions(before.op) << " and "
                << withoutRegions(op) << ": "
                << describe(conflicts.explain(before, now));
      }
    }
    return false;
  });
  return overlaps;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void tile::setOverlaps(FunctionOpInterface function, Overlaps overlaps) {
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
      Overlaps overlaps = insertBarriers(function, /*remarks=*/true);
      if (!function->hasAttr(iris::kMayOverlapAttr))
        setOverlaps(function, std::move(overlaps));
    });
  }
};
} // namespace
