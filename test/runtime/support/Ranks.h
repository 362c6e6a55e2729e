// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function on several ranks: as forked processes, or as threads.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_RANKS_H
#define IRIS_TEST_RUNTIME_SUPPORT_RANKS_H

#include "iris/rt/World.h"

#include <functional>
#include <string>
#include <vector>

namespace iris::rt::test {

/// Launch information of one rank of a job that is private to this test.
LaunchInfo launchOf(const std::string &job, uint32_t rank, uint32_t numRanks);

/// A job name that is unique across tests, processes and calls.
std::string freshJob();

/// Body of a rank; returns a description of the failure, empty on success.
using RankBody = std::function<std::string(const LaunchInfo &launch)>;

/// How one rank ended.
struct RankEnd {
  std::string text;    ///< return value of the body
  bool exited = false; ///< normally, after returning
  int signal = 0;      ///< that killed it
  int exitStatus = 0;
};

/// Runs `body` on every rank as a separate process. All processes have ended
/// when it returns, at the latest after `seconds`.
std::vector<RankEnd> runProcesses(uint32_t numRanks, const RankBody &body,
                                  double seconds = 60,
                                  const std::string &job = freshJob());

/// Runs `body` on every rank as a thread of this process.
std::vector<RankEnd> runThreads(uint32_t numRanks, const RankBody &body);

/// Runs `body` on every rank in one of these ways.
std::vector<RankEnd> runRanks(uint32_t numRanks, bool threads,
                              const RankBody &body);

/// "" if every rank returned "" and exited normally, else a list of the
/// failures.
std::string failures(const std::vector<RankEnd> &ends);

/// Names of the files in the rendezvous directory.
std::vector<std::string> rendezvousLeftovers();

} // namespace iris::rt::test

/// Inside a RankBody: returns the text of a failed status.
#define RANK_TRY(expr)                                                         \
  do {                                                                         \
    ::iris::rt::Status rankStatus_ = (expr);                                   \
    if (!rankStatus_.ok())                                                     \
      return std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " +     \
             rankStatus_.toString();                                           \
  } while (false)

/// Inside a RankBody: `lhs` = the value, or returns the text of the status.
#define RANK_ASSIGN(lhs, expr)                                                 \
  RANK_ASSIGN_IMPL(IRISRT_CONCAT(rankExpected_, __LINE__), lhs, expr)
#define RANK_ASSIGN_IMPL(tmp, lhs, expr)                                       \
  auto tmp = (expr);                                                           \
  if (!tmp.ok())                                                               \
    return std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " +       \
           tmp.status().toString();                                            \
  lhs = tmp.take()

/// Inside a RankBody: returns the condition's text when it does not hold.
#define RANK_CHECK(condition)                                                  \
  do {                                                                         \
    if (!(condition))                                                          \
      return std::string(__FILE__ ":") + std::to_string(__LINE__) +            \
             ": " #condition;                                                  \
  } while (false)

#endif // IRIS_TEST_RUNTIME_SUPPORT_RANKS_H
