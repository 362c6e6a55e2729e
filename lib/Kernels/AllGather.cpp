// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllGather.cpp - All-gather -----------------------------------------===//
//
// in: count elements; out: count elements of every member, in group order.
//
// Why `push` and `pull` are correct. The first barrier guarantees that every
// peer's stream has reached this call: its input is complete, and no earlier
// work reads its output any more. The second barrier releases this program's
// stores and acquires those of its peer programs. A program leaves it only
// after all its peer programs have arrived, so the kernel ends only after all
// programs of all peers are done: the output is complete, and no peer reads the
// input any more. In place, a rank stores its own chunk over itself.
//
// Why `packet` and `buffered` are correct: see Packets and Buffers in
// docs/internals/collectives.md. A tile is loaded before it is sent and stored,
// and only this rank accesses its output.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"

using namespace mlir;
using namespace mlir::iris;

/// Loads every tile once and stores it to all members, in rotated order, so
/// that no two ranks store to the same receiver at once.
void mlir::iris::buildAllGatherPush(KernelBuilder &k) {
  Value own = k.chunk(k.out, k.me);
  Value from = k.window(k.in, k.index(0), k.count);
  k.barrier();
  k.forTiles(k.count, [&](Value, Value offset) {
    Value tile = k.load(from, offset);
    k.forMembers(
        0, [&](Value i) { k.storeTo(k.rotate(k.me, i), tile, own, offset); });
  });
  k.barrier();
}

/// Every rank loads the chunks of all members.
void mlir::iris::buildAllGatherPull(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  k.barrier();
  k.gatherChunks(from, k.index(0), k.count);
  k.barrier();
}

/// Slot (tile, source) of the workspace. If the tiles of all members are
/// received together, this rank's own tile goes through a slot as well.
void mlir::iris::buildAllGatherPacket(KernelBuilder &k) {
  k.forPacketRounds([&](Value start, Value length) {
    Value from = k.window(k.in, start, length);
    Value own = k.slice(k.out, k.me, start, length);
    k.forTiles(length, [&](Value t, Value offset) {
      Value tile = k.load(from, offset);
      k.forMembers(k.receivesAll() ? 0 : 1, [&](Value i) {
        k.sendPacket(k.rotate(k.me, i), tile, k.packetSlot(k.me, t));
      });
      if (!k.receivesAll())
        k.store(tile, own, offset);
    });
    k.receiveChunks(start, length);
  });
}

/// Goes through slots in the receivers' workspaces. No barrier is needed first,
/// because the receivers' outputs may still be in use, and those outputs need
/// not be in the heap.
void mlir::iris::buildAllGatherBuffered(KernelBuilder &k) {
  auto send = [&](Value start, Value length) -> KernelBuilder::TileBody {
    Value from = k.window(k.in, start, length);
    Value own = k.slice(k.out, k.me, start, length);
    Value slot = k.sentSlot(k.me, length);
    return [=, &k](Value, Value offset) {
      Value tile = k.load(from, offset);
      k.forMembers(1, [&](Value i) {
        k.storeTo(k.rotate(k.me, i), tile, slot, offset);
      });
      k.store(tile, own, offset);
    };
  };
  auto receive = [&](Value start, Value length) {
    return k.storeSlots(start, length);
  };
  k.forBufferedRounds(send, receive, /*isToPeersOnly=*/true);
}
