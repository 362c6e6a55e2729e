// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of kernels by GoogleTest; argv[1] is the folder of the programs.
#include "iris/testing/Check.h"

#include <fstream>
#include <string>

using iris::rt::CheckOptions;
using iris::rt::StatusCode;
using iris::testing::isRaceFree;

namespace {

std::string programs;

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Check, AProgramIsRight) {
  CheckOptions options;
  for (uint32_t ranks : {1, 2, 3}) {
    options.numRanks = ranks;
    EXPECT_TRUE(isRaceFree(programs + "/ordered.mlir", options));
  }
  options.numSchedules = 1;
  auto report = iris::rt::checkProgram(programs + "/ordered.mlir", options);
  ASSERT_TRUE(report.ok()) << report.status().toString();
  EXPECT_FALSE(report->isComplete);
  EXPECT_EQ(report->summary, "checkProgram: 3 ranks: no data race and no "
                             "deadlock in 1 order");
}

TEST(Check, AllOrdersAreExecuted) {
  CheckOptions options;
  options.exhaust = true;
  EXPECT_TRUE(isRaceFree(programs + "/ordered.mlir", options));
  options.maxExecutions = 2;
  options.numRanks = 4;
  auto result = isRaceFree(programs + "/ordered.mlir", options);
  EXPECT_FALSE(result);
  EXPECT_TRUE(contains(result.message(), "not all orders were executed"));
}

TEST(Check, ARaceIsReportedWithItsLines) {
  const std::string path = programs + "/unordered.mlir";
  auto result = isRaceFree(path);
  EXPECT_FALSE(result);
  EXPECT_TRUE(contains(result.message(), "nothing orders it"))
      << result.message();
  EXPECT_TRUE(contains(result.message(), "unordered.mlir:15:5"))
      << result.message();

  // The order that failed can be repeated.
  CheckOptions options;
  options.saveSchedule = programs + "/failed.schedule";
  EXPECT_FALSE(isRaceFree(path, options));
  CheckOptions again;
  again.replay = options.saveSchedule;
  EXPECT_FALSE(isRaceFree(path, again));
}

TEST(Check, WhatCannotBeCheckedIsAnError) {
  auto codeOf = [](const std::string &path, const CheckOptions &options = {}) {
    return iris::rt::checkProgram(path, options).status().code();
  };
  EXPECT_EQ(codeOf(programs + "/absent.mlir"), StatusCode::invalidArgument);
  EXPECT_EQ(codeOf(programs + "/ordered.iris"), StatusCode::invalidArgument);
  const std::string broken = programs + "/broken.mlir";
  std::ofstream(broken) << "func.func @main(";
  EXPECT_EQ(codeOf(broken), StatusCode::invalidArgument);
  CheckOptions options;
  options.numSchedules = 0;
  EXPECT_EQ(codeOf(programs + "/ordered.mlir", options),
            StatusCode::invalidArgument);
  options.numSchedules = 1000000;
  options.limit = std::chrono::milliseconds(100);
  EXPECT_EQ(codeOf(programs + "/ordered.mlir", options), StatusCode::timeout);
}

} // namespace

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  programs = argc > 1 ? argv[1] : ".";
  return RUN_ALL_TESTS();
}
