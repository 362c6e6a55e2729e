// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RankLauncher.cpp - Launches the ranks of a job ---------------------===//
#include "RankLauncher.h"

#include "bootstrap/LauncherNotice.h"
#include "core/Deadline.h"
#include "core/UniqueFd.h"
#include "iris/rt/Env.h"
#include "iris/rt/Program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;
using std::chrono::milliseconds;

/// The default time limit of a wait in a kernel; equals the runtime's.
static constexpr double defaultWaitSeconds = 30;
/// After a failure of one rank, the other ranks are ended after this time.
static constexpr auto failureGrace = std::chrono::seconds(10);
static constexpr auto stopGrace = milliseconds(2000);
/// How long the launcher waits for the rank that failed first, after ranks that
/// followed it have ended.
static constexpr auto causeGrace = std::chrono::seconds(3);
/// The interval between checks of the ranks.
static constexpr auto pollInterval = milliseconds(200);
/// The maximum size of a rank's result.
static constexpr size_t maxResultBytes = 64 << 10;

namespace {
class Launcher {
public:
  Launcher(Supervisor &supervisor, const RankLaunch &launch)
      : supervisor_(supervisor), launch_(launch), ranks_(launch.numRanks) {}

  rt::Expected<std::vector<RankEnd>> run();

private:
  /// The launcher's state of a rank.
  struct Rank {
    size_t child = 0;
    rt::UniqueFd result;
    std::string text;
    /// How long the rank has been stopped. Time during which the launcher
    /// itself was stopped, by Ctrl-Z in a terminal, does not count.
    milliseconds stopped{0};
    bool killedForStop = false;
    bool wasRunningAtEnd = false;
  };

  rt::Status start();
  rt::Status startRank(uint32_t rank, const std::vector<std::string> &env);
  void watch();
  void readResult(Rank &rank);
  void killStopped(milliseconds elapsed);
  const Child &childOf(const Rank &rank) const {
    return supervisor_.children()[rank.child];
  }
  bool anyFailed();
  void sendNotice(uint32_t first);
  std::string describe(const Rank &rank) const;

  Supervisor &supervisor_;
  const RankLaunch &launch_;
  rt::NoticeSender notices_;
  /// When only ranks that followed another one were found to have ended.
  std::optional<rt::Deadline> causeDeadline_;
  std::vector<Rank> ranks_;
};
} // namespace

static std::string randomHex() {
  std::random_device random;
  return rt::formatString("%08x%08x", random(), random());
}

std::optional<milliseconds>
iris::run::stopLimitFor(std::optional<double> waitSeconds) {
  if (!waitSeconds)
    waitSeconds = rt::Env::get().waitLimitSeconds();
  double seconds = waitSeconds.value_or(defaultWaitSeconds);
  if (seconds <= 0)
    return std::nullopt;
  return milliseconds(static_cast<int64_t>(std::min(seconds, 1e6) * 500));
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

rt::Status Launcher::startRank(uint32_t rank,
                               const std::vector<std::string> &env) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return rt::makeErrnoStatus(StatusCode::internal, errno,
                               "cannot create a pipe");
  rt::UniqueFd writeEnd(fds[1]);
  ranks_[rank].result.reset(fds[0]);
  ChildSpec spec = launch_.command(rank, writeEnd.get());
  spec.env.insert(spec.env.end(), env.begin(), env.end());
  std::string number = std::to_string(rank);
  spec.env.push_back("IRIS_RANK=" + number);
  spec.env.push_back("IRIS_LOCAL_RANK=" + number);
  spec.keep.push_back(notices_.receiver());
  IRISRT_ASSIGN_OR_RETURN(ranks_[rank].child, supervisor_.start(spec));
  return {};
}

rt::Status Launcher::start() {
  IRISRT_RETURN_IF_ERROR(notices_.open());
  std::vector<std::string> env = {
      "IRIS_WORLD_SIZE=" + std::to_string(launch_.numRanks),
      "IRIS_JOB=" + std::to_string(::getpid()) + "-" + randomHex(),
      "IRIS_TOKEN=" + randomHex(),
      "IRIS_NOTICE_FD=" + std::to_string(notices_.receiver())};
  // Chosen once for all ranks, and reported before any of them starts.
  if (launch_.numRanks > 1) {
    IRISRT_ASSIGN_OR_RETURN(std::string directory, rt::chooseRendezvous());
    env.push_back("IRIS_RENDEZVOUS_DIR=" + directory);
  }
  for (uint32_t rank = 0; rank < launch_.numRanks; ++rank)
    IRISRT_RETURN_IF_ERROR(startRank(rank, env).withContext(
        rt::formatString("rank %u cannot be started", rank)));
  return {};
}

//===----------------------------------------------------------------------===//
// Supervision
//===----------------------------------------------------------------------===//

/// Reads pending data; closes the pipe at its end.
void Launcher::readResult(Rank &rank) {
  char buffer[4096];
  while (rank.result.valid()) {
    ssize_t got = ::read(rank.result.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return;
    if (got > 0 && rank.text.size() < maxResultBytes) {
      rank.text.append(buffer, static_cast<size_t>(got));
      continue;
    }
    rank.result.reset();
  }
}

/// Kills ranks that stay stopped: for their peers they are as good as dead, and
/// peers notice and report the end of a process.
void Launcher::killStopped(milliseconds elapsed) {
  for (Rank &rank : ranks_) {
    const Child &child = childOf(rank);
    if (!child.running || child.stopSignal == 0) {
      rank.stopped = milliseconds(0);
      continue;
    }
    rank.stopped += elapsed;
    if (launch_.stopLimit && rank.stopped > *launch_.stopLimit &&
        !rank.killedForStop) {
      rank.killedForStop = true;
      ::kill(child.pid, SIGKILL);
    }
  }
}

std::string Launcher::describe(const Rank &rank) const {
  const Child &child = childOf(rank);
  if (rank.killedForStop)
    return rt::formatString(
        "stayed stopped (signal %d) for %.3g s and was killed",
        child.stopSignal,
        std::chrono::duration<double>(*launch_.stopLimit).count());
  return child.ending();
}

int iris::run::exitStatusOf(const rt::Status &status) {
  if (status.ok())
    return 0;
  return status.code() == StatusCode::aborted ? followerStatus : 1;
}

/// Larger for a more likely first cause. A killed rank could not say that it
/// followed another one.
static int causeRank(const Child &child) {
  if (child.wasKilled())
    return 2;
  return WEXITSTATUS(child.waitStatus) != followerStatus ? 1 : 0;
}

/// Ends the rendezvous of ranks that wait for rank `first` to join.
void Launcher::sendNotice(uint32_t first) {
  // Its connections may have ended long before its process, whose memory and
  // devices are released in between.
  if (causeRank(childOf(ranks_[first])) == 0) {
    if (!causeDeadline_)
      causeDeadline_.emplace(causeGrace);
    if (!causeDeadline_->passed())
      return;
  }
  notices_.send({first, "its process " + describe(ranks_[first])});
}

bool Launcher::anyFailed() {
  std::optional<uint32_t> first;
  for (uint32_t index = 0; index < ranks_.size(); ++index) {
    const Child &child = childOf(ranks_[index]);
    if (child.running || child.succeeded())
      continue;
    if (!first || causeRank(child) > causeRank(childOf(ranks_[*first])))
      first = index;
  }
  if (first)
    sendNotice(*first);
  return first.has_value();
}

/// Waits for all ranks. After a failure, ends ranks that do not end in time.
void Launcher::watch() {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> end;
  Clock::time_point last = Clock::now();
  while (supervisor_.anyRunning()) {
    std::vector<int> readable;
    std::vector<Rank *> readers;
    for (Rank &rank : ranks_)
      if (rank.result.valid()) {
        readable.push_back(rank.result.get());
        readers.push_back(&rank);
      }
    for (size_t index : supervisor_.wait(readable, pollInterval))
      readResult(*readers[index]);
    if (supervisor_.stopSignal() != 0)
      break;
    // After the time is read, so that no stop of the launcher is missed. The
    // whole interval counts otherwise: on a busy machine it may be long.
    Clock::time_point now = Clock::now();
    if (supervisor_.takeContinued())
      last = now;
    killStopped(std::chrono::duration_cast<milliseconds>(now - last));
    last = now;
    if (anyFailed() && !end)
      end = now + failureGrace;
    if (end && now > *end)
      break;
  }
  for (Rank &rank : ranks_)
    rank.wasRunningAtEnd = childOf(rank).running;
}

rt::Expected<std::vector<RankEnd>> Launcher::run() {
  rt::Status started = start();
  if (started.ok())
    watch();
  supervisor_.endAll(stopGrace);
  // Before the sweep, which needs descriptors; the limit may have been reached.
  for (Rank &rank : ranks_) {
    readResult(rank);
    rank.result.reset();
  }
  rt::cleanUpRendezvous();
  if (!started.ok())
    return started;
  std::vector<RankEnd> ends;
  for (Rank &rank : ranks_) {
    const Child &child = childOf(rank);
    RankEnd end;
    end.succeeded = child.succeeded();
    end.byItself = !rank.wasRunningAtEnd;
    end.how = describe(rank);
    if (rank.wasRunningAtEnd && !end.succeeded)
      end.how =
          child.stopSignal != 0
              ? rt::formatString("was stopped (signal %d) and was killed",
                                 child.stopSignal)
              : "did not end after another rank had failed, and was killed";
    end.isUnexplained =
        !end.succeeded && (rank.killedForStop || child.wasKilled());
    if (end.byItself && child.wasKilled())
      end.signal = WTERMSIG(child.waitStatus);
    end.result = std::move(rank.text);
    ends.push_back(std::move(end));
  }
  return ends;
}

rt::Expected<std::vector<RankEnd>>
iris::run::launchRanks(Supervisor &supervisor, const RankLaunch &launch) {
  return Launcher(supervisor, launch).run();
}
