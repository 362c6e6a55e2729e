// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rank the launcher names to ranks that have not joined.
#include "RankLauncher.h"
#include "bootstrap/LauncherNotice.h"
#include "core/UniqueFd.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <unistd.h>

using namespace iris;
using namespace iris::run;

/// A rank that has not joined: writes the notice to the descriptor NOTICE_TO.
TEST(Launcher, DISABLED_Reader) {
  int fd = std::atoi(std::getenv("IRIS_NOTICE_FD"));
  std::optional<rt::LauncherNotice> notice;
  while (!(notice = rt::peekNotice(fd)))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::string text =
      "rank " + std::to_string(notice->rank) + ": " + notice->how;
  ASSERT_EQ(
      ::write(std::atoi(std::getenv("NOTICE_TO")), text.data(), text.size()),
      static_cast<ssize_t>(text.size()));
}

/// What rank 0 is told if the ranks after it are these shell scripts.
static std::string noticeOf(const std::vector<std::string> &scripts) {
  Supervisor supervisor;
  RankLaunch launch;
  launch.numRanks = static_cast<uint32_t>(scripts.size()) + 1;
  launch.command = [&](uint32_t rank, int resultFd) {
    ChildSpec spec;
    spec.path = rank == 0 ? "/proc/self/exe" : "/bin/sh";
    spec.args = {"--gtest_filter=Launcher.DISABLED_Reader",
                 "--gtest_also_run_disabled_tests"};
    if (rank != 0)
      spec.args = {"-c", scripts[rank - 1]};
    spec.env = {"NOTICE_TO=" + std::to_string(resultFd)};
    spec.keep = {resultFd};
    return spec;
  };
  auto ends = launchRanks(supervisor, launch);
  return ends.ok() ? (*ends)[0].result : ends.status().message();
}

TEST(Launcher, NamesTheFirstCause) {
  std::string follows = "exit " + std::to_string(followerStatus);
  // The process of the rank that failed first ends later, as one with devices
  // and much memory does.
  EXPECT_EQ(noticeOf({follows, "sleep 0.5; exit 1", follows}),
            "rank 2: its process exited with status 1");
  EXPECT_EQ(noticeOf({follows, follows, "sleep 0.5; kill -KILL $$"}),
            "rank 3: its process was killed by signal 9 (Killed)");
  // Without another one, a rank that says so is named nevertheless.
  EXPECT_EQ(noticeOf({follows}), "rank 1: its process exited with status " +
                                     std::to_string(followerStatus));
}
