// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerPackets.cpp - Packets (LL protocol) ---------------------------===//
//
// Each thread writes, and waits for, its own words; threads do not synchronize.
// A thread whose wait fails cannot leave alone, because its wave and the
// barriers of the program need it. It sets the wait status in the program's
// shared word and continues with the data it has read. Data derived from these
// must not reach another rank: iris-check-wait-status inserts an
// `iris.leave_if_failed` before the next op that publishes, where all threads
// run a barrier, read the wait status and leave. Until then threads do not wait
// for each other, and consecutive packets share one barrier. Further packet
// waits of any thread of the program fail when they read the wait status.
//
//===----------------------------------------------------------------------===//

#include "SyncLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::iris;

LogicalResult SyncLowering::lower(WritePacketsOp op) {
  Builder b(op.getLoc(), op);
  SmallVector<Value> words;
  for (int64_t i = 0, e = op.getWords().getType().getNumElements(); i < e; ++i)
    words.push_back(
        LLVM::ExtractElementOp::create(b, op.getWords(), emitI32(b, i)));
  target.emitPacketStores(b, words, op.getFlag(),
                          target.emitPacketBase(b, op.getBase()),
                          op.getOffsets());
  op.erase();
  return success();
}

LogicalResult SyncLowering::lower(ReadPacketsOp op) {
  waits = true;
  Builder b(op.getLoc(), op);
  VectorType type = op.getType();
  unsigned numPackets = op.getOffsets().size();
  unsigned wordsEach = type.getNumElements() / numPackets;
  Value base = target.emitPacketBase(b, op.getBase());

  Poll poll;
  poll.ctx = op.getCtx();
  poll.comparison = Comparison::EQ;
  poll.want = op.getFlag();
  poll.site = addSite(op, /*what=*/"", b.getI32Type());
  poll.owedBy = op.getOwedBy() ? arith::IndexCastOp::create(b, b.getI32Type(),
                                                            op.getOwedBy())
                                     .getResult()
                               : emitI32(b, -1);

  Block *joined = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  Block *failure = getFailureBlock(b, joined);
  b.setInsertionPointToEnd(head);

  // Word, flag, word, flag, ..., as read by the last poll.
  SmallVector<Value> seen;
  auto hasArrived = [&](unsigned word, Value flag) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                 seen[2 * word + 1], flag);
  };
  auto probe = [&] {
    seen = target.emitPacketLoads(b, wordsEach, base, op.getOffsets());
    Value all = hasArrived(0, op.getFlag());
    for (unsigned word = 1; word < seen.size() / 2; ++word)
      all = arith::AndIOp::create(b, all, hasArrived(word, op.getFlag()));
    return all;
  };
  auto report = [&] {
    // Report the first missing flag. A copy of the flag makes the comparisons
    // other ones than those of the poll: a lane mask for each of them would be
    // alive throughout the loop, which threads leave one by one, twice.
    Value want = target.emitUniform(b, op.getFlag());
    Value observed, offset;
    for (unsigned word = seen.size() / 2; word-- > 0;) {
      Value flagOffset =
          arith::AddIOp::create(b, op.getOffsets()[word / wordsEach],
                                emitI32(b, 8 * (word % wordsEach) + 4));
      Value flag = seen[2 * word + 1];
      if (!observed) {
        observed = flag;
        offset = flagOffset;
        continue;
      }
      Value arrived = hasArrived(word, want);
      observed = arith::SelectOp::create(b, arrived, observed, flag);
      offset = arith::SelectOp::create(b, arrived, offset, flagOffset);
    }
    Value distance = arith::ExtUIOp::create(b, b.getI64Type(), offset);
    if (std::optional<uint64_t> memberBytes = op.getMemberBytes()) {
      Value member = arith::DivUIOp::create(
          b, distance, emitI64(b, static_cast<int64_t>(*memberBytes)));
      poll.owedBy = arith::TruncIOp::create(
          b, b.getI32Type(), emitGroupMember(b, op.getCtx(), member));
    }
    poll.address =
        LLVM::GEPOp::create(b, op.getBase().getType(), b.getI8Type(),
                            op.getBase(), ArrayRef<LLVM::GEPArg>{distance});
    emitHang(b, poll, observed);
  };
  emitPollLoop(b, op.getCtx(), failure, probe, report,
               /*checksWaitStatus=*/true);
  cf::BranchOp::create(b, joined);

  b.setInsertionPointToStart(joined);
  Value words = LLVM::PoisonOp::create(b, type);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    words = LLVM::InsertElementOp::create(b, words, seen[2 * i], emitI32(b, i));
  op.replaceAllUsesWith(words);
  op.erase();
  return success();
}

LogicalResult SyncLowering::lower(LeaveIfFailedOp op) {
  Builder b(op.getLoc(), op);
  if (waveFailed)
    emitInLeader(b, target, [&] { emitMergeWaveFailure(b); });
  target.emitWorkgroupBarrier(b);
  emitExitIfFailed(b);
  op.erase();
  return success();
}
