// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllToAll.cpp - All-to-all ------------------------------------------===//
//
// in: a chunk of count elements for every member; out: one from every member.
// The protocols are those of AllGather.cpp; only what is sent differs.
//
// `push` and `pull` are not for out == in: a peer would store over a chunk that
// has not left yet. `staged` is: what a round stores was copied before its
// first barrier. So is `packet`, where a program sends its part of all chunks
// before it stores the first, and no other program touches that part.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"

using namespace mlir;
using namespace mlir::iris;

static void buildPush(KernelBuilder &k) {
  Value place = k.chunk(k.out, k.me);
  k.barrier();
  k.forMembers(0, [&](Value i) {
    Value peer = k.rotate(k.me, i);
    Value from = k.chunk(k.in, peer);
    k.forTiles(k.count, [&](Value, Value offset) {
      k.storeTo(peer, k.load(from, offset), place, offset);
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
    k.forMembers(k.receivesAll() ? 0 : 1, [&](Value i) {
      Value peer = k.rotate(k.me, i);
      Value from = k.part(k.in, peer, start, length);
      k.forTiles(length, [&](Value t, Value offset) {
        k.sendPacket(peer, k.load(from, offset), k.packetSlot(k.me, t));
      });
    });
    if (!k.receivesAll())
      k.copy(k.part(k.in, k.me, start, length),
             k.part(k.out, k.me, start, length), length);
    k.receiveParts(start, length);
  });
}

void mlir::iris::buildAllToAll(KernelBuilder &k) {
  StringRef variant = k.config.variant;
  if (variant == "packet")
    return buildPacket(k);
  if (k.config.staged)
    return buildStaged(k);
  if (variant == "pull")
    return buildPull(k);
  buildPush(k);
}
