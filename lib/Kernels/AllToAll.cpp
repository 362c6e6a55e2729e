// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllToAll.cpp - All-to-all ------------------------------------------===//
//
// in: a chunk of count elements for every member; out: a chunk from every
// member. The protocols are those of AllGather.cpp.
//
// `push` and `pull` do not support out == in: a peer would overwrite a chunk
// that has not been sent yet. `packet` and `buffered` (also used for `staged`)
// do: a program sends its tiles of all chunks before it stores the first one,
// and no other program accesses those tiles.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildAllToAllPush(KernelBuilder &k) {
  Value mine = k.chunk(k.out, k.me);
  k.barrier();
  k.forTiles(k.count, [&](Value, Value offset) {
    k.forPeers(0, k.index(0), k.count, offset, [&](Value peer, Value tile) {
      k.storeTo(peer, tile, mine, offset);
    });
  });
  k.barrier();
}

void mlir::iris::buildAllToAllPull(KernelBuilder &k) {
  Value mine = k.chunk(k.in, k.me);
  k.barrier();
  k.gatherChunks(mine, k.index(0), k.count);
  k.barrier();
}

void mlir::iris::buildAllToAllPacket(KernelBuilder &k) {
  k.forPacketRounds([&](Value start, Value length) {
    k.forTiles(length, [&](Value t, Value offset) {
      k.forPeers(k.receivesAll() ? 0 : 1, start, length, offset,
                 [&](Value peer, Value tile) {
                   k.sendPacket(peer, tile, k.packetSlot(k.me, t));
                 });
    });
    if (!k.receivesAll())
      k.copy(k.slice(k.in, k.me, start, length),
             k.slice(k.out, k.me, start, length), length);
    k.receiveChunks(start, length);
  });
}

void mlir::iris::buildAllToAllBuffered(KernelBuilder &k) {
  auto send = [&](Value start, Value length) -> KernelBuilder::TileBody {
    Value ownFrom = k.slice(k.in, k.me, start, length);
    Value ownTo = k.slice(k.out, k.me, start, length);
    Value slot = k.sentSlot(k.me, length);
    return [=, &k](Value, Value offset) {
      k.forPeers(1, start, length, offset, [&](Value peer, Value tile) {
        k.storeTo(peer, tile, slot, offset);
      });
      k.store(k.load(ownFrom, offset), ownTo, offset);
    };
  };
  auto receive = [&](Value start, Value length) {
    return k.storeSlots(start, length);
  };
  k.forBufferedRounds(send, receive, /*isToPeersOnly=*/true);
}
