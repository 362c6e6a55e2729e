// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measurements of calls on host ranks, with clocks that differ between them.
#include "ccl/MeasureCalls.h"
#include "ccl/MatmulTuner.h"
#include "ccl/TunedChoices.h"
#include "support/Ranks.h"
#include "support/ccl/CacheFolder.h"
#include "support/ccl/NoisyClock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// A world on the host whose ranks agree on a channel.
struct Ranks {
  static Expected<Ranks> create(const LaunchInfo &launch) {
    WorldOptions options;
    options.launch = launch;
    options.heapBytes = 16 << 20;
    options.waitLimit = 10;
    options.collectiveLimit = 30;
    Ranks ranks;
    IRISRT_ASSIGN_OR_RETURN(ranks.world, World::create(options));
    std::vector<uint32_t> all;
    for (uint32_t rank = 0; rank < ranks.world->numRanks(); ++rank)
      all.push_back(rank);
    IRISRT_ASSIGN_OR_RETURN(ranks.group, ranks.world->makeGroup(all));
    ranks.channel = ranks.world->makeChannel();
    IRISRT_ASSIGN_OR_RETURN(ranks.memory, ranks.world->allocate(4096));
    return ranks;
  }

  Agreement agreement() { return {*world, group, channel}; }

  /// Calls that write to memory; `count` of them are enqueued in total.
  std::vector<MeasuredCall> calls(const std::vector<double> &expectedUs) {
    std::vector<MeasuredCall> all;
    for (double us : expectedUs)
      all.push_back({[this](Stream stream) {
                       ++enqueued;
                       return world->zero(memory, 64, stream);
                     },
                     us});
    return all;
  }

  std::unique_ptr<World> world;
  Group group;
  uint32_t channel = 0, enqueued = 0;
  uint64_t memory = 0;
};
} // namespace

#define ASSERT_RANKS_GOOD(count, ...)                                          \
  ASSERT_EQ("", failures(runProcesses(count, __VA_ARGS__)))

/// The noise of each rank's clock would have it choose another call.
static std::string choosesTheSame(const LaunchInfo &launch) {
  RANK_ASSIGN(Ranks ranks, Ranks::create(launch));
  for (uint32_t seed = 0; seed < 4; ++seed) {
    NoisyClock clock(10 * seed + launch.rank, {20, 19, 21, 20, 19.5}, 0.4);
    RANK_ASSIGN(MeasuredTimes times,
                measureCalls(*ranks.world, ranks.agreement(),
                             ranks.calls({20, 20, 20, 20, 20}), {100, 9},
                             clock));
    RANK_CHECK(times.tried == 5 && times.rounds == 9);
    std::optional<size_t> best = times.best();
    RANK_CHECK(best.has_value());
    std::string mine = std::to_string(*best);
    for (double us : times.us)
      mine += formatString(" %.17g", us);
    RANK_TRY(ranks.agreement().same("the measured times", mine));
  }
  RANK_TRY(ranks.world->sync());
  return "";
}

TEST(MeasureCalls, AllRanksChooseTheSame) {
  for (uint32_t count : {1u, 2u, 3u, 4u, 8u})
    ASSERT_RANKS_GOOD(count, choosesTheSame);
}

/// The slowest rank decides how long a call takes.
static std::string takesTheSlowest(const LaunchInfo &launch) {
  RANK_ASSIGN(Ranks ranks, Ranks::create(launch));
  std::vector<double> us = launch.rank == 0 ? std::vector<double>{50, 60}
                                            : std::vector<double>{70, 60};
  NoisyClock clock(launch.rank, us, 0);
  RANK_ASSIGN(MeasuredTimes times,
              measureCalls(*ranks.world, ranks.agreement(),
                           ranks.calls({50, 50}), {100, 9}, clock));
  RANK_CHECK(times.best() == 1u);
  RANK_CHECK(times.us == (std::vector<double>{70, 60}));
  return "";
}

TEST(MeasureCalls, TheSlowestRankDecides) {
  ASSERT_RANKS_GOOD(2, takesTheSlowest);
}

/// Equally good calls: the first one, whatever the noise.
TEST(MeasureCalls, TheFirstOfEqualCallsIsTaken) {
  MeasuredTimes times;
  EXPECT_FALSE(times.best().has_value());
  times.us = {10.05, 10, 30};
  EXPECT_EQ(times.best(), 0u);
  times.us = {10.2, 10, 10.05};
  EXPECT_EQ(times.best(), 1u);
  times.us = {INFINITY, INFINITY};
  EXPECT_FALSE(times.best().has_value());
}

/// The best calls are tried first, while the clocks rise.
static std::string takesWhatWasTriedCold(const LaunchInfo &launch) {
  RANK_ASSIGN(Ranks ranks, Ranks::create(launch));
  for (uint32_t coldSamples : {1u, 2u, 3u}) {
    ColdClock clock(launch.rank, {100, 90, 120, 125}, coldSamples);
    RANK_ASSIGN(MeasuredTimes times,
                measureCalls(*ranks.world, ranks.agreement(),
                             ranks.calls({100, 100, 100, 100}), {100, 9},
                             clock));
    RANK_CHECK(times.best() == 1u);
    RANK_CHECK(times.us == (std::vector<double>{100, 90, 120, 125}));
  }
  return "";
}

TEST(MeasureCalls, CallsThatWereTriedColdAreNotDropped) {
  for (uint32_t count : {1u, 2u, 3u})
    ASSERT_RANKS_GOOD(count, takesWhatWasTriedCold);
}

static std::string keepsLimits(const LaunchInfo &launch) {
  RANK_ASSIGN(Ranks ranks, Ranks::create(launch));
  World &world = *ranks.world;
  // All calls and rounds fit.
  NoisyClock fast(launch.rank, {100, 150}, 0.1);
  RANK_ASSIGN(MeasuredTimes times,
              measureCalls(world, ranks.agreement(), ranks.calls({100, 100}),
                           {100, 9}, fast));
  RANK_CHECK(times.rounds == 9 && times.spentMs <= 100);
  // Only some rounds fit.
  NoisyClock slow(launch.rank, {5000, 6000}, 0.1);
  RANK_ASSIGN(times, measureCalls(world, ranks.agreement(),
                                  ranks.calls({5000, 5000}), {100, 9}, slow));
  RANK_CHECK(times.tried == 2 && times.rounds > 0 && times.rounds < 9);
  RANK_CHECK(times.spentMs <= 100 && times.best() == 0u);
  // Only some calls are tried.
  NoisyClock slower(launch.rank, {40000}, 0);
  RANK_ASSIGN(times, measureCalls(world, ranks.agreement(),
                                  ranks.calls({30000, 30000, 30000}), {100, 9},
                                  slower));
  RANK_CHECK(times.tried == 2 && times.rounds == 0 && times.best() == 0u);
  RANK_CHECK(std::isinf(times.us[2]));
  // No call is even enqueued.
  ranks.enqueued = 0;
  RANK_ASSIGN(times, measureCalls(world, ranks.agreement(),
                                  ranks.calls({60000, 1}), {100, 9}, slower));
  RANK_CHECK(times.tried == 0 && !times.best() && ranks.enqueued == 0);
  // A call that is much slower than the best one is tried twice.
  NoisyClock uneven(launch.rank, {10, 100, 11}, 0);
  RANK_ASSIGN(times, measureCalls(world, ranks.agreement(),
                                  ranks.calls({10, 10, 10}), {100, 9}, uneven));
  RANK_CHECK(times.us[0] == 10 && std::isinf(times.us[1]) && times.us[2] == 11);
  RANK_CHECK(uneven.samples == 4 + 2 * 9);
  return "";
}

TEST(MeasureCalls, LimitsAreKept) {
  for (uint32_t count : {1u, 2u, 3u})
    ASSERT_RANKS_GOOD(count, keepsLimits);
}

TEST(MeasureCalls, AKilledRankIsNamed) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Ranks ranks, Ranks::create(launch));
    DeadlyClock deadly(launch.rank, {20, 20}, 0);
    NoisyClock plain(launch.rank, {20, 20}, 0);
    TuningClock &clock =
        launch.rank == 1 ? static_cast<TuningClock &>(deadly) : plain;
    Status status = measureCalls(*ranks.world, ranks.agreement(),
                                 ranks.calls({20, 20}), {100, 9}, clock)
                        .status();
    RANK_CHECK(!status.ok());
    if (status.message().find("rank 1") == std::string::npos)
      return status.toString();
    RANK_CHECK(!ranks.world->failure().ok());
    return "";
  };
  std::vector<RankEnd> ends = runProcesses(3, body);
  EXPECT_EQ(ends[0].text, "");
  EXPECT_TRUE(ends[0].exited);
  EXPECT_EQ(ends[1].signal, SIGKILL);
  EXPECT_EQ(ends[2].text, "");
}

/// A call that fails on one rank fails the measurement on all of them.
TEST(MeasureCalls, AFailedCallIsReportedOnAllRanks) {
  ASSERT_RANKS_GOOD(2, [](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Ranks ranks, Ranks::create(launch));
    std::vector<MeasuredCall> calls = ranks.calls({20, 20});
    if (launch.rank == 1)
      calls[1].run = [](Stream) {
        return makeStatus(StatusCode::internal, "no such call");
      };
    NoisyClock clock(launch.rank, {20}, 0);
    Status status =
        measureCalls(*ranks.world, ranks.agreement(), calls, {100, 9}, clock)
            .status();
    RANK_CHECK(status.message().find("no such call") != std::string::npos);
    RANK_TRY(ranks.world->failure());
    RANK_TRY(ranks.world->sync());
    return "";
  });
}

//===----------------------------------------------------------------------===//
// Choices on disk
//===----------------------------------------------------------------------===//

static TunedChoices choicesOf(const CacheFolder &folder) {
  Expected<TunedChoices> choices =
      TunedChoices::open(KernelCache(folder.options()));
  EXPECT_TRUE(choices.ok()) << choices.status().message();
  return choices.take();
}

static std::vector<std::string> filesIn(const CacheFolder &folder) {
  std::vector<std::string> files;
  std::error_code missing;
  for (const auto &each :
       std::filesystem::directory_iterator(folder.path() + "/tuned", missing))
    files.push_back(each.path());
  return files;
}

TEST(TunedChoices, AreKeptOnDisk) {
  CacheFolder folder;
  TunedChoices choices = choicesOf(folder);
  EXPECT_FALSE(choices.read("a GPU\na problem\n").has_value());
  choices.write("a GPU\na problem\n", "text\n");
  EXPECT_EQ(choicesOf(folder).read("a GPU\na problem\n"), "text\n");
  EXPECT_FALSE(choices.read("another GPU\na problem\n").has_value());
  ASSERT_EQ(filesIn(folder).size(), 1u);
  EXPECT_EQ(CacheFolder::modeOf(filesIn(folder)[0]), 0600u);
  EXPECT_EQ(CacheFolder::modeOf(folder.path() + "/tuned"), 0700u);
  // The kernels of another compiler are measured again.
  KernelCacheOptions other = folder.options();
  other.compiler = folder.path() + "/compiler";
  std::filesystem::copy_file(folder.options().compiler, other.compiler);
  std::ofstream(other.compiler, std::ios::app) << "another build";
  Expected<TunedChoices> others = TunedChoices::open(KernelCache(other));
  ASSERT_TRUE(others.ok());
  EXPECT_FALSE(others->read("a GPU\na problem\n").has_value());
}

/// Files that are damaged, of an older format, of another machine or accessible
/// to other users are removed.
TEST(TunedChoices, UnusableFilesAreRemoved) {
  CacheFolder folder;
  TunedChoices choices = choicesOf(folder);
  auto write = [&] { choices.write("key\n", "text\n"); };
  write();
  const std::string file = filesIn(folder)[0], good = readFile(file);
  choices.write("another key\n", "other text\n");
  std::string foreign;
  for (const std::string &each : filesIn(folder))
    if (each != file)
      foreign = readFile(each);
  std::vector<std::string> bad = {"", "x", good + "x",
                                  good.substr(0, good.size() - 2), foreign};
  for (size_t at : {size_t(0), size_t(18), good.size() / 2, good.size() - 2}) {
    bad.push_back(good);
    bad.back()[at] ^= 1;
  }
  for (const std::string &bytes : bad) {
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_FALSE(choices.read("key\n").has_value()) << bytes;
    EXPECT_FALSE(std::filesystem::exists(file)) << bytes;
    write();
    EXPECT_EQ(readFile(file), good);
  }
  ::chmod(file.c_str(), 0644);
  EXPECT_FALSE(choices.read("key\n").has_value());
  write();
  EXPECT_EQ(choices.read("key\n"), "text\n");
  EXPECT_EQ(CacheFolder::modeOf(file), 0600u);
  choices.remove("key\n", "a test");
  EXPECT_FALSE(std::filesystem::exists(file));
  ::chmod((folder.path() + "/tuned").c_str(), 0755);
  Expected<TunedChoices> open =
      TunedChoices::open(KernelCache(folder.options()));
  EXPECT_EQ(open.status().code(), StatusCode::failedPrecondition);
}

TEST(TunedChoices, AreKeptInTheProcessWithoutADisk) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  options.maxBytes = 0;
  Expected<TunedChoices> choices = TunedChoices::open(KernelCache(options));
  ASSERT_TRUE(choices.ok());
  choices->write("in the process\n", "text\n");
  EXPECT_EQ(TunedChoices::open(KernelCache(options))->read("in the process\n"),
            "text\n");
  EXPECT_TRUE(filesIn(folder).empty());
  choices->remove("in the process\n", "a test");
  EXPECT_FALSE(choices->read("in the process\n").has_value());
}

/// Before the runtime reads its environment.
[[maybe_unused]] static const int environment =
    ::setenv("IRIS_EMULATOR", IRIS_TEST_EMULATOR, /*overwrite=*/1);

/// An emulator's times say nothing, and the host's only if that is asked for.
TEST(TunedChoices, NothingIsMeasuredWhereItSaysNothing) {
  ASSERT_RANKS_GOOD(1, [](const LaunchInfo &launch) -> std::string {
    WorldOptions options;
    options.launch = launch;
    options.heapBytes = 16 << 20;
    RANK_ASSIGN(auto host, World::create(options));
    RANK_CHECK(whyNotMeasured(*host).empty());
    options.name = "emulated";
    options.device = DeviceSpec(DeviceKind::emulated, "gfx942");
    RANK_ASSIGN(auto emulated, World::create(options));
    RANK_CHECK(!whyNotMeasured(*emulated).empty());
    return "";
  });
}

TEST(MatmulTuneRequest, TheCallerDecidesAndElseTheDevice) {
  EXPECT_EQ(defaultTuneLevel(DeviceKind::cuda), TuneLevel::quick);
  for (DeviceKind kind :
       {DeviceKind::host, DeviceKind::hip, DeviceKind::emulated})
    EXPECT_EQ(defaultTuneLevel(kind), TuneLevel::off);
  MatmulTuning tuning;
  tuning.level = TuneLevel::off;
  EXPECT_EQ(MatmulTuneRequest::from(tuning, DeviceKind::cuda).level,
            TuneLevel::off);
  tuning.level = TuneLevel::full;
  EXPECT_EQ(MatmulTuneRequest::from(tuning, DeviceKind::host).level,
            TuneLevel::full);
}
