// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Results.cpp - Results of ranks -------------------------------------===//
#include "Results.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <sstream>

using namespace iris;
using namespace iris::run;

/// Replaces line breaks, as a field is one line.
static std::string oneLine(std::string text) {
  for (char &c : text)
    if (c == '\n' || c == '\r')
      c = ' ';
  return text;
}

std::string iris::run::encodeResult(const RankResult &result) {
  std::string text;
  text += "checked " + std::to_string(result.checked) + "\n";
  text += "failed " + std::to_string(result.failed) + "\n";
  if (!result.firstMismatch.empty())
    text += "first " + oneLine(result.firstMismatch) + "\n";
  if (!result.error.empty())
    text += "error " + oneLine(result.error) + "\n";
  return text + "end\n";
}

RankResult iris::run::decodeResult(const std::string &text) {
  RankResult result;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    size_t space = line.find(' ');
    std::string key = line.substr(0, space);
    std::string value =
        space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "checked")
      result.checked = std::strtoull(value.c_str(), nullptr, 10);
    else if (key == "failed")
      result.failed = std::strtoull(value.c_str(), nullptr, 10);
    else if (key == "first")
      result.firstMismatch = value;
    else if (key == "error")
      result.error = value;
    else if (key == "end")
      result.reported = true;
  }
  return result;
}

int iris::run::summarize(const Options &options,
                         const std::vector<RankResult> &results) {
  uint64_t checked = 0, failed = 0;
  size_t badRanks = 0;
  for (size_t rank = 0; rank < results.size(); ++rank) {
    const RankResult &result = results[rank];
    checked += result.checked;
    failed += result.failed;
    bool bad = result.failed != 0 || !result.error.empty();
    badRanks += bad;
    if (!result.error.empty())
      std::fprintf(stderr, "iris-run: rank %zu: %s\n", rank,
                   result.error.c_str());
    if (result.failed != 0)
      std::fprintf(stderr,
                   "iris-run: rank %zu: %" PRIu64 " of %" PRIu64
                   " checks failed; the first: %s\n",
                   rank, result.failed, result.checked,
                   result.firstMismatch.empty() ? "(no record)"
                                                : result.firstMismatch.c_str());
  }
  std::string where = std::to_string(results.size()) +
                      (results.size() == 1 ? " rank" : " ranks") + " on " +
                      rt::deviceName(options.device);
  if (badRanks != 0) {
    std::fprintf(stderr,
                 "iris-run: FAILED on %zu of %s (%" PRIu64 " of %" PRIu64
                 " checks failed)\n",
                 badRanks, where.c_str(), failed, checked);
    return 1;
  }
  if (checked == 0 && options.compare) {
    std::printf("iris-run: %s: no checks\n", where.c_str());
    return 0;
  }
  if (checked == 0) {
    std::fprintf(stderr,
                 "iris-run: FAILED: the program ran on %s but checked nothing; "
                 "its kernels must check results with iris.expect_eq\n",
                 where.c_str());
    return 1;
  }
  std::printf("iris-run: %s: all %" PRIu64 " checks passed\n", where.c_str(),
              checked);
  return 0;
}
