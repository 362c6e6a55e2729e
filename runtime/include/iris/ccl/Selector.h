// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selector.h - Selection of collective configs -------------*- C++ -*-===//
//
// Selects the config of a collective by the cost model (docs/guides/tuning.md).
//
// \param tuningKey the properties of the call
// \param device the kind of device
// \param attributes the device's attributes (World::deviceAttributes); null:
//   the first GPU of the kind that has a cost model
#ifndef IRIS_CCL_SELECTOR_H
#define IRIS_CCL_SELECTOR_H

#include "iris/ccl/Types.h"
#include "iris/rt/Device.h"

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// The properties of a call that select its kernel. They must be equal on all
/// ranks of the group.
struct TuningKey {
  /// The operation, and the type of its elements.
  Op op = Op::allReduce;
  DType dtype = DType::f32;
  /// Bytes of one chunk: count times the size of an element.
  uint64_t bytes = 0;
  /// The number of ranks of the group, and the kind of their devices.
  uint32_t groupSize = 1;
  rt::DeviceKind device = rt::DeviceKind::host;
  /// The device's attributes (World::deviceAttributes); null: the first GPU of
  /// the kind that has a cost model.
  const rt::DeviceAttributes *attributes = nullptr;
  /// A power of two that divides both buffers' addresses and `bytes`.
  uint64_t alignment = 1;
  /// The input and the output are the same, as Communicator defines it.
  bool inPlace = false;
  /// Both buffers are on the symmetric heap.
  bool onHeap = true;
  /// Programs of the launch; 0: selected.
  int64_t programs = 0;
  /// The most programs that are selected; 0: no limit.
  int64_t maxPrograms = 0;
};

/// A selected config and the reason.
struct Choice {
  /// A complete config.
  Config config;
  /// Why it was selected, in one line.
  std::string reason;
};

/// Selects the config with the lowest estimated time, with the fewest programs
/// that reach nearly that time.
/// \return the config and the reason
Choice select(const TuningKey &tuningKey);

/// The estimated time of a call with a config.
struct Estimate {
  /// A complete config, and the time in microseconds.
  Config config;
  double us = 0;
};

/// Estimates the time of each kernel, with its selected number of programs.
/// \return one estimate for each kernel, fastest first
std::vector<Estimate> estimates(const TuningKey &tuningKey);

/// Describes a config.
/// \param config the config
/// \return "two_shot, tile 2048, 8 warps, 64 programs"
std::string describe(const Config &config);

/// \return the source of the model's parameters for a device, in words
std::string choiceSource(rt::DeviceKind device,
                         const rt::DeviceAttributes *attributes = nullptr);

/// Checks the file that IRIS_COST_MODEL names.
/// \retval invalidArgument it is not a cost model of that kind of device
rt::Status checkCostModel(rt::DeviceKind device);

/// Lists every kernel that select() may return for an operation: the kernels
/// that prepare() loads.
/// \param op the operation
/// \param dtype the type of the elements
/// \param groupSize the number of ranks of the group
/// \param onHeap whether both buffers are on the symmetric heap
/// \return the configs; the number of programs is 0, as each kernel serves any
///   number
std::vector<Config>
candidates(Op op, DType dtype, rt::DeviceKind device, uint32_t groupSize,
           bool onHeap = true,
           const rt::DeviceAttributes *attributes = nullptr);

/// Finds the kind of device that executes code for a target.
/// \param target "host", "gfx942", "sm_90a"
/// \return the kind
/// \retval invalidArgument there is no such target
rt::Expected<rt::DeviceKind> deviceKindOfTarget(const std::string &target);

/// Lists the same for all devices of a target, with and without a cost model.
/// Needs no device.
/// \param op the operation
/// \param dtype the type of the elements
/// \param target "host", "gfx942", "sm_90a"
/// \param groupSize the number of ranks of the group
/// \param onHeap whether both buffers are on the symmetric heap
/// \return the configs, as of candidates()
/// \retval invalidArgument there is no such target, or IRIS_COST_MODEL is no
///   model of it
rt::Expected<std::vector<Config>> candidatesOfTarget(Op op, DType dtype,
                                                     const std::string &target,
                                                     uint32_t groupSize,
                                                     bool onHeap);

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_SELECTOR_H
