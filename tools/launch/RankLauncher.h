// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the ranks of a job as processes of this machine and watches them: a
// rank that fails, or that stays stopped, ends the job.
#ifndef IRIS_TOOLS_LAUNCH_RANKLAUNCHER_H
#define IRIS_TOOLS_LAUNCH_RANKLAUNCHER_H

#include "ChildProcess.h"

#include <functional>
#include <optional>

namespace iris::run {

struct RankLaunch {
  uint32_t numRanks = 1;
  /// How to start a rank.  Rank, size, job and token are added to its
  /// environment.  What it writes to `resultFd` before it ends, up to 64 KiB,
  /// becomes RankEnd::result; a command that does not keep the descriptor has
  /// no result.
  std::function<ChildSpec(uint32_t rank, int resultFd)> command;
  /// A rank that stays stopped (SIGSTOP, or a terminal's) for longer is killed;
  /// none: never.
  std::optional<std::chrono::milliseconds> stopLimit;
};

/// How a rank ended.
struct RankEnd {
  bool succeeded = false;
  /// "exited with status 3", "was killed by signal 9 (Killed)", "stayed stopped
  /// ...".
  std::string how;
  /// By itself, and not at this launcher's hands.
  bool byItself = true;
  /// Whether how it ended is news: it did not exit with a status, which it has
  /// explained itself.
  bool isUnexplained = false;
  std::string result;
};

/// Runs the ranks to their ends.  Once one has failed, the others follow within
/// seconds or are ended.  No process and no file is left of them.  A failed
/// status means that they could not be started.
rt::Expected<std::vector<RankEnd>> launchRanks(Supervisor &supervisor,
                                               const RankLaunch &launch);

/// The limit for stopped ranks that goes with a limit of waits, by default
/// IRIS_WAIT_LIMIT, else 30 s: half of it, so that the rank that is stopped is
/// found before those that wait for it give up.  0 (wait for ever): none.
std::optional<std::chrono::milliseconds>
stopLimitFor(std::optional<double> waitSeconds);

} // namespace iris::run

#endif // IRIS_TOOLS_LAUNCH_RANKLAUNCHER_H
