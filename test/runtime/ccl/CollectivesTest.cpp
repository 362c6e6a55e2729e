// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation, compiled by iris-compile, on worlds and groups of the host,
// against a reference that is exact.
#include "iris/ccl/Communicator.h"
#include "support/Ranks.h"
#include "support/ccl/Reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

/// Seconds that one wait may take: many programs share few cores.
static constexpr double patience = 60;
static constexpr uint64_t bufferBytes = 4 << 20;

static Expected<std::unique_ptr<World>> makeWorld(const LaunchInfo &launch,
                                                  bool forceTable = false) {
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 128 << 20;
  options.heapChunkBytes = 64 << 20;
  options.waitLimit = patience;
  options.collectiveLimit = 250;
  options.forceTable = forceTable;
  return World::create(options);
}

/// Kernels stay in the build folder: a test compiles what changed.
static CommunicatorOptions optionsOf(std::vector<uint32_t> ranks = {}) {
  KernelCacheOptions cache;
  cache.directory = IRIS_TEST_CACHE;
  cache.compiler = IRIS_TEST_COMPILER;
  cache.maxBytes = uint64_t(1) << 30;
  CommunicatorOptions options;
  options.ranks = std::move(ranks);
  options.cache = std::make_shared<KernelCache>(cache);
  return options;
}

namespace {
enum class Place { heap, inPlace, ordinary };

/// Buffers of one rank.
struct Buffers {
  uint8_t *in = nullptr;
  uint8_t *out = nullptr;
  std::vector<uint64_t> ownIn = std::vector<uint64_t>(bufferBytes / 8);
  std::vector<uint64_t> ownOut = std::vector<uint64_t>(bufferBytes / 8);
};
} // namespace

static Expected<Buffers> makeBuffers(World &world) {
  Buffers buffers;
  IRISRT_ASSIGN_OR_RETURN(uint64_t in, world.allocate(bufferBytes));
  IRISRT_ASSIGN_OR_RETURN(uint64_t out, world.allocate(bufferBytes));
  buffers.in = reinterpret_cast<uint8_t *>(in);
  buffers.out = reinterpret_cast<uint8_t *>(out);
  return buffers;
}

static Status call(Communicator &comm, const Problem &p, const void *in,
                   void *out, const Config *config, Stream stream = {}) {
  switch (p.op) {
  case Op::allGather:
    return comm.allGather(in, out, p.count, p.dtype, stream, config);
  case Op::allReduce:
    return comm.allReduce(in, out, p.count, p.dtype, p.reduce, stream, config);
  case Op::reduceScatter:
    return comm.reduceScatter(in, out, p.count, p.dtype, p.reduce, stream,
                              config);
  case Op::allToAll:
    return comm.allToAll(in, out, p.count, p.dtype, stream, config);
  case Op::broadcast:
    return comm.broadcast(in, out, p.count, p.dtype, p.root, stream, config);
  case Op::reduce:
    return comm.reduce(in, out, p.count, p.dtype, p.reduce, p.root, stream,
                       config);
  case Op::gather:
    return comm.gather(in, out, p.count, p.dtype, p.root, stream, config);
  case Op::scatter:
    return comm.scatter(in, out, p.count, p.dtype, p.root, stream, config);
  default:
    return comm.barrier(stream);
  }
}

static std::string describe(const Problem &p, Place place,
                            const Config *config) {
  std::string text =
      std::string(opName(p.op)) + " " + std::string(dtypeName(p.dtype)) + " " +
      (reduces(p.op) ? std::string(reduceOpName(p.reduce)) : "") + " x " +
      std::to_string(p.count) + ", root " + std::to_string(p.root) + ", " +
      std::to_string(p.ranks.size()) + " members";
  if (place != Place::heap)
    text += place == Place::inPlace ? ", in place" : ", ordinary memory";
  if (config)
    text += " " + config->variant + (config->staged ? " staged" : "");
  return text + ": ";
}

/// Solves a problem on this member, and checks the output and the input.
static std::string solve(World &world, Communicator &comm, Buffers &buffers,
                         Problem p, Place place = Place::heap,
                         const Config *config = nullptr) {
  p.ranks = comm.group().ranks;
  auto me = static_cast<uint32_t>(comm.index());
  uint32_t width = dtypeBytes(p.dtype);
  uint64_t outBytes = p.outCount(me) * width;
  bool ordinary = place == Place::ordinary, inPlace = place == Place::inPlace;
  auto *in =
      ordinary ? reinterpret_cast<uint8_t *>(buffers.ownIn.data()) : buffers.in;
  auto *out = ordinary ? reinterpret_cast<uint8_t *>(buffers.ownOut.data())
                       : buffers.out;
  uint64_t chunk = p.count * width;
  if (inPlace) {
    bool gathers = p.op == Op::allGather || p.op == Op::gather;
    bool scatters = p.op == Op::reduceScatter || p.op == Op::scatter;
    uint32_t mine = p.op == Op::gather || p.op == Op::scatter ? p.root : me;
    // A root that gathers has its own chunk in the output; the others' inputs
    // lie where the root's does.
    out = gathers ? buffers.in : scatters ? buffers.in + mine * chunk : in;
    in = gathers ? buffers.in + mine * chunk : in;
    if (p.op == Op::scatter && me != p.root)
      out = buffers.in + p.root * chunk;
  }
  std::memset(out, 0xcd, outBytes + 64);
  for (uint64_t i = 0; i < p.inCount(me); ++i) {
    uint64_t bits = p.inBits(me, i);
    std::memcpy(in + i * width, &bits, width);
  }
  RANK_TRY(comm.barrier()); // nobody writes to an output that is not reset
  RANK_TRY(world.synchronize());
  Status status = call(comm, p, in, out, config);
  if (!status.ok())
    return describe(p, place, config) + status.message();
  RANK_TRY(world.synchronize());
  for (uint64_t i = 0; i < p.outCount(me); ++i) {
    uint64_t got = 0, want = p.outBits(me, i);
    std::memcpy(&got, out + i * width, width);
    if (got != want)
      return describe(p, place, config) + "element " + std::to_string(i) +
             " is " + std::to_string(got) + ", not " + std::to_string(want);
  }
  for (uint64_t i = 0; !inPlace && i < p.inCount(me); ++i) {
    uint64_t got = 0;
    std::memcpy(&got, in + i * width, width);
    if (got != p.inBits(me, i))
      return describe(p, place, config) + "input changed";
  }
  for (int i = 0; !inPlace && i < 64; ++i)
    if (out[outBytes + i] != 0xcd)
      return describe(p, place, config) + "written beyond the output";
  RANK_TRY(comm.barrier());
  RANK_TRY(world.synchronize());
  return "";
}

#define SOLVE(...)                                                             \
  do {                                                                         \
    std::string wrong_ = solve(__VA_ARGS__);                                   \
    if (!wrong_.empty())                                                       \
      return wrong_;                                                           \
  } while (false)

static const Op operations[] = {Op::allGather, Op::allReduce, Op::reduceScatter,
                                Op::allToAll,  Op::broadcast, Op::reduce,
                                Op::gather,    Op::scatter};

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// Every operation with some sizes, everywhere buffers may lie.
static std::string everyOperation(const LaunchInfo &launch, bool table) {
  RANK_ASSIGN(auto world, makeWorld(launch, table));
  RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf()));
  RANK_ASSIGN(Buffers buffers, makeBuffers(*world));
  uint64_t seed = 0;
  for (Op op : operations)
    for (uint64_t count : {1, 7, 1000, 20001}) {
      Problem p;
      p.op = op;
      p.count = count;
      p.dtype = DType::i32;
      p.root = static_cast<uint32_t>(count % comm->size());
      p.seed = ++seed;
      SOLVE(*world, *comm, buffers, p);
      SOLVE(*world, *comm, buffers, p, Place::ordinary);
      // Only the root knows that its buffers are the same.
      Config staged;
      staged.staged = op == Op::gather || op == Op::scatter;
      SOLVE(*world, *comm, buffers, p, Place::inPlace,
            staged.staged ? &staged : nullptr);
    }
  RANK_TRY(comm->destroy());
  RANK_TRY(world->sync());
  return "";
}

class Collectives : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, testing::Values(1, 2, 3, 5, 8));

TEST_P(Collectives, EveryOperationOnThreads) {
  EXPECT_EQ("", complaints(runThreads(GetParam(), [](const LaunchInfo &launch) {
              return everyOperation(launch, false);
            })));
}

TEST_P(Collectives, EveryOperationOnProcesses) {
  EXPECT_EQ("", complaints(runProcesses(
                    GetParam(),
                    [](const LaunchInfo &launch) {
                      return everyOperation(launch, launch.numRanks == 3);
                    },
                    280)));
}

TEST(CollectivesOf, EveryVariant) {
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf()));
    RANK_ASSIGN(Buffers buffers, makeBuffers(*world));
    for (Op op : operations)
      for (const std::string &variant : variantsOf(op))
        for (bool staged : {false, true}) {
          Config config;
          config.variant = variant;
          config.staged = staged;
          bool onHeapOnly =
              variant == "atomic" || variant == "spinlock" || variant == "ring";
          if (staged && onHeapOnly)
            continue;
          for (uint64_t count : {1, 333, 20000}) {
            Problem p;
            p.op = op;
            p.count = count;
            p.root = 1;
            p.seed = count;
            SOLVE(*world, *comm, buffers, p, Place::heap, &config);
            if (staged)
              SOLVE(*world, *comm, buffers, p, Place::ordinary, &config);
          }
        }
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", complaints(runProcesses(3, body, 280)));
}

TEST(CollectivesOf, EveryTypeAndReduction) {
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf()));
    RANK_ASSIGN(Buffers buffers, makeBuffers(*world));
    for (int t = 0; t <= static_cast<int>(DType::f8e5m2fnuz); ++t)
      for (int r = 0; r <= static_cast<int>(ReduceOp::avg); ++r) {
        Problem p;
        p.op = Op::allReduce;
        p.dtype = static_cast<DType>(t);
        p.reduce = static_cast<ReduceOp>(r);
        p.count = 999;
        p.seed = static_cast<uint64_t>(10 * t + r);
        SOLVE(*world, *comm, buffers, p);
        p.op = Op::allToAll; // the same kernel for all of them
        SOLVE(*world, *comm, buffers, p);
      }
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", complaints(runProcesses(3, body, 280)));
}

TEST(CollectivesOf, GroupsAtTheSameTime) {
  // Not evenly strided, in no order; all work at once.
  const std::vector<std::vector<uint32_t>> groups = {
      {6, 0, 1}, {3, 7}, {2, 5, 4}};
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    std::vector<std::unique_ptr<Communicator>> comms;
    for (const std::vector<uint32_t> &ranks : groups) {
      RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(ranks)));
      comms.push_back(std::move(comm));
    }
    RANK_ASSIGN(Buffers buffers, makeBuffers(*world));
    for (const std::unique_ptr<Communicator> &comm : comms)
      for (uint64_t seed = 0; comm->isMember() && seed < 5; ++seed)
        for (Op op : operations) {
          Problem p;
          p.op = op;
          p.dtype = DType::i32;
          p.count = 500;
          p.root = static_cast<uint32_t>(seed % comm->size());
          p.seed = seed;
          SOLVE(*world, *comm, buffers, p);
        }
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", complaints(runProcesses(8, body, 280)));
}

TEST(CollectivesOf, SendAndRecv) {
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf({2, 0, 1})));
    RANK_ASSIGN(Buffers buffers, makeBuffers(*world));
    auto me = static_cast<uint32_t>(comm->index());
    auto *in = reinterpret_cast<uint64_t *>(buffers.in);
    auto *out = reinterpret_cast<uint64_t *>(buffers.out);
    for (uint64_t count : {1, 100, 30000})
      for (uint32_t from = 0; from < 3; ++from)
        for (uint32_t to = 0; to < 3; ++to) {
          if (from == to || (me != from && me != to))
            continue;
          for (uint64_t i = 0; i < count; ++i)
            in[i] = me << 28 | to << 24 | i;
          if (me == from)
            RANK_TRY(comm->send(in, count, DType::i64, to));
          else
            RANK_TRY(comm->recv(out, count, DType::i64, from));
          RANK_TRY(world->synchronize());
          for (uint64_t i = 0; me == to && i < count; ++i)
            RANK_CHECK(out[i] == (from << 28 | to << 24 | i));
        }
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", complaints(runProcesses(3, body, 200)));
}

/// A chain of calls, each on what the one before gave, that no host waits for;
/// one rank is late now and then.
TEST(CollectivesOf, TenThousandCallsInARow) {
  constexpr uint32_t n = 3;
  constexpr uint64_t count = 48;
  constexpr int calls = 10000;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf()));
    RANK_ASSIGN(Buffers buffers, makeBuffers(*world));
    auto *a = reinterpret_cast<uint32_t *>(buffers.in);
    auto *b = reinterpret_cast<uint32_t *>(buffers.out);
    // What all ranks have, computed here.
    std::vector<std::vector<uint32_t>> all(n, std::vector<uint32_t>(n * count));
    for (uint32_t rank = 0; rank < n; ++rank)
      for (uint64_t i = 0; i < n * count; ++i)
        all[rank][i] = static_cast<uint32_t>((rank + 1) * 2654435761u ^ i * i);
    std::memcpy(a, all[launch.rank].data(), n * count * 4);
    // What makes the ranks differ again: part of it is written over the data
    // after every call.
    std::vector<std::vector<uint32_t>> fresh = all;
    RANK_ASSIGN(uint64_t table, world->allocate(n * count * 4));
    std::memcpy(reinterpret_cast<void *>(table), all[launch.rank].data(),
                n * count * 4);
    RANK_TRY(world->barrier());
    std::mt19937 random(7), delay(launch.rank);
    for (int step = 0; step < calls; ++step) {
      if (launch.rank == 1 && delay() % 256 == 0)
        ::usleep(delay() % 3000);
      auto next = all;
      uint32_t root = random() % n;
      switch (random() % 6) {
      case 0:
        RANK_TRY(comm->allReduce(a, b, n * count, DType::i32, ReduceOp::sum));
        for (uint64_t i = 0; i < n * count; ++i)
          for (uint32_t rank = 0; rank < n; ++rank)
            next[rank][i] = all[0][i] + all[1][i] + all[2][i];
        break;
      case 1:
        RANK_TRY(comm->allGather(a, b, count, DType::i32));
        for (uint64_t i = 0; i < n * count; ++i)
          for (uint32_t rank = 0; rank < n; ++rank)
            next[rank][i] = all[i / count][i % count];
        break;
      case 2:
        RANK_TRY(comm->allToAll(a, b, count, DType::i32));
        for (uint64_t i = 0; i < n * count; ++i)
          for (uint32_t rank = 0; rank < n; ++rank)
            next[rank][i] = all[i / count][rank * count + i % count];
        break;
      case 3:
        RANK_TRY(comm->broadcast(a, b, n * count, DType::i32, root));
        for (uint32_t rank = 0; rank < n; ++rank)
          next[rank] = all[root];
        break;
      case 4:
        RANK_TRY(comm->reduceScatter(a, a + launch.rank * count, count,
                                     DType::i32, ReduceOp::sum));
        RANK_TRY(
            comm->allGather(a + launch.rank * count, b, count, DType::i32));
        for (uint64_t i = 0; i < n * count; ++i)
          for (uint32_t rank = 0; rank < n; ++rank)
            next[rank][i] = all[0][i] + all[1][i] + all[2][i];
        break;
      case 5:
        RANK_TRY(comm->scatter(a, b, count, DType::i32, root));
        RANK_TRY(comm->allGather(b, a, count, DType::i32));
        RANK_TRY(world->copyOnDevice(reinterpret_cast<uint64_t>(b),
                                     reinterpret_cast<uint64_t>(a),
                                     n * count * 4));
        for (uint32_t rank = 0; rank < n; ++rank)
          next[rank] = all[root];
        break;
      }
      uint64_t at = random() % (n * count - 16);
      RANK_TRY(world->copyOnDevice(reinterpret_cast<uint64_t>(b + at),
                                   table + at * 4, 16 * 4));
      for (uint32_t rank = 0; rank < n; ++rank)
        std::copy_n(&fresh[rank][at], 16, &next[rank][at]);
      all = std::move(next);
      std::swap(a, b);
    }
    RANK_TRY(world->synchronize());
    for (uint64_t i = 0; i < n * count; ++i)
      RANK_CHECK(a[i] == all[launch.rank][i]);
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", complaints(runProcesses(n, body, 280)));
}
