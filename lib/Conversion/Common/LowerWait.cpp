// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerWait.cpp - Bounded waits --------------------------------------===//

#include "SyncLowering.h"

#include "iris-c/RuntimeABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::iris;

/// Polls between two looks at the clock; short waits never read it.
static constexpr int64_t kPollsPerLook = 64;
static constexpr int64_t kFirstLook = 16;

/// Microseconds until a wait looks at the abort word, and between two such
/// looks. On GPUs the word lies behind the bus, which serves the looks of all
/// programs one after the other, 2 us each (measured on H200: 128 programs that
/// looked after 10 us made each barrier 260 us long). So only waits look that
/// are long already.
static constexpr int64_t kFirstAbortLookUs = 1000;
static constexpr int64_t kAbortLookUs = 10000;

//===----------------------------------------------------------------------===//
// Polling
//===----------------------------------------------------------------------===//

/// The comparison of the flag with the wanted value, by signed difference.
static Value emitHolds(ImplicitLocOpBuilder &b, Comparison comparison,
                       Value seen, Value want) {
  using Predicate = arith::CmpIPredicate;
  if (comparison == Comparison::EQ || comparison == Comparison::NE)
    return arith::CmpIOp::create(
        b, comparison == Comparison::EQ ? Predicate::eq : Predicate::ne, seen,
        want);
  Value difference = arith::SubIOp::create(b, seen, want);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(seen.getType()));
  Predicate predicate = comparison == Comparison::GE   ? Predicate::sge
                        : comparison == Comparison::GT ? Predicate::sgt
                        : comparison == Comparison::LE ? Predicate::sle
                                                       : Predicate::slt;
  return arith::CmpIOp::create(b, predicate, difference, zero);
}

void SyncLowering::emitPollLoop(Builder &b, Value ctx, Block *failed,
                                llvm::function_ref<Value()> probe,
                                llvm::function_ref<void()> report,
                                bool looksAtVerdict) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Location loc = b.getLoc();
  Value control = emitGlobalPointer(b, emitField(b, "control", ctx), 0);
  Value limit = emitField(b, "waitLimit", ctx);

  Block *success = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  // Polls so far, when the clock was first read, when the abort word is due.
  Block *loop = b.createBlock(success, {i32, i64, i64}, {loc, loc, loc});
  Block *retry = b.createBlock(success);
  Block *look = b.createBlock(success);
  Block *ask = b.createBlock(success);
  Block *time = b.createBlock(success);
  Block *expire = b.createBlock(success);
  Block *spin = b.createBlock(success, {i64, i64}, {loc, loc});
  Value count = loop->getArgument(0), start = loop->getArgument(1),
        due = loop->getArgument(2);
  auto ticks = [&](int64_t microseconds) {
    return emitI64(b, microseconds * (target.getClockHz() / 1000000));
  };

  b.setInsertionPointToEnd(head);
  cf::BranchOp::create(b, loop,
                       ValueRange{emitI32(b, 0), emitI64(b, 0), emitI64(b, 0)});

  b.setInsertionPointToEnd(loop);
  cf::CondBranchOp::create(b, probe(), success, retry);

  b.setInsertionPointToEnd(retry);
  Value next = arith::AddIOp::create(b, count, emitI32(b, 1));
  Value phase = arith::AndIOp::create(b, next, emitI32(b, kPollsPerLook - 1));
  Value isLook = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, phase,
                                       emitI32(b, kFirstLook));
  cf::CondBranchOp::create(b, isLook, look, ValueRange(), spin,
                           ValueRange{start, due});

  b.setInsertionPointToEnd(look);
  if (looksAtVerdict && slots) {
    // Volatile: another thread may write it at any time.
    Value verdict = LLVM::LoadOp::create(b, i32, emitSlot(b, Slot::Verdict),
                                         /*alignment=*/4, /*isVolatile=*/true);
    Value gaveUp = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, verdict,
                                         emitI32(b, 0));
    Block *clock = b.createBlock(ask);
    b.setInsertionPointToEnd(look);
    cf::CondBranchOp::create(b, gaveUp, failed, clock);
    b.setInsertionPointToEnd(clock);
  }
  Value now = target.emitClock(b);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, start, emitI64(b, 0));
  Value since = arith::SelectOp::create(b, isFirst, now, start);
  Value firstDue = arith::AddIOp::create(b, now, ticks(kFirstAbortLookUs));
  Value dueNow = arith::SelectOp::create(b, isFirst, firstDue, due);
  Value isDue =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, now, dueNow);
  cf::CondBranchOp::create(b, isDue, ask, ValueRange(), spin,
                           ValueRange{since, dueNow});

  b.setInsertionPointToEnd(ask);
  Value abortWord =
      emitAtomicLoad(b, i32, control, LLVM::AtomicOrdering::monotonic,
                     target.getSyncScope(Scope::Sys));
  Value aborted = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, abortWord,
                                        emitI32(b, IRISRT_ABORT_NONE));
  cf::CondBranchOp::create(b, aborted, failed, time);

  b.setInsertionPointToEnd(time);
  Value elapsed = arith::SubIOp::create(b, now, since);
  Value isOver =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, elapsed, limit);
  Value isLimited =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, limit, emitI64(b, 0));
  Value expired = arith::AndIOp::create(b, isOver, isLimited);
  Value nextDue = arith::AddIOp::create(b, now, ticks(kAbortLookUs));
  cf::CondBranchOp::create(b, expired, expire, ValueRange(), spin,
                           ValueRange{since, nextDue});

  b.setInsertionPointToEnd(spin);
  target.emitSpinHint(b);
  cf::BranchOp::create(
      b, loop, ValueRange{next, spin->getArgument(0), spin->getArgument(1)});

  b.setInsertionPointToEnd(expire);
  report();
  cf::BranchOp::create(b, failed);

  b.setInsertionPointToStart(success);
}

Value SyncLowering::emitPoll(Builder &b, const Poll &poll, Block *failed,
                             bool looksAtVerdict) {
  Value seen;
  auto probe = [&] {
    seen = emitAtomicLoad(b, poll.want.getType(), poll.address, poll.ordering,
                          target.getSyncScope(poll.scope));
    return emitHolds(b, poll.comparison, seen, poll.want);
  };
  emitPollLoop(
      b, poll.ctx, failed, probe, [&] { emitHang(b, poll, seen); },
      looksAtVerdict);
  return seen;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static Value signExtend(ImplicitLocOpBuilder &b, Value value) {
  if (value.getType().isInteger(64))
    return value;
  return arith::ExtSIOp::create(b, b.getI64Type(), value);
}

void SyncLowering::emitHang(Builder &b, const Poll &poll, Value observed) {
  Value control = emitField(b, "control", poll.ctx);
  Value record = emitGlobalPointer(b, control, offsetof(IrisRtControl, hang));
  emitRecord(b, record, [&] {
    auto store = [&](int64_t offset, Value value) {
      emitStoreField(b, record, offset, value);
    };
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), poll.address);
    emitOrigin<IrisRtHangRecord>(b, record, poll.ctx, poll.site);
    store(offsetof(IrisRtHangRecord, comparison),
          emitI32(b, static_cast<int64_t>(poll.comparison)));
    store(offsetof(IrisRtHangRecord, expected), signExtend(b, poll.want));
    store(offsetof(IrisRtHangRecord, observed), signExtend(b, observed));
    store(offsetof(IrisRtHangRecord, address), address);
    store(offsetof(IrisRtHangRecord, owedBy), poll.owedBy);
  });
  emitSetAbort(b, control, IRISRT_ABORT_HANG);
}

//===----------------------------------------------------------------------===//
// iris.wait
//===----------------------------------------------------------------------===//

LogicalResult SyncLowering::lower(WaitOp op) {
  if (op.getRank())
    return op.emitOpError("names a rank; expected a translated buffer");
  waits = true;
  Builder b(op.getLoc(), op);
  Type type = op.getType();
  bool acquire = isAcquire(op.getSem()) && !op->hasAttr(kAcquireCoveredAttr);
  bool carries = target.accessesCarryOrdering();
  bool isUsed = !op.use_empty();

  Poll poll;
  poll.ctx = op.getCtx();
  poll.address = emitElementAddress(b, op.getBuffer(), op.getOffsets());
  poll.comparison = op.getComparison();
  poll.want = op.getValue();
  poll.scope = op.getScope();
  poll.ordering = acquire && carries ? LLVM::AtomicOrdering::acquire
                                     : LLVM::AtomicOrdering::monotonic;
  poll.site = addSite(op, /*what=*/"", type);
  poll.owedBy = op.getOwedBy() ? arith::IndexCastOp::create(b, b.getI32Type(),
                                                            op.getOwedBy())
                                     .getResult()
                               : emitI32(b, -1);

  if (op->hasAttr(kInWaveAttr)) {
    lowerInWave(op, poll);
    return success();
  }
  if (target.hasOneThread()) {
    Value seen = emitPoll(b, poll, getExitBlock());
    op.replaceAllUsesWith(seen);
    op.erase();
    return success();
  }

  // Before the flag is there nobody is in a hurry: meeting here makes the
  // shared word free for the value seen, or a borrowed one for the verdict.
  emitOpenVerdict(b);
  if (isUsed || borrowed)
    target.emitWorkgroupBarrier(b);
  emitInLeader(b, target, [&] {
    Block *joined = splitBlockHere(b);
    Block *head = b.getInsertionBlock();
    Block *failure = getFailureBlock(b, joined);
    b.setInsertionPointToEnd(head);
    Value seen = emitPoll(b, poll, failure);
    if (acquire && !carries)
      target.emitAcquireFence(b, op.getScope());
    if (isUsed)
      LLVM::StoreOp::create(b, seen, emitSlot(b, Slot::Value));
    cf::BranchOp::create(b, joined);
    b.setInsertionPointToStart(joined);
  });
  if (acquire)
    target.emitProgramBarrier(b);
  else
    target.emitWorkgroupBarrier(b);
  emitExitIfFailed(b);
  if (isUsed)
    op.replaceAllUsesWith(emitLoadSlot(b, Slot::Value, type));
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Waits of one wave
//===----------------------------------------------------------------------===//

/// The first lane polls, or the only one that comes by; what it has seen the
/// others know once the wave has met. A wave that gives up says so, and goes
/// on: the others of the program learn of it where they look.
void SyncLowering::lowerInWave(WaitOp op, const Poll &poll) {
  Builder b(op.getLoc(), op);
  Type type = op.getType();
  bool isAlone = op->hasAttr(kInLaneAttr);
  Value isFirst;
  if (!isAlone) {
    Value lane = arith::AndIOp::create(b, target.emitThreadId(b),
                                       emitI32(b, target.getWaveSize() - 1));
    isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, emitI32(b, 0));
  }
  Block *joined = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  Value seen = joined->addArgument(type, b.getLoc());
  Block *failure = b.createBlock(joined);
  LLVM::StoreOp::create(b, emitI32(b, 1), emitGivenUp(b), /*alignment=*/4,
                        /*isVolatile=*/true);
  cf::BranchOp::create(b, joined, poll.want);
  Block *first = b.createBlock(failure);
  b.setInsertionPointToEnd(head);
  if (isAlone)
    cf::BranchOp::create(b, first);
  else
    cf::CondBranchOp::create(b, isFirst, first, ValueRange(), joined,
                             ValueRange(poll.want));
  b.setInsertionPointToStart(first);
  Value found = emitPoll(b, poll, failure, /*looksAtVerdict=*/true);
  if (isAcquire(op.getSem()) && !target.accessesCarryOrdering())
    target.emitAcquireFence(b, op.getScope());
  cf::BranchOp::create(b, joined, found);
  b.setInsertionPointToStart(joined);
  if (isAlone) {
    op.replaceAllUsesWith(seen);
  } else if (!op.use_empty()) {
    Value fromFirst = gpu::ShuffleOp::create(b, seen, emitI32(b, 0),
                                             emitI32(b, target.getWaveSize()),
                                             gpu::ShuffleMode::IDX)
                          .getShuffleResult();
    op.replaceAllUsesWith(fromFirst);
  }
  op.erase();
}

LogicalResult SyncLowering::lower(HasFailedOp op) {
  Builder b(op.getLoc(), op);
  Value failed = arith::ConstantIntOp::create(b, 0, 1);
  auto look = [&](Value word) {
    // Volatile: another thread may write it at any time.
    Value value = LLVM::LoadOp::create(b, b.getI32Type(), word, /*alignment=*/4,
                                       /*isVolatile=*/true);
    Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                     emitI32(b, 0));
    failed = arith::OrIOp::create(b, failed, is);
  };
  if (slots)
    look(emitSlot(b, Slot::Verdict));
  if (givenUp)
    look(emitGivenUp(b));
  op.replaceAllUsesWith(failed);
  op.erase();
  return success();
}
