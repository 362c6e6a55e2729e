// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices by measured times, between and beyond the measured sizes.
#include "ccl/MeasuredCollective.h"

#include "ccl/KernelEstimates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace iris::ccl;
using namespace iris::rt;

static constexpr double none = std::numeric_limits<double>::infinity();

namespace {
/// An all-reduce of f32 on 4 host ranks, whose model derives its kernels from
/// the links. One of each of three variants is measured at 4 KiB and 64 KiB.
struct Measured : testing::Test {
  MeasuredCollective measured;

  void SetUp() override {
    measured.op = Op::allReduce;
    measured.dtype = DType::f32;
    measured.sizes = {4096, 65536};
  }

  TuningKey keyOf(uint64_t bytes) const {
    return measured.keyOf(bytes, 4, DeviceKind::host, nullptr);
  }

  /// The estimates of the model, fastest first.
  double estimateOf(const std::string &variant, uint64_t bytes) const {
    for (const KernelEstimate &each : kernelEstimates(keyOf(bytes)))
      if (each.kernel.variant == variant)
        return each.estimate.us;
    ADD_FAILURE() << variant;
    return 0;
  }

  /// Measures a variant as its estimate times these factors.
  void measure(const std::string &variant, double at4K, double at64K) {
    measured.kernels.push_back({{variant, 0, 0},
                                {at4K * estimateOf(variant, 4096),
                                 at64K * estimateOf(variant, 65536)}});
  }
};
} // namespace

TEST_F(Measured, TheFastestMeasuredKernelIsTaken) {
  // The model's favourite turns out to be slow.
  std::vector<KernelEstimate> all = kernelEstimates(keyOf(4096));
  ASSERT_GE(all.size(), 2u);
  const std::string first = all[0].kernel.variant,
                    second = all[1].kernel.variant;
  measured.kernels = {{{first, 0, 0}, {500, 500}}, {{second, 0, 0}, {20, 510}}};
  for (size_t i = 2; i < all.size(); ++i)
    measured.kernels.push_back({{all[i].kernel.variant, 0, 0}, {900, 900}});
  std::optional<MeasuredSelection> choice = measured.select(keyOf(4096));
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->config.variant, second);
  EXPECT_NEAR(choice->us, 20, 1e-9);
  EXPECT_NE(choice->reason.find(second), std::string::npos);
  EXPECT_NE(choice->reason.find("20.0 us, as measured"), std::string::npos)
      << choice->reason;
  choice = measured.select(keyOf(65536));
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->config.variant, first);
  EXPECT_NE(choice->reason.find("the next one takes 510.0 us (" + second),
            std::string::npos)
      << choice->reason;
}

TEST_F(Measured, FactorsAreInterpolatedBetweenSizesAndKeptBeyondThem) {
  measure("two_shot", 2, 8);
  // 16 KiB is half way between 4 KiB and 64 KiB: the root of 2 * 8.
  struct Case {
    uint64_t bytes;
    double factor;
    const char *origin;
  };
  for (const Case &each : {Case{16384, 4,
                                "between the measured 4 KiB and 64 "
                                "KiB"},
                           Case{8192, 2 * std::sqrt(2.), "between"},
                           Case{1024, 2, "below the measured 4 KiB"},
                           Case{1 << 20, 8, "beyond the measured 64 KiB"}}) {
    // Only the measured kernel has this factor; all others have the same, so
    // that the choice is the model's.
    std::optional<MeasuredSelection> choice =
        measured.select(keyOf(each.bytes));
    ASSERT_TRUE(choice.has_value());
    const KernelEstimate favourite = kernelEstimates(keyOf(each.bytes)).front();
    EXPECT_EQ(choice->config.variant, favourite.kernel.variant);
    EXPECT_NEAR(choice->us / favourite.estimate.us, each.factor, 1e-9)
        << each.bytes;
    if (favourite.kernel.variant == "two_shot")
      EXPECT_NE(choice->reason.find(each.origin), std::string::npos)
          << choice->reason;
    else
      EXPECT_NE(choice->reason.find("by the factors of the kernels"),
                std::string::npos)
          << choice->reason;
  }
}

TEST_F(Measured, KernelsThatWereNotMeasuredGetTheGeometricMean) {
  std::vector<KernelEstimate> all = kernelEstimates(keyOf(4096));
  ASSERT_GE(all.size(), 3u);
  measured.sizes = {4096};
  // 2 and 32 have the mean 8, which the third kernel gets.
  measured.kernels = {
      {{all[0].kernel.variant, 0, 0}, {32 * all[0].estimate.us}},
      {{all[1].kernel.variant, 0, 0}, {2 * all[1].estimate.us}}};
  std::optional<MeasuredSelection> choice = measured.select(keyOf(4096));
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->config.variant, all[1].kernel.variant);
  std::string third;
  double thirdUs = none;
  for (size_t i = 2; i < all.size(); ++i)
    thirdUs = std::min(thirdUs, 8 * all[i].estimate.us);
  const double next = std::min(thirdUs, 32 * all[0].estimate.us);
  EXPECT_NE(choice->reason.find(formatString("takes %.1f us", next)),
            std::string::npos)
      << choice->reason;
}

TEST_F(Measured, NothingIsChosenWithoutAMeasurement) {
  EXPECT_FALSE(measured.select(keyOf(4096)).has_value());
  measured.kernels = {{{"two_shot", 0, 0}, {none, none}}};
  EXPECT_FALSE(measured.select(keyOf(4096)).has_value());
  EXPECT_FALSE(measured.isUseful());
  measured.kernels = {{{"two_shot", 0, 0}, {10, none}},
                      {{"one_shot_packet", 0, 0}, {none, 10}}};
  EXPECT_FALSE(measured.isUseful()) << "the times are of different sizes";
  measured.kernels[1].us[0] = 12;
  EXPECT_TRUE(measured.isUseful());
  // Another operation, and buffers elsewhere.
  TuningKey other = keyOf(4096);
  other.op = Op::reduceScatter;
  EXPECT_FALSE(measured.select(other).has_value());
  other = keyOf(4096);
  other.onHeap = false;
  EXPECT_FALSE(measured.select(other).has_value());
}

/// Kernels within 1 %: the model's favourite, so that chance does not decide.
TEST_F(Measured, OfEqualKernelsTheModelsFavouriteIsTaken) {
  std::vector<KernelEstimate> all = kernelEstimates(keyOf(4096));
  const std::string first = all[0].kernel.variant,
                    second = all[1].kernel.variant;
  measured.sizes = {4096};
  measured.kernels = {{{second, 0, 0}, {100}}, {{first, 0, 0}, {100.9}}};
  EXPECT_EQ(measured.select(keyOf(4096))->config.variant, first);
  measured.kernels[1].us[0] = 101.1;
  EXPECT_EQ(measured.select(keyOf(4096))->config.variant, second);
}

TEST_F(Measured, TextsAreReadBack) {
  measured.onHeap = false;
  measured.kernels = {{{"two_shot", 4096, 8}, {10.123456789012345, none}}};
  measured.missing = {{"one_shot_packet", 512, 2}};
  Expected<MeasuredCollective> read =
      MeasuredCollective::parse(measured.text(), "a test");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->op, Op::allReduce);
  EXPECT_EQ(read->dtype, DType::f32);
  EXPECT_FALSE(read->onHeap);
  EXPECT_EQ(read->sizes, measured.sizes);
  ASSERT_EQ(read->kernels.size(), 1u);
  EXPECT_EQ(read->kernels[0].name, (KernelName{"two_shot", 4096, 8}));
  EXPECT_EQ(read->kernels[0].us, measured.kernels[0].us);
  EXPECT_EQ(read->missing, measured.missing);
}

TEST_F(Measured, TextsThatAreWrongAreRefused) {
  measured.kernels = {{{"two_shot", 0, 0}, {10, 20}}};
  const std::string good = measured.text();
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, const char *> cases[] = {
      {"{", "not JSON"},
      {with("\"all_reduce\"", "\"all_join\""), "'op' is 'all_join'"},
      {with("\"f32\"", "\"f31\""), "'dtype' is 'f31'"},
      {with("[4096,65536]", "[4096,4096]"), "'sizes[1]'"},
      {with("[4096,65536]", "[]"), "'sizes' is empty"},
      {with("[10.0,20.0]", "[10.0]"),
       "has 1 times; expected one for each of 2"},
      {with("[10.0,20.0]", "[10.0,0]"), "'kernels[0].us[1]' is 0"},
      {with("[10.0,20.0]", "[10.0,-1]"), "'kernels[0].us[1]' is -1"},
      {with("[10.0,20.0]", "[10.0,1e300]"), "is 1e+300"},
      {with("\"two_shot\"", "\"two\""), "has no such variant"},
      {with("\"missing\"", "\"others\""), "unknown key 'others'"}};
  for (const auto &[text, message] : cases) {
    Expected<MeasuredCollective> read =
        MeasuredCollective::parse(text, "a test");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.status().message().find(message), std::string::npos)
        << read.status().message();
  }
}
