// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/CostModel.h"

#include <algorithm>
#include <limits>

using namespace iris::ccl;
using iris::rt::DeviceKind;

static constexpr double unlimited = std::numeric_limits<double>::infinity();

// A kernel's time is that of its barriers or packets, plus its bytes on the
// busiest link.  Loads wait for their data, so they reach less of a link than
// stores.

static constexpr LinkModel cuda = {
    "8x H200, NVLink 4: limit kernels of 2026-11-20 (push 322 GB/s, pull 266 "
    "GB/s, packets 3.9 us; a flag takes 1.3 us one way)",
    1.2,
    2.6,
    2.7,
    322e3,
    266e3,
    unlimited,
    2000e3};

static constexpr LinkModel hip = {
    "MI300X, Infinity Fabric: 48 GB/s usable of the 64 of each of 7 links "
    "(ROCm blog, MI300X RCCL xGMI); flags and barriers from published times "
    "of small all-reduces (6.4 us)",
    1.5,
    3.5,
    3.4,
    336e3,
    300e3,
    48e3,
    1500e3};

// Ranks are processes of one machine, which share its caches and memory.
static constexpr LinkModel host = {
    "2 CPU cores, ranks as processes: benchmarks/results",
    20,
    40,
    30,
    10e3,
    10e3,
    unlimited,
    10e3};

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

namespace {
/// Adds up one call.
class Estimate {
public:
  Estimate(const LinkModel &link, uint32_t groupSize)
      : link(link), peers(groupSize - 1.0), total(link.kernel) {}

  Estimate &barriers(double count) {
    total += peers > 0 ? count * link.barrier : 0;
    return *this;
  }
  Estimate &packets(double count) {
    total += peers > 0 ? count * link.packet : 0;
    return *this;
  }
  /// `bytes` to each of the peers.
  Estimate &push(double bytes) { return move(bytes, link.push); }
  Estimate &pull(double bytes) { return move(bytes, link.pull); }
  /// One rank serves all others with different, or the same, bytes.
  Estimate &serve(double bytes) { return move(bytes, link.push); }
  /// All bytes cross the link of one peer.
  Estimate &stream(double bytes) {
    total += bytes / std::min(link.push, link.perPeer);
    return *this;
  }
  Estimate &copy(double bytes) {
    total += bytes / link.local;
    return *this;
  }

  double us() const { return total; }

private:
  Estimate &move(double bytes, double rate) {
    if (peers > 0)
      total += std::max(peers * bytes / rate, bytes / link.perPeer);
    return *this;
  }

  const LinkModel &link;
  double peers;
  double total;
};
} // namespace

double iris::ccl::estimate(const LinkModel &link, const Situation &situation,
                           const std::string &variant) {
  double bytes = static_cast<double>(situation.bytes);
  double size = situation.groupSize;
  double share = bytes / size;
  Estimate e(link, situation.groupSize);
  // Packets are twice as large as what they carry.
  if (variant == "packet")
    return e.packets(1).push(2 * bytes).copy(2 * size * bytes).us();
  if (variant == "one_shot_packet")
    return e.packets(1).push(2 * bytes).copy(2 * size * bytes).us();
  if (variant == "two_shot_packet")
    return e.packets(2).push(4 * share).copy(6 * bytes).us();
  e.barriers(2);
  // Through the workspace: twice more through the own memory.
  bool overwrites = situation.inPlace &&
                    (variant == "one_shot" || situation.op == Op::allToAll);
  if (!situation.onHeap || overwrites)
    e.copy(2 * bytes * (situation.op == Op::allReduce ? 2 : 1));
  switch (situation.op) {
  case Op::allReduce:
    if (variant == "one_shot")
      return e.pull(bytes).copy(bytes).us();
    if (variant == "two_shot")
      return e.pull(share).push(share).copy(bytes).us();
    if (variant == "ring")
      return e.barriers(2 * (size - 1)).stream(2 * bytes).copy(2 * bytes).us();
    // atomic, spinlock: every element is read and written on every rank.
    return e.barriers(1).push(4 * bytes).us();
  case Op::allGather:
    return variant == "pull"          ? e.pull(bytes).us()
           : variant == "partitioned" ? e.push(bytes).copy(size * bytes).us()
                                      : e.push(bytes).copy(bytes).us();
  case Op::reduceScatter:
    return e.pull(bytes).copy(bytes).us();
  case Op::allToAll:
    return variant == "pull" ? e.pull(bytes).us() : e.push(bytes).us();
  case Op::broadcast:
    if (variant == "pull")
      return e.pull(bytes).us();
    if (variant == "scatter" && size > 2)
      return e.pull(bytes / (size - 1)).push(bytes / (size - 1)).us();
    return e.serve(bytes).us();
  case Op::reduce:
    return variant == "two_shot" ? e.pull(share).push(share).us()
                                 : e.pull(bytes).us();
  default:
    return e.serve(bytes).us();
  }
}
