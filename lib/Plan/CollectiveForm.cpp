// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveForm.cpp - A collective's use of the workspace -----------===//

#include "iris/Plan/CollectiveForm.h"

using namespace irisplan;

/// Bytes of packets in the half of one epoch, without those that announce
/// arrivals. Packets are twice as large as their data.
static int64_t getPacketBytes(const CollectiveForm &form) {
  int64_t bytes = form.workspace.packetBytes();
  return form.collective->hasRoot()
             ? bytes - Workspace::allArrivalBytes(form.maxMembers())
             : bytes;
}

bool CollectiveForm::sendsResults() const {
  return staged && variant->has(twoShot) && !usesPackets();
}

CollectiveForm::TileRoom CollectiveForm::tileRoom() const {
  int64_t members = maxMembers();
  if (collective->isPointToPoint())
    return usesPackets()
               ? TileRoom{"FIFO packets",
                          workspace.fifoSlotPacketBytes(members) / 2}
               : TileRoom{"FIFO slots", workspace.fifoSlotBytes(members)};
  if (usesPackets()) {
    // Two shots need as many slots for results as for inputs. If the size is
    // unknown, inputs may need a slot per member and results one.
    int64_t slots = members;
    if (variant->has(twoShot))
      slots = size ? 2 * members : members + 1;
    return {"packets", getPacketBytes(*this) / (2 * slots)};
  }
  int64_t half = workspace.scratchBytes() / 2;
  // Two of a tile: results also go through slots, or a broadcast's helper
  // forwards it.
  if (sendsResults() || collective->kind == CollectiveKind::Broadcast)
    return {"slots", half / (2 * members)};
  // With a root, also of variants for the heap: where the root finds that its
  // buffer is not there.
  if (variant->has(inputSlots) || usesSlots() || staged ||
      collective->hasRoot())
    return {"slots", half / members};
  return {"", maxTileBytes};
}

int64_t CollectiveForm::largestTile() const {
  int64_t least = getTileNumber(*variant, elementBytes).least;
  int64_t most = tileRoom().bytes / elementBytes, largest = tile;
  while (largest > least && largest > most)
    largest /= 2;
  return largest;
}

int64_t CollectiveForm::defaultTileOf(const Variant &other) const {
  CollectiveForm form = *this;
  form.variant = &other;
  form.tile = getTileNumber(other, elementBytes).defaultValue;
  return form.largestTile();
}

int64_t CollectiveForm::packetRound() const {
  if (collective->isPointToPoint())
    return Workspace::fifoDepth * Workspace::fifoPrograms(maxMembers()) *
           (workspace.fifoSlotPacketBytes(maxMembers()) / 2 / tileBytes()) *
           tile;
  int64_t members = maxMembers();
  int64_t tiles = getPacketBytes(*this) / (2 * tileBytes());
  if (!variant->has(twoShot))
    return tiles / members * tile;
  // members * ceil(tiles / members) slots of inputs, as many tiles of results.
  // Where the size is not known, rounding up takes at most maxMembers - 1.
  if (!size)
    return std::max<int64_t>(tiles - (members - 1), 0) / 2 * tile;
  return tiles / (2 * members) * members * tile;
}

int64_t CollectiveForm::slotRound() const {
  int64_t tiles = workspace.scratchBytes() / 2 / maxMembers() / tileBytes();
  IntegerArithmetic n;
  return getFullRound(n, tiles, Workspace::programsOf(maxMembers())) * tile;
}
