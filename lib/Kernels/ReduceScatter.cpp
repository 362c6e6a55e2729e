// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReduceScatter.cpp - Reduce-scatter ---------------------------------===//
//
// in: a chunk of count elements for every member; out: the reduction of all
// members' chunks for this rank. The layout is that of `torch.distributed`.
//
// `pull` is the first half of a two-shot all-reduce: between the barriers a
// rank reads its chunk of all members' inputs. In place, it overwrites its own
// chunk of its own input, which only it reads.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "iris/Kernels/Elements.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildReduceScatterPull(KernelBuilder &k) {
  Value mine = k.chunk(k.in, k.me);
  Value to = k.window(k.out, k.index(0), k.count);
  k.barrier();
  storeReduced(k, mine, to, k.count);
  k.barrier();
}

/// Stores tiles to slots at the members that reduce them, which need not have
/// entered the call yet. A tile of this rank's chunk is loaded before its sum
/// is stored, so in place is correct.
void mlir::iris::buildReduceScatterBuffered(KernelBuilder &k) {
  auto send = [&](Value start, Value length) -> KernelBuilder::TileBody {
    Value slot = k.sentSlot(k.me, length);
    return [=, &k](Value, Value offset) {
      k.forPeers(1, start, length, offset, [&](Value peer, Value tile) {
        k.storeTo(peer, tile, slot, offset);
      });
    };
  };
  auto reduce = [&](Value start, Value length) -> KernelBuilder::TileBody {
    Value own = k.slice(k.in, k.me, start, length);
    Value to = k.window(k.out, start, length);
    return [=, &k](Value, Value offset) {
      Value sum = reduceWith(k, k.load(own, offset), [&](Value i) {
        return k.load(k.receivedSlot(k.rotate(k.me, i), length), offset);
      });
      k.store(sum, to, offset);
    };
  };
  k.forBufferedRounds(send, reduce, /*isToPeersOnly=*/true);
}

void mlir::iris::buildReduceScatterPacket(KernelBuilder &k) {
  k.forPacketRounds([&](Value start, Value length) {
    k.forTiles(length, [&](Value t, Value offset) {
      k.forPeers(0, start, length, offset, [&](Value peer, Value tile) {
        k.sendPacket(peer, tile, k.packetSlot(k.me, t));
      });
    });
    Value to = k.window(k.out, start, length);
    k.forTiles(length, [&](Value t, Value offset) {
      k.store(reducePackets(k, k.packetSlot(k.index(0), t)), to, offset);
    });
  });
}
