// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeasuredCollective.h - Measured times of a collective ----*- C++ -*-===//
//
// The times of some kernels of a collective at a few sizes, and the choice of a
// kernel by them.
//
// Between the measured sizes, the time of a kernel is what the cost model
// estimates, times a factor. At a measured size the factor is the measured time
// over the estimate; between two such sizes, the logarithm of the factor is
// interpolated linearly in the logarithm of the size; beyond them, the factor
// is that of the nearest one. So the model supplies what was not measured: the
// shape of the curve, the number of programs, the alignment.
//
// A kernel that was measured at no size gets the geometric mean of the factors
// of those that were: among such kernels, and against the others, the model
// decides as it would without measurements.
#ifndef IRIS_RT_CCL_MEASUREDCOLLECTIVE_H
#define IRIS_RT_CCL_MEASUREDCOLLECTIVE_H

#include "ccl/DeviceModel.h"
#include "iris/ccl/Selector.h"

#include <optional>
#include <string>
#include <vector>

namespace iris::ccl {

/// Identifies a kernel of a model (KernelModel) among those of its operation.
struct KernelName {
  std::string variant;
  /// Bytes of a tile, and warps per program; 0: the generator's defaults.
  int64_t tileBytes = 0, warps = 0;

  static KernelName of(const KernelModel &kernel) {
    return {kernel.variant, kernel.tileBytes, kernel.warps};
  }
  bool operator==(const KernelName &other) const {
    return variant == other.variant && tileBytes == other.tileBytes &&
           warps == other.warps;
  }
};

/// A kernel and its times in microseconds, one for each size; infinite where it
/// was not measured.
struct MeasuredKernel {
  KernelName name;
  std::vector<double> us;
};

/// A choice by measured times.
struct MeasuredSelection {
  /// A complete config.
  Config config;
  /// The expected time in microseconds.
  double us = 0;
  /// The config, its time, from which measurements that follows, and the next
  /// best kernel, in one line.
  std::string reason;
};

/// The measurements of one operation.
struct MeasuredCollective {
  Op op = Op::allReduce;
  /// Whether the kernels are those for buffers on the symmetric heap.
  bool onHeap = true;
  /// The type of the elements that were measured.
  DType dtype = DType::i8;
  /// Bytes of a chunk, ascending.
  std::vector<uint64_t> sizes;
  std::vector<MeasuredKernel> kernels;
  /// Kernels that were not measured because they were not compiled.
  std::vector<KernelName> missing;

  /// The properties of the measured call of a size.
  TuningKey keyOf(uint64_t bytes, uint32_t groupSize, rt::DeviceKind device,
                  const rt::DeviceAttributes *attributes) const;

  /// The best kernel for a call; none if no measured kernel can run it.
  std::optional<MeasuredSelection> select(const TuningKey &tuningKey) const;

  /// Whether two kernels were measured at one size, so that there is a choice.
  bool isUseful() const;

  /// One line of JSON. `name` is for messages.
  std::string text() const;
  static rt::Expected<MeasuredCollective> parse(const std::string &text,
                                                const std::string &name);
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MEASUREDCOLLECTIVE_H
