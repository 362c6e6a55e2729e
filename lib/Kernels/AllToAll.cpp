// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllToAll.cpp - All-to-all ------------------------------------------===//
//
// in: a chunk of count elements for every member; out: one from every member.
// The protocols are those of AllGather.cpp; only what is sent differs.
//
// `push` and `pull` are not for out == in: a peer would store over a chunk that
// has not left yet. `staged` is: what a round stores was copied before its
// first barrier. So are `packet` and `buffered`, where a program sends its part
// of all chunks before it stores the first, and no other program touches that
// part.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"

using namespace mlir;
using namespace mlir::iris;

static void buildPush(KernelBuilder &k) {
  Value place = k.chunk(k.out, k.me);
  k.barrier();
  k.forTiles(k.count, [&](Value, Value offset) {
    k.forPeers(0, k.index(0), k.count, offset, [&](Value peer, Value tile) {
      k.storeTo(peer, tile, place, offset);
    });
  });
  k.barrier();
}

static void buildPull(KernelBuilder &k) {
  Value mine = k.chunk(k.in, k.me);
  k.barrier();
  k.gatherParts(mine, k.index(0), k.count);
  k.barrier();
}

static void buildStaged(KernelBuilder &k) {
  k.forStagedChunks(/*onlyRoot=*/false,
                    [&](Value start, Value length, Value mine) {
                      k.gatherParts(mine, start, length);
                    });
}

static void buildPacket(KernelBuilder &k) {
  k.forPacketRounds([&](Value start, Value length) {
    k.forTiles(length, [&](Value t, Value offset) {
      k.forPeers(k.receivesAll() ? 0 : 1, start, length, offset,
                 [&](Value peer, Value tile) {
                   k.sendPacket(peer, tile, k.packetSlot(k.me, t));
                 });
    });
    if (!k.receivesAll())
      k.copy(k.part(k.in, k.me, start, length),
             k.part(k.out, k.me, start, length), length);
    k.receiveParts(start, length);
  });
}

static void buildBuffered(KernelBuilder &k) {
  k.forBufferedRounds([&](Value start, Value length) {
    Value slot = k.window(k.bufferSlot(k.me), k.index(0), length);
    k.forTiles(length, [&](Value, Value offset) {
      k.forPeers(1, start, length, offset, [&](Value peer, Value tile) {
        k.storeTo(peer, tile, slot, offset);
      });
      k.store(k.load(k.part(k.in, k.me, start, length), offset),
              k.part(k.out, k.me, start, length), offset);
    });
    k.barrier();
    k.storeSlots(start, length);
  });
}

void mlir::iris::buildAllToAll(KernelBuilder &k) {
  StringRef variant = k.config.variant;
  if (variant == "buffered")
    return buildBuffered(k);
  if (variant == "packet")
    return buildPacket(k);
  if (k.config.staged)
    return buildStaged(k);
  if (variant == "pull")
    return buildPull(k);
  buildPush(k);
}
