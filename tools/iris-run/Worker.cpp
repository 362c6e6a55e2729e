// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Worker.cpp - One rank of the program -------------------------------===//
#include "Worker.h"

#include "Dump.h"
#include "RankLauncher.h"
#include "core/OsThread.h"
#include "iris/rt/Program.h"
#include "iris/rt/World.h"

#include <cerrno>
#include <cstdio>
#include <random>
#include <unistd.h>

using namespace iris;
using namespace iris::run;

/// Time for work other than one wait in a kernel.
static constexpr double collectiveSlackSeconds = 270;
/// All ranks are started together, so a rank that does not join has failed.
static constexpr double joinSeconds = 20;

/// Runs `@main`, with a trace if requested.
static rt::Status runMain(rt::World &world, const Options &options,
                          const rt::Package &package, int dumpFd) {
  auto run = [&] {
    if (dumpFd < 0)
      return rt::runProgram(world, package);
    BufferDump dump(dumpFd);
    return rt::runProgram(world, package, dump);
  };
  if (options.trace.empty())
    return run();
  rt::TraceOptions trace;
  if (options.traceEvents != 0)
    trace.eventsPerRing = options.traceEvents;
  IRISRT_RETURN_IF_ERROR(world.startTrace(trace));
  IRISRT_RETURN_IF_ERROR(run());
  IRISRT_ASSIGN_OR_RETURN(rt::TraceSummary summary,
                          world.writeTrace(options.trace));
  if (world.rank() == 0)
    std::printf("%siris-run: trace in %s\n",
                rt::escapeControls(summary.toString()).c_str(),
                rt::escapeControls(options.trace).c_str());
  return {};
}

static void setError(RankResult &result, const rt::Status &status) {
  result.error = status.ok() ? "" : status.message();
  result.exitStatus = exitStatusOf(status);
}

RankResult iris::run::runRank(const Options &options,
                              const rt::LaunchInfo &launch,
                              const rt::Package &package, int dumpFd) {
  RankResult result;
  result.reported = true;
  rt::WorldOptions worldOptions;
  worldOptions.device = options.device;
  worldOptions.launch = launch;
  worldOptions.heapBytes = options.heapBytes;
  worldOptions.waitLimit = options.waitLimit;
  worldOptions.joinLimit =
      rt::Env::get().joinLimitSeconds().value_or(joinSeconds);
  worldOptions.collectiveLimit =
      rt::Env::get().collectiveLimitSeconds().value_or(
          options.waitLimit.value_or(30) + collectiveSlackSeconds);
  rt::Expected<std::unique_ptr<rt::World>> world =
      rt::World::create(worldOptions);
  if (!world.ok()) {
    setError(result, world.status());
    return result;
  }
  rt::Status status = runMain(**world, options, package, dumpFd);
  // Checks before a failure still count.
  rt::ExpectReport report = (*world)->expects();
  result.checked = report.checked;
  result.failed = report.failed;
  result.firstMismatch = report.first;
  if (!status.ok())
    (*world)->fail(status); // ends the waits of the peers
  rt::Status destroyed = (*world)->destroy();
  if (status.ok())
    status = destroyed;
  setError(result, status);
  return result;
}

int iris::run::workerMain(const Options &options) {
  RankResult result;
  result.reported = true;
  const rt::Expected<rt::LaunchInfo> &launch = rt::Env::get().launch();
  if (!launch.ok()) {
    setError(result, launch.status());
  } else {
    rt::Expected<rt::Package> package = rt::Package::fromFile(options.program);
    if (package.ok())
      result = runRank(options, *launch, *package, options.dumpFd);
    else
      setError(result, package.status());
  }
  std::string text = encodeResult(result);
  size_t sent = 0;
  while (sent < text.size()) {
    ssize_t step =
        ::write(options.resultFd, text.data() + sent, text.size() - sent);
    if (step < 0 && errno == EINTR)
      continue;
    if (step <= 0)
      return 1; // the launcher has ended
    sent += static_cast<size_t>(step);
  }
  return result.failed != 0 ? 1 : result.exitStatus;
}

std::vector<RankResult>
iris::run::runThreads(const Options &options, const rt::Package &package,
                      const std::vector<rt::UniqueFd> &dumps) {
  std::vector<RankResult> results(options.numRanks);
  std::vector<rt::OsThread> threads;
  std::random_device random;
  std::string job =
      "iris-run:" + std::to_string(::getpid()) + ":" + std::to_string(random());
  for (uint32_t rank = 0; rank < options.numRanks; ++rank) {
    rt::Expected<rt::OsThread> thread = rt::OsThread::start([&, rank] {
      rt::LaunchInfo launch;
      launch.launcher = "iris-run";
      launch.rank = rank;
      launch.numRanks = options.numRanks;
      launch.localRank = rank;
      launch.job = job;
      results[rank] = runRank(options, launch, package,
                              dumps.empty() ? -1 : dumps[rank].get());
    });
    if (thread.ok()) {
      threads.push_back(std::move(*thread));
    } else {
      results[rank].error = thread.status().message();
      results[rank].reported = true;
    }
  }
  for (rt::OsThread &thread : threads)
    thread.join();
  return results;
}
