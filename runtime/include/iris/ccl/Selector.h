// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernel a call takes.
#ifndef IRIS_CCL_SELECTOR_H
#define IRIS_CCL_SELECTOR_H

#include "iris/ccl/Types.h"
#include "iris/rt/Device.h"

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// What is known of a call.  All members of the group must see the same, since
/// they have to come to the same choice.
struct TuningKey {
  Op op = Op::allReduce;
  DType dtype = DType::f32;
  /// Bytes of one chunk: count times the size of an element.
  uint64_t bytes = 0;
  uint32_t groupSize = 1;
  rt::DeviceKind device = rt::DeviceKind::host;
  /// What the device says of itself (World::deviceAttributes); null: the first
  /// GPU of the kind that there is a cost model for.
  const rt::DeviceAttributes *attributes = nullptr;
  /// A power of two that divides both buffers' addresses and `bytes`.
  uint64_t alignment = 1;
  bool inPlace = false;
  /// Both buffers lie on the symmetric heap.
  bool onHeap = true;
  /// Programs of the launch; 0: as many as are best.
  int64_t programs = 0;
};

/// A choice, and why.
struct Choice {
  Config config;
  std::string reason;
};

/// The config for a call without one: the kernel that is expected to be the
/// fastest, with the fewest programs with which it takes hardly longer.
Choice select(const TuningKey &tuningKey);

/// What a call is expected to take with a config.
struct Estimate {
  Config config;
  double us = 0;
};

/// What select() compares: of each kernel the number of programs that it would
/// take, the fastest first.
std::vector<Estimate> estimates(const TuningKey &tuningKey);

/// "two_shot, tile 2048, 8 warps, 64 programs".
std::string describe(const Config &config);

/// Where the numbers behind the choices for a kind of device come from.
std::string choiceSource(rt::DeviceKind device,
                         const rt::DeviceAttributes *attributes = nullptr);

/// An error if IRIS_COST_MODEL names a file that is no cost model of that kind
/// of device. Choices are then made without it.
rt::Status checkCostModel(rt::DeviceKind device);

/// Every kernel that select() may ask for with `op` on buffers of the heap, or
/// on others, on that device and in groups of any size: what prepare() loads.
/// As it serves any number of programs, that is 0.
std::vector<Config>
candidates(Op op, DType dtype, rt::DeviceKind device, bool onHeap = true,
           const rt::DeviceAttributes *attributes = nullptr);

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_SELECTOR_H
