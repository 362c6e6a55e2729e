// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RankLauncher.h - Launches the ranks of a job -------------*- C++ -*-===//
//
// Starts the ranks of a job as processes on this machine and watches them. A
// rank that fails, or that stays stopped, ends the job.
#ifndef IRIS_TOOLS_LAUNCH_RANKLAUNCHER_H
#define IRIS_TOOLS_LAUNCH_RANKLAUNCHER_H

#include "ChildProcess.h"

#include <functional>
#include <optional>

namespace iris::run {

/// The exit status of a rank that ends because another one has failed, which
/// the launcher then reports to the ranks that have not joined.
constexpr int followerStatus = 113;

/// The exit status of a rank: 0, `followerStatus` or 1.
int exitStatusOf(const rt::Status &status);

struct RankLaunch {
  uint32_t numRanks = 1;
  /// The command of a rank. The launcher adds rank, size, job and token to its
  /// environment. The data that it writes to `resultFd`, at most 64 KiB,
  /// becomes RankEnd::result; a command that does not keep the descriptor has
  /// no result.
  std::function<ChildSpec(uint32_t rank, int resultFd)> command;
  /// A rank that stays stopped (SIGSTOP, or by a terminal) for longer is
  /// killed; none: never.
  std::optional<std::chrono::milliseconds> stopLimit;
};

/// How a rank ended.
struct RankEnd {
  bool succeeded = false;
  /// "exited with status 3", "was killed by signal 9 (Killed)", "stayed stopped
  /// ...".
  std::string how;
  /// The rank ended on its own; the launcher did not end it.
  bool byItself = true;
  /// The rank was killed, so it cannot have reported why it ended.
  bool isUnexplained = false;
  /// The signal that ended it by itself, such as SIGSEGV; 0: none.
  int signal = 0;
  std::string result;
};

/// Runs the ranks until all have ended. After one has failed, the other ranks
/// end within seconds or are killed. Leaves no process and no file. A failed
/// status means that the ranks could not be started.
rt::Expected<std::vector<RankEnd>> launchRanks(Supervisor &supervisor,
                                               const RankLaunch &launch);

/// The stop limit for a time limit of waits, default IRIS_WAIT_LIMIT, else 30
/// s: half of it, so that the stopped rank is reported before its peers time
/// out. None for 0 (unlimited).
std::optional<std::chrono::milliseconds>
stopLimitFor(std::optional<double> waitSeconds);

} // namespace iris::run

#endif // IRIS_TOOLS_LAUNCH_RANKLAUNCHER_H
