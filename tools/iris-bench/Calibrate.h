// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calibrate.h - Cost models of devices ---------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_BENCH_CALIBRATE_H
#define IRIS_TOOLS_IRIS_BENCH_CALIBRATE_H

#include "Measure.h"

#include "iris/ccl/Calibration.h"

namespace iris::bench {

/// The calls that --calibrate measures.
std::vector<ccl::CalibrationCall> calibrationCallsOf(const Options &options);

/// A measured case of them.
ccl::CalibrationCall calibrated(const Case &each, const Timing &timing);

/// Fits the model and writes it to the file of the options.
rt::Status writeCalibration(const Options &options,
                            const std::vector<ccl::CalibrationCall> &calls);

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_CALIBRATE_H
