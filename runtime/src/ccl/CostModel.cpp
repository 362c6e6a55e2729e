// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/CostModel.h"

#include "ccl/Spec.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

using namespace iris::ccl;
using iris::rt::DeviceKind;

static constexpr double unlimited = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

// Loads wait for their data, so they reach less of a link than stores.

static const LinkModel cuda = {
    "8x H200, NVLink 4, measured 2026-11-20 under graph replay and fitted by "
    "benchmarks/fit-cost-model.py; kernels that were not measured: limit "
    "kernels (push 322 GB/s, pull 266 GB/s, packets 3.9 us)",
    1.2,
    2.6,
    2.7,
    0.5,
    322e3,
    266e3,
    unlimited,
    2000e3,
    0.014,
    32,
    {16, 32, 64, 128}};

static const LinkModel hip = {
    "MI300X, Infinity Fabric: 48 GB/s usable of the 64 of each of 7 links "
    "(ROCm blog, MI300X RCCL xGMI); flags and barriers from published times "
    "of small all-reduces (6.4 us); not measured",
    1.5,
    3.5,
    3.4,
    // As long as a packet takes to a peer and back, shared by the tiles that
    // are under way at once.
    0.8,
    336e3,
    300e3,
    48e3,
    1500e3,
    0.014,
    64,
    {16, 32, 64, 128}};

// Ranks are processes of one machine, which share its caches and memory.
static const LinkModel host = {
    "2 CPU cores, ranks as processes: benchmarks/results",
    20,
    40,
    30,
    0,
    10e3,
    10e3,
    unlimited,
    10e3,
    0,
    1,
    {2}};

const LinkModel &iris::ccl::linkModelOf(DeviceKind device) {
  switch (device) {
  case DeviceKind::cuda:
    return cuda;
  case DeviceKind::hip:
    return hip;
  default:
    return host;
  }
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

static bool usesPackets(const std::string &variant) {
  return endsWith(variant, "packet");
}

/// Everything that peers get goes through the workspace: buffers may lie
/// anywhere.
static bool isThroughWorkspace(const std::string &variant) {
  return usesPackets(variant) || endsWith(variant, "buffered");
}

uint64_t iris::ccl::roomOf(const std::string &variant, uint32_t groupSize) {
  // As include/iris/Kernels/Workspace.h deals it out, less the flags.
  constexpr uint64_t unit = (defaultWorkspaceBytes - (256 << 10)) / 16;
  if (endsWith(variant, "buffered"))
    return unit / 4;
  if (variant == "two_shot_packet")
    return 5 * unit / 4;
  if (usesPackets(variant))
    return 5 * unit / (2 * groupSize);
  return std::numeric_limits<uint64_t>::max();
}

namespace {
/// What a variant does, by the bytes of a chunk.  benchmarks/fit-cost-model.py
/// has the same formulas.
struct Work {
  /// Among how many members the tiles of a chunk are dealt out.
  double ways = 1;
  /// Bytes that cross the busiest rank's links.
  double link = 0;
  /// Copies in own memory, of kernels that were not measured.
  double local = 0;
  double barriers = 2;
  double packets = 0;
  /// Barriers of each turn.
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
  if (variant == "two_shot") {
    work.ways = size;
    work.link = 2 * peers / size;
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
    work.ways = 1 / size; // a turn is a tile for one member
    work.local = size;
  } else if (op == Op::broadcast && variant != "push" && variant != "pull") {
    work.ways = std::max(peers, 1.0); // scatter, relay
    work.link = std::min(peers, 1.0);
    work.barriersInTurn = variant == "relay" ? 1 : 0;
  } else if (variant == "mail") {
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

/// What benchmarks/fit-cost-model.py prints: bytes of a tile, warps; start,
/// startPeers, turn, turnPeers, program, rate, overlaps.  Behind each its error
/// and the number of measurements, on 2, 4 and 8 of 8 H200:
/// benchmarks/results/nvidia-h200-x8.
// clang-format off
static const KernelModel fittedCuda[] = {
    {Op::allGather, "packet", 512, 8, 2.75, 0.60, 0.248, 0.000, 0.0002, 253161, false}, // 3.6% of 84
    {Op::allGather, "packet", 1024, 8, 2.75, 0.73, 0.225, 0.000, 0.0001, 266416, false}, // 3.1% of 84
    {Op::allGather, "push", 8192, 4, 5.01, 0.76, 0.000, 0.297, 0.0006, 343835, false}, // 4.5% of 132
    {Op::allGather, "push", 16384, 4, 5.25, 0.95, 0.000, 0.576, 0.0003, 350534, false}, // 2.9% of 132
    {Op::allReduce, "one_shot_packet", 512, 8, 2.89, 0.46, 0.167, 0.148, 0.0001, 295723, false}, // 5.7% of 106
    {Op::allReduce, "one_shot_packet", 1024, 8, 2.88, 0.56, 0.180, 0.137, 0.0001, 310117, false}, // 4.1% of 110
    {Op::allReduce, "two_shot", 4096, 8, 5.65, 0.94, 0.460, 0.993, 0.0015, 318220, true}, // 4.5% of 129
    {Op::allReduce, "two_shot", 8192, 8, 5.62, 0.75, 0.381, 2.123, 0.0005, 326088, true}, // 4.2% of 132
    {Op::allReduce, "two_shot_packet", 1024, 8, 3.66, 1.65, 0.228, 1.131, 0.0000, 432830, false}, // 7.7% of 118
    {Op::allToAll, "packet", 512, 8, 2.77, 0.72, 0.237, 0.000, 0.0001, 251187, false}, // 3.7% of 84
    {Op::allToAll, "packet", 1024, 8, 2.76, 0.78, 0.290, 0.000, 0.0000, 267101, false}, // 3.1% of 84
    {Op::allToAll, "push", 8192, 4, 4.99, 0.94, 0.000, 0.329, 0.0011, 343733, false}, // 5.3% of 132
    {Op::allToAll, "push", 16384, 4, 5.16, 1.31, 0.000, 0.610, 0.0003, 347388, false}, // 4.6% of 132
    {Op::broadcast, "push", 2048, 4, 5.22, 0.13, 0.104, 0.000, 0.0006, 334790, true}, // 4.5% of 92
    {Op::broadcast, "relay", 2048, 4, 4.19, 2.22, 2.344, 0.102, 0.0134, 296968, false}, // 4.4% of 65
    {Op::broadcast, "relay", 8192, 4, 5.25, 3.54, 1.610, 1.124, 0.0076, 319290, false}, // 7.3% of 104
    {Op::reduceScatter, "buffered", 2048, 4, 4.54, 0.42, 0.266, 0.181, 0.0001, 292077, false}, // 1.6% of 48
    {Op::reduceScatter, "packet", 512, 8, 2.80, 0.72, 0.263, 0.000, 0.0003, 276817, false}, // 3.5% of 84
    {Op::reduceScatter, "packet", 1024, 8, 2.81, 0.84, 0.271, 0.000, 0.0001, 291892, false}, // 2.7% of 84
    {Op::reduceScatter, "pull", 16384, 8, 5.82, 1.70, 0.535, 0.168, 0.0000, 325462, true}, // 4.8% of 120
};
// clang-format on

/// The constants of a kernel that was not measured.
static KernelModel derive(const LinkModel &link, Op op, const char *variant,
                          int64_t tileBytes, int64_t warps) {
  Work work = workOf(op, variant, 8);
  KernelModel kernel = {};
  kernel.op = op;
  kernel.variant = variant;
  kernel.tileBytes = tileBytes;
  kernel.warps = warps;
  kernel.start =
      link.kernel + work.barriers * link.barrier + work.packets * link.packet;
  kernel.turn = link.turn;
  kernel.turnPeers = work.barriersInTurn * link.barrier;
  kernel.overlaps = work.barriersInTurn == 0;
  return kernel;
}

std::vector<KernelModel> iris::ccl::kernelModelsOf(DeviceKind device, Op op) {
  std::vector<KernelModel> kernels;
  if (device == DeviceKind::cuda)
    std::copy_if(std::begin(fittedCuda), std::end(fittedCuda),
                 std::back_inserter(kernels),
                 [op](const KernelModel &each) { return each.op == op; });
  if (!kernels.empty())
    return kernels;
  const LinkModel &link = linkModelOf(device);
  for (const std::string &variant : variantsOf(op)) {
    if (device != DeviceKind::host && usesPackets(variant))
      kernels.push_back(derive(link, op, variant.c_str(), 1024, 8));
    else
      kernels.push_back(derive(link, op, variant.c_str(), 0, 0));
  }
  return kernels;
}

/// The generator's defaults: lib/Kernels/CollectiveConfig.cpp.
static int64_t tileBytesOf(const KernelModel &kernel) {
  if (kernel.tileBytes != 0)
    return kernel.tileBytes;
  return isThroughWorkspace(kernel.variant) ? 2048 : 8192;
}

static int64_t threadsOf(const KernelModel &kernel, int64_t lanes) {
  return (kernel.warps != 0 ? kernel.warps : 4) * lanes;
}

/// Sums are kept in registers: more elements of a thread than this do not fit.
static constexpr int64_t mostSumsOfThread = 32;
/// Packets of all members are added up through workgroup memory, with 8 bytes
/// for each: no more of 8 members fit into 48 KiB.
static constexpr int64_t mostPacketSums = 512;

int64_t iris::ccl::tileOf(const KernelModel &kernel, DType dtype,
                          int64_t lanes) {
  if (kernel.tileBytes == 0 || !reduces(kernel.op))
    return kernel.tileBytes;
  int64_t element = std::max(dtypeBytes(dtype), 1u);
  int64_t most = usesPackets(kernel.variant)
                     ? mostPacketSums
                     : mostSumsOfThread * threadsOf(kernel, lanes);
  return std::min(kernel.tileBytes / element, most);
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// Microseconds for what does not go from heap to heap: such data are copied
/// to and from the workspace, as much more often as chunks are reduced.
static double stagingOf(const LinkModel &link, const KernelModel &kernel,
                        const Situation &situation) {
  if (isThroughWorkspace(kernel.variant))
    return 0;
  bool overwrites =
      situation.inPlace && (std::string(kernel.variant) == "one_shot" ||
                            situation.op == Op::allToAll);
  if (situation.onHeap && !overwrites)
    return 0;
  double copies = situation.op == Op::allReduce ? 4 : 2;
  return copies * static_cast<double>(situation.bytes) / link.local;
}

double iris::ccl::estimate(const LinkModel &link, const KernelModel &kernel,
                           const Situation &situation, int64_t programs) {
  double size = situation.groupSize, peers = size - 1;
  double bytes = static_cast<double>(situation.bytes);
  Work work = workOf(situation.op, kernel.variant, size);

  // Tiles, as many as the elements of the type make.
  uint64_t element =
      reduces(situation.op) ? std::max(dtypeBytes(situation.dtype), 1u) : 1;
  uint64_t tileBytes = static_cast<uint64_t>(tileBytesOf(kernel));
  if (kernel.tileBytes != 0)
    tileBytes = element * static_cast<uint64_t>(
                              tileOf(kernel, situation.dtype, link.lanes));
  double tiles = static_cast<double>(situation.bytes / tileBytes +
                                     (situation.bytes % tileBytes != 0));
  double turns = std::ceil(std::ceil(tiles / work.ways) / programs);

  double us = kernel.start + kernel.startPeers * peers / 7 +
              static_cast<double>(programs) * kernel.program;
  double working = turns * (kernel.turn + kernel.turnPeers * peers / 7);

  // Bytes over links; the links of pairs carry their share.
  double rate = kernel.rate, moving = 0;
  if (rate == 0) {
    rate = work.pulls ? link.pull : link.push;
    us += work.local * bytes / link.local;
  }
  if (peers > 0) {
    double ofPeer = work.isStream ? work.link : work.link / peers;
    moving = std::max(work.link * bytes / rate, ofPeer * bytes / link.perPeer);
  }
  us += kernel.overlaps ? std::hypot(working, moving) : working + moving;

  // Tiles that are accessed element by element: the last, or all where chunks
  // begin anywhere.
  bool isAligned = situation.alignment % 16 == 0;
  double slow = isAligned ? 0 : isDivisible(situation.op) ? 1 : turns;
  double members = isThroughWorkspace(kernel.variant) ? 0 : peers;
  us += slow * link.partial * members * static_cast<double>(tileBytes) /
        static_cast<double>(element * threadsOf(kernel, link.lanes));
  return us + stagingOf(link, kernel, situation);
}
