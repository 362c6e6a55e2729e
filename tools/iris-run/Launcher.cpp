// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Launcher.h"

#include "compile/Compiler.h"
#include "iris/rt/Program.h"

#include <cerrno>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

/// Once a rank has failed, the others notice within this time or are ended; a
/// little more than they wait for each other to join.
static constexpr auto failureGrace = std::chrono::seconds(25);
static constexpr auto stopGrace = std::chrono::milliseconds(2000);
/// More than any rank has to say.
static constexpr size_t maxResultBytes = 64 << 10;

namespace {
/// Descriptors that close themselves.
struct Fd {
  int fd = -1;
  Fd() = default;
  explicit Fd(int fd) : fd(fd) {}
  Fd(Fd &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  ~Fd() { reset(); }
  void reset() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
};

/// A rank as its launcher sees it.
struct Rank {
  size_t child = 0;
  Fd result;
  std::string text;
  bool open = false;
};
} // namespace

/// The package in memory that the ranks inherit: no file has to be left about.
static rt::Expected<int> shareBytes(const std::string &bytes) {
  int fd = ::memfd_create("iris-package", MFD_CLOEXEC);
  size_t written = 0;
  while (fd >= 0 && written < bytes.size()) {
    ssize_t step = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (step < 0 && errno == EINTR)
      continue;
    if (step <= 0) {
      ::close(fd);
      fd = -1;
      break;
    }
    written += static_cast<size_t>(step);
  }
  if (fd < 0)
    return rt::makeErrnoStatus(StatusCode::outOfMemory, errno,
                               "cannot hold a package of %zu bytes",
                               bytes.size());
  return fd;
}

static std::string randomHex() {
  std::random_device random;
  return rt::formatString("%08x%08x", random(), random());
}

static rt::Status startRanks(Supervisor &supervisor, const Options &options,
                             int packageFd, std::vector<Rank> &ranks) {
  std::string job = std::to_string(::getpid()) + "-" + randomHex();
  std::string token = randomHex();
  for (uint32_t rank = 0; rank < options.numRanks; ++rank) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
      return rt::makeErrnoStatus(StatusCode::internal, errno,
                                 "cannot create a pipe");
    Fd writeEnd(fds[1]);
    ranks[rank].result.fd = fds[0];
    ChildSpec spec;
    spec.path = rt::selfPath();
    spec.args = {"--device=" + std::string(rt::deviceKindName(options.device)),
                 "--result-fd=" + std::to_string(writeEnd.fd),
                 "--heap=" + std::to_string(options.heapBytes),
                 "/proc/self/fd/" + std::to_string(packageFd)};
    if (!options.trace.empty())
      spec.args.push_back("--trace=" + options.trace);
    if (options.traceEvents != 0)
      spec.args.push_back(
          rt::formatString("--trace-events=%u", options.traceEvents));
    if (options.waitLimit)
      spec.args.push_back(
          rt::formatString("--timeout=%.17g", *options.waitLimit));
    spec.env = {"IRIS_RANK=" + std::to_string(rank),
                "IRIS_LOCAL_RANK=" + std::to_string(rank),
                "IRIS_WORLD_SIZE=" + std::to_string(options.numRanks),
                "IRIS_JOB=" + job, "IRIS_TOKEN=" + token};
    if (options.verbose)
      spec.env.push_back("IRIS_LOG=info");
    spec.keep = {packageFd, writeEnd.fd};
    IRISRT_ASSIGN_OR_RETURN(ranks[rank].child, supervisor.start(spec));
    ranks[rank].open = true;
  }
  return {};
}

/// Reads what has come in; closes the pipe at its end.
static void readResult(Rank &rank) {
  char buffer[4096];
  while (rank.open) {
    ssize_t got = ::read(rank.result.fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return;
    if (got > 0 && rank.text.size() < maxResultBytes) {
      rank.text.append(buffer, static_cast<size_t>(got));
      continue;
    }
    rank.open = false;
    rank.result.reset();
  }
}

/// Waits for all ranks; ends those that do not follow when one has failed.
static void watchRanks(Supervisor &supervisor, std::vector<Rank> &ranks) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> end;
  while (supervisor.anyRunning()) {
    std::vector<int> readable;
    std::vector<Rank *> readers;
    for (Rank &rank : ranks)
      if (rank.open) {
        readable.push_back(rank.result.fd);
        readers.push_back(&rank);
      }
    for (size_t index :
         supervisor.wait(readable, std::chrono::milliseconds(200)))
      readResult(*readers[index]);
    if (supervisor.stopSignal() != 0)
      break;
    for (const Child &child : supervisor.children())
      if (!child.running && !child.succeeded() && !end)
        end = Clock::now() + failureGrace;
    if (end && Clock::now() > *end)
      break;
  }
  supervisor.endAll(stopGrace);
  rt::cleanUpRendezvous();
  for (Rank &rank : ranks)
    readResult(rank);
}

rt::Expected<std::vector<RankResult>>
iris::run::runProcesses(Supervisor &supervisor, const Options &options,
                        const std::string &packageBytes) {
  IRISRT_ASSIGN_OR_RETURN(int packageFd, shareBytes(packageBytes));
  Fd package(packageFd);
  std::vector<Rank> ranks(options.numRanks);
  rt::Status started = startRanks(supervisor, options, packageFd, ranks);
  if (!started.ok()) {
    supervisor.endAll(stopGrace);
    return started;
  }
  watchRanks(supervisor, ranks);

  std::vector<RankResult> results;
  for (Rank &rank : ranks) {
    RankResult result = decodeResult(rank.text);
    const Child &child = supervisor.children()[rank.child];
    if (!result.reported)
      result.error =
          "its process " + child.ending() + " before it could report anything";
    else if (!child.succeeded() && result.error.empty() && result.failed == 0)
      result.error = "its process " + child.ending();
    results.push_back(std::move(result));
  }
  return results;
}
