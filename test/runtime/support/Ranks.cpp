// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Ranks.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// A private rendezvous directory: tests that run at the same time, or Iris
/// itself, would otherwise leave files where another test looks. Created before
/// main, so before the environment is read.
class OwnRendezvousDir {
public:
  OwnRendezvousDir() {
    if (::mkdtemp(path_))
      ::setenv("IRIS_RENDEZVOUS_DIR", path_, /*overwrite=*/1);
  }
  ~OwnRendezvousDir() {
    std::error_code ignored;
    if (::getpid() == owner_) // and not a rank that called exit
      std::filesystem::remove_all(path_, ignored);
  }

private:
  char path_[32] = "/tmp/iris-test-XXXXXX";
  pid_t owner_ = ::getpid();
} ownRendezvousDir;
} // namespace

LaunchInfo iris::rt::test::launchOf(const std::string &job, uint32_t rank,
                                    uint32_t numRanks) {
  LaunchInfo launch;
  launch.launcher = "test";
  launch.rank = rank;
  launch.numRanks = numRanks;
  launch.localRank = rank;
  launch.job = job;
  launch.token = 0x1234;
  return launch;
}

std::string iris::rt::test::freshJob() {
  static std::atomic<unsigned> counter{0};
  static const unsigned seed = std::random_device()();
  return "test:" + std::to_string(::getpid()) + ":" + std::to_string(seed) +
         ":" + std::to_string(counter++);
}

/// Body of a rank's process: writes the text to the pipe.
[[noreturn]] static void childMain(const RankBody &body,
                                   const LaunchInfo &launch, int fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string text = body(launch);
  size_t sent = 0;
  while (sent < text.size()) {
    ssize_t step = ::write(fd, text.data() + sent, text.size() - sent);
    if (step <= 0)
      break;
    sent += static_cast<size_t>(step);
  }
  ::close(fd);
  ::_exit(0); // not the parent's exit handlers
}

std::vector<RankEnd> iris::rt::test::runProcesses(uint32_t numRanks,
                                                  const RankBody &body,
                                                  double seconds,
                                                  const std::string &job) {
  std::vector<pid_t> pids(numRanks);
  std::vector<int> pipes(numRanks);
  std::vector<RankEnd> ends(numRanks);
  for (uint32_t rank = 0; rank < numRanks; ++rank) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0)
      ::abort();
    pids[rank] = ::fork();
    if (pids[rank] == 0) {
      ::close(fds[0]);
      childMain(body, launchOf(job, rank, numRanks), fds[1]);
    }
    ::close(fds[1]);
    pipes[rank] = fds[0];
  }
  auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (uint32_t rank = 0; rank < numRanks; ++rank) {
    int status = 0;
    while (::waitpid(pids[rank], &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        ::kill(pids[rank], SIGKILL);
        ::waitpid(pids[rank], &status, 0);
        ends[rank].text = "(ended by the test: too slow) ";
        break;
      }
      ::usleep(1000);
    }
    char buffer[4096];
    ssize_t got;
    while ((got = ::read(pipes[rank], buffer, sizeof(buffer))) > 0)
      ends[rank].text.append(buffer, static_cast<size_t>(got));
    ::close(pipes[rank]);
    ends[rank].exited = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ends[rank].exitStatus = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    ends[rank].signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  return ends;
}

std::vector<RankEnd> iris::rt::test::runThreads(uint32_t numRanks,
                                                const RankBody &body) {
  std::string job = freshJob();
  std::vector<RankEnd> ends(numRanks);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < numRanks; ++rank)
    threads.emplace_back([&, rank] {
      ends[rank].text = body(launchOf(job, rank, numRanks));
      ends[rank].exited = true;
    });
  for (std::thread &thread : threads)
    thread.join();
  return ends;
}

std::vector<RankEnd> iris::rt::test::runRanks(uint32_t numRanks, bool threads,
                                              const RankBody &body) {
  return threads ? runThreads(numRanks, body) : runProcesses(numRanks, body);
}

std::string iris::rt::test::failures(const std::vector<RankEnd> &ends) {
  std::string text;
  for (size_t rank = 0; rank < ends.size(); ++rank) {
    const RankEnd &end = ends[rank];
    if (end.exited && end.text.empty())
      continue;
    text += "rank " + std::to_string(rank) + ": " + end.text;
    if (end.signal != 0)
      text += " (killed by signal " + std::to_string(end.signal) + ")";
    if (end.exitStatus != 0)
      text += " (exit status " + std::to_string(end.exitStatus) + ")";
    text += "\n";
  }
  return text;
}

std::vector<std::string> iris::rt::test::rendezvousLeftovers() {
  std::vector<std::string> names;
  DIR *dir = ::opendir(Env::get().rendezvousDirs().front().c_str());
  if (!dir)
    return names;
  while (dirent *entry = ::readdir(dir))
    if (entry->d_name[0] != '.')
      names.push_back(entry->d_name);
  ::closedir(dir);
  return names;
}
