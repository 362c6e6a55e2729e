// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.h - Looks for races and deadlocks of a program -----*- C++ -*-===//
#ifndef IRIS_RT_CHECK_H
#define IRIS_RT_CHECK_H

#include "iris/rt/Status.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace iris::rt {

/// How a program is checked. What is left out is as in `iris-run --check`.
struct CheckOptions {
  /// Ranks that execute `@main`.
  uint32_t numRanks = 2;
  /// Random orders to try.
  std::optional<uint64_t> numSchedules;
  /// Determines the first of them.
  std::optional<uint64_t> scheduleSeed;
  /// All orders, but one of those that differ only in the order of ops that do
  /// not conflict; up to maxExecutions.
  bool exhaust = false;
  std::optional<uint64_t> maxExecutions;
  /// Programs of a device that run at once.
  std::optional<uint64_t> resident;
  /// Files of an order to repeat, of the order that failed, and of its picture;
  /// empty: none.
  std::string replay, saveSchedule, draw;
  /// Bytes of a rank's symmetric heap; 0: the default.
  uint64_t heapBytes = 0;
  /// The check ends with an error after it.
  std::chrono::milliseconds limit = std::chrono::minutes(4);
};

/// What a check that found no error has covered.
struct CheckReport {
  /// As `iris-run --check` prints it.
  std::string summary;
  /// Whether all orders were executed, up to equivalence: of
  /// CheckOptions::exhaust, if no bound was reached.
  bool isComplete = false;
};

/// Executes a program on numRanks ranks in the interpreter, in several orders,
/// as `iris-run --check` does in this process' place. Needs `iris-interpret`,
/// which comes with the compiler, and no device. It is no collective call.
/// \param path a .mlir program with a `@main`
/// \param options which orders
/// \return what was covered
/// \retval invalidArgument the program has a data race, a deadlock, an access
///         out of bounds, a failed check or another error; or it cannot be
///         read, or an option is not valid. The message is the report, with
///         source lines
/// \retval timeout the limit expired
/// \retval unavailable there is no iris-interpret
Expected<CheckReport> checkProgram(const std::string &path,
                                   const CheckOptions &options = {});

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_CHECK_H
