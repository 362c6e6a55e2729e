// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllGatherV.cpp - All-gather with counts ----------------------------===//
//
// in: a chunk of this rank's count; out: the chunks of all members, at offsets
// that may differ between ranks.
//
//===----------------------------------------------------------------------===//

#include "CountedChunks.h"

using namespace mlir;
using namespace mlir::iris;

/// Every tile is loaded once and stored to all members, in rotated order, so
/// that no two ranks store to one receiver at once. For the rest see
/// CountedChunks::buildPush.
void mlir::iris::buildAllGatherVPush(KernelBuilder &k) {
  CountedChunks chunks(k);
  chunks.exchange(
      k.out, [](const CountedChunks::Peer &peer) { return peer.received; });
  chunks.forPeers(0, [&](const CountedChunks::Peer &peer) {
    chunks.checkPair(peer.sent, chunks.announcedBy(peer));
  });
  Value length = chunks.ownLength();
  Value from = k.window(k.in, k.index(0), length);
  chunks.forTiles(k.me, k.index(0), length, [&](Value offset) {
    Value tile = k.load(from, offset);
    chunks.forPeers(0, [&](const CountedChunks::Peer &peer) {
      k.storeTo(peer.member, tile,
                k.window(k.out, chunks.announcedBy(peer).offset, length),
                offset);
    });
  });
  k.barrier();
}
