// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Results.h - Results of ranks -----------------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_RESULTS_H
#define IRIS_TOOLS_IRIS_RUN_RESULTS_H

#include "Options.h"

#include <string>
#include <vector>

namespace iris::run {

/// The outcome of one rank.
struct RankResult {
  uint64_t checked = 0;
  uint64_t failed = 0;
  /// Describes the first check that failed.
  std::string firstMismatch;
  /// Why the rank stopped early; empty if it did not.
  std::string error;
  /// The rank has ended and sent its result.
  bool reported = false;
  /// The rank's own exit status; not sent.
  int exitStatus = 0;
};

/// Encodes the result that a rank sends to the launcher.
std::string encodeResult(const RankResult &result);
/// Decodes a result; not `reported` if the text is incomplete.
RankResult decodeResult(const std::string &text);

/// Prints the failures and a summary; returns the exit status.
int summarize(const Options &options, const std::vector<RankResult> &results);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_RESULTS_H
