// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CountedChunks.cpp - Chunks whose sizes are in device memory --------===//
//
// all_to_all_v: `in` has a chunk for every member, with its own count and
// offset; `out` has a chunk from every member. The output must not be the
// input: a peer would overwrite a chunk that has not been sent yet, and in
// rounds a chunk may arrive over one that has not been sent.
//
//===----------------------------------------------------------------------===//

#include "CountedChunks.h"

#include "iris/Dialect/Iris/IR/IrisChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

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
  // Where the loop is unrolled, all loads come before the first check, so that
  // their latencies overlap.
  if (k.unrollsMembers())
    k.forMembers(0, [&](Value i) { peers.push_back(read(k.rotate(k.me, i))); });
  auto checkPeer = [&](Peer &peer) {
    check(peer.sent, inRows, "input");
    check(peer.received, outRows, "output");
    peer.sent = toElements(peer.sent);
    peer.received = toElements(peer.received);
  };
  for (Peer &peer : peers)
    checkPeer(peer);
  if (!k.unrollsMembers())
    k.forMembers(0, [&](Value i) {
      Peer peer = read(k.rotate(k.me, i));
      checkPeer(peer);
    });
}

static std::string opName(KernelBuilder &k) {
  return ("iris." + stringifyCollectiveKind(k.config.kind)).str();
}

/// Reads the ranges that this rank exchanges with a member, in rows.
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
  std::string op = opName(k);
  Value one = k.index(1);
  // The comparison is unsigned, so a negative number is too large; no
  // subtraction wraps.
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
  return {k.mul(rows.offset, unit), k.mul(rows.length, unit)};
}

void CountedChunks::forPeers(int64_t first,
                             llvm::function_ref<void(const Peer &)> body) {
  if (k.unrollsMembers()) {
    for (const Peer &peer : ArrayRef(peers).drop_front(first))
      body(peer);
    return;
  }
  k.forMembers(first, [&](Value i) { body(readAgain(i)); });
}

/// The ranges of a member in elements; the constructor has checked them.
CountedChunks::Peer CountedChunks::readAgain(Value i) {
  Peer peer = read(k.rotate(k.me, i));
  peer.sent = toElements(peer.sent);
  peer.received = toElements(peer.received);
  return peer;
}

Value CountedChunks::largestOf(llvm::function_ref<Value(const Peer &)> number) {
  Value zero = k.index(0);
  if (k.unrollsMembers()) {
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
  return k.unrollsMembers() ? peers.front().sent.length
                            : readAgain(k.index(0)).sent.length;
}

//===----------------------------------------------------------------------===//
// Announcements
//===----------------------------------------------------------------------===//

/// The words of an announcement. Offsets and lengths are in bytes, because rows
/// and element types may differ between members that make different calls.
enum Word : int64_t {
  offsetWord, ///< in bytes
  lengthWord, ///< in bytes
  formWord,   ///< see formOf
  bufferWord, ///< bytes from the workspace to the buffer that members access
  numWords
};

/// An announcement has four words for each program and member. Other kernels
/// use two words for each of twice as many programs.
static_assert(numWords * 8 * (Workspace::maxPrograms / 2) *
                  Workspace::maxAnyMembers ==
              Workspace::pointerExchangeBytes);

/// The first word that `member` writes.
static Value wordOf(KernelBuilder &k, Value member) {
  const int64_t members = Workspace::membersIn(k.config.size);
  return k.mul(k.add(k.mul(k.program, k.index(members)), member),
               k.index(numWords));
}

static Value wordsOf(KernelBuilder &k) {
  return k.view(k.index(Workspace::pointerExchange),
                k.index(Workspace::pointerExchangeBytes / 8), k.b.getI64Type());
}

/// A number that is equal on two members if and only if they agree on which
/// program moves which elements, and on when it waits: it encodes the
/// operation, the variant, the tile, the element size and the number of
/// programs.
static Value formOf(KernelBuilder &k) {
  const CollectiveConfig &config = k.config;
  auto form = static_cast<int64_t>(config.kind);
  auto append = [&form](int64_t number, int64_t end) {
    assert(number < end && "fields of the number must not overlap");
    form = form * end + number;
  };
  append(config.variant - config.collective->begin(),
         plan::Collective::maxVariants);
  append(config.staged, 2);
  append(llvm::Log2_64(config.elementBytes), 8);
  append(llvm::Log2_64(config.tile), 64);
  return k.add(k.index(form * (Workspace::maxPrograms + 1)), k.programs);
}

void CountedChunks::exchange(Value shared,
                             llvm::function_ref<Range(const Peer &)> announce) {
  Value words = wordsOf(k), mine = wordOf(k, k.me), form = formOf(k);
  Value bufferOffset = shared
                           ? arith::IndexCastOp::create(k.b, k.b.getIndexType(),
                                                        k.distanceTo(shared))
                           : k.index(0);
  Value bytes = k.index(k.config.elementBytes);
  forPeers(0, [&](const Peer &peer) {
    Range range = announce(peer);
    auto send = [&](Value number, Word which) {
      Value wide = arith::IndexCastOp::create(k.b, k.b.getI64Type(), number);
      SignalOp::create(k.b, SignalKind::Set, k.ctx, wide, words,
                       k.add(mine, k.index(which)), k.rankOf(peer.member),
                       MemSemantic::Relaxed, Scope::Sys);
    };
    send(k.mul(range.offset, bytes), offsetWord);
    send(k.mul(range.length, bytes), lengthWord);
    send(form, formWord);
    send(bufferOffset, bufferWord);
  });
  k.barrier();
  // As in the constructor, loads come before checks.
  for (Peer &peer : peers)
    peer.announced = readAnnouncement(peer.member);
  forPeers(0, [&](const Peer &peer) {
    checkCall(announcedBy(peer), form, bufferOffset);
  });
}

CountedChunks::Announcement CountedChunks::announcedBy(const Peer &peer) {
  return peer.announced ? *peer.announced : readAnnouncement(peer.member);
}

CountedChunks::Announcement CountedChunks::readAnnouncement(Value member) {
  Value words = wordsOf(k), first = wordOf(k, member);
  auto load = [&](Word which) -> Value {
    Value word =
        memref::LoadOp::create(k.b, words, k.add(first, k.index(which)));
    return arith::IndexCastOp::create(k.b, k.b.getIndexType(), word);
  };
  Value bytes = k.index(k.config.elementBytes);
  return {{k.div(load(offsetWord), bytes), k.div(load(lengthWord), bytes)},
          load(formWord),
          load(bufferWord)};
}

void CountedChunks::checkCall(const Announcement &announced, Value form,
                              Value bufferOffset) {
  Value zero = k.index(0), one = k.index(1);
  auto check = [&](Value announced, Value expected, StringRef what) {
    CheckOp::create(k.b, k.ctx,
                    k.select(k.equal(announced, expected), zero, one), one,
                    /*atLeast=*/false, opName(k), what);
  };
  check(announced.form, form,
        "meets a member that calls another operation or runs it by another "
        "variant, tile, element size or number of programs; expected the same "
        "of all members, and buffers of the same size");
  check(announced.bufferOffset, bufferOffset,
        "meets a member whose buffer is elsewhere on its heap; expected the "
        "same offset on all members");
}

void CountedChunks::checkPair(const Range &sent, const Range &expected) {
  Value bytes = k.index(k.config.elementBytes);
  Value have = k.mul(sent.length, bytes), want = k.mul(expected.length, bytes);
  CheckOp::create(k.b, k.ctx, have, k.add(want, k.index(1)),
                  /*atLeast=*/false, opName(k),
                  "sends $value bytes to a member that expects $last");
  CheckOp::create(k.b, k.ctx, have, want, /*atLeast=*/true, opName(k),
                  "sends $value bytes to a member that expects $bound");
}

void CountedChunks::forTiles(Value source, Value target, Value length,
                             llvm::function_ref<void(Value)> body) {
  // The program that has tile 0 differs between pairs of members, so that small
  // chunks are distributed over all programs.
  Value firstProgram = k.rem(k.add(source, target), k.programs);
  Value first =
      k.rem(k.sub(k.add(k.program, k.programs), firstProgram), k.programs);
  k.forTilesFrom(first, k.programs, length,
                 [&](Value, Value offset) { body(offset); });
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

// Why `push` and `pull` are correct. After the first barrier, every peer's
// stream has reached this call, its counts fit its buffers, and its
// announcement has arrived: stores to the announced range are within its output
// if the sender's length equals the announced one. The second barrier is as in
// AllGather.cpp; after it, no rank reads announcements any more.

/// Receivers announce the ranges of their outputs that senders store to.
void CountedChunks::buildPush() {
  exchange(k.out, [](const Peer &peer) { return peer.received; });
  forPeers(0, [&](const Peer &peer) {
    const Range &sent = peer.sent, wanted = announcedBy(peer);
    checkPair(sent, wanted);
    Value from = k.window(k.in, sent.offset, sent.length);
    Value to = k.window(k.out, wanted.offset, wanted.length);
    forTiles(k.me, peer.member, sent.length, [&](Value offset) {
      k.storeTo(peer.member, k.load(from, offset), to, offset);
    });
  });
  k.barrier();
}

/// Senders announce the ranges of their inputs that receivers load.
void CountedChunks::buildPull() {
  exchange(k.in, [](const Peer &peer) { return peer.sent; });
  forPeers(0, [&](const Peer &peer) {
    const Range sent = announcedBy(peer), &received = peer.received;
    checkPair(sent, received);
    Value from = k.window(k.in, sent.offset, sent.length);
    Value to = k.window(k.out, received.offset, received.length);
    forTiles(peer.member, k.me, received.length, [&](Value offset) {
      k.store(k.loadFrom(peer.member, from, offset), to, offset);
    });
  });
  k.barrier();
}

/// Elements of a chunk of `length` elements that belong to the round of `most`
/// elements from `start`.
static Value lengthInRound(KernelBuilder &k, Value length, Value start,
                           Value most) {
  return k.select(k.less(start, length), k.min(most, k.sub(length, start)),
                  k.index(0));
}

/// Senders store to slots in the receivers' workspaces, for buffers that peers
/// cannot access. A sender announces the length of each chunk and that of its
/// largest chunk, so that all members run as many rounds as the largest chunk
/// of all members needs. After the barrier of the first round, or a separate
/// one if there is no round, no rank reads announcements any more. See Slots in
/// docs/internals/collectives.md.
void CountedChunks::buildBuffered() {
  Value largest = largestOf([](const Peer &peer) { return peer.sent.length; });
  exchange(/*shared=*/Value(), [&](const Peer &peer) {
    return Range{largest, peer.sent.length};
  });
  Value most =
      largestOf([&](const Peer &peer) { return announcedBy(peer).offset; });
  forPeers(0, [&](const Peer &peer) {
    checkPair(announcedBy(peer), peer.received);
  });
  k.ifThen(k.equal(most, k.index(0)), [&] { k.barrier(); });
  k.count = most;
  auto send = [&](Value start, Value length) {
    forPeers(0, [&](const Peer &peer) {
      Value count = lengthInRound(k, peer.sent.length, start, length);
      Value from = k.window(k.in, k.add(peer.sent.offset, start), count);
      Value slot = k.sentSlot(k.me, count);
      forTiles(k.me, peer.member, count, [&](Value offset) {
        k.storeTo(peer.member, k.load(from, offset), slot, offset);
      });
    });
  };
  auto receive = [&](Value start, Value length) {
    forPeers(0, [&](const Peer &peer) {
      Value count = lengthInRound(k, peer.received.length, start, length);
      Value to = k.window(k.out, k.add(peer.received.offset, start), count);
      Value slot = k.receivedSlot(peer.member, count);
      forTiles(peer.member, k.me, count, [&](Value offset) {
        k.store(k.load(slot, offset), to, offset);
      });
    });
  };
  k.forSlotRounds(send, receive);
}

void mlir::iris::buildCountedPush(KernelBuilder &k) {
  CountedChunks(k).buildPush();
}

void mlir::iris::buildCountedPull(KernelBuilder &k) {
  CountedChunks(k).buildPull();
}

void mlir::iris::buildCountedBuffered(KernelBuilder &k) {
  CountedChunks(k).buildBuffered();
}
