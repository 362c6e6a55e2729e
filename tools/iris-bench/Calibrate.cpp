// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calibrate.cpp - Cost models of devices -----------------------------===//
#include "Calibrate.h"

#include <cstdio>
#include <ctime>

using namespace iris;
using namespace iris::bench;

/// Without a device (--requests), those of the target.
static rt::DeviceAttributes attributesOf(const Options &options) {
  if (options.attributes)
    return *options.attributes;
  rt::DeviceAttributes attributes;
  attributes.target = options.target;
  return attributes;
}

std::vector<ccl::CalibrationCall>
iris::bench::calibrationCallsOf(const Options &options) {
  return ccl::calibrationCalls(options.device.kind, attributesOf(options),
                               options.numRanks, options.dtypes.front(),
                               options.ops, options.sizes);
}

ccl::CalibrationCall iris::bench::calibrated(const Case &each,
                                             const Timing &timing) {
  ccl::CalibrationCall call;
  call.op = each.op;
  call.dtype = each.dtype;
  call.bytes = each.count * ccl::dtypeBytes(each.dtype);
  call.config = each.config;
  call.us = timing.median;
  return call;
}

rt::Status
iris::bench::writeCalibration(const Options &options,
                              const std::vector<ccl::CalibrationCall> &calls) {
  const rt::DeviceAttributes attributes = attributesOf(options);
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  if (::gmtime_r(&now, &utc))
    std::strftime(date, sizeof(date), "%Y-%m-%d", &utc);
  std::string source = rt::formatString(
      "%u ranks on %s%s%s, measured %s by iris-bench %s --calibrate",
      options.numRanks, attributes.name.c_str(),
      options.machine.empty() ? "" : ", ", options.machine.c_str(), date,
      IRIS_VERSION);
  IRISRT_ASSIGN_OR_RETURN(
      std::string text, ccl::calibratedModel(options.device.kind, attributes,
                                             options.numRanks, calls, source));
  IRISRT_RETURN_IF_ERROR(ccl::writeCostModel(options.calibratePath, text));
  std::printf("cost model of '%s' by %zu measurements: %s "
              "(IRIS_COST_MODEL)\n",
              rt::escapeControls(attributes.name).c_str(), calls.size(),
              rt::escapeControls(options.calibratePath).c_str());
  return rt::Status::success();
}
