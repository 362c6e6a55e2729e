// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.h - Checks of programs in GoogleTest ---------------*- C++ -*-===//
//
//   TEST(Kernels, HaveNoRace) {
//     iris::rt::CheckOptions options;
//     options.exhaust = true;
//     EXPECT_TRUE(iris::testing::isRaceFree("kernels.mlir", options));
//   }
//
// Needs GoogleTest, which Iris does not bring.
#ifndef IRIS_TESTING_CHECK_H
#define IRIS_TESTING_CHECK_H

#include "iris/rt/Check.h"

#include <gtest/gtest.h>

#include <string>

#pragma GCC visibility push(default)
namespace iris::testing {

/// Whether rt::checkProgram finds no data race, deadlock or other error. The
/// report is the message of a failure. With CheckOptions::exhaust a bound that
/// was reached is a failure too, as there are orders that were not executed.
/// \param path a .mlir program with a `@main`
/// \param options which orders
/// \return for EXPECT_TRUE and ASSERT_TRUE
inline ::testing::AssertionResult
isRaceFree(const std::string &path, const rt::CheckOptions &options = {}) {
  rt::Expected<rt::CheckReport> report = rt::checkProgram(path, options);
  if (!report.ok())
    return ::testing::AssertionFailure() << report.status().toString();
  if (options.exhaust && !report->isComplete)
    return ::testing::AssertionFailure()
           << "not all orders were executed: " << report->summary;
  return ::testing::AssertionSuccess() << report->summary;
}

} // namespace iris::testing
#pragma GCC visibility pop

#endif // IRIS_TESTING_CHECK_H
