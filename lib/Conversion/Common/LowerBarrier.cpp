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

LogicalResult SyncLowering::lower(BarrierOp op) {
  waits = true;
  recordBarrierState(op);
  Builder b(op.getLoc(), op);
  Value ctx = op.getCtx();
  Type i32 = b.getI32Type();
  auto wide = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, b.getI64Type(), value);
  };
  bool isGroup = op.getGroup();
  Value numRanks = wide(emitField(b, isGroup ? "groupSize" : "numRanks", ctx));
  Value me = wide(emitField(b, isGroup ? "groupIndex" : "rank", ctx));
  auto toRank = [&](Value member) {
    return isGroup ? emitGroupMember(b, ctx, member) : member;
  };
  Value firstLine = arith::MulIOp::create(b, emitProgramIndex(b), numRanks);
  auto lineAddress = [&](Value rank) {
    Value element =
        arith::MulIOp::create(b, arith::AddIOp::create(b, firstLine, rank),
                              emitI64(b, kLineElements));
    Value index = arith::IndexCastOp::create(b, b.getIndexType(), element);
    return emitElementAddress(b, op.getState(), index);
  };
  Value ownLine = lineAddress(me);
  int64_t site = addSite(op, /*what=*/"", i32);

  bool oneThread = target.hasOneThread();
  auto publish = oneThread ? LLVM::AtomicOrdering::release
                           : LLVM::AtomicOrdering::monotonic;
  auto observe = target.accessesCarryOrdering()
                     ? LLVM::AtomicOrdering::acquire
                     : LLVM::AtomicOrdering::monotonic;

  // Must be read before the program barrier, because a lane writes it
  // afterwards.
  Value last = emitAtomicLoad(b, i32, ownLine, LLVM::AtomicOrdering::monotonic,
                              target.getSyncScope(Scope::Gpu));
  Value epoch = arith::AddIOp::create(b, last, emitI32(b, 1));
  auto peerLine = [&](Value rank) {
    return emitTranslate(b, ctx, ownLine, toRank(rank));
  };
  auto signalLine = [&](Value line) {
    emitAtomicStore(b, epoch, line, publish, target.getSyncScope(Scope::Sys));
  };
  auto waitForPeer = [&](Value rank, Value line, Block *failure) {
    Poll poll;
    poll.ctx = ctx;
    poll.address = line;
    poll.comparison = Comparison::GE;
    poll.want = epoch;
    poll.scope = Scope::Sys;
    poll.ordering = observe;
    poll.site = site;
    poll.owedBy = arith::TruncIOp::create(b, i32, toRank(rank));
    emitPoll(b, poll, failure);
  };

  if (oneThread) {
    Value first = emitI64(b, 0);
    target.emitReleaseArrive(b, Scope::Sys);
    emitLoop(b, first, numRanks, 1,
             [&](Value rank) { signalLine(peerLine(rank)); });
    emitLoop(b, first, numRanks, 1, [&](Value rank) {
      waitForPeer(rank, lineAddress(rank), getExitBlock());
    });
    op.erase();
    return success();
  }

  // Each lane handles one peer, or several if there may be more peers than
  // lanes.
  int64_t lanes = target.getWaveSize();
  bool hasOnePeer = (isGroup ? kMaxGroup : kMaxRanks) <= lanes;
  Value thread = wide(target.emitThreadId(b));
  auto forPeers = [&](Value onlyLine, llvm::function_ref<Value(Value)> line,
                      llvm::function_ref<void(Value, Value)> body) {
    if (hasOnePeer)
      return body(thread, onlyLine);
    emitLoop(b, thread, numRanks, lanes,
             [&](Value rank) { body(rank, line(rank)); });
  };
  Value signalAddress, waitAddress;
  if (hasOnePeer) {
    // Compute addresses before the program barrier, while no thread waits.
    // Threads without a peer compute those of the last peer and do not use
    // them.
    Value rank = arith::MinUIOp::create(
        b, thread, arith::SubIOp::create(b, numRanks, emitI64(b, 1)));
    signalAddress = peerLine(rank);
    waitAddress = lineAddress(rank);
  }
  Value numParticipants = hasOnePeer ? numRanks : emitI64(b, lanes);
  Value participates = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                             thread, numParticipants);
  emitInitWaitStatus(b);
  target.emitReleaseArrive(b, Scope::Sys);
  emitIf(b, participates, [&] {
    target.emitReleaseFence(b, Scope::Sys);
    forPeers(signalAddress, peerLine,
             [&](Value, Value line) { signalLine(line); });
    Block *joined = splitBlockHere(b);
    Block *head = b.getInsertionBlock();
    Block *failure = getFailureBlock(b, joined);
    b.setInsertionPointToEnd(head);
    forPeers(waitAddress, lineAddress,
             [&](Value rank, Value line) { waitForPeer(rank, line, failure); });
    cf::BranchOp::create(b, joined);
    b.setInsertionPointToStart(joined);
    // The failure path joins here too: the lanes of the wave reconverge.
    if (!target.accessesCarryOrdering())
      target.emitAcquireFence(b, Scope::Sys);
  });
  target.emitProgramBarrier(b);
  emitExitIfFailed(b);
  op.erase();
  return success();
}
