// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost models from times that follow from known constants.
#include "iris/ccl/Calibration.h"

#include "ccl/DeviceModel.h"
#include "ccl/FitKernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace iris::ccl;
using namespace iris::rt;

/// Points of chunks from 1 KiB to 16 MiB in tiles of 4 KiB, with 16 to 128
/// programs; 7 chunks cross the link.
template <typename TimeT>
static std::vector<FitPoint> pointsOf(TimeT timeOf) {
  std::vector<FitPoint> points;
  for (double bytes = 1024; bytes <= 16 << 20; bytes *= 4)
    for (double programs : {16., 32., 64., 128.}) {
      FitPoint point;
      point.programs = programs;
      point.iterations = std::ceil(std::ceil(bytes / 4096) / programs);
      point.linkBytes = 7 * bytes;
      point.us = timeOf(point);
      points.push_back(point);
    }
  return points;
}

TEST(FitKernel, FindsTheConstantsOfASum) {
  std::optional<FittedKernel> fitted =
      fitKernel(pointsOf([](const FitPoint &p) {
        return 5 + 0.01 * p.programs + 0.3 * p.iterations +
               p.linkBytes / 300000;
      }));
  ASSERT_TRUE(fitted.has_value());
  EXPECT_FALSE(fitted->overlaps);
  EXPECT_NEAR(fitted->startUs, 5, 1e-6);
  EXPECT_NEAR(fitted->programUs, 0.01, 1e-8);
  EXPECT_NEAR(fitted->iterationUs, 0.3, 1e-6);
  EXPECT_NEAR(1 / fitted->byteUs, 300000, 1);
  EXPECT_LT(fitted->meanError, 1e-6);
}

TEST(FitKernel, FindsTheConstantsOfAnOverlap) {
  std::optional<FittedKernel> fitted =
      fitKernel(pointsOf([](const FitPoint &p) {
        return 4 + 0.02 * p.programs +
               std::sqrt(std::pow(1.5 * p.iterations, 2) +
                         std::pow(p.linkBytes / 200000, 2));
      }));
  ASSERT_TRUE(fitted.has_value());
  EXPECT_TRUE(fitted->overlaps);
  EXPECT_NEAR(fitted->startUs, 4, 0.04);
  EXPECT_NEAR(fitted->iterationUs, 1.5, 0.015);
  EXPECT_NEAR(1 / fitted->byteUs, 200000, 2000);
  EXPECT_LT(fitted->meanError, 0.002);
}

TEST(FitKernel, NoConstantIsNegative) {
  // More programs make it faster than anything in the model explains.
  std::optional<FittedKernel> fitted = fitKernel(
      pointsOf([](const FitPoint &p) { return 10 - 0.02 * p.programs; }));
  ASSERT_TRUE(fitted.has_value());
  for (double value : {fitted->startUs, fitted->programUs, fitted->iterationUs,
                       fitted->byteUs})
    EXPECT_GE(value, 0);
  EXPECT_EQ(fitted->programUs, 0);
}

TEST(FitKernel, FewPointsAreRefused) {
  std::vector<FitPoint> points = pointsOf([](const FitPoint &) { return 1.; });
  points.resize(3);
  EXPECT_FALSE(fitKernel(points).has_value());
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static DeviceAttributes attributesOf(const char *target, const char *name) {
  DeviceAttributes attributes;
  attributes.target = target;
  attributes.name = name;
  attributes.processors = 132;
  attributes.warpSize = 32;
  attributes.clockMHz = 1980;
  attributes.memoryBytesPerUs = 3350000;
  return attributes;
}

static const std::vector<uint64_t> sizes = {1 << 10, 4 << 10, 64 << 10, 1 << 20,
                                            16 << 20};

/// Of a GPU without a model, every kernel is measured, and the model that
/// results is that of this GPU.
TEST(Calibration, MakesTheModelOfAnotherGpu) {
  const DeviceAttributes attributes =
      attributesOf("sm_90a", "NVIDIA H100 80GB HBM3");
  std::vector<CalibrationCall> calls =
      calibrationCalls(DeviceKind::cuda, attributes, 8, DType::bf16,
                       {Op::allGather, Op::allReduce, Op::send}, sizes);
  std::set<std::string> variants;
  for (CalibrationCall &call : calls) {
    variants.insert(std::string(opName(call.op)) + " " + call.config.variant +
                    (call.config.staged ? " staged" : ""));
    // A push takes 6 us and 300 GB/s, everything else twice as long.
    call.us = 6 + 7.0 * static_cast<double>(call.bytes) / 300000;
    if (call.config.variant != "push")
      call.us *= 2;
  }
  EXPECT_TRUE(variants.count("all_gather push"));
  EXPECT_TRUE(variants.count("all_gather packet"));
  EXPECT_TRUE(variants.count("all_gather buffered staged"));
  EXPECT_TRUE(variants.count("all_reduce two_shot"));
  EXPECT_FALSE(variants.count("all_gather pull")) << "by name only";
  EXPECT_FALSE(variants.count("all_gather copy_engine"));
  EXPECT_FALSE(variants.count("send packet"));

  Expected<std::string> text =
      calibratedModel(DeviceKind::cuda, attributes, 8, calls, "a test");
  ASSERT_TRUE(text.ok()) << text.status().message();
  Expected<DeviceModel> model = parseDeviceModel(*text, "the text");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(model->gpu, model->name);
  EXPECT_EQ(model->targets, std::vector<std::string>{"sm_90a"});
  EXPECT_EQ(model->links.source.rfind("a test", 0), 0u);
  // Constants that were not measured are those that served before.
  EXPECT_EQ(model->processor.memoryPeakBytesPerUs, 3350000);
  EXPECT_TRUE(std::isinf(model->links.peerBytesPerUs));
  size_t pushes = 0;
  for (const KernelModel &kernel : model->kernels) {
    if (kernel.op != Op::allGather || kernel.variant == "copy_engine")
      continue;
    // Nothing but one push is needed.
    EXPECT_EQ(kernel.variant, "push");
    ++pushes;
    // 7 peers: start + startPeers is the whole latency.
    EXPECT_NEAR(kernel.startUs + kernel.startPeersUs, 6, 0.01);
    EXPECT_NEAR(kernel.bytesPerUs, 300000, 300);
    EXPECT_NEAR(kernel.tileUs + kernel.tilePeersUs, 0, 0.01);
  }
  EXPECT_EQ(pushes, 1u);
  // Operations that were not measured keep their kernels.
  const DeviceModel &before =
      deviceModelOf(DeviceKind::cuda, "sm_90a", &attributes);
  auto countOf = [](const DeviceModel &of, Op op) {
    size_t count = 0;
    for (const KernelModel &kernel : of.kernels)
      count += kernel.op == op;
    return count;
  };
  EXPECT_GT(countOf(before, Op::allToAll), 0u);
  EXPECT_EQ(countOf(*model, Op::allToAll), countOf(before, Op::allToAll));
  EXPECT_NE(text->find("not measured by this calibration"), std::string::npos);
}

TEST(Calibration, TwoKernelsThatAreBestSomewhereAreKept) {
  const DeviceAttributes attributes = attributesOf("gfx942", "A new GPU");
  std::vector<CalibrationCall> calls = calibrationCalls(
      DeviceKind::hip, attributes, 4, DType::f32, {Op::allReduce}, sizes);
  for (CalibrationCall &call : calls) {
    const double bytes = static_cast<double>(call.bytes);
    call.us = call.config.variant == "one_shot_packet" ? 2 + bytes / 10000
              : call.config.variant == "two_shot"      ? 10 + bytes / 200000
                                                       : 1e5;
  }
  Expected<std::string> text =
      calibratedModel(DeviceKind::hip, attributes, 4, calls, "a test");
  ASSERT_TRUE(text.ok()) << text.status().message();
  Expected<DeviceModel> model = parseDeviceModel(*text, "the text");
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::set<std::string> variants;
  for (const KernelModel &kernel : model->kernels)
    variants.insert(kernel.variant);
  EXPECT_EQ(variants, (std::set<std::string>{"one_shot_packet", "two_shot"}));
}

TEST(Calibration, NothingIsFittedToFewTimes) {
  const DeviceAttributes attributes = attributesOf("sm_90a", "A GPU");
  std::vector<CalibrationCall> calls = calibrationCalls(
      DeviceKind::cuda, attributes, 8, DType::bf16, {Op::allGather}, {1024});
  // No call has a time.
  Status status =
      calibratedModel(DeviceKind::cuda, attributes, 8, calls, "a test")
          .status();
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_NE(status.message().find("expected more sizes"), std::string::npos);
}
