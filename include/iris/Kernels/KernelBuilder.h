// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelBuilder.h - Writes a kernel of a collective --------*- C++ -*-===//
//
// A thin layer over OpBuilder, so that a generator reads like the kernel it
// makes. All buffers are one-dimensional, all tiles as well.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_KERNELBUILDER_H
#define IRIS_KERNELS_KERNELBUILDER_H

#include "iris/Kernels/CollectiveConfig.h"
#include "iris/Kernels/GroupBuilder.h"

#include <functional>

namespace mlir::iris {

class KernelBuilder : public GroupBuilder {
public:
  /// Starts the kernel of `module`, of the same name, with the arguments of
  /// `iris.collective`; the insertion point is in its body.
  KernelBuilder(gpu::GPUModuleOp module, const CollectiveConfig &config);

  const CollectiveConfig &config;
  /// The kernel's arguments, beside the context.
  Value in, out, count, root;

  //===--------------------------------------------------------------------===//
  // Control
  //===--------------------------------------------------------------------===//

  /// use(k, load(k)) for the same. Loads come before uses, as far as registers
  /// allow, so that their latencies overlap; tiles of the config's type.
  void forMembersLoaded(int64_t first, llvm::function_ref<Value(Value)> load,
                        llvm::function_ref<void(Value, Value)> use);
  /// use(peer, tile) with the tile at `offset` of `length` elements from
  /// `start` of every peer's chunk of the input: own place + k, k = first ..
  /// size - 1.
  void forPeers(int64_t first, Value start, Value length, Value offset,
                llvm::function_ref<void(Value, Value)> use);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Elements of one tile.
  Value tileSize();
  /// How many tiles cover `elements`.
  Value tilesIn(Value elements);
  /// `length` elements of `buffer` from `offset`: accesses end there.
  Value window(Value buffer, Value offset, Value length);
  /// Chunk `i` (count elements) of a buffer of several.
  Value chunk(Value buffer, Value i);
  /// `length` elements from `start` of chunk `i`.
  Value part(Value buffer, Value i, Value start, Value length);
  /// body(tile, offset) for this program's tiles of a segment of elements; a
  /// span "tiles" with the bytes of those.
  void forTiles(Value length, llvm::function_ref<void(Value, Value)> body);
  /// The same for the tiles first, first + step, ...; first < step. Whole tiles
  /// have a loop of their own, so that accesses to windows of that length need
  /// no checks there; the body is written twice. The loop runs over sections of
  /// the segment, so that offsets are small numbers: `offset` counts from where
  /// the section begins, as the accesses below do.
  void forTilesFrom(Value first, Value step, Value length,
                    llvm::function_ref<void(Value, Value)> body);
  /// This program's tiles of `from` to `to`, own memory.
  void copy(Value from, Value to, Value length);
  /// Loads and stores a tile at `offset`, own memory; by default a tile of the
  /// config's type.
  Value load(Value buffer, Value offset, RankedTensorType type = {});
  void store(Value tile, Value buffer, Value offset);
  /// Adds a tile to a member's memory, element by element.
  void addTo(Value member, Value tile, Value buffer, Value offset);
  /// Stores a tile of one row per member to a buffer of such rows.
  void storeRows(Value rows, Value buffer, Value offset);
  /// The same on a member's memory.
  Value loadFrom(Value member, Value buffer, Value offset);
  void storeTo(Value member, Value tile, Value buffer, Value offset);
  /// The same of a buffer that holds one tile, such as `sentTile`: no section
  /// cuts it.
  Value loadTile(Value buffer);
  void storeTileTo(Value member, Value tile, Value buffer);
  /// `elements` elements of the scratch from element `offset`; by default
  /// elements of the config's type.
  Value scratch(Value offset, Value elements, Type type = {});
  /// Tiles that the scratch holds.
  int64_t scratchTiles() const;
  /// Of a buffer's first element, as a number.
  Value addressOf(Value buffer);
  /// Box `which` of the FIFO, which holds a tile.
  Value fifoSlot(Value which);

  //===--------------------------------------------------------------------===//
  // Buffers whose location differs between members
  //===--------------------------------------------------------------------===//

  /// Tells this program's peer programs where a `buffer` is: the root tells all
  /// members, or all members tell the root. Before a barrier, and so once in a
  /// kernel that ends with another one.
  void announceFromRoot(Value buffer);
  void announceToRoot(Value buffer);
  /// After that barrier: `elements` elements of the buffer that `member` told
  /// of, for accesses on it.
  Value announced(Value member, Value elements);
  /// The same of the root's buffer, or `otherwise` if the root has it where
  /// peers do not reach it. All members do the same.
  void ifAnnounced(Value elements, llvm::function_ref<void(Value)> body,
                   llvm::function_ref<void()> otherwise);

  //===--------------------------------------------------------------------===//
  // Synchronisation
  //===--------------------------------------------------------------------===//

  /// Takes and gives back the lock at `locks[place]` on a member, which is 0
  /// while nobody has it.
  void lock(Value member, Value locks, Value place);
  void unlock(Value member, Value locks, Value place);
  /// Runs `body(start, length)` for the elements of a chunk, as many at a time
  /// as `tiles` tiles hold, with a barrier after each round.
  void forStagedRounds(int64_t tiles,
                       llvm::function_ref<void(Value, Value)> body);
  /// Rounds in which all members have copied their input to scratch:
  /// `body(start, length, stage)`.
  void forStagedInputs(llvm::function_ref<void(Value, Value, Value)> body);
  /// Rounds in which the root has copied the chunks of all members to scratch:
  /// `body(start, length, mine)`, where `mine` is the location of the own chunk
  /// in the root's scratch.
  void forStagedChunks(llvm::function_ref<void(Value, Value, Value)> body);
  /// Copies every member's part from `stage` to its chunk of the output.
  void gatherParts(Value stage, Value start, Value length);

  /// What a program does with tile `t`, at `offset`.
  using TileBody = std::function<void(Value t, Value offset)>;
  /// Returns what a program does with each of its tiles of a round, which is
  /// `length` elements from `start` of every chunk.
  using RoundTiles = llvm::function_ref<TileBody(Value start, Value length)>;
  /// What a program does in such a round.
  using RoundBody = llvm::function_ref<void(Value start, Value length)>;

  /// Rounds that go through slots in the workspaces of the receivers, as many
  /// elements of a chunk at a time as a slot holds. In iteration i the tiles of
  /// `send` for round i store to the members' `sentSlot`s, those of `receive`
  /// for round i - 1 read `receivedSlot`s, tile by tile in turns, and a
  /// barrier follows. No barrier follows the last `receive`. See Slots in
  /// docs/collectives.md.
  void forBufferedRounds(RoundTiles send, RoundTiles receive);
  /// The slot of `source` for the round that is sent, and for the one that is
  /// received; for accesses to `length` elements.
  Value sentSlot(Value source, Value length);
  Value receivedSlot(Value source, Value length);
  /// For `forBufferedRounds`: stores what the members sent to their parts of
  /// the output, but the own one.
  TileBody storeSlots(Value start, Value length);

  /// Rounds of at most `most` elements in stages that overlap: iteration i runs
  /// stage s for round i - s, then a barrier. Stages store to `sentTile`s of
  /// members and read their own `receivedTile`s, which were stored in the
  /// iteration before. `hasExitBarrier`: a barrier follows the last iteration
  /// as well, for stages that store to peers' outputs. See Rounds that overlap
  /// in docs/collectives.md.
  void forOverlappedRounds(Value most, ArrayRef<RoundBody> stages,
                           bool hasExitBarrier);
  /// Tile `number` of the slots, for accesses at offset 0.
  Value sentTile(Value number);
  Value receivedTile(Value number);
  /// How many tiles the slots of one parity hold.
  int64_t slotTiles() const;
  /// Rounds for packets, as many elements at a time as their slots hold:
  /// `body(start, length)` uses `sendPacket` and `receivePacket`. One round has
  /// no barrier; see Packets in docs/collectives.md.
  void forPacketRounds(llvm::function_ref<void(Value, Value)> body);
  /// In a round of packets where not every member sends to every other one:
  /// says to all that this rank has come to it, and waits until all have. One
  /// program does it. See Packets in docs/collectives.md.
  void arrive();
  void waitForArrivals();
  /// Sends a tile to a member: to slot `slot` of those that hold a tile each.
  void sendPacket(Value member, Value tile, Value slot);
  /// Receives the tile that `member` sends to slot `slot` of the own workspace.
  Value receivePacket(Value member, Value slot);
  /// Whether the tiles of all members can be received at once: tiles have
  /// extents that are powers of two.
  bool receivesAll() const;
  /// Receives the tiles that the members send to neighbouring slots, from
  /// `slot` on: row i of the result is member i's; flat, part i.
  Value receivePackets(Value slot, bool isFlat = false);
  /// The slot of what `source` sends for tile `t`: those of all members are
  /// neighbours.
  Value packetSlot(Value source, Value t);
  /// Receives what the members send to `packetSlot` for their chunks of the
  /// output; the own part only if it is received with all others.
  void receiveParts(Value start, Value length);
  /// The same place of all members' chunks: a buffer of two dimensions.
  Value allParts(Value buffer, Value start, Value length);

private:
  /// Tells `member`'s peer program where this rank's buffer is: the distance
  /// from the workspace.
  void announceTo(Value member, Value distance);
  Value distanceTo(Value buffer);
  Value distanceOf(Value member);
  /// The words of a location, by program and member.
  Value placeOf(Value member);
  /// Bytes of the tiles first, first + step, ... of a segment.
  Value bytesOf(Value first, Value step, Value length);
  /// `buffer` from where the present section begins, as long as it is.
  Value sectionOf(Value buffer);

  /// Where the slots of a parity begin, in elements of the scratch.
  Value firstSlot(Value parity);
  Value bufferSlot(Value parity, Value source, Value length);
  Value slotTile(Value parity, Value number);
  /// The parity of the epoch before this one.
  Value lastParity();
  /// Elements that a slot of a buffered round holds.
  int64_t slotElements() const;
  /// Iterations that start at 0, most, ... below `end`, of which each has an
  /// epoch. Epochs count on from kernel to kernel; without `countsLast` the
  /// last iteration's is used again by the next kernel.
  void forEpochs(Value most, Value end, Body body, bool countsLast = true);
  /// Where the arrival of a member lies among the packets, in words.
  Value arrivalOf(Value member);
  /// The elements of a round that starts at `start`.
  Value roundLength(Value start, Value most);

  /// Where the present section of a segment begins, and its length; null
  /// outside of `forTilesFrom`.
  Value sectionStart, sectionLength;
  /// On the root: peers do not reach the buffer that only it has.
  Value isElsewhere;
  /// Of the present iteration: its number, that modulo 2, the slots of its
  /// packets.
  Value epoch, parity, slots;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_KERNELBUILDER_H
