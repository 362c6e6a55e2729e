// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the promise that a kernel behaves as if one thread executed it, where
// one access to memory depends on another.
//
// The pass walks a kernel in program order and remembers the accesses since the
// threads last met.  An access that conflicts with one of them (same memory,
// one of the two writes, and not known to be the same thread's business element
// by element) gets a barrier before it.  Bodies of loops are walked twice: the
// second time sees what the iteration before has left.
//
// Two windows are each thread's own business if they have the same layout and
// are equal or disjoint.  The usual tile loop is recognised by divisors: where
// every offset is a multiple of the tile's extent, windows lie on a grid.
//
// Different arguments of a kernel are taken to be different memory, or the same
// memory with corresponding elements at the same coordinates.
#include "iris/Dialect/Tile/Transforms/Passes.h"

#include "iris/Analysis/Divisibility.h"
#include "iris/Analysis/TileLayout.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERSPASS
#include "iris/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {

/// What an op does to memory.
struct Access {
  Operation *op = nullptr;
  Value buffer;
  bool reads = false;
  bool writes = false;
  /// The window, if it is one; `tile` is null otherwise.
  RankedTensorType tile;
  SmallVector<Value> offsets;
  /// Scalar atomics and signals are the business of one thread, always the
  /// same.
  bool oneThread = false;
  /// Packets find each other by their flags; see `conflicts`.
  bool packet = false;
  /// Made by an earlier iteration: values defined in the loop have changed.
  Operation *staleIn = nullptr;

  bool operator==(const Access &other) const {
    return op == other.op && staleIn == other.staleIn;
  }
};

using Accesses = SmallVector<Access>;

} // namespace

/// True if all threads meet at `op`, with their memory accesses ordered.
static bool isMeeting(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<gpu::BarrierOp, iris::BarrierOp, iris::FenceOp, iris::WaitOp>(
          [](Operation *) { return true; })
      .Case<iris::SignalOp, iris::AtomicRMWOp, iris::AtomicCASOp>(
          [](auto op) { return op.getSem() != iris::MemSemantic::Relaxed; })
      .Default([](Operation *) { return false; });
}

static std::optional<Access> getAccess(Operation *op) {
  Access access;
  access.op = op;
  return llvm::TypeSwitch<Operation *, std::optional<Access>>(op)
      .Case([&](LoadOp load) {
        access.buffer = load.getSource();
        access.reads = true;
        access.tile = load.getResult().getType();
        access.offsets = load.getOffsets();
        return access;
      })
      .Case([&](StoreOp store) {
        access.buffer = store.getDestination();
        access.writes = true;
        access.tile = store.getValue().getType();
        access.offsets = store.getOffsets();
        return access;
      })
      .Case([&](GatherOp gather) {
        access.buffer = gather.getSource();
        access.reads = true;
        return access;
      })
      .Case([&](ScatterOp scatter) {
        access.buffer = scatter.getDestination();
        access.writes = true;
        return access;
      })
      .Case([&](memref::LoadOp load) {
        access.buffer = load.getMemRef();
        access.reads = true;
        return access;
      })
      .Case([&](memref::StoreOp store) {
        access.buffer = store.getMemRef();
        access.writes = true;
        return access;
      })
      .Case<iris::AtomicRMWOp, iris::AtomicCASOp, iris::SignalOp>(
          [&](auto atomic) {
            access.buffer = atomic.getBuffer();
            access.reads = access.writes = true;
            access.tile =
                dyn_cast<RankedTensorType>(atomic.getValue().getType());
            access.oneThread = !access.tile;
            access.offsets = atomic.getOffsets();
            return access;
          })
      .Case([&](iris::PacketStoreOp store) {
        access.buffer = store.getBuffer();
        access.writes = access.packet = true;
        return access;
      })
      .Case([&](iris::PacketLoadOp load) {
        access.buffer = load.getBuffer();
        access.reads = access.packet = true;
        return access;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the memory that a buffer is a view of: an argument of the kernel or
/// an allocation; null if that is not known.
static Value getRoot(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto translate = dyn_cast<iris::TranslateOp>(op))
      buffer = translate.getSource();
    else if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      buffer = view.getViewSource();
    else
      return isa<memref::AllocaOp, memref::AllocOp>(op) ? buffer : Value();
  }
  auto argument = cast<BlockArgument>(buffer);
  bool isArgument =
      argument.getOwner()->isEntryBlock() &&
      isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return isArgument ? buffer : Value();
}

/// True if `value` is the same now as when `access` was made.
static bool isCurrent(const Access &access, Value value) {
  return !access.staleIn ||
         !access.staleIn->isAncestor(value.getParentBlock()->getParentOp());
}

/// True if every element that both windows cover is accessed by one thread.
static bool isEachThreadsOwn(const Access &before, const Access &now,
                             iris::Divisibility &facts) {
  if (!before.tile || !now.tile ||
      before.tile.getShape() != now.tile.getShape())
    return false;
  // Equal coordinates must mean equal elements.  Another rank's copy is other
  // memory.
  Value own = iris::getOwnBuffer(now.buffer);
  if (own != iris::getOwnBuffer(before.buffer) || !isCurrent(before, own))
    return false;

  std::optional<iris::LinearLayout> layout = iris::getLinearLayout(now.tile);
  if (!layout || layout != iris::getLinearLayout(before.tile))
    return false;
  // Of several threads that load an element only one stores it.
  bool onlyStores = !before.reads && !now.reads;
  if (!onlyStores && !layout->hasUniqueOwners())
    return false;

  for (auto [dim, then, here] : llvm::enumerate(before.offsets, now.offsets)) {
    if (then == here && isCurrent(before, here))
      continue;
    if (isEqualConstantIntOrValue(then, here) && getConstantIntValue(here))
      continue;
    uint64_t extent = now.tile.getDimSize(dim);
    if (facts.getDivisor(then) < extent || facts.getDivisor(here) < extent)
      return false;
  }
  return true;
}

static bool conflicts(const Access &before, const Access &now,
                      iris::Divisibility &facts) {
  if ((!before.writes && !now.writes) || (before.oneThread && now.oneThread))
    return false;
  // A load waits for the store that it means. A store that comes after a load
  // of the same place is kept after it by the `iris.leave_if_failed` between
  // them, where all threads have received what they waited for.
  if (before.packet && now.packet)
    return false;
  Value a = getRoot(before.buffer), b = getRoot(now.buffer);
  if (a && b && a != b)
    return false;
  return !isEachThreadsOwn(before, now, facts);
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

namespace {

class BarrierInserter {
public:
  /// Walks `block`; `pending` are the accesses since the threads last met.
  void walk(Block &block, Accesses &pending);

private:
  void walk(Operation *op, Accesses &pending);
  void walkLoop(Operation *loop, Accesses &pending);
  void walkMatmul(MatmulOp op, Accesses &pending);
  void orderAfter(Operation *op, ArrayRef<Access> accesses, Accesses &pending);

  iris::Divisibility facts;
};

} // namespace

static void merge(Accesses &into, const Accesses &from) {
  for (const Access &access : from)
    if (!llvm::is_contained(into, access))
      into.push_back(access);
}

void BarrierInserter::walk(Block &block, Accesses &pending) {
  for (Operation &op : llvm::make_early_inc_range(block))
    walk(&op, pending);
}

void BarrierInserter::walk(Operation *op, Accesses &pending) {
  if (isMeeting(op)) {
    pending.clear();
    return;
  }
  if (std::optional<Access> access = getAccess(op)) {
    orderAfter(op, *access, pending);
    pending.push_back(*access);
    return;
  }
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return walkMatmul(matmul, pending);
  if (auto conditional = dyn_cast<scf::IfOp>(op)) {
    Accesses otherwise = pending;
    walk(*conditional.thenBlock(), pending);
    if (Block *block = conditional.elseBlock())
      walk(*block, otherwise);
    merge(pending, otherwise);
    return;
  }
  if (op->getNumRegions() != 0)
    walkLoop(op, pending);
}

/// Puts a barrier before `op` if one of its `accesses` depends on another
/// thread's.
void BarrierInserter::orderAfter(Operation *op, ArrayRef<Access> accesses,
                                 Accesses &pending) {
  bool dependent = llvm::any_of(accesses, [&](const Access &now) {
    return llvm::any_of(pending, [&](const Access &before) {
      return conflicts(before, now, facts);
    });
  });
  if (!dependent)
    return;
  OpBuilder builder(op);
  gpu::BarrierOp::create(builder, op->getLoc());
  remark::passed(op->getLoc(), remark::RemarkOpts::name("barrier").category(
                                   "tile-insert-barriers"))
      << "barrier before an access that depends on another thread's";
  pending.clear();
}

/// A matmul reads what its region names, a block at a time. All of that is
/// ordered after earlier stores by one barrier before the op, so that the loop
/// over blocks has none; the region itself goes by the rules of loops.
void BarrierInserter::walkMatmul(MatmulOp op, Accesses &pending) {
  SmallVector<Value> buffers = {op.getA(), op.getB()};
  if (YieldOp yield = op.getYield()) {
    if (yield.getA())
      buffers.push_back(yield.getA());
    if (yield.getB())
      buffers.push_back(yield.getB());
  }
  Accesses reads;
  for (Value buffer : buffers) {
    Access access;
    access.op = op;
    access.buffer = buffer;
    access.reads = true;
    reads.push_back(access);
  }
  Accesses all = reads;
  op.getBody().walk([&](Operation *inner) {
    if (std::optional<Access> access = getAccess(inner))
      all.push_back(*access);
  });
  orderAfter(op, all, pending);
  if (!op.getBody().empty())
    walkLoop(op, pending);
  llvm::append_range(pending, reads);
}

void BarrierInserter::walkLoop(Operation *loop, Accesses &pending) {
  Accesses before = pending;
  for (unsigned iteration = 0; iteration < 2; ++iteration) {
    for (Region &region : loop->getRegions())
      for (Block &block : region)
        walk(block, pending);
    for (Access &access : pending)
      if (loop->isAncestor(access.op) && !access.staleIn)
        access.staleIn = loop;
  }
  // The body may not run at all.
  merge(pending, before);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct TileInsertBarriersPass
    : tile::impl::TileInsertBarriersPassBase<TileInsertBarriersPass> {
  using TileInsertBarriersPassBase::TileInsertBarriersPassBase;

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      Accesses pending;
      BarrierInserter().walk(function.getFunctionBody().front(), pending);
    });
  }
};
} // namespace
