// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the collectives for every kind of device and several numbers of
// ranks: "cuda_8". Skipped if there are fewer GPUs than ranks.
#ifndef IRIS_TEST_RUNTIME_CCL_ONDEVICES_H
#define IRIS_TEST_RUNTIME_CCL_ONDEVICES_H

#include "support/Devices.h"
#include "support/Ranks.h"
#include "support/ccl/Kernels.h"
#include "support/ccl/Solve.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace iris::rt::test {

class OnDevices
    : public testing::TestWithParam<std::tuple<DeviceKind, uint32_t>> {
protected:
  static DeviceKind kind() { return std::get<0>(GetParam()); }
  static uint32_t ranks() { return std::get<1>(GetParam()); }

  void SetUp() override {
    uint32_t devices = devicesOf(kind());
    if (devices < ranks())
      GTEST_SKIP() << "needs " << ranks() << " "
                   << std::string(deviceKindName(kind())) << " devices; there "
                   << "are " << devices;
    (void)communicatorOptions(); // reads the packages
    Status packages = missingKernels();
    ASSERT_TRUE(packages.ok()) << packages.message();
  }

  Expected<std::unique_ptr<World>> makeWorld(const LaunchInfo &launch) const {
    return World::create(worldOptions(kind(), launch));
  }

  /// Runs the body on every rank as a process.
  void expectGood(const RankBody &body, double seconds = 280) const {
    EXPECT_EQ("", failures(runProcesses(ranks(), body, seconds)));
  }
};

inline std::string
nameOf(const testing::TestParamInfo<OnDevices::ParamType> &info) {
  return std::string(deviceKindName(std::get<0>(info.param))) + "_" +
         std::to_string(std::get<1>(info.param));
}

/// INSTANTIATE_TEST_SUITE_P of a suite of OnDevices, for numbers of ranks.
#define IRIS_ON_DEVICES(suite, ...)                                            \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Devices, suite,                                                          \
      testing::Combine(testing::Values(DeviceKind::host, DeviceKind::cuda,     \
                                       DeviceKind::hip),                       \
                       testing::Values(__VA_ARGS__)),                          \
      nameOf)

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_CCL_ONDEVICES_H
