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
// Staged kernels store to slots in the receivers' workspaces: see Buffers and
// Overlapped rounds there.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "iris/Kernels/Elements.h"
#include "iris/Plan/Arithmetic.h"
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

/// Copies `length` elements of the root's input to its output, unless they are
/// the same.
static void copyOwn(KernelBuilder &k, Value start, Value length) {
  k.ifThen(k.notEqual(k.addressOf(k.in), k.addressOf(k.out)), [&] {
    k.copy(k.window(k.in, start, length), k.window(k.out, start, length),
           length);
  });
}

/// The root stores nothing in place: its peers are loading.
void mlir::iris::buildBroadcastPull(KernelBuilder &k) {
  Value to = k.window(k.out, k.index(0), k.count);
  k.announceFromRoot(k.in);
  k.barrier();
  auto pull = [&](Value from) {
    k.ifThenElse(
        k.equal(k.me, k.root), [&] { copyOwn(k, k.index(0), k.count); },
        [&] {
          k.forTiles(k.count, [&](Value, Value offset) {
            k.store(k.loadFrom(k.root, from, offset), to, offset);
          });
        });
    k.barrier();
  };
  k.ifAnnounced(k.count, pull, [&] { buildBroadcastStaged(k); });
}

//===----------------------------------------------------------------------===//
// Helpers of a broadcast or reduce
//
// The helper of a tile receives it from the root and forwards it to the other
// helpers, or receives and reduces it for the root: every tile crosses each
// rank's links once. The helpers are the peers of the root, numbered from 0 in
// the order of the ranks after it. Tiles are distributed over them in rows of
// one tile of each, and rows are distributed round-robin over programs.
//===----------------------------------------------------------------------===//

static Value numHelpers(KernelBuilder &k) {
  // A group of one has none, and no tile of it asks.
  return k.max(k.sub(k.size, k.index(1)), k.index(1));
}

/// The number of `rank`, which is not the root.
static Value helperNumber(KernelBuilder &k, Value rank) {
  return k.sub(k.rem(k.sub(k.add(rank, k.size), k.root), k.size), k.index(1));
}

/// body(t, offset) for the tiles of this program that helper `number` has.
static void forTilesOfHelper(KernelBuilder &k, Value number, Value length,
                             llvm::function_ref<void(Value, Value)> body) {
  Value helpers = numHelpers(k);
  k.forTilesFrom(k.add(k.mul(k.program, helpers), number),
                 k.mul(k.programs, helpers), length, body);
}

/// The tiles of a round whose rows take `room` tiles of a slot each.
static Value tilesOfHelpers(KernelBuilder &k, int64_t room) {
  Value helpers = numHelpers(k);
  Value rows = k.div(k.index(room), helpers);
  return k.mul(plan::getFullRound<ScalarBuilder>(k, rows, k.programs), helpers);
}

/// body(rank) for the helpers other than this rank, which is not the root.
static void forOtherHelpers(KernelBuilder &k,
                            llvm::function_ref<void(Value)> body) {
  // The root is this many ranks after this one, and left out.
  Value toRoot = k.rem(k.sub(k.add(k.root, k.size), k.me), k.size);
  k.forMembers(2, [&](Value i) {
    Value before = k.sub(i, k.index(1));
    // 1 or 0: a form whose bounds show that this rank is not among them.
    Value isBehindRoot = k.div(k.sub(k.add(before, k.size), toRoot), k.size);
    body(k.rotate(k.me, k.add(before, isBehindRoot)));
  });
}

/// Helpers load their tiles from the root. At the same time the root copies its
/// input to its output.
void mlir::iris::buildBroadcastScatter(KernelBuilder &k) {
  Value to = k.window(k.out, k.index(0), k.count);
  k.announceFromRoot(k.in);
  k.barrier();
  auto help = [&](Value from) {
    Value number = helperNumber(k, k.me);
    forTilesOfHelper(k, number, k.count, [&](Value, Value offset) {
      Value tile = k.loadFrom(k.root, from, offset);
      k.store(tile, to, offset);
      forOtherHelpers(k,
                      [&](Value peer) { k.storeTo(peer, tile, to, offset); });
    });
  };
  auto scatter = [&](Value from) {
    k.ifThenElse(
        k.equal(k.me, k.root), [&] { copyOwn(k, k.index(0), k.count); },
        [&] { help(from); });
    k.barrier();
  };
  k.ifAnnounced(k.count, scatter, [&] { buildBroadcastStaged(k); });
}

/// The root stores its tiles to their helpers, which store them to the others
/// in the next iteration. Nothing is loaded over a link.
///
/// Tile t of a round has slot t of its helper's workspace, and slot `tiles` + t
/// of those of the others.
void mlir::iris::buildBroadcastStaged(KernelBuilder &k) {
  // The only helper of a group of two forwards nothing.
  bool forwards = k.config.size != 2;
  Value tiles = tilesOfHelpers(k, k.config.slotTiles() / (forwards ? 2 : 1));
  auto isRoot = [&] { return k.equal(k.me, k.root); };
  auto isHelper = [&] { return k.notEqual(k.me, k.root); };

  auto send = [&](Value start, Value length) {
    k.ifThen(isRoot(), [&] {
      Value from = k.window(k.in, start, length);
      Value to = k.window(k.out, start, length);
      // A group of one has no helper.
      if (k.config.size <= 1)
        k.ifThen(k.equal(k.size, k.index(1)),
                 [&] { copyOwn(k, start, length); });
      k.forMembers(1, [&](Value i) {
        Value helper = k.rotate(k.me, i);
        Value number = helperNumber(k, helper);
        forTilesOfHelper(k, number, length, [&](Value t, Value offset) {
          Value tile = k.load(from, offset);
          k.storeTileTo(helper, tile, k.sentTile(t));
          k.store(tile, to, offset);
        });
      });
    });
  };
  auto forward = [&](Value start, Value length) {
    k.ifThen(isHelper(), [&] {
      Value to = k.window(k.out, start, length);
      Value number = helperNumber(k, k.me);
      forTilesOfHelper(k, number, length, [&](Value t, Value offset) {
        Value tile = k.loadTile(k.receivedTile(t));
        if (forwards)
          forOtherHelpers(k, [&](Value peer) {
            k.storeTileTo(peer, tile, k.sentTile(k.add(tiles, t)));
          });
        k.store(tile, to, offset);
      });
    });
  };
  auto copyForwarded = [&](Value start, Value length) {
    k.ifThen(isHelper(), [&] {
      Value to = k.window(k.out, start, length);
      forOtherHelpers(k, [&](Value peer) {
        Value number = helperNumber(k, peer);
        forTilesOfHelper(k, number, length, [&](Value t, Value offset) {
          k.store(k.loadTile(k.receivedTile(k.add(tiles, t))), to, offset);
        });
      });
    });
  };
  Value most = k.mul(tiles, k.tileSize());
  if (forwards)
    k.forOverlappedRounds(most, {send, forward, copyForwarded},
                          /*hasExitBarrier=*/false);
  else
    k.forOverlappedRounds(most, {send, forward}, /*hasExitBarrier=*/false);
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

/// In a group of two, the root's peer sends its tiles to the root, which
/// reduces them.
static void buildReduceOfTwo(KernelBuilder &k) {
  auto send = [&](Value start, Value length) {
    k.ifThen(k.notEqual(k.me, k.root), [&] {
      Value from = k.window(k.in, start, length);
      k.forTiles(length, [&](Value t, Value offset) {
        k.storeTileTo(k.root, k.load(from, offset), k.sentTile(t));
      });
    });
  };
  auto reduce = [&](Value start, Value length) {
    k.ifThen(k.equal(k.me, k.root), [&] {
      Value from = k.window(k.in, start, length);
      Value to = k.window(k.out, start, length);
      k.forTiles(length, [&](Value t, Value offset) {
        Value sum = reduceWith(k, k.load(from, offset), [&](Value) {
          return k.loadTile(k.receivedTile(t));
        });
        k.store(sum, to, offset);
      });
    });
  };
  Value most = k.mul(tilesOfHelpers(k, k.config.slotTiles()), k.tileSize());
  k.forOverlappedRounds(most, {send, reduce}, /*hasExitBarrier=*/false);
}

/// Members send their tiles to the helpers, which reduce them and send the sums
/// to the root.
///
/// A helper has slots t .. t + helpers - 1 for the row of tiles that begins at
/// t, in the order of the ranks after it, which store their tiles to them. At
/// the root, the sum of a tile has the tile's slot.
static void buildReduceByHelpers(KernelBuilder &k) {
  auto isHelper = [&] { return k.notEqual(k.me, k.root); };
  // The slot of helper `number` for what the i-th rank after it sends, in the
  // row of its tile t.
  auto slotOf = [&](Value i, Value number, Value t) {
    return k.add(k.sub(t, number), k.sub(i, k.index(1)));
  };
  // The helper is the i-th rank after this one.
  auto forOtherTiles =
      [&](Value length,
          llvm::function_ref<void(Value i, Value number, Value t, Value offset)>
              body) {
        // A loop: what is computed for a helper stays in registers otherwise.
        k.loop(k.index(1), k.size, k.index(1), [&](Value i) {
          Value helper = k.rotate(k.me, i);
          k.ifThen(k.notEqual(helper, k.root), [&] {
            Value number = helperNumber(k, helper);
            forTilesOfHelper(k, number, length, [&](Value t, Value offset) {
              body(i, number, t, offset);
            });
          });
        });
      };

  auto send = [&](Value start, Value length) {
    Value from = k.window(k.in, start, length);
    forOtherTiles(length, [&](Value i, Value number, Value t, Value offset) {
      Value slot = slotOf(k.sub(k.size, i), number, t);
      k.storeTileTo(k.rotate(k.me, i), k.load(from, offset), k.sentTile(slot));
    });
  };
  auto reduce = [&](Value start, Value length) {
    k.ifThen(isHelper(), [&] {
      Value from = k.window(k.in, start, length);
      Value number = helperNumber(k, k.me);
      forTilesOfHelper(k, number, length, [&](Value t, Value offset) {
        Value sum = reduceWith(k, k.load(from, offset), [&](Value i) {
          return k.loadTile(k.receivedTile(slotOf(i, number, t)));
        });
        k.storeTileTo(k.root, sum, k.sentTile(t));
      });
    });
  };
  auto copyResults = [&](Value start, Value length) {
    k.ifThen(k.equal(k.me, k.root), [&] {
      Value to = k.window(k.out, start, length);
      forOtherTiles(length, [&](Value, Value, Value t, Value offset) {
        k.store(k.loadTile(k.receivedTile(t)), to, offset);
      });
    });
  };
  Value most = k.mul(tilesOfHelpers(k, k.config.slotTiles()), k.tileSize());
  k.forOverlappedRounds(most, {send, reduce, copyResults},
                        /*hasExitBarrier=*/false);
}

void mlir::iris::buildReduceStaged(KernelBuilder &k) {
  if (k.config.size == 2)
    return buildReduceOfTwo(k);
  if (k.config.size > 1)
    return buildReduceByHelpers(k);
  auto alone = [&] {
    Value from = k.window(k.in, k.index(0), k.count);
    Value to = k.window(k.out, k.index(0), k.count);
    k.forTiles(k.count, [&](Value, Value offset) {
      k.store(reduceMembers(k, [&](Value) { return k.load(from, offset); }), to,
              offset);
    });
  };
  if (k.config.size == 1)
    return alone();
  k.ifThenElse(k.equal(k.size, k.index(1)), alone,
               [&] { buildReduceByHelpers(k); });
}

//===----------------------------------------------------------------------===//
// gather, scatter
//===----------------------------------------------------------------------===//

/// The buffers that the members announced to the root; buffer i is that of
/// member me + i.
static std::function<Value(Value i)> allAnnounced(KernelBuilder &k) {
  auto of = [&k](Value i) { return k.announced(k.rotate(k.me, i), k.count); };
  if (!k.unrollsMembers())
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

/// Slots in the root's workspace.
void mlir::iris::buildGatherStaged(KernelBuilder &k) {
  auto send = [&](Value start, Value length) {
    k.ifThen(k.notEqual(k.me, k.root), [&] {
      Value from = k.window(k.in, start, length);
      Value slot = k.sentSlot(k.me, length);
      k.forTiles(length, [&](Value, Value offset) {
        k.storeTo(k.root, k.load(from, offset), slot, offset);
      });
    });
  };
  auto receive = [&](Value start, Value length) {
    k.ifThen(k.equal(k.me, k.root), [&] {
      Value from = k.window(k.in, start, length);
      Value own = k.slice(k.out, k.me, start, length);
      KernelBuilder::TileBody storeOthers = k.storeSlots(start, length);
      k.forTiles(length, [&](Value t, Value offset) {
        k.store(k.load(from, offset), own, offset);
        storeOthers(t, offset);
      });
    });
  };
  k.forSlotRounds(send, receive);
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

/// One slot in every workspace.
void mlir::iris::buildScatterStaged(KernelBuilder &k) {
  auto send = [&](Value start, Value length) {
    k.ifThen(k.equal(k.me, k.root), [&] {
      Value own = k.slice(k.in, k.me, start, length);
      Value to = k.window(k.out, start, length);
      Value slot = k.sentSlot(k.index(0), length);
      k.forTiles(length, [&](Value, Value offset) {
        k.forPeers(1, start, length, offset, [&](Value peer, Value tile) {
          k.storeTo(peer, tile, slot, offset);
        });
        k.store(k.load(own, offset), to, offset);
      });
    });
  };
  auto receive = [&](Value start, Value length) {
    k.ifThen(k.notEqual(k.me, k.root), [&] {
      Value to = k.window(k.out, start, length);
      Value slot = k.receivedSlot(k.index(0), length);
      k.forTiles(length, [&](Value, Value offset) {
        k.store(k.load(slot, offset), to, offset);
      });
    });
  };
  k.forSlotRounds(send, receive);
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
