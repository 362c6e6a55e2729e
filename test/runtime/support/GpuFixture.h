// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared fixture of the GPU back end's tests on the fake driver.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_GPUFIXTURE_H
#define IRIS_TEST_RUNTIME_SUPPORT_GPUFIXTURE_H

#include "backends/gpu/GpuBackend.h"
#include "support/fake_gpu/FakeGpu.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <string>

/// Runs a suite on the fake as CUDA and as HIP.
#define FAKE_GPU_SUITE(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(Fake, suite,                                        \
                           testing::Values(DeviceKind::cuda, DeviceKind::hip), \
                           [](const auto &info) {                              \
                             return std::string(deviceKindName(info.param));   \
                           })

/// For a Status or an Expected.
#define ASSERT_OK(expr)                                                        \
  do {                                                                         \
    auto &&result_ = (expr);                                                   \
    ASSERT_TRUE(result_.ok()) << describe(result_);                            \
  } while (false)
#define EXPECT_OK(expr)                                                        \
  do {                                                                         \
    auto &&result_ = (expr);                                                   \
    EXPECT_TRUE(result_.ok()) << describe(result_);                            \
  } while (false)
#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

namespace iris::rt::test {

using gpu::GpuBackend;
using gpu::GpuOptions;

inline std::string describe(const Status &status) { return status.toString(); }
template <typename T>
std::string describe(const Expected<T> &expected) {
  return expected.status().toString();
}

/// A function of FakeGpu.h. Without the library, which is next to the tests
/// where they are built, none of them can run.
template <typename Function>
Function fake(const char *name) {
  void *library = dlopen(IRIS_FAKE_GPU, RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, name) : nullptr;
  if (!function) {
    std::fprintf(stderr, "the fake driver cannot be loaded: %s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function>(function);
}

/// The fake driver's settings and counters.
inline FakeGpuControl &control() {
  static FakeGpuControl *control =
      fake<FakeGpuControl *(*)()>("fakeGpuControl")();
  return *control;
}

/// A back end on the fake driver; checks that nothing leaks in the driver.
class Gpu : public testing::TestWithParam<DeviceKind> {
protected:
  void SetUp() override { resetControl(); }
  void TearDown() override {
    backend.reset();
    EXPECT_EQ(control().live(), 0) << "the driver's objects leak";
    EXPECT_EQ(control().misuses, 0);
    resetControl();
  }

  static void resetControl() {
    new (&control()) FakeGpuControl; // nothing in it needs destruction
  }

  bool cuda() const { return GetParam() == DeviceKind::cuda; }

  Expected<std::unique_ptr<Backend>> tryCreate(int index = 0,
                                               bool placed = true) {
    GpuOptions options;
    options.kind = GetParam();
    options.index = index;
    options.library = IRIS_FAKE_GPU;
    options.matmulLibrary = IRIS_FAKE_GPU;
    options.allowPlacedMappings = placed;
    return GpuBackend::create(options);
  }

  void create(int index = 0, bool placed = true) {
    auto created = tryCreate(index, placed);
    ASSERT_OK(created);
    backend = created.take();
  }

  Status synchronize(StreamHandle stream) {
    return backend->synchronize(stream, std::chrono::seconds(20));
  }

  std::unique_ptr<Backend> backend;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_GPUFIXTURE_H
