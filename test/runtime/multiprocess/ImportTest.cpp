// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the program on the heap of worlds of the host, as processes and as
// threads; ccl/ImportTest.cpp has collectives, on every kind of device.
#include "support/Hash.h"
#include "support/Ranks.h"
#include "support/TestKernels.h"

#include "iris/rt/MemoryPool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
struct Shape {
  uint32_t numRanks;
  bool threads;
};

void PrintTo(const Shape &shape, std::ostream *stream) {
  *stream << shape.numRanks << (shape.threads ? " threads" : " processes");
}

class Imports : public testing::TestWithParam<Shape> {
protected:
  std::string run(const RankBody &body) {
    return failures(runRanks(GetParam().numRanks, GetParam().threads, body));
  }
  static WorldOptions options(const LaunchInfo &launch) {
    WorldOptions result;
    result.launch = launch;
    result.heapBytes = 16 << 20;
    result.heapChunkBytes = 1 << 20;
    result.importBytes = 16 << 20;
    result.joinLimit = 30;
    result.collectiveLimit = 60;
    return result;
  }
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (uint32_t numRanks : {1u, 2u, 3u, 4u, 8u})
    for (bool threads : {false, true})
      all.push_back({numRanks, threads});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Host, Imports, testing::ValuesIn(shapes()),
                         [](const testing::TestParamInfo<Shape> &info) {
                           return std::to_string(info.param.numRanks) +
                                  (info.param.threads ? "threads"
                                                      : "processes");
                         });
} // namespace

/// The granularity of mappings on the host.
static constexpr uint64_t granule = 64 << 10;

static int32_t *words(uint64_t address) {
  return reinterpret_cast<int32_t *>(address);
}

static int32_t elementOf(uint32_t rank, int64_t index, uint64_t seed) {
  return static_cast<int32_t>(hash(rank, static_cast<uint64_t>(index), seed));
}

static bool has(const Status &status, StatusCode code, const char *part) {
  if (status.code() == code && status.message().find(part) != std::string::npos)
    return true;
  ADD_FAILURE() << "expected '" << part << "', got " << status.toString();
  return false;
}

/// Kernels of all ranks read and write the program's memory: what it wrote at
/// its own addresses arrives at those of its peers.
TEST_P(Imports, KernelsUseMemoryWhereItIs) {
  std::string package = testPackageBytes();
  EXPECT_EQ(
      "", run([&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto world, World::create(options(launch)));
        RANK_ASSIGN(auto pool, MemoryPool::create(DeviceKind::host, 0));
        RANK_ASSIGN(Package loaded,
                    Package::fromBytes(package.data(), package.size()));
        RANK_ASSIGN(Module module, world->load(loaded));
        RANK_ASSIGN(Kernel gather, module.kernel("all_gather"));
        const uint32_t n = world->numRanks();
        uint64_t seed = 0;
        for (int64_t count : {1, 1000, 70000}) {
          const int64_t total = count * n;
          // The second one starts inside of its allocation.
          RANK_ASSIGN(uint64_t in, pool->allocate(count * 4));
          RANK_ASSIGN(uint64_t outs, pool->allocate(total * 4 + 512));
          const uint64_t out = outs + 256;
          for (int64_t i = 0; i < count; ++i)
            words(in)[i] = elementOf(world->rank(), i, ++seed);
          seed -= static_cast<uint64_t>(count);
          RANK_CHECK(!world->symmetricAddress(in));
          RANK_ASSIGN(uint64_t a, world->import(in, count * 4));
          RANK_ASSIGN(uint64_t b, world->import(out, total * 4));
          RANK_CHECK(world->isSymmetric(a, count * 4));
          RANK_CHECK(!world->isSymmetric(a, count * 4 + 1));
          RANK_CHECK(!world->isSymmetric(b - 1));
          RANK_CHECK(world->symmetricAddress(in, count * 4) == a);
          RANK_CHECK(world->symmetricAddress(out + 4 * (total - 1), 4) ==
                     b + 4 * (total - 1));
          RANK_CHECK(!world->symmetricAddress(out, total * 4 + 1));
          RANK_CHECK(world->symmetricAddress(b) == b);
          RANK_TRY(
              world->launch(gather, {2, 2, 1}, testArgs(a, count, b, total)));
          RANK_TRY(world->sync());
          for (uint32_t rank = 0; rank < n; ++rank)
            for (int64_t i = 0; i < count; ++i)
              RANK_CHECK(
                  words(out)[rank * count + i] ==
                  elementOf(rank, i, seed + static_cast<uint64_t>(i) + 1));
          // The import keeps memory alive that the program frees.
          RANK_TRY(pool->free(in));
          RANK_ASSIGN(uint64_t peer,
                      world->translate(a, (launch.rank + 1) % n));
          int32_t got = 0;
          RANK_TRY(world->readNow(&got, peer, 4));
          RANK_CHECK(got == elementOf((launch.rank + 1) % n, 0, seed + 1));
          RANK_TRY(world->barrier());
          RANK_TRY(world->release(a));
          RANK_TRY(world->release(b));
          RANK_CHECK(!world->isSymmetric(a) && !world->symmetricAddress(out));
          words(out)[0] = 1; // still the program's
          RANK_TRY(pool->free(outs));
          seed += static_cast<uint64_t>(count);
        }
        RANK_TRY(world->destroy());
        return "";
      }));
}

/// Space is used again, and the end of a world releases what is left.
TEST_P(Imports, ManyTimes) {
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(auto pool, MemoryPool::create(DeviceKind::host, 0));
              RANK_ASSIGN(uint64_t large, pool->allocate(10 << 20));
              RANK_ASSIGN(uint64_t small, pool->allocate(100));
              for (int round = 0; round < 3; ++round) {
                RANK_ASSIGN(auto world, World::create(options(launch)));
                for (int i = 0; i < 20; ++i) {
                  RANK_ASSIGN(uint64_t a, world->import(large, 10 << 20));
                  RANK_ASSIGN(uint64_t b, world->import(small + 4, 8));
                  words(small)[1] = i;
                  RANK_CHECK(words(b)[0] == i);
                  if (i == 19)
                    break;
                  RANK_TRY(world->release(a));
                  RANK_TRY(world->release(b));
                  RANK_CHECK(has(world->release(b), StatusCode::invalidArgument,
                                 "was released"));
                }
                RANK_TRY(world->destroy());
              }
              RANK_TRY(pool->free(large));
              RANK_TRY(pool->free(small));
              RANK_CHECK(
                  has(pool->free(small), StatusCode::invalidArgument, "freed"));
              return "";
            }));
}

/// An error of one rank is that of all ranks, and the world goes on.
TEST_P(Imports, ErrorsOnAllRanks) {
  EXPECT_EQ(
      "", run([&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto world, World::create(options(launch)));
        RANK_ASSIGN(auto pool, MemoryPool::create(DeviceKind::host, 0));
        RANK_ASSIGN(uint64_t good, pool->allocate(4 * granule));
        RANK_ASSIGN(uint64_t other, pool->allocate(4 * granule));
        RANK_ASSIGN(uint64_t freed, pool->allocate(4 * granule));
        RANK_TRY(pool->free(freed));
        RANK_ASSIGN(uint64_t onHeap, world->allocate(4096));
        int ordinary = 0;
        const uint32_t last = world->numRanks() - 1;
        const bool isLast = launch.rank == last;
        // What the last rank passes in place of `good`, and the error of all.
        auto refuses = [&](uint64_t address, uint64_t bytes, StatusCode code,
                           const char *part) {
          Status status = (isLast ? world->import(address, bytes)
                                  : world->import(good, 4096))
                              .status();
          return has(status, code, part) &&
                 (last == 0 ||
                  has(status, code, ("rank " + std::to_string(last)).c_str()));
        };
        const auto invalid = StatusCode::invalidArgument;
        RANK_CHECK(refuses(reinterpret_cast<uint64_t>(&ordinary), 4,
                           StatusCode::unavailable, "ordinary memory"));
        // Another thread may get the same address.
        RANK_CHECK(GetParam().threads ||
                   refuses(freed, 4096, StatusCode::unavailable, "not freed"));
        RANK_CHECK(
            refuses(onHeap, 4096, invalid, "already on the symmetric heap"));
        RANK_CHECK(refuses(good, 0, invalid, "cannot import 0 bytes"));
        RANK_CHECK(refuses(0, 4096, invalid, "cannot import"));
        RANK_CHECK(refuses(~uint64_t(0), 4096, invalid, "cannot import"));
        RANK_CHECK(
            refuses(good, uint64_t(1) << 40, StatusCode::unavailable, ""));
        if (last != 0) {
          RANK_CHECK(refuses(good, 8192, StatusCode::failedPrecondition,
                             "different sizes"));
          RANK_CHECK(refuses(good + 256, 4096, StatusCode::failedPrecondition,
                             "256 on rank"));
          RANK_ASSIGN(uint64_t larger, pool->allocate(8 * granule));
          RANK_CHECK(refuses(larger, 4096, StatusCode::failedPrecondition,
                             "expected the same sizes"));
          RANK_TRY(pool->free(larger));
        }
        // Double and overlapping imports.
        RANK_ASSIGN(uint64_t imported, world->import(good + 4096, 8192));
        RANK_CHECK(has(world->import(good + 4096, 8192).status(), invalid,
                       "overlap memory that is imported already"));
        RANK_CHECK(has(world->import(good, 4097).status(), invalid, "overlap"));
        RANK_CHECK(
            has(world->import(good + 12287, 64).status(), invalid, "overlap"));
        RANK_CHECK(has(world->import(imported, 16).status(), invalid,
                       "already on the symmetric heap"));
        RANK_ASSIGN(uint64_t before, world->import(good, 4096));
        RANK_ASSIGN(uint64_t behind, world->import(good + 12288, 64));
        RANK_CHECK(has(world->release(imported + 1), invalid, "not what"));
        RANK_CHECK(has(world->release(good), invalid, "not what"));
        // More than the addresses for imports.
        RANK_ASSIGN(uint64_t huge, pool->allocate(17 << 20));
        RANK_CHECK(has(world->import(huge, 17 << 20).status(),
                       StatusCode::outOfMemory, "IRIS_IMPORT_SIZE"));
        // Ranks that release others get no memory at different offsets.
        if (last != 0) {
          RANK_TRY(world->release(isLast ? imported : before));
          RANK_ASSIGN(uint64_t big, pool->allocate(4 * granule));
          Status differs = world->import(big, 4096).status();
          RANK_CHECK(has(differs, StatusCode::failedPrecondition,
                         "released other imports"));
          RANK_TRY(world->release(isLast ? before : imported));
          RANK_ASSIGN(imported, world->import(big, 4096));
        }
        // The world goes on: its heap, and further imports.
        RANK_ASSIGN(uint64_t again, world->import(other, 4 * granule));
        words(other)[5] = elementOf(launch.rank, 5, 77);
        RANK_TRY(world->sync());
        for (uint32_t rank = 0; rank <= last; ++rank) {
          RANK_ASSIGN(uint64_t there, world->translate(again + 20, rank));
          RANK_CHECK(words(there)[0] == elementOf(rank, 5, 77));
        }
        RANK_ASSIGN(uint64_t grown, world->allocate(2 << 20));
        RANK_TRY(world->deallocate(grown));
        RANK_TRY(world->release(behind));
        RANK_TRY(world->sync());
        RANK_TRY(world->destroy());
        return "";
      }));
}

/// Worlds without addresses for imports say so.
TEST_P(Imports, WithoutAddresses) {
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(auto pool, MemoryPool::create(DeviceKind::host, 0));
              RANK_ASSIGN(uint64_t memory, pool->allocate(4096));
              for (bool table : {false, true}) {
                WorldOptions changed = options(launch);
                changed.forceTable = table;
                // One rank's value is enough.
                if (!table && launch.rank == 0)
                  changed.importBytes = 0;
                RANK_ASSIGN(auto world, World::create(changed));
                RANK_CHECK(has(world->import(memory, 4096).status(),
                               StatusCode::unavailable,
                               table ? "chosen address" : "IRIS_IMPORT_SIZE"));
                RANK_ASSIGN(uint64_t there, world->allocate(4096));
                RANK_CHECK(world->symmetricAddress(there) == there);
                RANK_TRY(world->destroy());
              }
              return "";
            }));
}

/// A rank that ends in place of an import ends it on its peers.
TEST(ImportFaults, RankEnds) {
  const uint32_t numRanks = 3;
  auto start = std::chrono::steady_clock::now();
  auto ends =
      runProcesses(numRanks, [&](const LaunchInfo &launch) -> std::string {
        WorldOptions options;
        options.launch = launch;
        options.heapBytes = 16 << 20;
        options.collectiveLimit = 50;
        RANK_ASSIGN(auto world, World::create(options));
        RANK_ASSIGN(auto pool, MemoryPool::create(DeviceKind::host, 0));
        RANK_ASSIGN(uint64_t memory, pool->allocate(4096));
        RANK_ASSIGN(uint64_t kept, world->import(memory, 1024));
        RANK_TRY(world->sync());
        if (launch.rank == 1)
          ::_exit(0);
        Status status = world->import(memory + 2048, 1024).status();
        RANK_CHECK(status.code() == StatusCode::aborted);
        RANK_CHECK(status.message().find("rank 1") != std::string::npos);
        RANK_CHECK(!world->import(memory + 2048, 1024).ok());
        RANK_CHECK(!world->release(kept).ok());
        RANK_CHECK(!world->destroy().ok());
        return "";
      });
  ends[1] = RankEnd();
  ends[1].exited = true;
  EXPECT_EQ("", failures(ends));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
}
