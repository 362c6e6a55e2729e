// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CountedChunks.cpp - Chunks whose sizes are in device memory --------===//

#include "CountedChunks.h"

#include "iris/Dialect/Iris/IR/IrisChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Counts and offsets
//===----------------------------------------------------------------------===//

CountedChunks::CountedChunks(KernelBuilder &k) : k(k), unit(k.count) {
  auto rowsOf = [&](Value buffer) -> Value {
    return k.div(memref::DimOp::create(k.b, buffer, 0), unit);
  };
  inRows = rowsOf(k.in);
  outRows = rowsOf(k.out);
  // Where the size is known, all loads come before the first check, so that
  // their latencies overlap.
  for (int64_t i = 0; i < k.config.size; ++i)
    peers.push_back(read(k.rotate(k.me, k.index(i))));
  auto checkPeer = [&](Peer &peer) {
    check(peer.sent, inRows, "input");
    check(peer.received, outRows, "output");
    peer.sent = toElements(peer.sent);
    peer.received = toElements(peer.received);
  };
  for (Peer &peer : peers)
    checkPeer(peer);
  if (!k.config.size)
    k.forMembers(0, [&](Value i) {
      Peer peer = read(k.rotate(k.me, i));
      checkPeer(peer);
    });
}

/// In rows.
CountedChunks::Peer CountedChunks::read(Value member) {
  auto entry = [&](Value table, Value index) -> Value {
    return arith::IndexCastOp::create(
        k.b, k.b.getIndexType(), memref::LoadOp::create(k.b, table, index));
  };
  Peer peer;
  peer.member = member;
  peer.received = {entry(k.outChunks.offsets, member),
                   entry(k.outChunks.counts, member)};
  // An input of one chunk is sent to all members.
  if (k.inChunks.counts)
    peer.sent = {entry(k.inChunks.offsets, member),
                 entry(k.inChunks.counts, member)};
  else
    peer.sent = {k.index(0), entry(k.outChunks.counts, k.me)};
  return peer;
}

void CountedChunks::check(const Range &rows, Value capacity, StringRef buffer) {
  std::string op = ("iris." + stringifyCollectiveKind(k.config.kind)).str();
  Value one = k.index(1);
  // Unsigned, so that a negative number is too large; nothing here wraps.
  CheckOp::create(k.b, k.ctx, rows.length, k.add(capacity, one),
                  /*atLeast=*/false, op,
                  ("has a count of $value; expected 0 to $last, what the " +
                   buffer + " holds")
                      .str());
  CheckOp::create(k.b, k.ctx, rows.offset,
                  k.add(k.sub(capacity, rows.length), one), /*atLeast=*/false,
                  op,
                  ("has an offset of $value; expected 0 to $last, so that the "
                   "chunk ends in the " +
                   buffer)
                      .str());
}

CountedChunks::Range CountedChunks::toElements(const Range &rows) {
  return {k.mul(rows.offset, unit), k.mul(rows.length, unit), rows.length};
}

void CountedChunks::forPeers(int64_t first,
                             llvm::function_ref<void(const Peer &)> body) {
  if (k.config.size) {
    for (const Peer &peer : ArrayRef(peers).drop_front(first))
      body(peer);
    return;
  }
  k.forMembers(first, [&](Value i) { body(readAgain(i)); });
}

/// In elements, of a member whose ranges are known to be right.
CountedChunks::Peer CountedChunks::readAgain(Value i) {
  Peer peer = read(k.rotate(k.me, i));
  peer.sent = toElements(peer.sent);
  peer.received = toElements(peer.received);
  if (isExchanged)
    peer.announced = announcedBy(peer.member);
  return peer;
}

Value CountedChunks::largestOf(llvm::function_ref<Value(const Peer &)> number) {
  Value zero = k.index(0);
  if (k.config.size) {
    Value largest = zero;
    for (const Peer &peer : peers)
      largest = k.max(largest, number(peer));
    return largest;
  }
  auto loop =
      scf::ForOp::create(k.b, zero, k.size, k.index(1), zero,
                         [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPointToStart(loop.getBody());
  Value largest = k.max(loop.getRegionIterArg(0),
                        number(readAgain(loop.getInductionVar())));
  scf::YieldOp::create(k.b, largest);
  return loop.getResult(0);
}

Value CountedChunks::ownLength() {
  return k.config.size ? peers.front().sent.length
                       : readAgain(k.index(0)).sent.length;
}

//===----------------------------------------------------------------------===//
// Announcements
//===----------------------------------------------------------------------===//

/// Two words per program and member, where other kernels have one: such a
/// kernel has half as many programs.
static Value wordOf(KernelBuilder &k, Value member) {
  return k.mul(k.add(k.mul(k.program, k.index(Workspace::maxMembers)), member),
               k.index(2));
}

static Value wordsOf(KernelBuilder &k) {
  return k.view(k.index(Workspace::places), k.index(Workspace::placeBytes / 8),
                k.b.getI64Type());
}

void CountedChunks::exchange(llvm::function_ref<Range(const Peer &)> announce) {
  Value words = wordsOf(k), mine = wordOf(k, k.me);
  forPeers(0, [&](const Peer &peer) {
    Range range = announce(peer);
    auto tell = [&](Value number, Value word) {
      Value wide = arith::IndexCastOp::create(k.b, k.b.getI64Type(), number);
      SignalOp::create(k.b, SignalKind::Set, k.ctx, wide, words, word,
                       k.rankOf(peer.member), MemSemantic::Relaxed, Scope::Sys);
    };
    tell(range.offset, mine);
    tell(range.rows, k.add(mine, k.index(1)));
  });
  k.barrier();
  isExchanged = true;
  for (Peer &peer : peers)
    peer.announced = announcedBy(peer.member);
}

CountedChunks::Range CountedChunks::announcedBy(Value member) {
  Value words = wordsOf(k), word = wordOf(k, member);
  auto load = [&](Value index) -> Value {
    return arith::IndexCastOp::create(
        k.b, k.b.getIndexType(), memref::LoadOp::create(k.b, words, index));
  };
  Value offset = load(word), rows = load(k.add(word, k.index(1)));
  return {offset, k.mul(rows, unit), rows};
}

void CountedChunks::checkPair(const Range &sent, const Range &expected) {
  std::string op = ("iris." + stringifyCollectiveKind(k.config.kind)).str();
  CheckOp::create(k.b, k.ctx, sent.rows, k.add(expected.rows, k.index(1)),
                  /*atLeast=*/false, op,
                  "sends $value rows to a member that expects $last");
  CheckOp::create(k.b, k.ctx, sent.rows, expected.rows, /*atLeast=*/true, op,
                  "sends $value rows to a member that expects $bound");
}

void CountedChunks::forTiles(Value source, Value target, Value length,
                             llvm::function_ref<void(Value)> body) {
  // Tile 0 is another program's for each pair, so that small chunks do not all
  // wait for the first one.
  Value turn = k.rem(k.add(source, target), k.programs);
  Value first = k.rem(k.sub(k.add(k.program, k.programs), turn), k.programs);
  k.forTilesFrom(first, k.programs, length,
                 [&](Value, Value offset) { body(offset); });
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

// Why `push` and `pull` are correct. The first barrier says of every peer that
// its stream has come to this call, that its counts are right for its buffers,
// and what it announced. The second one is as in AllGather.cpp; it also says
// that no rank reads the words of the announcements any more.

/// Receivers announce where they want their chunks.
void CountedChunks::buildPush() {
  exchange([](const Peer &peer) { return peer.received; });
  forPeers(0, [&](const Peer &peer) {
    const Range &sent = peer.sent, &wanted = peer.announced;
    checkPair(sent, wanted);
    Value from = k.window(k.in, sent.offset, sent.length);
    Value to = k.window(k.out, wanted.offset, wanted.length);
    forTiles(k.me, peer.member, sent.length, [&](Value offset) {
      k.storeTo(peer.member, k.load(from, offset), to, offset);
    });
  });
  k.barrier();
}

/// Senders announce where the chunks are.
void CountedChunks::buildPull() {
  exchange([](const Peer &peer) { return peer.sent; });
  forPeers(0, [&](const Peer &peer) {
    const Range &sent = peer.announced, &received = peer.received;
    checkPair(sent, received);
    Value from = k.window(k.in, sent.offset, sent.length);
    Value to = k.window(k.out, received.offset, received.length);
    forTiles(peer.member, k.me, received.length, [&](Value offset) {
      k.store(k.loadFrom(peer.member, from, offset), to, offset);
    });
  });
  k.barrier();
}

/// Elements of a chunk of `length` that a round of `most` from `start` has.
static Value lengthInRound(KernelBuilder &k, Value length, Value start,
                           Value most) {
  return k.select(k.less(start, length), k.min(most, k.sub(length, start)),
                  k.index(0));
}

/// Through slots at the receivers, for buffers that peers do not reach. Senders
/// announce the length of each chunk, and of their largest: all members have as
/// many rounds as the largest chunk of all needs. The barrier of a round, or
/// one of its own where there is none, says that no rank reads the words of the
/// announcements any more; slots are as in docs/internals/collectives.md.
void CountedChunks::buildBuffered() {
  Value largest = largestOf([](const Peer &peer) { return peer.sent.length; });
  exchange([&](const Peer &peer) {
    return Range{largest, Value(), peer.sent.rows};
  });
  Value most =
      largestOf([](const Peer &peer) { return peer.announced.offset; });
  forPeers(0,
           [&](const Peer &peer) { checkPair(peer.announced, peer.received); });
  k.ifThen(k.equal(most, k.index(0)), [&] { k.barrier(); });
  k.count = most;
  auto send = [&](Value start, Value length) {
    forPeers(0, [&](const Peer &peer) {
      Value part = lengthInRound(k, peer.sent.length, start, length);
      Value from = k.window(k.in, k.add(peer.sent.offset, start), part);
      Value slot = k.sentSlot(k.me, part);
      forTiles(k.me, peer.member, part, [&](Value offset) {
        k.storeTo(peer.member, k.load(from, offset), slot, offset);
      });
    });
  };
  auto receive = [&](Value start, Value length) {
    forPeers(0, [&](const Peer &peer) {
      Value part = lengthInRound(k, peer.received.length, start, length);
      Value to = k.window(k.out, k.add(peer.received.offset, start), part);
      Value slot = k.receivedSlot(peer.member, part);
      forTiles(peer.member, k.me, part, [&](Value offset) {
        k.store(k.load(slot, offset), to, offset);
      });
    });
  };
  k.forSlotRounds(send, receive);
}
