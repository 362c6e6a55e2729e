// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllReduce.cpp - All-reduce -----------------------------------------===//
//
// in, out: count elements. Except for `atomic`, every element is computed once,
// or in the same order on every rank: all ranks get the same bits.
//
// `one_shot`: every rank reads the inputs of all ranks. The first barrier
// guarantees that the inputs are complete, the second that no peer reads this
// rank's input any more.
//
// `two_shot`: a tile is reduced by its owner, which stores it to all ranks. In
// place is correct: only the owner reads a tile, from all ranks, before it
// stores the result to the same location.
//
// The packet variants need no barrier, `one_shot_buffered` needs one: see
// Packets and Buffers in docs/internals/collectives.md.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "iris/Kernels/Elements.h"
#include "iris/Plan/Arithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// one_shot
//===----------------------------------------------------------------------===//

void mlir::iris::buildAllReduceOneShot(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  Value to = k.window(k.out, k.index(0), k.count);
  k.barrier();
  storeReduced(k, from, to, k.count);
  k.barrier();
}

/// Every rank sends its tiles to all members and reduces the tiles it receives.
void mlir::iris::buildAllReduceOneShotPacket(KernelBuilder &k) {
  k.forPacketRounds([&](Value start, Value length) {
    Value from = k.window(k.in, start, length);
    Value to = k.window(k.out, start, length);
    k.forTiles(length, [&](Value t, Value offset) {
      Value tile = k.load(from, offset);
      // This rank is a receiver as well: the order of the sum does not depend
      // on the rank, and a tile in memory needs no registers.
      k.forMembers(0, [&](Value i) {
        k.sendPacket(k.rotate(k.me, i), tile, k.packetSlot(k.me, t));
      });
    });
    k.forTiles(length, [&](Value t, Value offset) {
      k.store(reducePackets(k, k.packetSlot(k.index(0), t)), to, offset);
    });
  });
}

/// As `one_shot_packet`, with plain stores to slots, and a barrier that signals
/// their arrival.
void mlir::iris::buildAllReduceOneShotBuffered(KernelBuilder &k) {
  auto send = [&](Value start, Value length) -> KernelBuilder::TileBody {
    Value from = k.window(k.in, start, length);
    Value slot = k.sentSlot(k.me, length);
    return [=, &k](Value, Value offset) {
      Value tile = k.load(from, offset);
      k.forMembers(0, [&](Value i) {
        k.storeTo(k.rotate(k.me, i), tile, slot, offset);
      });
    };
  };
  auto receive = [&](Value start, Value length) {
    return storeReducedSlots(k, k.window(k.out, start, length), length);
  };
  k.forBufferedRounds(send, receive, /*isToPeersOnly=*/false);
}

//===----------------------------------------------------------------------===//
// two_shot
//===----------------------------------------------------------------------===//

/// body(t, offset) for this program's tiles of `owner`. Owner and program of a
/// tile are the same on every rank: t = iteration * size + owner, and
/// iterations are distributed round-robin over programs.
static void forTilesOf(KernelBuilder &k, Value owner, Value length,
                       llvm::function_ref<void(Value, Value)> body) {
  k.forTilesFrom(k.add(k.mul(k.program, k.size), owner),
                 k.mul(k.programs, k.size), length, body);
}

void mlir::iris::buildAllReduceTwoShot(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  Value to = k.window(k.out, k.index(0), k.count);
  k.barrier();
  forTilesOf(k, k.me, k.count, [&](Value, Value offset) {
    Value sum =
        reduceMembers(k, [&](Value m) { return k.loadFrom(m, from, offset); });
    k.forMembers(
        0, [&](Value i) { k.storeTo(k.rotate(k.me, i), sum, to, offset); });
  });
  k.barrier();
}

/// Ranks store their inputs to the owner of a tile, which reduces them and
/// stores the result to all ranks. Nothing is loaded over a link, because
/// stores achieve more of its bandwidth. The owner of one of the tiles t .. t +
/// size - 1 receives that tile from each member in consecutive slots t .. t +
/// size - 1 of its workspace.
///
/// Results are stored to the outputs. If peers cannot access the outputs,
/// results go to one slot per tile, after the slots of the inputs, and a third
/// stage copies them to the output. In place, a rank has sent the elements that
/// this copy overwrites two iterations before.
void mlir::iris::buildAllReduceTwoShotPush(KernelBuilder &k) {
  bool staged = k.config.sendsResults();
  // Every iteration processes a tile of each owner.
  Value room = k.div(k.index(k.config.slotTiles() / (staged ? 2 : 1)), k.size);
  Value iterations = plan::getFullRound<ScalarBuilder>(k, room, k.programs);
  Value tiles = k.mul(iterations, k.size);
  Value most = k.mul(tiles, k.tileSize());
  auto send = [&](Value start, Value length) {
    Value from = k.window(k.in, start, length);
    k.forMembers(1, [&](Value i) {
      Value owner = k.rotate(k.me, i);
      forTilesOf(k, owner, length, [&](Value t, Value offset) {
        Value slot = k.sentTile(k.add(k.sub(t, owner), k.me));
        k.storeTileTo(owner, k.load(from, offset), slot);
      });
    });
  };
  auto reduce = [&](Value start, Value length) {
    Value from = k.window(k.in, start, length);
    Value to = k.window(k.out, start, length);
    forTilesOf(k, k.me, length, [&](Value t, Value offset) {
      Value firstSlot = k.sub(t, k.me);
      Value sum = reduceWith(k, k.load(from, offset), [&](Value i) {
        return k.loadTile(k.receivedTile(k.add(firstSlot, k.rotate(k.me, i))));
      });
      if (!staged)
        return k.forMembers(
            0, [&](Value i) { k.storeTo(k.rotate(k.me, i), sum, to, offset); });
      Value result = k.sentTile(k.add(tiles, t));
      k.forMembers(
          1, [&](Value i) { k.storeTileTo(k.rotate(k.me, i), sum, result); });
      k.store(sum, to, offset);
    });
  };
  auto copyResults = [&](Value start, Value length) {
    Value to = k.window(k.out, start, length);
    k.forMembers(1, [&](Value i) {
      forTilesOf(k, k.rotate(k.me, i), length, [&](Value t, Value offset) {
        k.store(k.loadTile(k.receivedTile(k.add(tiles, t))), to, offset);
      });
    });
  };
  if (staged)
    k.forOverlappedRounds(most, {send, reduce, copyResults},
                          /*hasExitBarrier=*/false);
  else
    k.forOverlappedRounds(most, {send, reduce}, /*hasExitBarrier=*/true);
}

/// Inputs are sent to the owner of a tile, results back to all ranks.
void mlir::iris::buildAllReduceTwoShotPacket(KernelBuilder &k) {
  k.forPacketRounds([&](Value start, Value length) {
    Value tiles = k.tilesIn(length);
    Value from = k.window(k.in, start, length);
    Value to = k.window(k.out, start, length);
    // Slots of inputs: (iteration, source) at the owner; of results: tile t.
    auto inputSlot = [&](Value source, Value t) {
      return k.add(k.mul(k.div(t, k.size), k.size), source);
    };
    // Result slots start after the input slots of a full round, so that the
    // results of a last, short round do not overwrite inputs of an earlier
    // round that peers still read.
    Value most =
        k.ceilDiv(k.index(k.config.packetRound() / k.config.tile), k.size);
    Value firstResult = k.mul(k.size, most);
    auto resultSlot = [&](Value t) { return k.add(firstResult, t); };

    k.forMembers(0, [&](Value i) {
      Value owner = k.rotate(k.me, i);
      forTilesOf(k, owner, length, [&](Value t, Value offset) {
        k.sendPacket(owner, k.load(from, offset), inputSlot(k.me, t));
      });
    });
    forTilesOf(k, k.me, length, [&](Value t, Value offset) {
      Value sum = reducePackets(k, inputSlot(k.index(0), t));
      if (!k.receivesAll())
        k.store(sum, to, offset);
      k.forMembers(k.receivesAll() ? 0 : 1, [&](Value i) {
        k.sendPacket(k.rotate(k.me, i), sum, resultSlot(t));
      });
    });
    if (k.receivesAll()) {
      // The tiles of one iteration are consecutive, both here and in the
      // output. The slots after the last tile are never written, so an
      // iteration that extends past it is processed tile by tile.
      Value iterations = k.div(tiles, k.size);
      k.loop(k.program, iterations, k.programs, [&](Value iteration) {
        Value first = k.mul(iteration, k.size);
        k.store(k.receivePackets(resultSlot(first), /*isFlat=*/true), to,
                k.mul(first, k.tileSize()));
      });
      Value whole = k.mul(iterations, k.size);
      k.ifThen(k.equal(k.rem(iterations, k.programs), k.program), [&] {
        k.loop(whole, tiles, k.index(1), [&](Value t) {
          k.store(k.receivePacket(k.rem(t, k.size), resultSlot(t)), to,
                  k.mul(t, k.tileSize()));
        });
      });
      return;
    }
    k.forMembers(1, [&](Value i) {
      Value owner = k.rotate(k.me, i);
      forTilesOf(k, owner, length, [&](Value t, Value offset) {
        k.store(k.receivePacket(owner, resultSlot(t)), to, offset);
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// ring
//===----------------------------------------------------------------------===//

/// for s in 0 .. size - 2, with a tile carried from step to step.
static Value forSteps(KernelBuilder &k, Value tile,
                      llvm::function_ref<Value(Value s, Value tile)> body) {
  auto &b = k.b;
  auto loop =
      scf::ForOp::create(b, k.index(0), k.sub(k.size, k.index(1)), k.index(1),
                         tile, [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

/// Each program processes a set of `size` tiles per iteration. In step s of the
/// first half, rank r sends its partial sum of tile r - s to its successor;
/// after size - 1 steps it holds the complete sum of tile r + 1. In the second
/// half the sums travel around the ring, from output to output.
///
/// A rank receives step s in its slot (program, s mod 2). The sender overwrites
/// that slot after the barrier of step s + 1, which the receiver enters only
/// after it has read the slot. A rank stores tile j to its successor's output
/// only after all ranks have passed the barriers of the first half; after those
/// the successor reads only tile r + 1 of its input, which no peer stores.
/// Therefore the output may be the input.
void mlir::iris::buildAllReduceRing(KernelBuilder &k) {
  Value next = k.rotate(k.me, k.index(1));
  auto wide = cast<RankedTensorType>(widen(k, zeroTile(k)).getType());
  auto slot = [&](Value step) {
    Value number = k.add(k.mul(k.program, k.index(2)), k.rem(step, k.index(2)));
    return k.scratch(k.mul(number, k.tileSize()), k.tileSize(),
                     wide.getElementType());
  };
  Value sets = k.ceilDiv(k.tilesIn(k.count), k.size);
  Value iterations = k.ceilDiv(sets, k.programs);
  k.barrier();
  // Peer programs run the same number of iterations on all ranks, even if a set
  // is empty.
  k.loop(k.index(0), iterations, k.index(1), [&](Value iteration) {
    Value set = k.add(k.mul(iteration, k.programs), k.program);
    // The offset of a member's tile in the set; -size <= member < size.
    auto offsetOf = [&](Value member) {
      member = k.rem(k.add(member, k.size), k.size);
      return k.mul(k.add(k.mul(set, k.size), member), k.tileSize());
    };
    Value first = widen(k, k.load(k.in, offsetOf(k.me)));
    Value sum = forSteps(k, first, [&](Value s, Value partial) {
      k.storeTo(next, partial, slot(s), k.index(0));
      k.barrier();
      Value got = k.sub(k.sub(k.me, s), k.index(1));
      return combine(k, k.load(slot(s), k.index(0), wide),
                     widen(k, k.load(k.in, offsetOf(got))));
    });
    Value done = narrow(k, conclude(k, sum));
    Value own = k.add(k.me, k.index(1));
    k.store(done, k.out, offsetOf(own));
    forSteps(k, done, [&](Value s, Value tile) {
      k.storeTo(next, tile, k.out, offsetOf(k.sub(own, s)));
      k.barrier();
      return k.load(k.out, offsetOf(k.sub(k.me, s)));
    });
  });
  k.barrier();
}

//===----------------------------------------------------------------------===//
// atomic
//===----------------------------------------------------------------------===//

/// Every rank adds its tiles to the outputs of all ranks, which are zeroed
/// first. A program processes the same tiles in all phases, so that the
/// barriers order the accesses. Sums are rounded at each addition, in no
/// particular order.
void mlir::iris::buildAllReduceAtomic(KernelBuilder &k) {
  Value zero = zeroTile(k);
  k.forTiles(k.count,
             [&](Value, Value offset) { k.store(zero, k.out, offset); });
  k.barrier();
  k.forTiles(k.count, [&](Value, Value offset) {
    Value tile = k.load(k.in, offset);
    k.forMembers(
        0, [&](Value i) { k.addTo(k.rotate(k.me, i), tile, k.out, offset); });
  });
  k.barrier();
  if (*k.config.reduction != Reduction::Avg)
    return;
  k.forTiles(k.count, [&](Value, Value offset) {
    Value sum = widen(k, k.load(k.out, offset));
    k.store(narrow(k, conclude(k, sum)), k.out, offset);
  });
}
