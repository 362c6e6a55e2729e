// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls whose config is measured when they are created: on the host, with
// clocks that do not depend on the machine.
#include "ccl/OnDevices.h"
#include "iris/ccl/Matmul.h"
#include "support/ccl/CacheFolder.h"
#include "support/ccl/NoisyClock.h"

#include <gtest/gtest.h>

#include <csignal>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static bool startsWith(const std::string &text, const char *start) {
  return text.rfind(start, 0) == 0;
}

static bool has(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

/// A cache of its own, so that no earlier test has measured.
static std::shared_ptr<KernelCache> cacheOf(const CacheFolder &folder) {
  return std::make_shared<KernelCache>(folder.options());
}

static Expected<std::unique_ptr<World>> makeWorld(const LaunchInfo &launch) {
  return World::create(worldOptions(DeviceKind::host, launch));
}

/// Sums of small integers, which are exact in any order.
static MatmulProblem problemOf(MatmulKind kind) {
  MatmulProblem p;
  p.kind = kind;
  p.element = p.result = DType::f32;
  p.m = 37, p.n = 41, p.k = 26;
  return p;
}

/// Every rank has another noise; each call takes less than the one before it,
/// so that the model's choice, the first one, is the slowest.
static MatmulTuning noisyTuning(uint32_t rank, double limitMs = 0) {
  MatmulTuning tuning;
  tuning.level = TuneLevel::quick;
  tuning.limitMs = limitMs;
  tuning.clock = std::make_shared<NoisyClock>(
      rank, std::vector<double>{120, 110, 100, 95, 93, 92, 91, 90}, 0.02);
  return tuning;
}

/// c of one call with constant operands: a = 2, b = 3.
static std::string checkCall(World &world, Matmul &matmul,
                             const MatmulProblem &p) {
  const uint64_t ranks = world.numRanks();
  bool sums = p.kind == MatmulKind::matmulReduceScatter ||
              p.kind == MatmulKind::matmulAllReduce;
  bool gathersK = p.kind == MatmulKind::allGatherMatmul;
  bool gathersM = p.kind == MatmulKind::matmulAllGather;
  const uint64_t rowsOfA =
      p.m * (p.kind == MatmulKind::matmulReduceScatter ? ranks : 1);
  const uint64_t rowsOfB = p.k * (gathersK ? ranks : 1);
  const uint64_t rowsOfC = p.m * (gathersM ? ranks : 1);
  RANK_ASSIGN(auto a, world.allocate<float>(rowsOfA * p.k));
  RANK_ASSIGN(auto b, world.allocate<float>(rowsOfB * p.n));
  RANK_ASSIGN(auto c, world.allocate<float>(rowsOfC * p.n));
  std::vector<float> twos(rowsOfA * p.k, 2), threes(rowsOfB * p.n, 3);
  RANK_TRY(world.writeNow(a.address(), twos.data(), twos.size() * 4));
  RANK_TRY(world.writeNow(b.address(), threes.data(), threes.size() * 4));
  RANK_TRY(world.sync());
  RANK_TRY(matmul.run(toPointer(a.address()), toPointer(b.address()),
                      toPointer(c.address())));
  std::vector<float> got(rowsOfC * p.n);
  RANK_TRY(world.readNow(got.data(), c.address(), got.size() * 4));
  const float want =
      static_cast<float>(6 * p.k * (sums || gathersK ? ranks : 1));
  for (float each : got)
    RANK_CHECK(each == want);
  RANK_TRY(world.sync());
  for (uint64_t address : {c.address(), b.address(), a.address()})
    RANK_TRY(world.deallocate(address));
  return "";
}

static const MatmulKind allKinds[] = {
    MatmulKind::matmul, MatmulKind::allGatherMatmul,
    MatmulKind::matmulAllGather, MatmulKind::matmulReduceScatter,
    MatmulKind::matmulAllReduce};

/// The first matmul is measured, the second one comes from disk, with the same
/// config; nothing stays on the heap.
static std::string measuresOnce(const LaunchInfo &launch,
                                const CacheFolder &folder) {
  RANK_ASSIGN(auto world, makeWorld(launch));
  std::vector<uint32_t> all;
  for (uint32_t rank = 0; rank < launch.numRanks; ++rank)
    all.push_back(rank);
  RANK_ASSIGN(Group group, world->makeGroup(all));
  const uint32_t channel = world->makeChannel();
  // Compilers take most of the time, so other sizes have one kind.
  std::vector<MatmulKind> kinds = {MatmulKind::matmulAllReduce};
  if (launch.numRanks == 2)
    kinds.assign(std::begin(allKinds), std::end(allKinds));
  for (MatmulKind kind : kinds) {
    const MatmulProblem p = problemOf(kind);
    RANK_TRY(world->sync());
    const uint64_t before = world->heapUsed();
    RANK_ASSIGN(auto first, Matmul::create(*world, p, cacheOf(folder),
                                           noisyTuning(launch.rank)));
    if (!startsWith(first->explain(), "measured: "))
      return std::string(kindName(kind)) + ": " + first->explain();
    RANK_CHECK(has(first->explain(), "candidates in 9 rounds"));
    RANK_CHECK(has(first->explain(), "the next one takes "));
    const uint64_t usedByFirst = world->heapUsed() - before;
    RANK_CHECK(usedByFirst >= first->sharedBytes());
    // All ranks have the same choice and the same times.
    RANK_ASSIGN(std::vector<std::string> texts,
                world->exchange(group, channel, first->explain()));
    for (const std::string &text : texts)
      RANK_CHECK(text == texts[0]);
    if (std::string wrong = checkCall(*world, *first, p); !wrong.empty())
      return std::string(kindName(kind)) + ": " + wrong;

    RANK_ASSIGN(auto second, Matmul::create(*world, p, cacheOf(folder),
                                            noisyTuning(launch.rank)));
    RANK_CHECK(startsWith(second->explain(), "table: "));
    RANK_CHECK(has(second->explain(), "measured on this machine"));
    RANK_CHECK(second->config() == first->config());
    RANK_CHECK(world->heapUsed() == before + 2 * usedByFirst);
    if (std::string wrong = checkCall(*world, *second, p); !wrong.empty())
      return std::string(kindName(kind)) + ", second: " + wrong;
    RANK_TRY(second->destroy());
    RANK_TRY(first->destroy());
    RANK_CHECK(world->heapUsed() == before);
  }
  RANK_TRY(world->sync());
  return "";
}

TEST(MatmulTuning, IsMeasuredOnceOnAllRanks) {
  for (uint32_t ranks : {1u, 2u, 3u}) {
    CacheFolder folder;
    EXPECT_EQ("", failures(runProcesses(
                      ranks,
                      [&](const LaunchInfo &launch) {
                        return measuresOnce(launch, folder);
                      },
                      250)))
        << ranks;
  }
}

/// When nothing is measured, the model serves, and the reason says so.
static std::string leavesItToTheModel(const LaunchInfo &launch,
                                      const CacheFolder &folder) {
  RANK_ASSIGN(auto world, makeWorld(launch));
  MatmulProblem p = problemOf(MatmulKind::matmulReduceScatter);
  auto explain = [&](const MatmulTuning &tuning) -> Expected<std::string> {
    IRISRT_ASSIGN_OR_RETURN(auto matmul,
                            Matmul::create(*world, p, cacheOf(folder), tuning));
    std::string text = matmul->explain();
    IRISRT_RETURN_IF_ERROR(matmul->destroy());
    return text;
  };
  // The default, and what the caller forbids.
  RANK_ASSIGN(std::string plain, explain({}));
  RANK_CHECK(startsWith(plain, "model: ") && has(plain, "us estimated"));
  RANK_CHECK(!has(plain, "not measured"));
  MatmulTuning off;
  off.level = TuneLevel::off;
  RANK_ASSIGN(std::string forbidden, explain(off));
  RANK_CHECK(forbidden == plain);
  // No call fits into the limit.
  RANK_ASSIGN(std::string tooLong, explain(noisyTuning(launch.rank, 1e-6)));
  RANK_CHECK(startsWith(tooLong, "model: ") && has(tooLong, "us estimated"));
  RANK_CHECK(has(tooLong, "too long for a measurement of 1e-06 ms"));
  // One rank is capturing a stream: a collective could not be loaded now.
  p.config.variant = "push";
  RANK_ASSIGN(Stream stream, world->createStream());
  if (launch.rank + 1 == launch.numRanks)
    RANK_TRY(world->beginCapture(stream));
  RANK_ASSIGN(std::string captured, explain(noisyTuning(launch.rank)));
  RANK_CHECK(has(captured, "not measured: a stream is being captured"));
  if (launch.rank + 1 == launch.numRanks) {
    RANK_ASSIGN(Graph graph, world->endCapture(stream));
    RANK_TRY(world->destroyGraph(graph));
  }
  p.config.variant.clear();
  // The same problem, when nothing forbids it.
  RANK_ASSIGN(std::string measured, explain(noisyTuning(launch.rank)));
  RANK_CHECK(startsWith(measured, "measured: "));
  // Ranks that ask for different things.
  MatmulTuning mine = noisyTuning(launch.rank);
  mine.level = launch.rank == 0 ? TuneLevel::quick : TuneLevel::full;
  Status status = explain(mine).status();
  RANK_CHECK(launch.numRanks == 1 ||
             has(status.message(), "members differ in a matmul"));
  RANK_TRY(world->sync());
  return "";
}

TEST(MatmulTuning, IsLeftToTheModel) {
  for (uint32_t ranks : {1u, 2u}) {
    CacheFolder folder;
    EXPECT_EQ("", failures(runProcesses(
                      ranks,
                      [&](const LaunchInfo &launch) {
                        return leavesItToTheModel(launch, folder);
                      },
                      250)))
        << ranks;
  }
}

/// A damaged choice on disk is made again, as is one that a table refuses.
static std::string repairs(const LaunchInfo &launch,
                           const CacheFolder &folder) {
  RANK_ASSIGN(auto world, makeWorld(launch));
  const MatmulProblem p = problemOf(MatmulKind::matmulAllReduce);
  auto source = [&]() -> Expected<std::string> {
    IRISRT_ASSIGN_OR_RETURN(
        auto matmul,
        Matmul::create(*world, p, cacheOf(folder), noisyTuning(launch.rank)));
    std::string text = matmul->explain();
    IRISRT_RETURN_IF_ERROR(matmul->destroy());
    IRISRT_RETURN_IF_ERROR(world->sync());
    return text.substr(0, text.find(':'));
  };
  RANK_ASSIGN(std::string first, source());
  RANK_CHECK(first == "measured");
  RANK_ASSIGN(std::string second, source());
  RANK_CHECK(second == "table");
  if (launch.rank == 0)
    for (const auto &each :
         std::filesystem::directory_iterator(folder.path() + "/tuned"))
      std::ofstream(each.path(), std::ios::app) << "more";
  RANK_TRY(world->barrier());
  RANK_ASSIGN(std::string third, source());
  RANK_CHECK(third == "measured");
  RANK_ASSIGN(std::string fourth, source());
  RANK_CHECK(fourth == "table");
  return "";
}

TEST(MatmulTuning, DamagedChoicesAreMadeAgain) {
  CacheFolder folder;
  EXPECT_EQ(
      "",
      failures(runProcesses(
          2, [&](const LaunchInfo &launch) { return repairs(launch, folder); },
          250)));
}

TEST(MatmulTuning, AKilledRankIsNamed) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    MatmulTuning tuning = noisyTuning(launch.rank);
    if (launch.rank == 1)
      tuning.clock = std::make_shared<DeadlyClock>(launch.rank,
                                                   std::vector<double>{100}, 0);
    Status status =
        Matmul::create(*world, problemOf(MatmulKind::matmulAllReduce),
                       cacheOf(folder), tuning)
            .status();
    RANK_CHECK(!status.ok() && !world->failure().ok());
    return has(status.message(), "rank 1") ? "" : status.toString();
  };
  std::vector<RankEnd> ends = runProcesses(2, body, 250);
  EXPECT_EQ(ends[0].text, "");
  EXPECT_TRUE(ends[0].exited);
  EXPECT_EQ(ends[1].signal, SIGKILL);
}
