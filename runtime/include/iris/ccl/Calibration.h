// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calibration.h - Cost models from measurements ------------*- C++ -*-===//
//
// Makes the cost model of a device from measurements of its collectives
// (docs/guides/tuning.md); iris-bench --calibrate measures.
//
// \param device the kind of device
// \param attributes the device's attributes (World::deviceAttributes)
// \param groupSize the number of ranks that are measured
#ifndef IRIS_CCL_CALIBRATION_H
#define IRIS_CCL_CALIBRATION_H

#include "iris/ccl/Types.h"
#include "iris/rt/Device.h"

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// A call of a calibration, not in place.
struct CalibrationCall {
  /// The operation, and the type of its elements.
  Op op = Op::allReduce;
  DType dtype = DType::bf16;
  /// Bytes of one chunk.
  uint64_t bytes = 0;
  /// A complete config; staged: the kernel for buffers outside of the heap.
  Config config;
  /// The measured time in microseconds.
  double us = 0;
};

/// Lists the calls to measure: of every kernel that may be chosen without being
/// named, with the tiles and warps that were good on any GPU, and with each
/// number of programs that is selected.
/// \param dtype the type of the elements
/// \param ops the operations
/// \param sizes bytes of the chunks; kernels that go through the workspace are
///   only measured with chunks that they process at once
/// \return the calls, without times
std::vector<CalibrationCall>
calibrationCalls(rt::DeviceKind device, const rt::DeviceAttributes &attributes,
                 uint32_t groupSize, DType dtype, const std::vector<Op> &ops,
                 const std::vector<uint64_t> &sizes);

/// Fits the constants of each kernel, and keeps those kernels that are best at
/// some size. What is not measured (links, processors, matmuls) are the
/// constants with which the device is modelled without this file.
/// \param calls the calls with their times
/// \param source where and when they were measured, for `source` in the file
/// \return the model as JSON, in the format of runtime/src/ccl/models
/// \retval invalidArgument no kernel has enough measurements
rt::Expected<std::string>
calibratedModel(rt::DeviceKind device, const rt::DeviceAttributes &attributes,
                uint32_t groupSize, const std::vector<CalibrationCall> &calls,
                const std::string &source);

/// Writes a model to a file of this user with mode 0600, as IRIS_COST_MODEL
/// expects it, and replaces an older one.
/// \param path the file
/// \param text the model
/// \retval invalidArgument the file cannot be written
rt::Status writeCostModel(const std::string &path, const std::string &text);

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_CALIBRATION_H
