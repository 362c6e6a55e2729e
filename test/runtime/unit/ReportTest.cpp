// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/Report.h"

#include <gtest/gtest.h>

using namespace iris::rt;

TEST(Report, Values) {
  EXPECT_EQ(formatValue(IRISRT_ELT_I1, 1), "true");
  EXPECT_EQ(formatValue(IRISRT_ELT_I8, 0xff), "-1");
  EXPECT_EQ(formatValue(IRISRT_ELT_I16, 0x8000), "-32768");
  EXPECT_EQ(formatValue(IRISRT_ELT_I32, 0xffffffff), "-1");
  EXPECT_EQ(formatValue(IRISRT_ELT_I64, 7), "7");
  EXPECT_EQ(formatValue(IRISRT_ELT_F16, 0x3c00), "1 (0x3c00)");
  EXPECT_EQ(formatValue(IRISRT_ELT_F16, 0xc100), "-2.5 (0xc100)");
  EXPECT_EQ(formatValue(IRISRT_ELT_F16, 0x0001), "5.9605e-08 (0x0001)");
  EXPECT_EQ(formatValue(IRISRT_ELT_F16, 0x7c00), "inf (0x7c00)");
  EXPECT_EQ(formatValue(IRISRT_ELT_BF16, 0x3f80), "1 (0x3f80)");
  EXPECT_EQ(formatValue(IRISRT_ELT_F32, 0x40490fdb), "3.14159274 (0x40490fdb)");
  EXPECT_EQ(formatValue(IRISRT_ELT_F64, 0x3ff0000000000000),
            "1 (0x3ff0000000000000)");
  EXPECT_EQ(formatValue(std::nullopt, 255), "0xff");
}

static KernelInfo waitingKernel() {
  KernelInfo kernel;
  kernel.name = "consume";
  kernel.module = "k";
  kernel.sites.push_back({"iris.wait", "a.mlir:12:5", "", IRISRT_ELT_I32});
  kernel.sites.push_back(
      {"iris.expect_eq", "a.mlir:20:3", "doubled", IRISRT_ELT_F32});
  return kernel;
}

TEST(Report, Hang) {
  KernelInfo kernel = waitingKernel();
  IrisRtHangRecord record{};
  record.program[0] = 3;
  record.comparison = IRISRT_CMP_GE;
  record.expected = 7;
  record.observed = -1;
  record.owedBy = 2;
  record.launchId = 9;
  HangContext context;
  context.limitSeconds = 2;
  context.location = {1024 + 128, HeapRange{1024, 256}};
  EXPECT_EQ(describeHang(record, &kernel, context),
            "iris.wait at a.mlir:12:5 in k::consume, program (3, 0, 0) timed "
            "out after 2 s: the flag at byte 128 of the allocation at heap "
            "offset 1024 (element 32) should become >= 7, was last seen as "
            "-1; rank 2 owed the signal (launch 9)");
  record.owedBy = -1;
  record.site = 99; // out of bounds: device memory may hold anything
  record.comparison = 77;
  EXPECT_NE(describeHang(record, nullptr, HangContext()).find("site 99"),
            std::string::npos);
}

TEST(Report, HangOfARankThatWaitsForAnotherLaunch) {
  KernelInfo kernel = waitingKernel();
  IrisRtHangRecord record{};
  record.owedBy = 2;
  record.launchId = 9;
  HangContext context;
  auto ending = [&](uint32_t launches) {
    context.launchesOfOwner = launches;
    std::string text = describeHang(record, &kernel, context);
    return text.substr(text.find(';'));
  };
  EXPECT_EQ(ending(0), "; rank 2, which owed the signal, has not launched a "
                       "kernel (launch 9)");
  EXPECT_EQ(ending(1), "; rank 2, which owed the signal, has only called "
                       "launch 1 (launch 9)");
  EXPECT_EQ(ending(8), "; rank 2, which owed the signal, has only called "
                       "launch 8 (launch 9)");
  EXPECT_EQ(ending(9), "; rank 2 owed the signal (launch 9)");
}

TEST(Report, HangOnAFlagOutsideOfItsBuffer) {
  KernelInfo kernel = waitingKernel();
  IrisRtHangRecord record{};
  record.owedBy = -1;
  HangContext context;
  auto describe = [&](const FlagLocation &location) {
    context.location = location;
    return describeHang(record, &kernel, context);
  };
  const char *outside = "the flag is outside of";
  std::string text = describe({1024 + 128, HeapRange{1024, 128}});
  EXPECT_NE(text.find("(element 32)"), std::string::npos) << text;
  EXPECT_NE(text.find("; the flag is outside of its buffer, which has 128 "
                      "bytes; iris-run --debug names the index (launch 0)"),
            std::string::npos)
      << text;
  text = describe({4096, std::nullopt});
  EXPECT_NE(text.find("the flag at heap offset 4096 should become"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("; the flag is outside of every allocation"),
            std::string::npos)
      << text;
  text = describe({1024 + 124, HeapRange{1024, 128}});
  EXPECT_EQ(text.find(outside), std::string::npos) << text;
}

TEST(Report, Expect) {
  KernelInfo kernel = waitingKernel();
  IrisRtExpectRecord record{};
  record.site = 1;
  record.element = 5;
  record.got = 0x3f800000;
  record.want = 0x40000000;
  EXPECT_EQ(describeExpect(record, &kernel),
            "iris.expect_eq at a.mlir:20:3 in k::consume, program (0, 0, 0), "
            "element 5: got 1 (0x3f800000), want 2 (0x40000000): doubled");
}
