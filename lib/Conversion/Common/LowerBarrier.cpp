// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerBarrier.cpp - Barriers between ranks --------------------------===//
//
// The state has one line of 128 bytes per program and rank. On rank m, word 0
// of line r of program p holds the last epoch that program p of rank r has
// reached; line m holds the program's own epoch. A barrier increments that
// epoch, writes it to line m of program p on every rank, including its own, and
// waits until all of its own lines have reached the epoch. Epochs only grow,
// and are compared by signed difference.
//
// The lanes of the first wave handle one peer each.
//
// A group barrier works on members instead of ranks; world ranks are needed
// only for the addresses of the peers' lines.
//
//===----------------------------------------------------------------------===//

#include "SyncLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Elements of i32 in one line.
static constexpr int64_t kLineElements = 32;

/// Runs `body(i)` for i (i64) from `first` while below `bound`, by `step`.
/// Continues after the loop.
static void emitLoop(ImplicitLocOpBuilder &b, Value first, Value bound,
                     int64_t step, llvm::function_ref<void(Value)> body) {
  Location loc = b.getLoc();
  Block *rest = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  Block *test = b.createBlock(rest, {b.getI64Type()}, {loc});
  Block *inside = b.createBlock(rest);
  Value i = test->getArgument(0);
  b.setInsertionPointToEnd(head);
  cf::BranchOp::create(b, test, first);
  b.setInsertionPointToEnd(test);
  Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i, bound);
  cf::CondBranchOp::create(b, more, inside, rest);
  b.setInsertionPointToStart(inside);
  body(i);
  cf::BranchOp::create(
      b, test, arith::AddIOp::create(b, i, emitI64(b, step)).getResult());
  b.setInsertionPointToStart(rest);
}

Value SyncLowering::emitProgramIndex(Builder &b) {
  auto asI64 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  };
  auto id = [&](gpu::Dimension dim) {
    return asI64(gpu::BlockIdOp::create(b, dim));
  };
  // x + X * (y + Y * z)
  Value index = id(gpu::Dimension::z);
  for (gpu::Dimension dim : {gpu::Dimension::y, gpu::Dimension::x}) {
    Value extent = asI64(target.emitGridDim(b, dim));
    Value above = arith::MulIOp::create(b, index, extent);
    index = arith::AddIOp::create(b, id(dim), above);
  }
  return index;
}

void SyncLowering::recordBarrierState(BarrierOp op) {
  Value state = op.getState();
  int64_t offset = 0;
  while (Operation *view = state.getDefiningOp()) {
    if (auto subview = dyn_cast<memref::SubViewOp>(view)) {
      if (subview.isDynamicOffset(0) || subview.isDynamicStride(0) ||
          subview.getStaticStride(0) != 1 ||
          llvm::AddOverflow(offset, subview.getStaticOffset(0), offset))
        return;
    } else if (!isa<memref::CastOp>(view)) {
      return;
    }
    state = view->getOperand(0);
  }
  auto argument = cast<BlockArgument>(state);
  auto type = cast<MemRefType>(state.getType());
  if (argument.getOwner() != &kernel.getFunctionBody().front() ||
      type.getRank() != 1)
    return;
  OpBuilder b(op.getContext());
  barriers.insert(b.getDictionaryAttr(
      {b.getNamedAttr("arg", b.getI64IntegerAttr(argument.getArgNumber())),
       b.getNamedAttr("group", b.getBoolAttr(op.getGroup())),
       b.getNamedAttr("offset", b.getI64IntegerAttr(offset))}));
}

namespace mlir::iris {
/// The lowering of one barrier. The constructor emits the addresses of this
/// rank's lines, and the new epoch.
class SyncLowering::BarrierLowering {
public:
  BarrierLowering(SyncLowering &lowering, Builder &b, BarrierOp op);
  /// A program of one thread signals and waits in loops over the ranks.
  void emitByOneThread();
  /// Each lane of the first wave signals and waits for one peer, or for several
  /// if there may be more peers than lanes.
  void emitByLanes();

private:
  Value widen(Value value) {
    return arith::ExtUIOp::create(b, b.getI64Type(), value);
  }
  /// The world rank (i64) of rank `member` of the barrier.
  Value toWorldRank(Value member) {
    return op.getGroup() ? lowering.emitGroupMember(b, ctx, member) : member;
  }
  /// The address of a rank's line in this rank's state, and of this rank's line
  /// in a peer's state.
  Value lineOf(Value rank);
  Value lineOnPeer(Value rank) {
    return lowering.emitTranslate(b, ctx, ownLine, toWorldRank(rank));
  }
  void signal(Value line);
  /// Waits until `rank` has written the epoch to `line`.
  void wait(Value rank, Value line, Block *failure);
  /// body(rank, line(rank)) for the peers of a lane; `onlyLine` is the line if
  /// a lane has only one.
  void forPeersOfLane(Value onlyLine, llvm::function_ref<Value(Value)> line,
                      llvm::function_ref<void(Value, Value)> body);
  /// The addresses of the lines to which a lane signals, and on which it waits;
  /// null if a lane may have several peers.
  std::pair<Value, Value> emitAddressesOfLane();
  void emitSignalAndWait(Value signalLine, Value waitLine);

  SyncLowering &lowering;
  const TargetInfo &target;
  Builder &b;
  BarrierOp op;
  Value ctx, numRanks, firstLine, ownLine, epoch, thread;
  int64_t site, lanes;
  bool hasOnePeer;
};
} // namespace mlir::iris

SyncLowering::BarrierLowering::BarrierLowering(SyncLowering &lowering,
                                               Builder &b, BarrierOp op)
    : lowering(lowering), target(lowering.target), b(b), op(op),
      ctx(op.getCtx()), lanes(target.getWaveSize()),
      hasOnePeer((op.getGroup() ? kMaxGroup : kMaxRanks) <= lanes) {
  bool isGroup = op.getGroup();
  numRanks =
      widen(lowering.emitField(b, isGroup ? "groupSize" : "numRanks", ctx));
  Value me = widen(lowering.emitField(b, isGroup ? "groupIndex" : "rank", ctx));
  firstLine = arith::MulIOp::create(b, lowering.emitProgramIndex(b), numRanks);
  ownLine = lineOf(me);
  site = lowering.addSite(op, /*what=*/"", b.getI32Type());
  // Must be read before the program barrier, because a lane writes it
  // afterwards.
  Value last = emitAtomicLoad(b, b.getI32Type(), ownLine,
                              LLVM::AtomicOrdering::monotonic,
                              target.getSyncScope(Scope::Gpu));
  epoch = arith::AddIOp::create(b, last, emitI32(b, 1));
}

Value SyncLowering::BarrierLowering::lineOf(Value rank) {
  Value element = arith::MulIOp::create(
      b, arith::AddIOp::create(b, firstLine, rank), emitI64(b, kLineElements));
  Value index = arith::IndexCastOp::create(b, b.getIndexType(), element);
  return lowering.emitElementAddress(b, op.getState(), index);
}

void SyncLowering::BarrierLowering::signal(Value line) {
  auto ordering = target.hasOneThread() ? LLVM::AtomicOrdering::release
                                        : LLVM::AtomicOrdering::monotonic;
  emitAtomicStore(b, epoch, line, ordering, target.getSyncScope(Scope::Sys));
}

void SyncLowering::BarrierLowering::wait(Value rank, Value line,
                                         Block *failure) {
  Poll poll;
  poll.ctx = ctx;
  poll.address = line;
  poll.comparison = Comparison::GE;
  poll.want = epoch;
  poll.scope = Scope::Sys;
  poll.ordering = target.accessesCarryOrdering()
                      ? LLVM::AtomicOrdering::acquire
                      : LLVM::AtomicOrdering::monotonic;
  poll.site = site;
  poll.owedBy = arith::TruncIOp::create(b, b.getI32Type(), toWorldRank(rank));
  lowering.emitPoll(b, poll, failure);
}

void SyncLowering::BarrierLowering::emitByOneThread() {
  Value first = emitI64(b, 0);
  target.emitReleaseArrive(b, Scope::Sys);
  emitLoop(b, first, numRanks, 1,
           [&](Value rank) { signal(lineOnPeer(rank)); });
  emitLoop(b, first, numRanks, 1, [&](Value rank) {
    wait(rank, lineOf(rank), lowering.getExitBlock());
  });
}

void SyncLowering::BarrierLowering::forPeersOfLane(
    Value onlyLine, llvm::function_ref<Value(Value)> line,
    llvm::function_ref<void(Value, Value)> body) {
  if (hasOnePeer)
    return body(thread, onlyLine);
  emitLoop(b, thread, numRanks, lanes,
           [&](Value rank) { body(rank, line(rank)); });
}

std::pair<Value, Value> SyncLowering::BarrierLowering::emitAddressesOfLane() {
  if (!hasOnePeer)
    return {};
  // Threads without a peer compute the addresses of the last peer and do not
  // use them.
  Value rank = arith::MinUIOp::create(
      b, thread, arith::SubIOp::create(b, numRanks, emitI64(b, 1)));
  Value signalLine = lineOnPeer(rank);
  return {signalLine, lineOf(rank)};
}

void SyncLowering::BarrierLowering::emitSignalAndWait(Value signalLine,
                                                      Value waitLine) {
  target.emitReleaseFence(b, Scope::Sys);
  forPeersOfLane(
      signalLine, [&](Value rank) { return lineOnPeer(rank); },
      [&](Value, Value line) { signal(line); });
  Block *joined = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  Block *failure = lowering.getFailureBlock(b, joined);
  b.setInsertionPointToEnd(head);
  forPeersOfLane(
      waitLine, [&](Value rank) { return lineOf(rank); },
      [&](Value rank, Value line) { wait(rank, line, failure); });
  cf::BranchOp::create(b, joined);
  b.setInsertionPointToStart(joined);
  // The failure path joins here too: the lanes of the wave reconverge.
  if (!target.accessesCarryOrdering())
    target.emitAcquireFence(b, Scope::Sys);
}

void SyncLowering::BarrierLowering::emitByLanes() {
  thread = widen(target.emitThreadId(b));
  // The addresses are computed before the program barrier, while no thread
  // waits.
  auto [signalLine, waitLine] = emitAddressesOfLane();
  Value numParticipants = hasOnePeer ? numRanks : emitI64(b, lanes);
  Value participates = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                             thread, numParticipants);
  lowering.emitInitWaitStatus(b);
  target.emitReleaseArrive(b, Scope::Sys);
  emitIf(b, participates, [&, signalLine = signalLine, waitLine = waitLine] {
    emitSignalAndWait(signalLine, waitLine);
  });
  target.emitProgramBarrier(b);
  lowering.emitExitIfFailed(b);
}

LogicalResult SyncLowering::lower(BarrierOp op) {
  waits = true;
  recordBarrierState(op);
  Builder b(op.getLoc(), op);
  BarrierLowering barrier(*this, b, op);
  if (target.hasOneThread())
    barrier.emitByOneThread();
  else
    barrier.emitByLanes();
  op.erase();
  return success();
}
