// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelEstimates.h - Expected times of a call's kernels ---*- C++ -*-===//
#ifndef IRIS_RT_CCL_KERNELESTIMATES_H
#define IRIS_RT_CCL_KERNELESTIMATES_H

#include "ccl/DeviceModel.h"
#include "iris/ccl/Selector.h"

#include <vector>

namespace iris::ccl {

/// A kernel of the model that can run a call, and its estimate.
struct KernelEstimate {
  KernelModel kernel;
  Estimate estimate;
};

/// The kernels that select() considers for a call, fastest first.
std::vector<KernelEstimate> kernelEstimates(const TuningKey &tuningKey);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_KERNELESTIMATES_H
