// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllGather.cpp - All-gather -----------------------------------------===//
//
// in: count elements; out: count elements of every member, in their order.
//
// Why `push`, `pull` and `partitioned` are correct. The first barrier says of
// every peer that its stream has come to this call: its input is there, and
// nothing before reads its output any more. The second one is a release of what
// this program stored and an acquire of what its peer programs stored; a
// program leaves it when all its peer programs have come, so the kernel ends
// when all programs of all peers are done: the output is complete, and nobody
// reads the input any more. In place, the own chunk is stored over itself.
//
// Why `packet` and `buffered` are correct: see Packets and Buffers in
// docs/collectives.md. A tile is loaded before it is sent and stored; nobody
// but this rank touches its output.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"

using namespace mlir;
using namespace mlir::iris;

/// Every tile is loaded once and stored to all members, in rotated order, so
/// that no two ranks store to one receiver at once.
static void buildPush(KernelBuilder &k) {
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

/// Programs take (member, tile) pairs: each has one receiver if the number of
/// programs is a multiple of the group's size.
static void buildPartitioned(KernelBuilder &k) {
  Value own = k.chunk(k.out, k.me);
  k.barrier();
  Value pairs = k.mul(k.tilesIn(k.count), k.size);
  k.loop(k.program, pairs, k.programs, [&](Value pair) {
    Value offset = k.mul(k.div(pair, k.size), k.tileSize());
    Value tile = k.load(k.in, offset);
    k.storeTo(k.rotate(k.me, k.rem(pair, k.size)), tile, own, offset);
  });
  k.barrier();
}

/// Every rank reads what it needs.
static void buildPull(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  k.barrier();
  k.gatherParts(from, k.index(0), k.count);
  k.barrier();
}

/// Slot (tile, source) of the workspace. Where the tiles of all members are
/// received at once, the own one takes that way as well.
static void buildPacket(KernelBuilder &k) {
  k.forPacketRounds([&](Value start, Value length) {
    Value from = k.window(k.in, start, length);
    Value own = k.part(k.out, k.me, start, length);
    k.forTiles(length, [&](Value t, Value offset) {
      Value tile = k.load(from, offset);
      k.forMembers(k.receivesAll() ? 0 : 1, [&](Value i) {
        k.sendPacket(k.rotate(k.me, i), tile, k.packetSlot(k.me, t));
      });
      if (!k.receivesAll())
        k.store(tile, own, offset);
    });
    k.receiveParts(start, length);
  });
}

/// Through slots at the receivers: their outputs may still be in use, so that
/// no barrier is needed before; and they may be anywhere.
static void buildBuffered(KernelBuilder &k) {
  auto send = [&](Value start, Value length) -> KernelBuilder::TileBody {
    Value from = k.window(k.in, start, length);
    Value own = k.part(k.out, k.me, start, length);
    Value slot = k.sentSlot(k.me, length);
    return [=, &k](Value, Value offset) {
      Value tile = k.load(from, offset);
      k.forMembers(1, [&](Value i) {
        k.storeTo(k.rotate(k.me, i), tile, slot, offset);
      });
      k.store(tile, own, offset);
    };
  };
  k.forBufferedRounds(send, [&](Value start, Value length) {
    return k.storeSlots(start, length);
  });
}

void mlir::iris::buildAllGather(KernelBuilder &k) {
  StringRef variant = k.config.variant;
  if (variant == "packet")
    return buildPacket(k);
  if (variant == "buffered" || k.config.staged)
    return buildBuffered(k);
  if (variant == "partitioned")
    return buildPartitioned(k);
  if (variant == "pull")
    return buildPull(k);
  buildPush(k);
}
