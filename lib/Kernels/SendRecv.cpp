// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SendRecv.cpp - send, recv ------------------------------------------===//
//
// `root` is the other member. The sender stores a step of the message to one of
// the FIFO slots in the receiver's workspace; slots are per program and sender.
// It then stores the number of steps put to the receiver's memory. After the
// receiver has taken the step, it stores the number of steps taken to the
// sender's memory. Step n uses slot n mod fifoDepth, which may be written once
// step n - fifoDepth has been taken. Counters never reset; each side keeps its
// own counter beside the other side's.
//
// A step is as many tiles as a slot holds, or fewer, so that all programs have
// a part of a short message, and of two ranks several steps. Of a message in
// packets it is one tile. Packets have slots of their own, whose flags are the
// numbers of the steps.
//
// No other collective uses these slots: a step stays until it is received,
// whatever else the ranks do in between. A send of more than fifoDepth steps
// per program ends only when the receiver receives.
//
// The kernel of a group does the same for several messages at once. Each
// connection, a peer and a direction, has an equal part of the programs. Each
// of these takes the place of some programs that a kernel of the message alone
// has, one after the other: of the programs n, n + s, n + 2 s, ... of the first
// message, then of the next one. The peer's kernel may have another step s, or
// the message alone. Of what is not done on either side, the first message's
// first program is in turn on both, so it goes on.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "iris/Plan/Transfers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// The counters and FIFO slots that one program uses with one member.
struct Fifo {
  explicit Fifo(KernelBuilder &k)
      : k(k), workspace(k.config.workspace), members(k.config.maxMembers()),
        counters(
            k.words(Workspace::fifoCounters, Workspace::fifoCounterBytes)) {}

  /// The number of steps that `sender` has put, stored in this rank's memory,
  /// and the number that `receiver` has taken. Word 1 of a line is this rank's
  /// own counter of the opposite direction of the same exchange.
  Value putBy(Value sender) { return line(sender, 0); }
  Value takenBy(Value receiver) { return line(receiver, 1); }

  /// The slot of a step, for accesses to its first `length` elements.
  Value slot(Value sender, Value number, Value length) {
    Value first = slotOffset(sender, number, Workspace::fifoSlots,
                             workspace.fifoSlotBytes(members));
    return k.view(first, length, k.config.storage);
  }

  /// The packets of a step, as words.
  Value packets(Value sender, Value number) {
    int64_t bytes = workspace.fifoSlotPacketBytes(members);
    Value first = slotOffset(sender, number, workspace.fifoPackets(), bytes);
    return k.view(first, k.index(bytes / 4), k.b.getI32Type());
  }

  /// Tiles of a step: an equal part of the message for each program, if a slot
  /// has room for it. The large slots of two ranks are filled only if a program
  /// has several steps, which overlap.
  Value tilesOfStep(int64_t most) {
    if (most == 1)
      return k.index(1);
    Value each = k.ceilDiv(k.tilesIn(k.count), k.programs);
    Value room = k.index(most);
    if (Workspace::fifoSenders(members) < members) {
      constexpr int64_t severalSteps = 4;
      room = k.min(
          room, k.max(k.div(each, k.index(severalSteps)), k.index(most / 2)));
    }
    return k.max(k.min(each, room), k.index(1));
  }

  /// Runs `body(start, length, number)` for this program's steps of at most
  /// `most` tiles. Numbers continue from the counter at `own`, which is updated
  /// at the end.
  void forSteps(Value own, int64_t most,
                llvm::function_ref<void(Value, Value, Value)> body) {
    auto &b = k.b;
    Value last = memref::LoadOp::create(b, counters, own);
    Value step = k.mul(tilesOfStep(most), k.tileSize());
    auto loop = scf::ForOp::create(
        b, k.mul(k.program, step), k.count, k.mul(k.programs, step), last,
        [](OpBuilder &, Location, Value, ValueRange) {});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value number = k.addI32(loop.getRegionIterArg(0), k.i32(1));
      Value start = loop.getInductionVar();
      body(start, k.min(step, k.sub(k.count, start)), number);
      scf::YieldOp::create(b, number);
    }
    SignalOp::create(b, SignalKind::Set, k.ctx, loop.getResult(0), counters,
                     own, /*rank=*/Value(), MemSemantic::Relaxed, Scope::Gpu);
  }

  using Store = llvm::function_ref<void(Value tile, Value to, Value offset)>;
  /// Loads `length` elements of `from` and stores them to `to`: as many tiles
  /// at once as registers have room for, so that their loads overlap.
  void copy(Value from, Value to, Value length, Store store) {
    int64_t together = llvm::bit_floor(static_cast<uint64_t>(
        std::min(k.tilesInRegisters(), k.config.fifoSlotTiles())));
    Value size = k.index(together * k.config.tile);
    auto type =
        RankedTensorType::get({together * k.config.tile}, k.config.storage);
    Value whole = k.div(length, size);
    k.loop(k.index(0), whole, k.index(1), [&](Value number) {
      Value offset = k.mul(number, size);
      store(k.load(from, offset, type), to, offset);
    });
    Value start = k.mul(whole, size);
    Value rest = k.sub(length, start);
    Value restOf = k.window(from, start, rest),
          restTo = k.window(to, start, rest);
    k.forTilesFrom(k.index(0), k.index(1), rest, [&](Value, Value offset) {
      store(k.load(restOf, offset), restTo, offset);
    });
  }

  /// Waits until the counter at `index` is `number` or more.
  void wait(Value index, Value number) {
    WaitOp::create(k.b, k.b.getI32Type(), k.ctx, counters, index,
                   Comparison::GE, number, /*rank=*/Value(),
                   /*owedBy=*/k.rankOf(k.root), MemSemantic::Acquire,
                   Scope::Sys);
  }
  /// Waits until the slot of step `number` is free.
  void waitForSlot(Value number) {
    wait(takenBy(k.root), k.addI32(number, k.i32(-Workspace::fifoDepth)));
  }
  /// Stores `number` to the other member's counter at `index`.
  void signal(Value index, Value number) {
    SignalOp::create(k.b, SignalKind::Set, k.ctx, number, counters, index,
                     k.rankOf(k.root), MemSemantic::Release, Scope::Sys);
  }

  KernelBuilder &k;
  const Workspace &workspace;
  const int64_t members;
  Value counters;

private:
  Value line(Value member, int64_t which) {
    Value pair = k.add(k.mul(k.program, k.index(members)), member);
    Value number = k.add(k.mul(pair, k.index(2)), k.index(which));
    return k.mul(number, k.index(Workspace::line / 4));
  }

  /// The offset of a step's slot, of `bytes` bytes each from `base` on.
  Value slotOffset(Value sender, Value number, int64_t base, int64_t bytes) {
    const int64_t senders = Workspace::fifoSenders(members);
    Value pair = k.program;
    if (senders > 1)
      pair = k.add(k.mul(pair, k.index(senders)), sender);
    Value turn =
        arith::AndIOp::create(k.b, number, k.i32(Workspace::fifoDepth - 1));
    Value which =
        k.add(k.mul(pair, k.index(Workspace::fifoDepth)), k.asIndex(turn));
    return k.add(k.index(base), k.mul(which, k.index(bytes)));
  }
};
} // namespace

void mlir::iris::buildSend(KernelBuilder &k) {
  Fifo fifo(k);
  Value own = k.add(fifo.takenBy(k.root), k.index(1));
  fifo.forSteps(own, k.config.fifoSlotTiles(),
                [&](Value start, Value length, Value number) {
                  fifo.waitForSlot(number);
                  fifo.copy(k.window(k.in, start, length),
                            fifo.slot(k.me, number, length), length,
                            [&](Value tile, Value to, Value offset) {
                              k.storeTo(k.root, tile, to, offset);
                            });
                  fifo.signal(fifo.putBy(k.me), number);
                });
}

void mlir::iris::buildRecv(KernelBuilder &k) {
  Fifo fifo(k);
  Value put = fifo.putBy(k.root);
  fifo.forSteps(k.add(put, k.index(1)), k.config.fifoSlotTiles(),
                [&](Value start, Value length, Value number) {
                  fifo.wait(put, number);
                  fifo.copy(fifo.slot(k.root, number, length),
                            k.window(k.out, start, length), length,
                            [&](Value tile, Value to, Value offset) {
                              k.store(tile, to, offset);
                            });
                  fifo.signal(fifo.takenBy(k.me), number);
                });
}

void mlir::iris::buildSendPacket(KernelBuilder &k) {
  Fifo fifo(k);
  Value own = k.add(fifo.takenBy(k.root), k.index(1));
  fifo.forSteps(own, /*most=*/1, [&](Value start, Value length, Value number) {
    // Load before the wait, so that their latencies overlap.
    Value tile = k.load(k.window(k.in, start, length), k.index(0));
    fifo.waitForSlot(number);
    PacketStoreOp::create(k.b, k.ctx, tile, fifo.packets(k.me, number),
                          k.index(0), k.rankOf(k.root), number);
  });
}

void mlir::iris::buildRecvPacket(KernelBuilder &k) {
  Fifo fifo(k);
  Value own = k.add(fifo.putBy(k.root), k.index(1));
  fifo.forSteps(own, /*most=*/1, [&](Value start, Value length, Value number) {
    Value tile = PacketLoadOp::create(k.b, k.config.tileType(), k.ctx,
                                      fifo.packets(k.root, number), k.index(0),
                                      number, /*owedBy=*/k.rankOf(k.root),
                                      /*members=*/IntegerAttr());
    k.store(tile, k.window(k.out, start, length), k.index(0));
    fifo.signal(fifo.takenBy(k.me), number);
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// values[number].
static Value pick(KernelBuilder &k, ArrayRef<Value> values, Value number) {
  Value picked = values.front();
  for (auto [i, value] : llvm::enumerate(values.drop_front()))
    picked = k.select(k.equal(number, k.index(static_cast<int64_t>(i) + 1)),
                      value, picked);
  return picked;
}

static Value getField(KernelBuilder &k, Value packed,
                      plan::TransferField field) {
  Value above = k.div(packed, k.index(int64_t(1) << field.first));
  return k.rem(above, k.index(int64_t(1) << field.bits));
}

static Value isSet(KernelBuilder &k, Value packed, plan::TransferField field) {
  return k.notEqual(getField(k, packed, field), k.index(0));
}

/// Builds `body` as it is in a kernel of the packets alone.
static void inPackets(KernelBuilder &k, llvm::function_ref<void()> body) {
  const CollectiveConfig config = k.config;
  const plan::Variant *variant =
      llvm::find_if(*config.collective, [](const plan::Variant &each) {
        return each.has(plan::packets);
      });
  k.config.tile = config.defaultTileOf(*variant);
  k.config.variant = variant;
  body();
  k.config = config;
}

/// The parts of a message that one program of the group has; `step` is the
/// number of the connection's programs.
static void buildMessage(KernelBuilder &k, bool isSend, Value message,
                         Value first, Value step) {
  k.count = getField(k, message, plan::Message::countField);
  k.programs = getField(k, message, plan::Message::programsField);
  Value isPacket = isSet(k, message, plan::Message::packetsField);
  k.loop(first, k.programs, step, [&](Value program) {
    k.program = program;
    k.ifThenElse(
        isPacket,
        [&] {
          inPackets(k,
                    [&] { isSend ? buildSendPacket(k) : buildRecvPacket(k); });
        },
        [&] { isSend ? buildSend(k) : buildRecv(k); });
  });
}

void mlir::iris::buildSendRecvGroup(KernelBuilder &k) {
  const KernelBuilder::Transfers &all = k.transfers;
  Value first = k.div(k.program, all.numConnections);
  Value step = k.div(k.programs, all.numConnections);
  Value mine = k.rem(k.program, all.numConnections);
  Value connection = pick(k, all.connections, mine);
  k.root = getField(k, connection, plan::Connection::peerField);
  // The arguments of other connections take no registers from here on.
  auto ofConnection = [&](ArrayRef<Value> values) {
    SmallVector<Value> picked;
    for (; !values.empty(); values = values.drop_front(all.connections.size()))
      picked.push_back(
          pick(k, values.take_front(all.connections.size()), mine));
    return picked;
  };
  const SmallVector<Value> distances = ofConnection(all.distances),
                           messages = ofConnection(all.messages);
  Value end = getField(k, connection, plan::Connection::messagesField);
  auto type = MemRefType::get({ShapedType::kDynamic}, k.config.storage);
  // The directions have loops of their own, so that what is computed before one
  // of them takes no registers in the other.
  auto forMessages = [&](bool isSend) {
    k.loop(k.index(0), end, k.index(1), [&](Value number) {
      Value message = pick(k, messages, number);
      Value count = getField(k, message, plan::Message::countField);
      k.in = k.out = memref::ViewOp::create(k.b, type, all.memory,
                                            pick(k, distances, number), count);
      buildMessage(k, isSend, message, first, step);
    });
  };
  k.ifThenElse(
      isSet(k, connection, plan::Connection::sendField),
      [&] { forMessages(true); }, [&] { forMessages(false); });
}
