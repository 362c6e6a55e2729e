// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelRounds.cpp - Rounds through the workspace --------------------===//
//
// Data that exceed the workspace are processed in rounds. Slots are in two
// halves, for even and odd epochs: each iteration reads the data that peers
// stored in the previous iteration, and stores to the other half. See
// docs/internals/collectives.md for why no rank stores to a slot that another
// rank still reads.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Epochs
//===----------------------------------------------------------------------===//

Value KernelBuilder::roundLength(Value start, Value most) {
  return min(most, sub(count, start));
}

void KernelBuilder::forEpochs(Value most, Value end, Body body, bool countsLast,
                              Value slotsPerRound) {
  Value epochs = words(Workspace::epochs, Workspace::epochBytes);
  Value last = memref::LoadOp::create(b, epochs, program);
  auto rounds =
      scf::ForOp::create(b, index(0), end, most, last,
                         [](OpBuilder &, Location, Value, ValueRange) {});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rounds.getBody());
    Value start = rounds.getInductionVar();
    Value next = i32(1);
    if (slotsPerRound) {
      slotOfRound = rem(div(start, most), slotsPerRound);
      next = arith::ExtUIOp::create(b, b.getI32Type(),
                                    equal(slotOfRound, index(0)));
    }
    epoch = addI32(rounds.getRegionIterArg(0), next);
    parity = arith::IndexCastUIOp::create(
        b, b.getIndexType(), arith::AndIOp::create(b, epoch, i32(1)));
    body(start);
    scf::YieldOp::create(b, epoch);
    slotOfRound = Value();
  }
  Value used = rounds.getResult(0);
  storeEpoch(epochs, Workspace::maxPrograms,
             countsLast ? used : addI32(used, i32(-1)));
}

Value KernelBuilder::lastParity() { return sub(index(1), parity); }

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Value KernelBuilder::firstSlot(Value parity) {
  return mul(parity, index(config.oddSlots()));
}

Value KernelBuilder::bufferSlot(Value parity, Value source, Value length) {
  if (slotOfRound)
    source = rotate(source, slotOfRound);
  Value most = index(config.slotRound());
  return scratch(add(firstSlot(parity), mul(source, most)), length);
}

Value KernelBuilder::sentSlot(Value source, Value length) {
  return bufferSlot(parity, source, length);
}

Value KernelBuilder::receivedSlot(Value source, Value length) {
  return bufferSlot(lastParity(), source, length);
}

Value KernelBuilder::slotTile(Value parity, Value number) {
  return scratch(add(firstSlot(parity), mul(number, tileSize())), tileSize());
}

Value KernelBuilder::sentTile(Value number) { return slotTile(parity, number); }

Value KernelBuilder::receivedTile(Value number) {
  return slotTile(lastParity(), number);
}

Value KernelBuilder::loadTile(Value buffer) {
  return tile::LoadOp::create(b, config.tileType(), buffer, index(0),
                              /*other=*/Value());
}

void KernelBuilder::storeTileTo(Value member, Value tile, Value buffer) {
  iris::StoreOp::create(b, ctx, tile, buffer, index(0), rankOf(member));
}

KernelBuilder::TileBody KernelBuilder::storeSlots(Value start, Value length) {
  return [=](Value, Value offset) {
    forMembersLoaded(
        1,
        [&](Value i) {
          return load(receivedSlot(rotate(me, i), length), offset);
        },
        [&](Value i, Value tile) {
          store(tile, slice(out, rotate(me, i), start, length), offset);
        });
  };
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// Slots of a chunk from which on a round of two ranks has two of them: half
/// the barriers. In shorter calls less of what is received would overlap with
/// what is sent.
static constexpr int64_t slotsOfLargeRounds = 8;

void KernelBuilder::forBufferedRounds(RoundTiles send, RoundTiles receive,
                                      bool isToPeersOnly) {
  Value most = index(config.slotRound());
  // The slots that a rank has for its own data are then for its only peer's. An
  // iteration is for one slot.
  Value slotsPerRound, round = most;
  if (isToPeersOnly && config.size == 2) {
    Value isLarge =
        notLess(count, index(slotsOfLargeRounds * config.slotRound()));
    slotsPerRound = arith::SelectOp::create(b, isLarge, index(2), index(1));
    round = mul(slotsPerRound, most);
  }
  auto oneRound = [&](RoundTiles tiles, Value start) {
    Value length = roundLength(start, most);
    forTiles(length, tiles(start, length));
  };
  auto iteration = [&](Value start) {
    Value before = sub(start, round);
    Value notFirst =
        slotsPerRound ? notLess(start, round) : notEqual(start, index(0));
    // Stores to peers overlap with the processing of received data.
    auto together = [&] {
      TileBody sendTile = send(start, most);
      TileBody receiveTile = receive(before, most);
      forTiles(most, [&](Value t, Value offset) {
        sendTile(t, offset);
        receiveTile(t, offset);
      });
    };
    auto apart = [&] {
      ifThen(less(start, count), [&] { oneRound(send, start); });
      Value hasReceived = notFirst;
      if (slotsPerRound) // the last round may have one slot only
        hasReceived = arith::AndIOp::create(b, notFirst, less(before, count));
      ifThen(hasReceived, [&] { oneRound(receive, before); });
    };
    // All iterations except the first one and those with less to send.
    Value isWhole =
        arith::AndIOp::create(b, notFirst, notLess(count, add(start, most)));
    ifThenElse(isWhole, together, apart);
    Value hasSent = less(start, count);
    if (slotsPerRound) {
      Value isLastSlot = equal(slotOfRound, sub(slotsPerRound, index(1)));
      hasSent = arith::AndIOp::create(
          b, isLastSlot, less(sub(start, mul(slotOfRound, most)), count));
    }
    ifThen(hasSent, [&] { barrier(); });
  };
  Value end = slotsPerRound ? mul(add(ceilDiv(count, round), index(1)), round)
                            : add(count, most);
  forEpochs(most, end, iteration, /*countsLast=*/false, slotsPerRound);
}

void KernelBuilder::forSlotRounds(RoundBody send, RoundBody receive) {
  Value most = index(config.slotRound());
  auto iteration = [&](Value start) {
    ifThen(less(start, count), [&] { send(start, roundLength(start, most)); });
    ifThen(notEqual(start, index(0)), [&] {
      Value before = sub(start, most);
      receive(before, roundLength(before, most));
    });
    ifThen(less(start, count), [&] { barrier(); });
  };
  forEpochs(most, add(count, most), iteration, /*countsLast=*/false);
}

void KernelBuilder::forOverlappedRounds(Value most, ArrayRef<RoundBody> stages,
                                        bool hasExitBarrier) {
  auto last = static_cast<int64_t>(stages.size()) - 1;
  Value end = add(count, mul(most, index(last)));
  auto iteration = [&](Value start) {
    for (int64_t s = 0; s <= last; ++s) {
      Value before = sub(start, mul(most, index(s)));
      auto run = [&] { stages[s](before, roundLength(before, most)); };
      auto runUnlessPast = [&] {
        s == last ? run() : ifThen(less(before, count), run);
      };
      if (s == 0)
        runUnlessPast();
      else
        ifThen(notLess(start, mul(most, index(s))), runUnlessPast);
    }
    if (hasExitBarrier)
      return barrier();
    ifThen(less(start, sub(end, most)), [&] { barrier(); });
  };
  forEpochs(most, end, iteration, /*countsLast=*/hasExitBarrier);
}
