// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rooted.cpp - broadcast, reduce, gather, scatter --------------------===//
//
// One member of the group, the root, provides all the data or receives them.
// The barriers have the same purpose as in AllGather.cpp: all ranks have
// entered the call; all programs of all ranks are done. If members access a
// buffer that only the root has, the root announces its address before the
// first barrier. If the root accesses a buffer whose address differs between
// members in place, each member announces its address.
//
// Packets need no barrier, but every member must receive a packet from every
// other member: see Packets in docs/internals/collectives.md.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "iris/Kernels/Elements.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

void mlir::iris::buildBroadcastPush(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  Value to = k.window(k.out, k.index(0), k.count);
  k.barrier();
  k.ifThen(k.equal(k.me, k.root), [&] {
    k.forTiles(k.count, [&](Value, Value offset) {
      Value tile = k.load(from, offset);
      k.forMembers(
          0, [&](Value i) { k.storeTo(k.rotate(k.me, i), tile, to, offset); });
    });
  });
  k.barrier();
}

void mlir::iris::buildBroadcastPull(KernelBuilder &k) {
  Value to = k.window(k.out, k.index(0), k.count);
  k.announceFromRoot(k.in);
  k.barrier();
  auto pull = [&](Value from) {
    k.forTiles(k.count, [&](Value, Value offset) {
      k.store(k.loadFrom(k.root, from, offset), to, offset);
    });
    k.barrier();
  };
  k.ifAnnounced(k.count, pull, [&] { buildBroadcastStaged(k); });
}

/// Tiles are distributed round-robin over the peers of the root. Each peer
/// loads its tiles from the root and stores them to the other peers, so that
/// every tile crosses the root's links once. At the same time the root copies
/// its input to its output.
void mlir::iris::buildBroadcastScatter(KernelBuilder &k) {
  Value to = k.window(k.out, k.index(0), k.count);
  k.announceFromRoot(k.in);
  k.barrier();
  auto copyOwn = [&] {
    k.ifThen(k.notEqual(k.addressOf(k.in), k.addressOf(k.out)),
             [&] { k.copy(k.window(k.in, k.index(0), k.count), to, k.count); });
  };
  auto help = [&](Value from) {
    Value helpers = k.sub(k.size, k.index(1));
    // This rank's index among the helpers, counted from the root.
    Value helper =
        k.sub(k.rem(k.sub(k.add(k.me, k.size), k.root), k.size), k.index(1));
    Value first = k.add(k.mul(k.program, helpers), helper);
    k.forTilesFrom(first, k.mul(k.programs, helpers), k.count,
                   [&](Value, Value offset) {
                     Value tile = k.loadFrom(k.root, from, offset);
                     k.store(tile, to, offset);
                     k.forMembers(1, [&](Value i) {
                       Value peer = k.rotate(k.me, i);
                       k.ifThen(k.notEqual(peer, k.root),
                                [&] { k.storeTo(peer, tile, to, offset); });
                     });
                   });
  };
  auto scatter = [&](Value from) {
    k.ifThenElse(k.equal(k.me, k.root), copyOwn, [&] { help(from); });
    k.barrier();
  };
  k.ifAnnounced(k.count, scatter, [&] { buildBroadcastStaged(k); });
}

void mlir::iris::buildBroadcastStaged(KernelBuilder &k) {
  Value stage =
      k.scratch(k.index(0), k.index(k.config.scratchTiles() * k.config.tile));
  k.forStagedRounds(k.config.scratchTiles(), [&](Value start, Value length) {
    k.ifThen(k.equal(k.me, k.root), [&] {
      Value from = k.window(k.in, start, length);
      k.copy(from, stage, length);
    });
    k.barrier();
    Value to = k.window(k.out, start, length);
    k.forTiles(length, [&](Value, Value offset) {
      k.store(k.loadFrom(k.root, stage, offset), to, offset);
    });
  });
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

void mlir::iris::buildReducePull(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  Value to = k.window(k.out, k.index(0), k.count);
  k.barrier();
  k.ifThen(k.equal(k.me, k.root), [&] { storeReduced(k, from, to, k.count); });
  k.barrier();
}

/// Every member reduces its tiles and stores them to the root. In place, a
/// member overwrites only those elements of the root's input that only it
/// reads.
void mlir::iris::buildReduceTwoShot(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  k.announceFromRoot(k.out);
  k.barrier();
  auto reduce = [&](Value to) {
    Value first = k.add(k.mul(k.program, k.size), k.me);
    Value step = k.mul(k.programs, k.size);
    k.forTilesFrom(first, step, k.count, [&](Value, Value offset) {
      Value sum = reduceMembers(
          k, [&](Value m) { return k.loadFrom(m, from, offset); });
      k.storeTo(k.root, sum, to, offset);
    });
    k.barrier();
  };
  k.ifAnnounced(k.count, reduce, [&] { buildReduceStaged(k); });
}

void mlir::iris::buildReduceStaged(KernelBuilder &k) {
  k.forStagedInputs([&](Value start, Value length, Value stage) {
    k.ifThen(k.equal(k.me, k.root), [&] {
      storeReduced(k, stage, k.window(k.out, start, length), length);
    });
  });
}

//===----------------------------------------------------------------------===//
// gather, scatter
//===----------------------------------------------------------------------===//

/// The buffers that the members announced to the root; buffer i is that of
/// member me + i.
static std::function<Value(Value i)> allAnnounced(KernelBuilder &k) {
  auto of = [&k](Value i) { return k.announced(k.rotate(k.me, i), k.count); };
  if (!k.config.size)
    return of;
  // Each address is loaded only once.
  std::vector<Value> buffers;
  k.forMembers(0, [&](Value i) { buffers.push_back(of(i)); });
  return [buffers](Value i) {
    return buffers[static_cast<size_t>(*getConstantIntValue(i))];
  };
}

void mlir::iris::buildGatherPush(KernelBuilder &k) {
  Value from = k.window(k.in, k.index(0), k.count);
  k.announceFromRoot(k.out);
  k.barrier();
  auto push = [&](Value all) {
    Value chunk = k.chunk(all, k.me);
    k.forTiles(k.count, [&](Value, Value offset) {
      k.storeTo(k.root, k.load(from, offset), chunk, offset);
    });
    k.barrier();
  };
  k.ifAnnounced(k.mul(k.size, k.count), push, [&] { buildGatherStaged(k); });
}

/// The root does not know the addresses of the inputs: in place, its own input
/// has a different address. Its chunk is then stored over itself.
void mlir::iris::buildGatherPull(KernelBuilder &k) {
  k.announceToRoot(k.in);
  k.barrier();
  k.ifThen(k.equal(k.me, k.root), [&] {
    auto from = allAnnounced(k);
    k.forTiles(k.count, [&](Value, Value offset) {
      k.forMembersLoaded(
          0,
          [&](Value i) {
            return k.loadFrom(k.rotate(k.me, i), from(i), offset);
          },
          [&](Value i, Value tile) {
            k.store(tile, k.chunk(k.out, k.rotate(k.me, i)), offset);
          });
    });
  });
  k.barrier();
}

void mlir::iris::buildGatherStaged(KernelBuilder &k) {
  k.forStagedInputs([&](Value start, Value length, Value stage) {
    k.ifThen(k.equal(k.me, k.root),
             [&] { k.gatherChunks(stage, start, length); });
  });
}

/// The root does not know the addresses of the outputs either.
void mlir::iris::buildScatterPush(KernelBuilder &k) {
  k.announceToRoot(k.out);
  k.barrier();
  k.ifThen(k.equal(k.me, k.root), [&] {
    auto to = allAnnounced(k);
    k.forTiles(k.count, [&](Value, Value offset) {
      k.forMembersLoaded(
          0,
          [&](Value i) {
            return k.load(k.chunk(k.in, k.rotate(k.me, i)), offset);
          },
          [&](Value i, Value tile) {
            k.storeTo(k.rotate(k.me, i), tile, to(i), offset);
          });
    });
  });
  k.barrier();
}

void mlir::iris::buildScatterPull(KernelBuilder &k) {
  Value to = k.window(k.out, k.index(0), k.count);
  k.announceFromRoot(k.in);
  k.barrier();
  auto pull = [&](Value all) {
    Value mine = k.chunk(all, k.me);
    k.forTiles(k.count, [&](Value, Value offset) {
      k.store(k.loadFrom(k.root, mine, offset), to, offset);
    });
    k.barrier();
  };
  k.ifAnnounced(k.mul(k.size, k.count), pull, [&] { buildScatterStaged(k); });
}

void mlir::iris::buildScatterStaged(KernelBuilder &k) {
  k.forStagedChunks([&](Value start, Value length, Value mine) {
    Value to = k.window(k.out, start, length);
    k.forTiles(length, [&](Value, Value offset) {
      k.store(k.loadFrom(k.root, mine, offset), to, offset);
    });
  });
}

//===----------------------------------------------------------------------===//
// packet
//===----------------------------------------------------------------------===//

/// The root runs `sendTiles(to)`, which sends the tiles of a round to all other
/// members and stores the root's own ones to `to`; the others receive tiles.
/// No member reads a peer's buffers.
static void sendFromRoot(KernelBuilder &k, Value start, Value length,
                         llvm::function_ref<void(Value to)> sendTiles) {
  Value to = k.window(k.out, start, length);
  auto receiveTiles = [&] {
    k.forTiles(length, [&](Value t, Value offset) {
      k.store(k.receivePacket(k.root, t), to, offset);
    });
  };
  k.ifThenElse(
      k.equal(k.me, k.root), [&] { sendTiles(to); }, receiveTiles);
}

static void broadcastFromRoot(KernelBuilder &k, Value start, Value length) {
  sendFromRoot(k, start, length, [&](Value to) {
    Value from = k.window(k.in, start, length);
    k.forTiles(length, [&](Value t, Value offset) {
      Value tile = k.load(from, offset);
      k.forMembers(1,
                   [&](Value i) { k.sendPacket(k.rotate(k.me, i), tile, t); });
      k.store(tile, to, offset);
    });
  });
}

static void scatterFromRoot(KernelBuilder &k, Value start, Value length) {
  auto load = [&](Value member, Value offset) {
    return k.load(k.slice(k.in, member, start, length), offset);
  };
  sendFromRoot(k, start, length, [&](Value to) {
    k.forTiles(length, [&](Value t, Value offset) {
      k.forMembersLoaded(
          1, [&](Value i) { return load(k.rotate(k.me, i), offset); },
          [&](Value i, Value tile) {
            k.sendPacket(k.rotate(k.me, i), tile, t);
          });
      k.store(load(k.me, offset), to, offset);
    });
  });
}

/// All members send to the root. The root sends to itself too, as in the
/// operations without a root.
static void sendToRoot(KernelBuilder &k, Value from, Value length) {
  k.forTiles(length, [&](Value t, Value offset) {
    k.sendPacket(k.root, k.load(from, offset), k.packetSlot(k.me, t));
  });
}

static void reduceToRoot(KernelBuilder &k, Value start, Value length) {
  sendToRoot(k, k.window(k.in, start, length), length);
  k.ifThen(k.equal(k.me, k.root), [&] {
    Value to = k.window(k.out, start, length);
    k.forTiles(length, [&](Value t, Value offset) {
      k.store(reducePackets(k, k.packetSlot(k.index(0), t)), to, offset);
    });
  });
}

static void gatherToRoot(KernelBuilder &k, Value start, Value length) {
  Value from = k.window(k.in, start, length);
  sendToRoot(k, from, length);
  k.ifThen(k.equal(k.me, k.root), [&] {
    if (!k.receivesAll())
      k.copy(from, k.slice(k.out, k.me, start, length), length);
    k.receiveChunks(start, length);
  });
}

/// Rounds of packets between the root and the other members.
static void forRootedRounds(KernelBuilder &k,
                            void (*body)(KernelBuilder &k, Value start,
                                         Value length)) {
  k.forPacketRounds([&](Value start, Value length) {
    k.arrive();
    body(k, start, length);
    k.waitForArrivals();
  });
}

void mlir::iris::buildBroadcastPacket(KernelBuilder &k) {
  forRootedRounds(k, broadcastFromRoot);
}

void mlir::iris::buildScatterPacket(KernelBuilder &k) {
  forRootedRounds(k, scatterFromRoot);
}

void mlir::iris::buildReducePacket(KernelBuilder &k) {
  forRootedRounds(k, reduceToRoot);
}

void mlir::iris::buildGatherPacket(KernelBuilder &k) {
  forRootedRounds(k, gatherToRoot);
}
