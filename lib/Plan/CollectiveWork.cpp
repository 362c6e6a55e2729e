// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveWork.cpp - Cost terms of a collective --------------------===//

#include "iris/Plan/CollectiveWork.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace irisplan;

//===----------------------------------------------------------------------===//
// Work of a variant, for a group of `size` ranks
//===----------------------------------------------------------------------===//

/// Every rank stores its chunk to all peers and to its own output.
static CollectiveWork getPushWork(double size) {
  CollectiveWork work;
  work.linkChunks = size - 1;
  work.localChunks = 1;
  return work;
}

/// Every rank loads the chunks of all peers.
static CollectiveWork getPullWork(double size) {
  CollectiveWork work;
  work.linkChunks = size - 1;
  work.pulls = true;
  return work;
}

static CollectiveWork getPullAndReduceWork(double size) {
  CollectiveWork work = getPullWork(size);
  work.localChunks = 1;
  return work;
}

/// Every rank stores its chunk to slots, from where receivers copy it.
static CollectiveWork getBufferedWork(double size) {
  CollectiveWork work;
  work.linkChunks = size - 1;
  work.localChunks = size;
  work.barriers = 1;
  return work;
}

/// Packets carry as many flags as data.
static CollectiveWork getPacketWork(double size) {
  CollectiveWork work;
  work.linkChunks = 2 * (size - 1);
  work.localChunks = 2 * size;
  work.barriers = 0;
  work.packets = 1;
  return work;
}

static CollectiveWork getEngineWork(double size) {
  CollectiveWork work;
  work.linkChunks = size - 1;
  return work;
}

/// The owner of a tile loads it from all peers and stores the result to them.
static CollectiveWork getTwoShotWork(double size) {
  CollectiveWork work;
  work.ways = size;
  work.linkChunks = 2 * (size - 1) / size;
  work.localChunks = 1;
  return work;
}

static CollectiveWork getTwoShotPushWork(double size) {
  CollectiveWork work = getTwoShotWork(size);
  work.localChunks += 2; // to slots and from there
  return work;
}

static CollectiveWork getTwoShotPacketWork(double size) {
  CollectiveWork work;
  work.ways = size;
  work.linkChunks = 4 * (size - 1) / size;
  work.localChunks = 6;
  work.barriers = 0;
  work.packets = 2;
  return work;
}

static CollectiveWork getRingWork(double size) {
  CollectiveWork work = getTwoShotWork(size);
  work.localChunks = 2;
  work.barriersPerIteration = 2 * (size - 1);
  work.isStream = true;
  return work;
}

/// Every element is read and written on every rank.
static CollectiveWork getAtomicWork(double size) {
  CollectiveWork work;
  work.linkChunks = 4 * (size - 1);
  work.localChunks = 1;
  work.barriers = 3;
  return work;
}

/// Each peer loads some tiles from the root and stores them to all others.
static CollectiveWork getScatterWork(double size) {
  CollectiveWork work;
  work.ways = std::max(size - 1, 1.0);
  work.linkChunks = std::min(size - 1, 1.0);
  return work;
}

static CollectiveWork getFifoWork(double) {
  CollectiveWork work;
  work.linkChunks = 1;
  work.localChunks = 1;
  work.isStream = true;
  return work;
}

/// Packets carry as many flags as data.
static CollectiveWork getFifoPacketWork(double) {
  CollectiveWork work;
  work.linkChunks = 2;
  work.localChunks = 2;
  work.barriers = 0;
  work.packets = 1;
  work.isStream = true;
  return work;
}

static CollectiveWork getBarrierWork(double) {
  CollectiveWork work;
  work.barriers = 1;
  return work;
}

/// In the order of `variants`.
static constexpr CollectiveWork (*workFunctions[])(double size) = {
#define IRIS_VARIANT(Name, variant, Generator, Staged, Terms, traits)          \
  get##Terms##Work,
#include "iris/Plan/Collectives.def"
};

CollectiveWork irisplan::getWork(const Variant &variant, int64_t size) {
  return workFunctions[getIndex(variant)](static_cast<double>(size));
}

//===----------------------------------------------------------------------===//
// Rounds and iterations
//===----------------------------------------------------------------------===//

double CollectiveWork::countIterations(double tiles, double programs) const {
  return std::ceil(std::ceil(tiles / ways) / programs);
}

int64_t irisplan::getRoundBytes(const Collective &collective,
                                const Variant &variant, int64_t size,
                                const Workspace &workspace) {
  CollectiveForm form;
  form.collective = &collective;
  form.variant = &variant;
  form.tile = minTileBytes;
  form.workspace = workspace;
  if (!variant.has(slots) || size > Workspace::maxAnyMembers)
    form.size = size;
  if (variant.has(slots))
    return form.slotRound();
  return variant.has(packets) ? form.packetRound()
                              : std::numeric_limits<int64_t>::max();
}
