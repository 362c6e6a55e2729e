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
    "H200, NVLink 4: 2 and 4 GPUs measured 2026-11-22 under graph replay, 8 "
    "from older measurements, fitted by benchmarks/fit-cost-model.py; kernels "
    "that were not measured: limit kernels (push 322 GB/s, pull 266 GB/s, "
    "packets 3.9 us)",
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
    work.ways = 1 / size; // a turn is a tile for one member
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

/// What benchmarks/fit-cost-model.py prints: bytes of a tile, warps; start,
/// startPeers, turn, turnPeers, program, rate, overlaps.  Behind each its error
/// and the number of measurements, on 2 and 4 of 4 H200 and on 2
/// (benchmarks/results/nvidia-h200-x4, -x2); 8 from older ones (-x8), carried
/// over.  Pushes and scatters of broadcasts are from the fit without -x2, which
/// gives them fewer points; what 2 GPUs alone have run is by hand.
// clang-format off
static const KernelModel fittedCuda[] = {
    {Op::allGather, "buffered", 4096, 4, 3.69, 0.58, 0.194, 0.741, 0.0010, 352892, false}, // 2.4% of 28
    {Op::allGather, "packet", 512, 4, 2.28, 0.33, 0.169, 0.231, 0.0001, 274786, false}, // 5.6% of 30
    {Op::allGather, "packet", 1024, 8, 2.39, 0.34, 0.145, 0.198, 0.0000, 288439, false}, // 5.3% of 112
    {Op::allGather, "push", 8192, 4, 4.74, 0.76, 0.000, 0.298, 0.0008, 340275, false}, // 4.2% of 160
    {Op::allGather, "push", 16384, 4, 5.00, 0.87, 0.000, 0.576, 0.0000, 347128, false}, // 3.3% of 160
    {Op::allGather, "copy_engine", 0, 0, 30.0, 36.00, 0.000, 0.000, 0.0000, 366800, false}, // by hand, 2 and 4 of 4 H200
    {Op::allReduce, "one_shot_buffered", 8192, 4, 3.82, 0.58, 0.270, 0.700, 0.0000, 340667, false}, // 2 GPUs alone; peers by hand
    {Op::allReduce, "one_shot_packet", 512, 2, 2.22, 0.25, 0.238, 0.228, 0.0001, 274935, false}, // 5.0% of 37
    {Op::allReduce, "one_shot_packet", 1024, 8, 2.51, 0.22, 0.173, 0.203, 0.0000, 299282, false}, // 5.2% of 132
    {Op::allReduce, "two_shot", 4096, 4, 5.20, 0.84, 0.448, 1.294, 0.0024, 322169, true}, // 5.5% of 142
    {Op::allReduce, "two_shot_packet", 512, 4, 3.13, 1.31, 0.460, 1.108, 0.0006, 376725, true}, // 4.6% of 78
    {Op::allReduce, "two_shot_push", 8192, 8, 5.02, 3.28, 0.000, 6.500, 0.0064, 369160, true}, // turns by hand, for 4 to 32 programs
    {Op::allToAll, "buffered", 4096, 8, 3.56, 0.93, 0.188, 0.639, 0.0005, 322822, false}, // 3.8% of 48
    {Op::allToAll, "packet", 512, 4, 2.19, 0.49, 0.203, 0.160, 0.0002, 247179, false}, // 4.1% of 27
    {Op::allToAll, "packet", 1024, 8, 2.42, 0.31, 0.147, 0.188, 0.0000, 284806, false}, // 5.8% of 108
    {Op::allToAll, "push", 1024, 8, 4.65, 0.58, 0.089, 0.076, 0.0065, 327219, false}, // 5.4% of 42
    {Op::allToAll, "push", 8192, 4, 4.75, 1.02, 0.000, 0.339, 0.0015, 342671, false}, // 5.3% of 140
    {Op::broadcast, "packet", 1024, 4, 2.36, 0.35, 0.140, 0.250, 0.0000, 450000, false}, // 2 GPUs alone; peers by hand
    {Op::broadcast, "push", 2048, 4, 5.24, 0.13, 0.031, 0.019, 0.0005, 335331, false}, // 4.0% of 90
    {Op::broadcast, "scatter", 2048, 4, 6.79, 0.00, 0.233, 0.000, 0.0000, 294799, false}, // 8.7% of 87
    {Op::broadcast, "scatter", 16384, 4, 6.01, 3.16, 0.015, 0.232, 0.0000, 360550, false}, // 9.2% of 72
    {Op::gather, "packet", 1024, 4, 2.13, 0.35, 0.300, 0.400, 0.0000, 450000, true}, // 2 GPUs alone; peers by hand
    {Op::gather, "push", 8192, 4, 5.10, 0.50, 0.200, 0.100, 0.0020, 369314, true}, // 2 GPUs alone; peers by hand
    {Op::reduce, "packet", 512, 4, 2.05, 0.35, 0.350, 0.500, 0.0000, 450000, true}, // 2 GPUs alone; peers by hand
    {Op::reduce, "pull", 16384, 8, 5.80, 0.00, 0.554, 0.000, 0.0000, 370023, true}, // 6.2% of 44
    {Op::reduce, "two_shot", 4096, 8, 5.70, 0.03, 0.698, 0.000, 0.0010, 344534, true}, // 4.2% of 42
    {Op::reduce, "two_shot", 8192, 8, 5.15, 1.80, 0.297, 0.000, 0.0018, 365297, false}, // 4.5% of 44
    {Op::reduceScatter, "buffered", 8192, 8, 3.67, 1.49, 0.160, 1.180, 0.0000, 340673, false}, // 1.2% of 56
    {Op::reduceScatter, "packet", 256, 4, 2.24, 0.28, 0.249, 0.195, 0.0004, 316365, false}, // 5.3% of 25
    {Op::reduceScatter, "packet", 512, 8, 2.46, 0.31, 0.182, 0.143, 0.0000, 289342, false}, // 6.2% of 103
    {Op::reduceScatter, "pull", 8192, 8, 5.45, 1.46, 0.678, 0.177, 0.0021, 332143, true}, // 5.1% of 70
    {Op::reduceScatter, "pull", 16384, 8, 5.55, 1.47, 0.475, 0.999, 0.0006, 324050, true}, // 5.4% of 140
    {Op::scatter, "packet", 1024, 4, 2.33, 0.35, 0.200, 0.300, 0.0000, 450000, true}, // 2 GPUs alone; peers by hand
    {Op::scatter, "pull", 8192, 4, 5.90, 0.90, 0.700, 0.400, 0.0014, 381740, true}, // 2 GPUs alone; peers by hand
};

/// The same of kernels for buffers that peers do not reach, beside packets and
/// buffers of the table above, which work on such as well: rounds that overlap.
/// By hand: from link rates of the table above, not measured yet.
static const KernelModel stagedCuda[] = {
    {Op::allGather, "buffered", 16384, 8, 5.00, 0.87, 0.300, 0.576, 0.0000, 345000, false},
    {Op::allReduce, "two_shot_push", 8192, 8, 7.00, 3.28, 0.000, 6.500, 0.0064, 355000, true},
    {Op::allToAll, "buffered", 16384, 8, 5.00, 1.02, 0.300, 0.339, 0.0000, 340000, false},
    {Op::reduceScatter, "buffered", 16384, 8, 5.00, 1.47, 0.300, 0.999, 0.0000, 345000, false},
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

std::vector<KernelModel> iris::ccl::kernelModelsOf(DeviceKind device, Op op,
                                                   bool onHeap) {
  std::vector<KernelModel> kernels;
  auto isOfOp = [op](const KernelModel &each) { return each.op == op; };
  if (device == DeviceKind::cuda) {
    std::copy_if(std::begin(fittedCuda), std::end(fittedCuda),
                 std::back_inserter(kernels), [&](const KernelModel &each) {
                   return isOfOp(each) && (onHeap || hasRoot(op) ||
                                           isThroughWorkspace(each.variant));
                 });
    if (!onHeap)
      std::copy_if(std::begin(stagedCuda), std::end(stagedCuda),
                   std::back_inserter(kernels), isOfOp);
  }
  if (!kernels.empty())
    return kernels;
  const LinkModel &link = linkModelOf(device);
  for (const std::string &variant : variantsOf(op)) {
    // Nobody knows what engines do elsewhere.
    if (isCopied(variant))
      continue;
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
  else if (tuningKey.inPlace && (std::string(kernel.variant) == "one_shot" ||
                                 tuningKey.op == Op::allToAll))
    copies = 2;
  return copies * static_cast<double>(tuningKey.bytes) / link.local;
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
                              tileOf(kernel, tuningKey.dtype, link.lanes));
  double tiles = static_cast<double>(tuningKey.bytes / tileBytes +
                                     (tuningKey.bytes % tileBytes != 0));
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
  bool isAligned = tuningKey.alignment % 16 == 0;
  double slow = isAligned                                   ? 0
                : getCollective(tuningKey.op).isDivisible() ? 1
                                                            : turns;
  double members = isThroughWorkspace(kernel.variant) ? 0 : peers;
  us += slow * link.partial * members * static_cast<double>(tileBytes) /
        static_cast<double>(element * threadsOf(kernel, link.lanes));
  return us + stagingOf(link, kernel, tuningKey);
}
