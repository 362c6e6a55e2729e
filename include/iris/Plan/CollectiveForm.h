// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveForm.h - A collective's use of the workspace ---*- C++ -*-===//
//
// The largest tile of a collective, and the elements of a chunk that a kernel
// processes in one round. The compiler generates kernels by these formulas; the
// runtime checks configs and selects variants by them.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_COLLECTIVEFORM_H
#define IRIS_PLAN_COLLECTIVEFORM_H

#include "iris/Plan/Collectives.h"
#include "iris/Plan/ConfigNumber.h"

#include <string_view>

namespace irisplan {

/// The root adds this to its number in the last argument of its launch if peers
/// cannot access the buffer that only the root has.
inline constexpr int64_t rootIsElsewhere = 256;

/// Bytes that a program moves at once, at least and at most.
inline constexpr int64_t minTileBytes = 16, maxTileBytes = 16384;
/// Default bytes of a tile: two accesses of 16 bytes by each of 256 threads.
/// Packets and slots have smaller tiles, because a program waits for the tiles
/// of all members at once.
inline constexpr int64_t defaultTileBytes = 8192, defaultSlotTileBytes = 2048;

/// Numbers of a collective's config. `programs` is the maximum of a launch.
inline constexpr ConfigNumber collectiveWarps = {"warps", 1, 16, true, 4};
inline constexpr ConfigNumber collectiveXcds = {"xcds", 1, 64, false, 1};
inline constexpr ConfigNumber collectiveWorkspace = {
    "workspace", Workspace::minBytes, Workspace::maxBytes, false,
    Workspace::defaultBytes};

/// Whether all data for peers goes through their workspaces, in packets or
/// slots.
constexpr bool usesWorkspace(const Variant &variant) {
  return variant.has(packets) || variant.has(slots);
}

constexpr int64_t getDefaultTileBytes(const Variant &variant) {
  return usesWorkspace(variant) ? defaultSlotTileBytes : defaultTileBytes;
}

/// In elements of `elementBytes`, which is a power of two.
constexpr ConfigNumber getTileNumber(const Variant &variant,
                                     int64_t elementBytes) {
  return {"tile", std::max<int64_t>(minTileBytes / elementBytes, 1),
          maxTileBytes / elementBytes, true,
          getDefaultTileBytes(variant) / elementBytes};
}

/// In a group of `members`.
constexpr ConfigNumber getProgramsNumber(const Collective &collective,
                                         int64_t members) {
  int64_t most = collective.maxPrograms(members);
  return {"programs", 1, most, false, std::min<int64_t>(32, most)};
}

/// Elements of a tile that a program of `threads` threads reduces at once:
/// sums are in registers, at most 32 in a thread; sums of packets go through
/// shared memory (LDS), with 8 bytes for each of 8 members in 48 KiB. Half of
/// that in larger groups, for the same memory.
constexpr int64_t getLargestReducedTile(const Variant &variant, int64_t members,
                                        int64_t threads) {
  constexpr int64_t sumsOfThread = 32, packetSums = 512;
  const int64_t largest =
      variant.has(packets) ? packetSums : sumsOfThread * threads;
  return largest * Workspace::maxAnyMembers / Workspace::membersIn(members);
}

/// The properties of a collective's kernel that determine how it uses the
/// workspace. Chunks and tiles are in elements.
struct CollectiveForm {
  const Collective *collective = nullptr;
  const Variant *variant = nullptr;
  /// Members of the group; 0: any number up to Workspace::maxAnyMembers.
  int64_t size = 0;
  /// Elements that a program moves at once, and bytes of one.
  int64_t tile = 1, elementBytes = 1;
  /// Buffers need not be on the heap; the output may be the input.
  bool staged = false;
  /// The workspace that all kernels of the communicator use.
  Workspace workspace;

  bool usesPackets() const { return variant->has(packets); }
  bool usesSlots() const { return variant->has(slots); }
  /// Whether sums go back to the members through slots as well: staged
  /// all-reduces in two shots.
  bool sendsResults() const;
  /// Whether the output may be where the input is, as the operation defines it.
  bool canBeInPlace() const {
    return (staged && !collective->hasCounts()) || variant->has(inPlace);
  }
  /// Members to reserve space for.
  int64_t maxMembers() const { return size ? size : Workspace::maxAnyMembers; }
  int64_t tileBytes() const { return tile * elementBytes; }

  /// The region of the workspace that bounds a tile, for messages ("": none),
  /// and the bytes of the largest tile.
  struct TileRoom {
    std::string_view what;
    int64_t bytes;
  };
  TileRoom tileRoom() const;
  /// `tile`, halved until the workspace has room for it.
  int64_t largestTile() const;
  /// The tile of another variant of the same operation, which only moves data,
  /// where no config gives one.
  int64_t defaultTileOf(const Variant &other) const;

  /// Elements of a chunk that packets carry in one round.
  int64_t packetRound() const;
  /// Elements of a chunk that the slot of one member holds.
  int64_t slotRound() const;
  /// Tiles that a FIFO slot holds.
  int64_t fifoSlotTiles() const {
    return workspace.fifoSlotBytes(maxMembers()) / tileBytes();
  }
  /// Tiles that fit into the scratch of the workspace, and into the half of one
  /// epoch.
  int64_t scratchTiles() const {
    return workspace.scratchBytes() / tileBytes();
  }
  int64_t slotTiles() const { return scratchTiles() / 2; }
  /// Elements from the start of the scratch to the half of odd epochs.
  /// The halves are the same for every tile size: consecutive calls may use
  /// different ones.
  int64_t oddSlots() const {
    return workspace.scratchBytes() / 2 / elementBytes;
  }
};

} // namespace irisplan

#endif // IRIS_PLAN_COLLECTIVEFORM_H
