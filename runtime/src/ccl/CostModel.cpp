// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/CostModel.h"

#include "ccl/Spec.h"
#include "core/Strings.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace iris::ccl;
using iris::rt::DeviceKind;
using iris::rt::endsWith;

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

static bool usesPackets(const std::string &variant) {
  return endsWith(variant, "packet");
}

bool iris::ccl::isThroughWorkspace(const std::string &variant) {
  return usesPackets(variant) || endsWith(variant, "buffered");
}

uint64_t iris::ccl::roomOf(const std::string &variant,
                           const TuningKey &tuningKey) {
  // Slots and packets are in two halves; packets are twice as large as what
  // they carry.
  const plan::Workspace workspace;
  const auto slots = static_cast<uint64_t>(workspace.scratchBytes() / 2);
  const auto packets = static_cast<uint64_t>(workspace.packetBytes() / 2);
  if (endsWith(variant, "buffered") && tuningKey.onHeap)
    return slots / plan::Workspace::maxMembers;
  if (variant == "two_shot_packet")
    return packets / 2;
  if (usesPackets(variant))
    return packets / tuningKey.groupSize;
  return std::numeric_limits<uint64_t>::max();
}

namespace {
/// What a variant does, by the bytes of a chunk.  benchmarks/fit-cost-model.py
/// has the same formulas.
struct Work {
  /// The number of ranks that share the tiles of a chunk.
  double ways = 1;
  /// Bytes that cross the busiest rank's links.
  double link = 0;
  /// Copies in own memory, of kernels that were not measured.
  double local = 0;
  double barriers = 2;
  double packets = 0;
  /// Barriers of each iteration.
  double barriersInTurn = 0;
  /// Data are loaded from peers.
  bool pulls = false;
  /// All bytes cross the link to one peer.
  bool isStream = false;
};
} // namespace

static Work workOf(Op op, const std::string &variant, double size) {
  double peers = size - 1;
  Work work;
  work.link = peers;
  if (usesPackets(variant)) {
    // Packets are twice as large as what they carry.
    bool isTwoShot = variant == "two_shot_packet";
    work.ways = isTwoShot ? size : 1;
    work.link = isTwoShot ? 4 * peers / size : 2 * peers;
    work.local = isTwoShot ? 6 : 2 * size;
    work.barriers = 0;
    work.packets = isTwoShot ? 2 : 1;
    return work;
  }
  if (endsWith(variant, "buffered")) {
    work.local = size;
    work.barriers = 1;
    return work;
  }
  work.pulls = variant == "pull" || variant == "one_shot";
  work.local = reduces(op) || variant == "push" ? 1 : 0;
  if (variant == "two_shot" || variant == "two_shot_push") {
    work.ways = size;
    work.link = 2 * peers / size;
    if (variant == "two_shot_push")
      work.local += 2; // to slots and from there
  } else if (variant == "ring") {
    work.ways = size;
    work.link = 2 * peers / size;
    work.local = 2;
    work.barriersInTurn = 2 * peers;
    work.isStream = true;
  } else if (variant == "atomic" || variant == "spinlock") {
    // Every element is read and written on every rank.
    work.link = 4 * peers;
    work.barriers = 3;
  } else if (variant == "partitioned") {
    work.ways = 1 / size; // an iteration is a tile for one rank
    work.local = size;
  } else if (op == Op::broadcast && variant == "scatter") {
    work.ways = std::max(peers, 1.0);
    work.link = std::min(peers, 1.0);
  } else if (variant == "fifo") {
    work.link = 1;
    work.local = 1;
    work.isStream = true;
  } else if (variant == "flags") {
    work.link = 0;
    work.barriers = 1;
  }
  return work;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The constants of a kernel that was not measured.
static KernelModel derive(const LinkModel &link, Op op,
                          const std::string &variant, int64_t tileBytes,
                          int64_t warps) {
  Work work = workOf(op, variant, 8);
  KernelModel kernel = {};
  kernel.op = op;
  kernel.variant = variant;
  kernel.tileBytes = tileBytes;
  kernel.warps = warps;
  kernel.startUs = link.launchUs + work.barriers * link.barrierUs +
                   work.packets * link.packetUs;
  kernel.tileUs = link.tileUs;
  kernel.tilePeersUs = work.barriersInTurn * link.barrierUs;
  kernel.overlaps = work.barriersInTurn == 0;
  return kernel;
}

std::vector<KernelModel> iris::ccl::kernelModelsOf(const DeviceModel &device,
                                                   Op op, bool onHeap) {
  std::vector<KernelModel> kernels;
  for (const KernelModel &each : device.kernels)
    if (each.op == op &&
        (onHeap || hasRoot(op) || isThroughWorkspace(each.variant)))
      kernels.push_back(each);
  for (const KernelModel &each : device.stagedKernels)
    if (each.op == op && !onHeap)
      kernels.push_back(each);
  if (!kernels.empty())
    return kernels;
  for (const std::string &variant : variantsOf(op)) {
    // The model has no numbers of copy engines.
    if (isCopied(variant))
      continue;
    if (device.kind != DeviceKind::host && usesPackets(variant))
      kernels.push_back(derive(device.links, op, variant, 1024, 8));
    else
      kernels.push_back(derive(device.links, op, variant, 0, 0));
  }
  return kernels;
}

/// The generator's defaults: lib/Kernels/CollectiveConfig.cpp.
static int64_t tileBytesOf(const KernelModel &kernel) {
  if (kernel.tileBytes != 0)
    return kernel.tileBytes;
  return isThroughWorkspace(kernel.variant) ? 2048 : 8192;
}

static int64_t threadsOf(const KernelModel &kernel, int64_t warpSize) {
  return (kernel.warps != 0 ? kernel.warps : 4) * warpSize;
}

/// Sums are kept in registers: more elements of a thread than this do not fit.
static constexpr int64_t mostSumsOfThread = 32;
/// Packets of all members are added up through workgroup memory, with 8 bytes
/// for each: no more of 8 members fit into 48 KiB.
static constexpr int64_t mostPacketSums = 512;

int64_t iris::ccl::tileOf(const KernelModel &kernel, DType dtype,
                          int64_t warpSize) {
  if (kernel.tileBytes == 0 || !reduces(kernel.op))
    return kernel.tileBytes;
  int64_t element = std::max(dtypeBytes(dtype), 1u);
  int64_t most = usesPackets(kernel.variant)
                     ? mostPacketSums
                     : mostSumsOfThread * threadsOf(kernel, warpSize);
  return std::min(kernel.tileBytes / element, most);
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// Microseconds for copies of what does not go from heap to heap, to and from
/// the workspace.
static double stagingOf(const LinkModel &link, const KernelModel &kernel,
                        const TuningKey &tuningKey) {
  if (isThroughWorkspace(kernel.variant))
    return 0;
  double copies = 0;
  if (!tuningKey.onHeap)
    // Results alone where rounds overlap with the transfer.
    copies = hasRoot(tuningKey.op) ? 2 : 1;
  else if (tuningKey.inPlace &&
           (kernel.variant == "one_shot" || tuningKey.op == Op::allToAll))
    copies = 2;
  return copies * static_cast<double>(tuningKey.bytes) / link.localBytesPerUs;
}

double iris::ccl::estimate(const LinkModel &link, const KernelModel &kernel,
                           const TuningKey &tuningKey, int64_t programs) {
  double size = tuningKey.groupSize, peers = size - 1;
  double bytes = static_cast<double>(tuningKey.bytes);
  Work work = workOf(tuningKey.op, kernel.variant, size);

  // Tiles, as many as the elements of the type make.
  uint64_t element =
      reduces(tuningKey.op) ? std::max(dtypeBytes(tuningKey.dtype), 1u) : 1;
  uint64_t tileBytes = static_cast<uint64_t>(tileBytesOf(kernel));
  if (kernel.tileBytes != 0)
    tileBytes = element * static_cast<uint64_t>(
                              tileOf(kernel, tuningKey.dtype, link.warpSize));
  double tiles = static_cast<double>(tuningKey.bytes / tileBytes +
                                     (tuningKey.bytes % tileBytes != 0));
  double turns = std::ceil(std::ceil(tiles / work.ways) / programs);

  double us = kernel.startUs + kernel.startPeersUs * peers / 7 +
              static_cast<double>(programs) * kernel.programUs;
  double working = turns * (kernel.tileUs + kernel.tilePeersUs * peers / 7);

  // Bytes over links; the links of pairs carry their share.
  double rate = kernel.bytesPerUs, moving = 0;
  if (rate == 0) {
    rate = work.pulls ? link.pullBytesPerUs : link.pushBytesPerUs;
    us += work.local * bytes / link.localBytesPerUs;
  }
  if (peers > 0) {
    double ofPeer = work.isStream ? work.link : work.link / peers;
    moving = std::max(work.link * bytes / rate,
                      ofPeer * bytes / link.peerBytesPerUs);
  }
  us += kernel.overlaps ? std::hypot(working, moving) : working + moving;

  // Tiles that are accessed element by element: the last, or all where chunks
  // begin anywhere.
  bool isAligned = tuningKey.alignment % 16 == 0;
  double slow = isAligned                                   ? 0
                : getCollective(tuningKey.op).isDivisible() ? 1
                                                            : turns;
  double members = isThroughWorkspace(kernel.variant) ? 0 : peers;
  us += slow * link.unalignedElementUs * members *
        static_cast<double>(tileBytes) /
        static_cast<double>(element * threadsOf(kernel, link.warpSize));
  return us + stagingOf(link, kernel, tuningKey);
}
