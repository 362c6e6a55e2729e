// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SpecializeWarps.cpp - Warp specialization of a kernel --------------===//

#include "SpecializeWarps.h"

#include "ProducerLeads.h"
#include "iris/Analysis/AccessConflicts.h"
#include "iris/Conversion/EmitHelpers.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// The producers' slice
//===----------------------------------------------------------------------===//

static bool isTile(Type type) { return isa<RankedTensorType>(type); }

/// Producers hold no tiles: tiles carried by control flow are replaced by an
/// unused constant, which dead code elimination removes.
static Value makeStandIn(OpBuilder &builder, Location loc, Type type) {
  auto tile = cast<RankedTensorType>(type);
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(tile, builder.getZeroAttr(tile.getElementType())));
}

namespace {
/// Processes a block backwards, so that users are removed first.
class Slicer {
public:
  /// Why `slice` failed.
  std::optional<ProducerMiss> miss;

  LogicalResult slice(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (!op.hasTrait<OpTrait::IsTerminator>() && failed(slice(&op)))
        return failure();
    return success();
  }

private:
  LogicalResult slice(Operation *op) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    bool isFlow = isa<scf::SCFDialect>(op->getDialect());
    for (Value result : op->getResults())
      if (isTile(result.getType()) && !result.use_empty() && !isFlow)
        result.replaceAllUsesWith(
            makeStandIn(builder, op->getLoc(), result.getType()));

    if (auto matmul = dyn_cast<tile::MatmulOp>(op)) {
      matmul.getInitMutable().clear();
      return success();
    }
    if (holdsMatmul(op))
      return sliceRegions(op);
    if (isa<ProducerFenceOp>(op))
      return success();
    if (op->use_empty()) {
      op->erase();
      return success();
    }
    if (llvm::all_of(op->getResultTypes(), isTile) && isFlow) {
      for (Value result : op->getResults())
        if (!result.use_empty())
          result.replaceAllUsesWith(
              makeStandIn(builder, op->getLoc(), result.getType()));
      op->erase();
      return success();
    }
    if (llvm::any_of(op->getOperandTypes(), isTile) && !isFlow)
      return refuse(op, "a tile");
    // Also of what has no effect on memory: a loop that counts may carry tiles.
    if (op->getNumRegions() != 0)
      return sliceRegions(op);
    if (isMemoryEffectFree(op) || isa<memref::LoadOp>(op))
      return success();
    return refuse(op, "an access other than memref.load");
  }

  LogicalResult sliceRegions(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(slice(block)))
          return failure();
    return success();
  }

  LogicalResult refuse(Operation *op, StringRef why) {
    miss.emplace(op, why);
    return failure();
  }
};
} // namespace

std::optional<ProducerMiss> mlir::iris::sliceForProducers(Block &block) {
  Slicer slicer;
  (void)slicer.slice(block);
  return slicer.miss;
}

//===----------------------------------------------------------------------===//
// Producer fences
//===----------------------------------------------------------------------===//

namespace {
/// Walks a kernel in program order, loops twice, and tracks whether the next
/// matmul, or the next load on which a matmul depends, must be ordered after
/// some earlier op.
class ProducerFencePlacer {
public:
  explicit ProducerFencePlacer(FunctionOpInterface function)
      : leads(ProducerLeads(function).loads) {
    function->walk([&](tile::MatmulOp op) {
      read(op.getA());
      read(op.getB());
      if (tile::YieldOp yield = op.getYield())
        for (Value buffer : {yield.getA(), yield.getB()})
          if (buffer)
            read(buffer);
    });
    for (Operation *load : leads)
      read(cast<memref::LoadOp>(load).getMemRef());
  }

  bool walk(Block &block, bool pending) {
    for (Operation &op : block)
      pending = walk(&op, pending);
    return pending;
  }

private:
  void read(Value buffer) {
    if (Value root = AccessConflicts::getRoot(buffer))
      roots.insert(root);
    else
      readsAnything = true;
  }

  /// True for ops that producers execute too: a matmul, or a load on which one
  /// depends.
  bool isProducers(Operation *op) const {
    return isa<tile::MatmulOp>(op) || leads.contains(op);
  }

  bool holdsProducers(Operation *op) const {
    return op
        ->walk([&](Operation *inner) {
          return isProducers(inner) ? WalkResult::interrupt()
                                    : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool walk(Operation *op, bool pending) {
    if (!holdsProducers(op)) {
      WalkResult found = op->walk([&](Operation *inner) {
        return inner->getNumRegions() == 0 && holdsBack(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      return pending || found.wasInterrupted();
    }
    if (pending)
      placeBefore(op);
    if (isProducers(op))
      return false;
    auto walkRegions = [&](bool before) {
      bool after = false;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          after |= walk(block, before);
      return after;
    };
    bool after = walkRegions(false);
    // The next iteration of a loop follows this one.
    if (after && !isa<scf::IfOp>(op))
      walkRegions(true);
    return after;
  }

  static void placeBefore(Operation *op) {
    if (isa_and_nonnull<ProducerFenceOp>(op->getPrevNode()))
      return;
    OpBuilder builder(op);
    ProducerFenceOp::create(builder, op->getLoc());
  }

  /// True if a later matmul may depend on `op`.
  bool holdsBack(Operation *op) {
    if (isa<ProducerFenceOp, TraceOp>(op))
      return false;
    // After a wait or a barrier, the program may read data that others wrote.
    if (isa<WaitOp, BarrierOp, FenceOp, PacketLoadOp>(op))
      return true;
    // A release only orders earlier accesses.
    auto orders = [&](auto concrete) {
      return isAcquire(concrete.getSem()) || isRead(concrete.getBuffer());
    };
    if (auto signal = dyn_cast<SignalOp>(op))
      return orders(signal);
    if (auto atomic = dyn_cast<AtomicRMWOp>(op))
      return orders(atomic);
    if (auto atomic = dyn_cast<AtomicCASOp>(op))
      return orders(atomic);
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      return !isMemoryEffectFree(op);
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    return llvm::any_of(instances, [&](auto &effect) {
      if (!isa<MemoryEffects::Write>(effect.getEffect()))
        return false;
      Value buffer = effect.getValue();
      return !buffer || !isa<MemRefType>(buffer.getType()) || isRead(buffer);
    });
  }

  /// True if producers may read `buffer`.
  bool isRead(Value buffer) const {
    Value root = AccessConflicts::getRoot(buffer);
    return !root || readsAnything || roots.contains(root);
  }

  llvm::SmallPtrSet<Operation *, 8> leads;
  llvm::SmallDenseSet<Value> roots;
  bool readsAnything = false;
};
} // namespace

void mlir::iris::placeProducerFences(FunctionOpInterface function) {
  ProducerFencePlacer(function).walk(function.getFunctionBody().front(), false);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LogicalResult mlir::iris::verifyProducerRegion(tile::MatmulOp op) {
  WalkResult walk = op.getBody().walk([&](Operation *inner) {
    if (isMemoryEffectFree(inner) || inner->getNumRegions() != 0 ||
        isa<WaitOp, TraceOp, memref::LoadOp>(inner) ||
        inner->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    inner->emitOpError("is in the region of a matmul; expected waits, loads of "
                       "scalars and arithmetic on this target");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}
