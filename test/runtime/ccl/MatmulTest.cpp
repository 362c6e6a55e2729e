// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls through the C++ API, compiled by iris-compile, on every kind of
// device.
//
// Every problem multiplies matrices of small integers, hashes of (row, column)
// in the whole matrix: every sum is exact in any order.
#include "iris/ccl/Matmul.h"

#include "ccl/OnDevices.h"
#include "support/ccl/CacheFolder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <type_traits>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

/// -4 to 3.
static int number(uint64_t row, uint64_t column, uint64_t salt) {
  uint64_t h = (row * 1009 + column + 1) * 0x9E3779B97F4A7C15ull +
               salt * 0xC2B2AE3D27D4EB4Full;
  h = (h ^ (h >> 31)) * 0xD6E8FEB86659FD93ull;
  return static_cast<int>(h >> 61) - 4;
}

namespace {
/// A rank's chunk of a whole matrix: its size and its offset.
struct Chunk {
  uint64_t rows, columns, row0, column0;

  uint64_t count() const { return rows * columns; }
};

/// A rank's chunks of a problem's matrices.
struct Chunks {
  Chunks(const MatmulProblem &p, uint64_t ranks, uint64_t me)
      : a{p.m, p.k, 0, 0}, b{p.k, p.n, 0, 0}, c{p.m, p.n, 0, 0}, depth(p.k) {
    bool isK = p.config.shard.empty() || p.config.shard == "k";
    switch (p.kind) {
    case MatmulKind::matmul:
      break;
    case MatmulKind::allGatherMatmul:
      if (isK) {
        a.column0 = me * p.k;
        b.rows = depth = ranks * p.k;
      } else {
        a.row0 = me * p.m;
        c.rows *= ranks;
      }
      break;
    case MatmulKind::matmulAllGather:
      if (p.config.shard == "n") {
        b.column0 = me * p.n;
        c.columns *= ranks;
      } else {
        a.row0 = me * p.m;
        c.rows *= ranks;
      }
      break;
    case MatmulKind::matmulReduceScatter:
      a.rows *= ranks;
      c.row0 = me * p.m;
      [[fallthrough]];
    case MatmulKind::matmulAllReduce:
      a.column0 = b.row0 = me * p.k;
      depth = ranks * p.k;
      break;
    }
  }

  Chunk a, b, c;
  uint64_t depth;
};
} // namespace

template <typename T>
static std::vector<T> elements(const Chunk &chunk, bool isColumnMajor,
                               uint64_t salt) {
  std::vector<T> values(chunk.count());
  for (uint64_t i = 0; i < chunk.rows; ++i)
    for (uint64_t j = 0; j < chunk.columns; ++j)
      values[isColumnMajor ? j * chunk.rows + i : i * chunk.columns + j] =
          static_cast<T>(number(chunk.row0 + i, chunk.column0 + j, salt));
  return values;
}

/// The config as the test names it.
static MatmulTuning untuned() {
  MatmulTuning tuning;
  tuning.level = TuneLevel::off;
  return tuning;
}

/// Calls back to back whose inputs change, or replays of one; no host waits
/// between them.
template <typename T, typename R>
static std::string runTurns(World &world, const MatmulProblem &p,
                            bool replays) {
  constexpr uint64_t iterations = 4;
  Chunks chunks(p, world.numRanks(), world.rank());
  recordMatmul(p, world.numRanks(), world.translation());
  RANK_ASSIGN(auto matmul,
              Matmul::create(world, p, communicatorOptions().cache, untuned()));
  RANK_ASSIGN(uint64_t a, world.allocate(chunks.a.count() * sizeof(T)));
  RANK_ASSIGN(uint64_t b, world.allocate(chunks.b.count() * sizeof(T)));
  RANK_ASSIGN(uint64_t c, world.allocate(chunks.c.count() * sizeof(R)));
  RANK_ASSIGN(uint64_t bias, world.allocate(chunks.c.rows * sizeof(R)));
  RANK_ASSIGN(uint64_t results,
              world.allocate(iterations * chunks.c.count() * sizeof(R)));
  std::vector<R> rowBias(chunks.c.rows);
  for (uint64_t i = 0; i < chunks.c.rows; ++i)
    rowBias[i] = static_cast<R>(number(chunks.c.row0 + i, 0, 77));
  RANK_TRY(
      world.copyToDevice(bias, rowBias.data(), rowBias.size() * sizeof(R)));
  auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
  // Must outlive the stream's copies.
  std::vector<std::vector<T>> inputs;
  for (uint64_t iteration = 0; iteration < iterations; ++iteration) {
    inputs.push_back(
        elements<T>(chunks.a, p.aIsColumnMajor, 2 * iteration + 1));
    inputs.push_back(
        elements<T>(chunks.b, p.bIsColumnMajor, 2 * iteration + 2));
  }
  Epilogue epilogue;
  epilogue.bias = at(bias);
  epilogue.scale = 0.5f;
  Graph graph;
  if (replays) {
    RANK_TRY(world.beginCapture());
    RANK_TRY(matmul->run(at(a), at(b), at(c), epilogue));
    RANK_ASSIGN(graph, world.endCapture());
  }
  for (uint64_t iteration = 0; iteration < iterations; ++iteration) {
    const std::vector<T> &left = inputs[2 * iteration],
                         &right = inputs[2 * iteration + 1];
    RANK_TRY(world.copyToDevice(a, left.data(), left.size() * sizeof(T)));
    RANK_TRY(world.copyToDevice(b, right.data(), right.size() * sizeof(T)));
    RANK_TRY(replays ? world.launchGraph(graph)
                     : matmul->run(at(a), at(b), at(c), epilogue));
    RANK_TRY(
        world.copyOnDevice(results + iteration * chunks.c.count() * sizeof(R),
                           c, chunks.c.count() * sizeof(R)));
  }
  std::vector<R> got(iterations * chunks.c.count());
  RANK_TRY(world.copyToHost(got.data(), results, got.size() * sizeof(R)));
  RANK_TRY(world.synchronize());
  for (uint64_t iteration = 0, index = 0; iteration < iterations; ++iteration)
    for (uint64_t i = 0; i < chunks.c.rows; ++i)
      for (uint64_t j = 0; j < chunks.c.columns; ++j, ++index) {
        int64_t sum = 0;
        for (uint64_t k = 0; k < chunks.depth; ++k)
          sum += number(chunks.c.row0 + i, k, 2 * iteration + 1) *
                 number(k, chunks.c.column0 + j, 2 * iteration + 2);
        R want = static_cast<R>(sum);
        if (p.hasScale)
          want = static_cast<R>(want * 0.5f);
        if (p.bias == Bias::row)
          want += rowBias[i];
        if (p.activation == Activation::relu)
          want = std::max(want, R(0));
        if (got[index] != want)
          return "iteration " + std::to_string(iteration) + ", (" +
                 std::to_string(i) + ", " + std::to_string(j) +
                 "): " + std::to_string(got[index]) + "; expected " +
                 std::to_string(want);
      }
  RANK_TRY(world.sync());
  if (replays)
    RANK_TRY(world.destroyGraph(graph));
  for (uint64_t memory : {results, bias, c, b, a})
    RANK_TRY(world.deallocate(memory));
  RANK_TRY(matmul->destroy());
  return "";
}

static std::string runProblems(DeviceKind kind, const LaunchInfo &launch,
                               const std::vector<MatmulProblem> &problems,
                               bool replays) {
  RANK_ASSIGN(auto world, World::create(worldOptions(kind, launch)));
  for (const MatmulProblem &p : problems) {
    std::string wrong = p.element == DType::i8
                            ? runTurns<int8_t, int32_t>(*world, p, replays)
                            : runTurns<float, float>(*world, p, replays);
    if (!wrong.empty())
      return "problem " + std::to_string(&p - problems.data()) + ": " + wrong;
  }
  RANK_TRY(world->sync());
  return "";
}

/// Every kind, variant and shard, with partial tiles at every edge.
static std::vector<MatmulProblem> everyVariant() {
  struct Way {
    MatmulKind kind;
    const char *variant, *shard;
  };
  std::vector<MatmulProblem> problems;
  for (Way way : {Way{MatmulKind::matmul, "", ""},
                  Way{MatmulKind::allGatherMatmul, "pull", ""},
                  Way{MatmulKind::allGatherMatmul, "hbm_buffer", "k"},
                  Way{MatmulKind::allGatherMatmul, "push", "m"},
                  Way{MatmulKind::allGatherMatmul, "copy_engine", "k"},
                  Way{MatmulKind::allGatherMatmul, "copy_engine", "m"},
                  Way{MatmulKind::matmulAllGather, "push", "m"},
                  Way{MatmulKind::matmulAllGather, "specialized", "n"},
                  Way{MatmulKind::matmulAllGather, "copy_engine", "m"},
                  Way{MatmulKind::matmulReduceScatter, "push", ""},
                  Way{MatmulKind::matmulReduceScatter, "specialized", ""},
                  Way{MatmulKind::matmulReduceScatter, "copy_engine", ""},
                  Way{MatmulKind::matmulReduceScatter, "copy_engine", ""},
                  Way{MatmulKind::matmulAllReduce, "copy_engine", ""},
                  Way{MatmulKind::matmulAllReduce, "copy_engine", ""},
                  Way{MatmulKind::matmulAllReduce, "two_shot", ""},
                  Way{MatmulKind::matmulAllReduce, "specialized", ""},
                  Way{MatmulKind::matmulAllReduce, "one_shot", ""},
                  Way{MatmulKind::matmulAllReduce, "atomic", ""}}) {
    MatmulProblem p;
    p.kind = way.kind;
    p.config.variant = way.variant;
    p.config.shard = way.shard;
    // The smallest tile that all targets support.
    p.config.tileM = 64;
    p.config.tileN = p.config.tileK = 32;
    p.config.programs = 4;
    p.config.groupM = static_cast<int64_t>(problems.size() % 2);
    p.m = 75, p.n = 41, p.k = 42;
    bool isInteger = problems.size() % 2 == 0;
    p.element = isInteger ? DType::i8 : DType::f32;
    p.result = isInteger ? DType::i32 : DType::f32;
    p.bias = problems.size() % 3 == 0 ? Bias::none : Bias::row;
    p.hasScale = !isInteger;
    bool isAtomic = p.config.variant == "atomic";
    p.activation = isAtomic ? Activation::none : Activation::relu;
    p.bIsColumnMajor = problems.size() % 4 == 1;
    problems.push_back(p);
  }
  return problems;
}

/// Default configs and unfused calls, with every sharding: with partial tiles
/// at every edge, and with chunks that end in the middle of a cache line.
static std::vector<MatmulProblem> chosenAndUnfused() {
  struct Way {
    MatmulKind kind;
    const char *variant, *shard;
    bool aIsColumnMajor;
  };
  std::vector<MatmulProblem> problems;
  for (Way way : {Way{MatmulKind::matmul, "", "", true},
                  Way{MatmulKind::allGatherMatmul, "", "k", false},
                  Way{MatmulKind::allGatherMatmul, "unfused", "k", false},
                  Way{MatmulKind::allGatherMatmul, "unfused", "k", true},
                  Way{MatmulKind::allGatherMatmul, "unfused", "m", false},
                  Way{MatmulKind::allGatherMatmul, "", "m", true},
                  Way{MatmulKind::matmulAllGather, "", "m", false},
                  Way{MatmulKind::matmulAllGather, "", "n", true},
                  Way{MatmulKind::matmulAllGather, "unfused", "m", false},
                  Way{MatmulKind::matmulReduceScatter, "", "", false},
                  Way{MatmulKind::matmulReduceScatter, "unfused", "", false},
                  Way{MatmulKind::matmulAllReduce, "", "", false},
                  Way{MatmulKind::matmulAllReduce, "unfused", "", true}}) {
    MatmulProblem p;
    p.kind = way.kind;
    p.config.variant = way.variant;
    p.config.shard = way.shard;
    p.m = 37, p.n = 41;
    // Whole and partial k-blocks.
    p.k = problems.size() % 4 == 2 ? 64 : 26;
    bool isInteger = problems.size() % 3 == 0;
    p.element = isInteger ? DType::i8 : DType::f32;
    p.result = isInteger ? DType::i32 : DType::f32;
    bool isSum = p.kind == MatmulKind::matmulReduceScatter ||
                 p.kind == MatmulKind::matmulAllReduce;
    bool hasEpilogue = !isSum || p.config.variant != "unfused";
    p.bias = hasEpilogue ? Bias::row : Bias::none;
    p.hasScale = hasEpilogue && !isInteger;
    p.activation = hasEpilogue ? Activation::relu : Activation::none;
    p.aIsColumnMajor = way.aIsColumnMajor;
    p.bIsColumnMajor = problems.size() % 2 == 1;
    problems.push_back(p);
  }
  return problems;
}

namespace {
class Matmuls : public OnDevices {
protected:
  void expectRight(const std::vector<MatmulProblem> &problems) {
    for (bool replays : {false, true}) {
      SCOPED_TRACE(replays ? "replayed" : "called");
      expectGood([&](const LaunchInfo &launch) {
        return runProblems(kind(), launch, problems, replays);
      });
    }
  }
};
} // namespace
IRIS_ON_DEVICES(Matmuls, 1u, 2u, 3u, 4u);

TEST_P(Matmuls, OfEveryVariant) { expectRight(everyVariant()); }

TEST_P(Matmuls, ThatAreChosenOrNotFused) { expectRight(chosenAndUnfused()); }

/// All ranks in one process: ThreadSanitizer checks the state that they share.
TEST_P(Matmuls, OfRanksThatAreThreads) {
  if (kind() != DeviceKind::host && sharesOneGpu() && ranks() > 1)
    GTEST_SKIP() << "needs a GPU for each rank: within one process kernels are "
                    "not time-sliced, and these wait for each other";
  // In a separate process, so that this one may fork later.
  auto body = [&](const LaunchInfo &) {
    return failures(runThreads(ranks(), [&](const LaunchInfo &launch) {
      return runProblems(kind(), launch, everyVariant(), /*replays=*/true);
    }));
  };
  EXPECT_EQ("", failures(runProcesses(1, body, 280)));
}

/// One rank creates the matmul and never calls it. The other ranks' kernels
/// time out; copies that wait for tiles must end, too, also in a graph.
static std::string staysAway(DeviceKind kind, const LaunchInfo &launch,
                             const MatmulProblem &p, bool replays) {
  auto begin = std::chrono::steady_clock::now();
  WorldOptions options = worldOptions(kind, launch);
  options.waitLimit = 1;
  options.collectiveLimit = 10;
  RANK_ASSIGN(auto world, World::create(options));
  recordMatmul(p, world->numRanks(), world->translation());
  RANK_ASSIGN(
      auto matmul,
      Matmul::create(*world, p, communicatorOptions().cache, untuned()));
  Chunks chunks(p, world->numRanks(), world->rank());
  auto allocate = [&](uint64_t count) { return world->allocate(4 * count); };
  RANK_ASSIGN(uint64_t a, allocate(chunks.a.count()));
  RANK_ASSIGN(uint64_t b, allocate(chunks.b.count()));
  RANK_ASSIGN(uint64_t c, allocate(chunks.c.count()));
  Epilogue epilogue;
  epilogue.bias = reinterpret_cast<void *>(c);
  auto run = [&] {
    return matmul->run(reinterpret_cast<void *>(a), reinterpret_cast<void *>(b),
                       reinterpret_cast<void *>(c), epilogue);
  };
  if (launch.rank + 1 != launch.numRanks) {
    if (replays) {
      RANK_TRY(world->beginCapture());
      RANK_TRY(run());
      RANK_ASSIGN(Graph graph, world->endCapture());
      RANK_TRY(world->launchGraph(graph));
    } else {
      RANK_TRY(run());
    }
  }
  RANK_CHECK(!world->sync().ok());
  RANK_CHECK(!world->failure().ok());
  (void)matmul->destroy();
  (void)world->destroy();
  auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  RANK_CHECK(seconds < 30);
  return "";
}

TEST_P(Matmuls, OfAMissingRank) {
  if (ranks() == 1)
    GTEST_SKIP() << "no peer to wait for";
  for (const MatmulProblem &p : everyVariant())
    for (bool replays : {false, true})
      if (p.config.variant == "copy_engine") {
        SCOPED_TRACE(static_cast<int>(p.kind));
        expectGood([&](const LaunchInfo &launch) {
          return staysAway(kind(), launch, p, replays);
        });
      }
}

/// Errors name the actual value and the expected one, on all ranks.
static std::string refusals(const LaunchInfo &launch) {
  RANK_ASSIGN(auto world,
              World::create(worldOptions(DeviceKind::host, launch)));
  auto cache = communicatorOptions().cache;
  auto says = [](const Status &status, const char *text) {
    return !status.ok() && status.message().find(text) != std::string::npos;
  };
  MatmulProblem p;
  p.element = p.result = DType::f32;
  p.m = p.n = 8;
  RANK_CHECK(says(Matmul::create(*world, p, cache).status(),
                  "matmul: m = 8, n = 8, k = 0; expected 1 to"));
  p.k = 8;
  p.config.tileM = 48;
  RANK_CHECK(says(Matmul::create(*world, p, cache).status(),
                  "the config's tile_m is 48; expected a power of two"));
  p.config.tileM = 0;
  p.config.variant = "pull";
  RANK_CHECK(says(Matmul::create(*world, p, cache).status(),
                  "matmul: variant 'pull'; expected one of tiles"));
  // An unsupported request must not silently change results.
  p.config.variant = "unfused";
  p.kind = MatmulKind::matmulAllReduce;
  p.bias = Bias::column;
  RANK_CHECK(says(Matmul::create(*world, p, cache).status(),
                  "expected no bias, scale or activation"));
  p.bias = Bias::none;
  p.result = DType::f16;
  RANK_CHECK(says(Matmul::create(*world, p, cache).status(),
                  "expected partial_type = \"result\""));
  p.result = DType::f32;
  p.kind = MatmulKind::matmulAllGather;
  p.config.shard = "n";
  RANK_CHECK(says(Matmul::create(*world, p, cache).status(),
                  "gathers whole rows; expected shard m"));
  p.config.variant = "copy_engine";
  RANK_CHECK(says(Matmul::create(*world, p, cache).status(),
                  "copy_engine copies whole rows; expected shard m"));
  p.kind = MatmulKind::matmul;
  p.config.variant = p.config.shard = "";
  // Ranks with different arguments.
  p.n = 8 + world->rank();
  RANK_CHECK(!Matmul::create(*world, p, cache).ok());
  p.n = 8;
  RANK_ASSIGN(auto matmul, Matmul::create(*world, p, cache));
  RANK_CHECK(matmul->sharedBytes() == 0);
  RANK_CHECK(matmul->config().variant == "tiles" && matmul->config().tileM > 0);
  RANK_CHECK(matmul->explain().find("us estimated") != std::string::npos);
  RANK_ASSIGN(uint64_t memory, world->allocate(256));
  void *good = reinterpret_cast<void *>(memory);
  float elsewhere[64];
  RANK_CHECK(
      says(matmul->run(good, elsewhere, good), "matmul: b, 256 bytes at"));
  RANK_CHECK(says(matmul->run(good, good, nullptr), "c is at 0x0; expected"));
  RANK_TRY(matmul->destroy());
  RANK_CHECK(says(matmul->run(good, good, good), "the matmul was destroyed"));
  RANK_TRY(world->sync());
  return "";
}

TEST(Matmul, RejectsUnsupportedProblems) {
  (void)communicatorOptions();
  EXPECT_EQ("", failures(runProcesses(2, refusals, 120)));
}

/// A compiler without collectives.
static void writeCompilerWithoutCollectives(const std::string &path) {
  std::ofstream(path) << R"(#!/bin/sh
source=$(cat)
case "$source" in
*iris.collective*)
  echo "no collectives" >&2
  exit 1
  ;;
esac
printf '%s\n' "$source" | )"
                      << IRIS_TEST_COMPILER << " \"$@\"\n";
  ::chmod(path.c_str(), 0700);
}

/// A failed call keeps nothing on the heap, however often it is repeated.
static std::string failuresKeepNothing(const LaunchInfo &launch) {
  CacheFolder folder;
  std::filesystem::create_directories(folder.path());
  KernelCacheOptions options = folder.options();
  options.compiler = folder.path() + "/compiler";
  options.maxBytes = 0;
  writeCompilerWithoutCollectives(options.compiler);
  RANK_ASSIGN(auto world,
              World::create(worldOptions(DeviceKind::host, launch)));
  MatmulProblem p;
  p.kind = MatmulKind::matmulAllReduce;
  p.element = p.result = DType::f32;
  p.m = p.n = p.k = 32;
  p.config.variant = "unfused";
  const uint64_t before = world->heapUsed();
  for (int attempt = 0; attempt < 3; ++attempt) {
    Status status =
        Matmul::create(*world, p, std::make_shared<KernelCache>(options))
            .status();
    RANK_CHECK(status.message().find("no collectives") != std::string::npos);
    RANK_CHECK(world->heapUsed() == before);
  }
  RANK_TRY(world->sync());
  return "";
}

TEST(Matmul, FailuresKeepNothing) {
  EXPECT_EQ("", failures(runProcesses(2, failuresKeepNothing, 120)));
}

extern "C" int irisTestMatmulCApi(const char *job, uint32_t rank,
                                  uint32_t numRanks, const char *cacheDirectory,
                                  const char *compiler);

TEST(Matmul, IsCalledFromC) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    int line =
        irisTestMatmulCApi(launch.job.c_str(), launch.rank, launch.numRanks,
                           IRIS_TEST_CACHE, IRIS_TEST_COMPILER);
    return line == 0 ? "" : "MatmulCApiTest.c:" + std::to_string(line);
  };
  for (uint32_t n : {1u, 3u})
    EXPECT_EQ("", failures(runProcesses(n, body))) << n;
}
