// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rank tells its launcher, and what the launcher tells the user.
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
  /// The first check that did not hold, in words.
  std::string firstMismatch;
  /// Why the rank stopped early; empty if it did not.
  std::string error;
  /// The rank reached its end and said so.
  bool reported = false;
};

/// Text that travels from a rank's process to the launcher.
std::string encodeResult(const RankResult &result);
/// The result in `text`; not `reported` when the text is incomplete.
RankResult decodeResult(const std::string &text);

/// Prints the failures and the wait status; returns the exit status.
int summarize(const Options &options, const std::vector<RankResult> &results);

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_RESULTS_H
