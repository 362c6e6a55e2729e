// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelBuilder.h - Builds the kernel of a collective ------*- C++ -*-===//
//
// A thin layer over OpBuilder, so that a generator reads like the kernel it
// generates. All buffers and tiles are one-dimensional.
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
  /// Creates the kernel in `module`, with the module's name and the arguments
  /// of `iris.collective`. The insertion point is in its body.
  KernelBuilder(gpu::GPUModuleOp module, const CollectiveConfig &config);

  CollectiveConfig config;
  /// The kernel's arguments after the context.
  Value in, out, count, root;
  /// The tables of a buffer with counts: memref<?xi64> with an entry for every
  /// member; null if a buffer has none.
  struct ChunkTable {
    Value counts, offsets;
  };
  ChunkTable inChunks, outChunks;
  /// The arguments of the kernel of a group of sends and receives
  /// (Transfers.h); it has none of the others.
  struct Transfers {
    Value memory, numConnections;
    SmallVector<Value> connections, distances, messages;
  };
  Transfers transfers;

  //===--------------------------------------------------------------------===//
  // Control
  //===--------------------------------------------------------------------===//

  /// The number of tiles that the registers of a program have room for.
  int64_t tilesInRegisters() const;
  /// Members whose tiles are loaded at once where their loop is not unrolled
  /// (`unrollsMembers`).
  static constexpr int64_t batchOfLargeGroup = 4;
  /// use(k, load(k)) for k = first .. size - 1. Loads are issued before uses,
  /// as far as registers allow, so that their latencies overlap. Tiles have the
  /// config's type.
  void forMembersLoaded(int64_t first, llvm::function_ref<Value(Value)> load,
                        llvm::function_ref<void(Value, Value)> use);
  /// use(peer, tile) for the peers me + k, k = first .. size - 1. The tile is
  /// at `offset` within the `length` elements from `start` of that peer's chunk
  /// of the input.
  void forPeers(int64_t first, Value start, Value length, Value offset,
                llvm::function_ref<void(Value, Value)> use);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Number of elements in a tile.
  Value tileSize();
  /// Number of tiles that cover `elements`.
  Value tilesIn(Value elements);
  /// The `length` elements of `buffer` from `offset` on; accesses are bounded
  /// to them.
  Value window(Value buffer, Value offset, Value length);
  /// Chunk `i` (count elements) of a buffer that has several.
  Value chunk(Value buffer, Value i);
  /// The slice of chunk `i` that has `length` elements and begins at `start`.
  Value slice(Value buffer, Value i, Value start, Value length);
  /// body(tile, offset) for this program's tiles of `length` elements. Records
  /// a trace span "tiles" with their size in bytes.
  void forTiles(Value length, llvm::function_ref<void(Value, Value)> body);
  /// As `forTiles`, for the tiles first, first + step, ...; requires first <
  /// step. `body` is generated twice: in a loop for whole tiles, where accesses
  /// to windows of that length need no bounds checks, and for the last, partial
  /// tile. Long segments are split into sections so that byte offsets fit in 32
  /// bits: `offset` is relative to the current section, as are the accesses
  /// below.
  void forTilesFrom(Value first, Value step, Value length,
                    llvm::function_ref<void(Value, Value)> body);
  /// Copies this program's tiles of `from` to `to`, both in local memory.
  void copy(Value from, Value to, Value length);
  /// Loads or stores a tile at `offset` of local memory; the default type is
  /// the config's tile type.
  Value load(Value buffer, Value offset, RankedTensorType type = {});
  void store(Value tile, Value buffer, Value offset);
  /// Adds a tile to a member's memory with element-wise atomics.
  void addTo(Value member, Value tile, Value buffer, Value offset);
  /// Stores a tile with one row per member to a two-dimensional buffer.
  void storeRows(Value rows, Value buffer, Value offset);
  /// As `load` and `store`, on a member's memory.
  Value loadFrom(Value member, Value buffer, Value offset);
  void storeTo(Value member, Value tile, Value buffer, Value offset);
  /// As `load` and `storeTo`, for a buffer that holds exactly one tile, such as
  /// `sentTile`; sections do not apply.
  Value loadTile(Value buffer);
  void storeTileTo(Value member, Value tile, Value buffer);
  /// `elements` elements of the scratch from element `offset` on; the default
  /// type is the buffers' element type.
  Value scratch(Value offset, Value elements, Type type = {});
  /// The address of a buffer's first element, as an index.
  Value addressOf(Value buffer);
  /// Bytes from the workspace to that element, as an i64; for a buffer on the
  /// heap.
  Value distanceTo(Value buffer);

  //===--------------------------------------------------------------------===//
  // Buffers whose location differs between members
  //===--------------------------------------------------------------------===//

  /// Publishes the address of `buffer` to this program's peer programs: from
  /// the root to all members, or from all members to the root. Must come before
  /// a barrier, and therefore at most once in a kernel that ends with another
  /// barrier.
  void announceFromRoot(Value buffer);
  void announceToRoot(Value buffer);
  /// After that barrier: `elements` elements of the buffer that `member`
  /// announced, for remote accesses to that member.
  Value announced(Value member, Value elements);
  /// Runs `body` on the root's announced buffer, or `otherwise` if peers cannot
  /// access the root's buffer. All members take the same branch.
  void ifAnnounced(Value elements, llvm::function_ref<void(Value)> body,
                   llvm::function_ref<void()> otherwise);

  //===--------------------------------------------------------------------===//
  // Synchronisation
  //===--------------------------------------------------------------------===//

  /// Loads `length` elements of `stage` from every member and stores them to
  /// that member's chunk of the output, at `start`.
  void gatherChunks(Value stage, Value start, Value length);

  /// Processes tile `t`, at `offset`.
  using TileBody = std::function<void(Value t, Value offset)>;
  /// Returns the tile body for a round that covers `length` elements from
  /// `start` of every chunk.
  using RoundTiles = llvm::function_ref<TileBody(Value start, Value length)>;
  /// Runs one such round.
  using RoundBody = llvm::function_ref<void(Value start, Value length)>;

  /// Rounds through slots in the receivers' workspaces. A round covers as many
  /// elements of a chunk as a slot holds. In iteration i the tiles of `send`
  /// for round i store to the members' `sentSlot`s, those of `receive` for
  /// round i - 1 read `receivedSlot`s, alternating tile by tile, and a barrier
  /// follows. No barrier follows the last `receive`. See Buffers in
  /// docs/internals/collectives.md.
  /// \param isToPeersOnly no rank stores to its own slots: a round of two ranks
  ///   may then have two slots, one after the other
  void forBufferedRounds(RoundTiles send, RoundTiles receive,
                         bool isToPeersOnly);
  /// As `forBufferedRounds`, where `send` and `receive` loop over their own
  /// tiles. Chunks may differ in length; `count` is that of the largest one.
  void forSlotRounds(RoundBody send, RoundBody receive);
  /// The slot of `source` for the round that is sent, and for the one that is
  /// received; for accesses to `length` elements.
  Value sentSlot(Value source, Value length);
  Value receivedSlot(Value source, Value length);
  /// For `forBufferedRounds`: stores the data of all peers to their chunks of
  /// the output. Does not store this rank's own chunk.
  TileBody storeSlots(Value start, Value length);

  /// Overlapped rounds of at most `most` elements: iteration i runs stage s for
  /// round i - s, then a barrier. Stages store to members' `sentTile`s and read
  /// this rank's `receivedTile`s, which were stored in the previous iteration.
  /// `hasExitBarrier`: a barrier also follows the last iteration, for stages
  /// that store to peers' outputs. See Overlapped rounds in
  /// docs/internals/collectives.md.
  void forOverlappedRounds(Value most, ArrayRef<RoundBody> stages,
                           bool hasExitBarrier);
  /// Tile `number` of the slots, for accesses at offset 0.
  Value sentTile(Value number);
  Value receivedTile(Value number);
  /// Rounds through packets. A round covers as many elements as the packet
  /// slots hold; `body(start, length)` uses `sendPacket` and `receivePacket`. A
  /// single round needs no barrier; see Packets in
  /// docs/internals/collectives.md.
  void forPacketRounds(llvm::function_ref<void(Value, Value)> body);
  /// In a round of packets in which not every member sends to every other
  /// member: `arrive` tells all members that this rank has entered the round,
  /// `waitForArrivals` waits until all members have. Only program 0 does this.
  /// See Packets in docs/internals/collectives.md.
  void arrive();
  void waitForArrivals();
  /// Sends a tile to packet slot `slot` of a member; a slot holds one tile.
  void sendPacket(Value member, Value tile, Value slot);
  /// Receives the tile that `member` sends to slot `slot` of this rank's
  /// workspace.
  Value receivePacket(Value member, Value slot);
  /// Whether the tiles of all members can be received as one tile. This
  /// requires a power-of-two group size, because tile extents are powers of
  /// two.
  bool receivesAll() const;
  /// Receives the tiles that the members send to consecutive slots starting at
  /// `slot`. Row i of the result is member i's tile; if `isFlat`, the tiles are
  /// concatenated in one dimension.
  Value receivePackets(Value slot, bool isFlat = false);
  /// The slot of the tile `t` that `source` sends; the slots of all members for
  /// one tile are consecutive.
  Value packetSlot(Value source, Value t);
  /// Receives the tiles that members send to `packetSlot` and stores them to
  /// their chunks of the output. Includes this rank's own chunk only if
  /// `receivesAll()`.
  void receiveChunks(Value start, Value length);
  /// The slices from `start` of all members' chunks, as a two-dimensional
  /// buffer with one row per member.
  Value slicesOfAll(Value buffer, Value start, Value length);

private:
  /// body(k, n) for the members k ... k + n - 1, n at most `batch`, from
  /// `first` to the last one of a known size.
  void forBatchesOfMembers(int64_t first, int64_t batch,
                           llvm::function_ref<void(Value, int64_t)> body);
  void takeArguments();
  void takeTransfers();
  /// Stores the distance of this rank's buffer from its workspace, in bytes, to
  /// `member`'s peer program.
  void announceTo(Value member, Value distance);
  Value distanceOf(Value member);
  /// The index of a member's entry among the announced locations of this
  /// program.
  Value locate(Value member);
  /// Bytes of the tiles first, first + step, ... of a segment.
  Value bytesOf(Value first, Value step, Value length);
  /// The window of `buffer` that the current section covers.
  Value sectionOf(Value buffer);

  /// The first slot of a parity, in elements of the scratch.
  Value firstSlot(Value parity);
  Value bufferSlot(Value parity, Value source, Value length);
  Value slotTile(Value parity, Value number);
  /// The parity of the previous epoch.
  Value lastParity();
  /// Iterations that start at 0, most, ... below `end`, each with its own
  /// epoch. Epochs continue from kernel to kernel. Without `countsLast`, the
  /// next kernel reuses the last iteration's epoch.
  /// \param slotsPerRound iterations that have one epoch together; null: one
  void forEpochs(Value most, Value end, Body body, bool countsLast = true,
                 Value slotsPerRound = Value());
  /// The offset of a member's arrival packet in the packet buffer, in words.
  Value arrivalOf(Value member);
  /// The number of elements in a round that starts at `start`.
  Value roundLength(Value start, Value most);

  /// Of the current iteration, in rounds of several slots; null: they have one.
  Value slotOfRound;
  /// Start and length of the current section of a segment; null outside of
  /// `forTilesFrom`.
  Value sectionStart, sectionLength;
  /// On the root: peers cannot access the root's buffer.
  Value isRootOffHeap;
  /// Of the current iteration: the epoch, the epoch modulo 2, and the packet
  /// slots.
  Value epoch, parity, slots;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_KERNELBUILDER_H
