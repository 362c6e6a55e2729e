// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReduceScatter.cpp - Reduce-scatter ---------------------------------===//
//
// in: a chunk of count elements for every member; out: the reduction of the
// own chunks of all. `torch.distributed`'s layout.
//
// `pull` is the first half of a two-shot all-reduce: between the barriers a
// rank reads its chunk of everybody's input. In place, it writes over its own
// chunk of its own input, which only it reads.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "iris/Kernels/Elements.h"

using namespace mlir;
using namespace mlir::iris;

static void buildPull(KernelBuilder &k) {
  Value mine = k.chunk(k.in, k.me);
  Value to = k.window(k.out, k.index(0), k.count);
  k.barrier();
  storeReduced(k, mine, to, k.count);
  k.barrier();
}

static void buildStaged(KernelBuilder &k) {
  k.forStagedChunks(
      /*onlyRoot=*/false, [&](Value start, Value length, Value mine) {
        storeReduced(k, mine, k.window(k.out, start, length), length);
      });
}

/// Tiles go to slots at those who reduce them, who need not be there yet.
static void buildBuffered(KernelBuilder &k) {
  k.forBufferedRounds([&](Value start, Value length) {
    Value slot = k.window(k.bufferSlot(k.me), k.index(0), length);
    k.forTiles(length, [&](Value, Value offset) {
      k.forPeers(0, start, length, offset, [&](Value peer, Value tile) {
        k.storeTo(peer, tile, slot, offset);
      });
    });
    k.barrier();
    storeReducedSlots(k, k.window(k.out, start, length), length);
  });
}

static void buildPacket(KernelBuilder &k) {
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

void mlir::iris::buildReduceScatter(KernelBuilder &k) {
  if (k.config.variant == "packet")
    return buildPacket(k);
  if (k.config.variant == "buffered")
    return buildBuffered(k);
  if (k.config.staged)
    return buildStaged(k);
  buildPull(k);
}
