// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveWork.cpp - What a collective does with a chunk -----------===//

#include "iris/Plan/CollectiveWork.h"

#include <cmath>
#include <limits>

using namespace irisplan;

double CollectiveWork::countIterations(double tiles, double programs) const {
  return std::ceil(std::ceil(tiles / ways) / programs);
}

/// Packets carry as many flags as data.
static CollectiveWork getPacketWork(const Variant &variant, double size) {
  double peers = size - 1;
  bool isTwoShot = variant.name == "two_shot_packet";
  CollectiveWork work;
  work.ways = isTwoShot ? size : 1;
  work.linkChunks = isTwoShot ? 4 * peers / size : 2 * peers;
  work.localChunks = isTwoShot ? 6 : 2 * size;
  work.barriers = 0;
  work.packets = isTwoShot ? 2 : 1;
  return work;
}

CollectiveWork irisplan::getWork(const Collective &collective,
                                 const Variant &variant, int64_t members) {
  double size = static_cast<double>(members), peers = size - 1;
  if (variant.has(packets))
    return getPacketWork(variant, size);
  std::string_view name = variant.name;
  CollectiveWork work;
  work.linkChunks = peers;
  if (variant.has(slots)) {
    work.localChunks = size;
    work.barriers = 1;
    return work;
  }
  work.pulls = name == "pull" || name == "one_shot";
  work.localChunks = collective.reduces() || name == "push" ? 1 : 0;
  if (name == "two_shot" || name == "two_shot_push") {
    work.ways = size;
    work.linkChunks = 2 * peers / size;
    if (name == "two_shot_push")
      work.localChunks += 2; // to slots and from there
  } else if (name == "ring") {
    work.ways = size;
    work.linkChunks = 2 * peers / size;
    work.localChunks = 2;
    work.barriersPerIteration = 2 * peers;
    work.isStream = true;
  } else if (variant.has(anyOrder)) {
    // Every element is read and written on every rank.
    work.linkChunks = 4 * peers;
    work.barriers = 3;
  } else if (collective.kind == CollectiveKind::Broadcast &&
             name == "scatter") {
    work.ways = std::max(peers, 1.0);
    work.linkChunks = std::min(peers, 1.0);
  } else if (collective.isPointToPoint()) {
    work.linkChunks = 1;
    work.localChunks = 1;
    work.isStream = true;
  } else if (!collective.hasBuffers()) {
    work.linkChunks = 0;
    work.barriers = 1;
  }
  return work;
}

int64_t irisplan::getRoundBytes(const Collective &collective,
                                const Variant &variant, int64_t size,
                                const Workspace &workspace) {
  CollectiveForm form;
  form.collective = &collective;
  form.variant = &variant;
  form.tile = minTileBytes;
  form.workspace = workspace;
  if (variant.has(slots))
    return form.slotRound();
  form.size = size;
  return variant.has(packets) ? form.packetRound()
                              : std::numeric_limits<int64_t>::max();
}
