// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FitKernel.h - Constants of a kernel's cost model ---------*- C++ -*-===//
#ifndef IRIS_RT_CCL_FITKERNEL_H
#define IRIS_RT_CCL_FITKERNEL_H

#include <optional>
#include <vector>

namespace iris::ccl {

/// A measured call in the terms of the cost model (CostModel.h).
struct FitPoint {
  /// Of the launch, tiles of the busiest program, and bytes over the busiest
  /// link.
  double programs = 0, iterations = 0, linkBytes = 0;
  double us = 0;
  /// The weight of its relative error.
  double weight = 1;
};

/// The constants for one size of the group, none of them negative.
struct FittedKernel {
  double startUs = 0, programUs = 0, iterationUs = 0, byteUs = 0;
  /// Whether iterations overlap with the transfer.
  bool overlaps = false;
  /// The mean of the relative errors, without sign.
  double meanError = 0;

  double estimate(const FitPoint &point) const;
};

/// The constants with the least squares of weighted relative errors, as a sum
/// or with iterations that overlap with the transfer, whichever fits better.
/// None for fewer than four points.
std::optional<FittedKernel> fitKernel(const std::vector<FitPoint> &points);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_FITKERNEL_H
