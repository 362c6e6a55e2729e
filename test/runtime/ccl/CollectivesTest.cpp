// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation, compiled by iris-compile, on worlds and groups, against an
// exact reference.
#include "ccl/OnDevices.h"
#include "ccl/Spec.h"

#include <algorithm>
#include <cstdlib>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

/// Gives a GPU's programs several tiles each. On the host, which has few
/// programs, a smaller count is enough; but a recording uses the GPU's.
static uint64_t largestCount(DeviceKind kind) {
  return kind == DeviceKind::host && !isRecording() ? 20001 : 300001;
}

/// For chunks of f32 or i32 of eight ranks, and some more.
static uint64_t bufferBytes(DeviceKind kind) {
  return 4 * 8 * largestCount(kind) + 1024;
}

static const Op operations[] = {Op::allGather, Op::allReduce, Op::reduceScatter,
                                Op::allToAll,  Op::broadcast, Op::reduce,
                                Op::gather,    Op::scatter};

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Every operation with some sizes, for every location of the buffers.
static std::string everyOperation(DeviceKind kind, const LaunchInfo &launch,
                                  bool table) {
  WorldOptions options = worldOptions(kind, launch);
  options.forceTable = table;
  RANK_ASSIGN(auto world, World::create(options));
  RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
  RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind)));
  uint64_t seed = 0;
  for (Op op : operations)
    for (uint64_t count :
         {uint64_t(1), uint64_t(7), uint64_t(1000), largestCount(kind)}) {
      Problem p;
      p.op = op;
      p.count = count;
      p.dtype = DType::i32;
      p.root = static_cast<uint32_t>(count % comm->size());
      p.seed = ++seed;
      SOLVE(*world, *comm, buffers, p);
      SOLVE(*world, *comm, buffers, p, BufferLocation::ordinary);
      // Only the root knows that its buffers are equal, or that one of them is
      // not on the heap.
      SOLVE(*world, *comm, buffers, p, BufferLocation::inPlace);
      if (hasRoot(op))
        SOLVE(*world, *comm, buffers, p, BufferLocation::ordinaryOnRoot);
    }
  RANK_TRY(comm->destroy());
  RANK_TRY(world->sync());
  return "";
}

class Collectives : public OnDevices {};
IRIS_ON_DEVICES(Collectives, 1u, 2u, 3u, 5u, 8u);

TEST_P(Collectives, EveryOperationOnThreads) {
  // In a separate process, so that this one may fork later.
  EXPECT_EQ("", failures(runProcesses(
                    1,
                    [&](const LaunchInfo &) {
                      return failures(
                          runThreads(ranks(), [&](const LaunchInfo &launch) {
                            return everyOperation(kind(), launch, false);
                          }));
                    },
                    280)));
}

TEST_P(Collectives, EveryOperationOnProcesses) {
  expectGood([&](const LaunchInfo &launch) {
    return everyOperation(kind(), launch, launch.numRanks == 3);
  });
}

class CollectivesInFull : public OnDevices {};
IRIS_ON_DEVICES(CollectivesInFull, 3u, 8u);

TEST_P(CollectivesInFull, EveryVariant) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    for (Op op : operations)
      for (const std::string &variant : variantsOf(op))
        for (bool staged : {false, true}) {
          Config config;
          config.variant = variant;
          config.staged = staged;
          if (staged && !hasStagedForm(op, variant))
            continue;
          for (uint64_t count :
               {uint64_t(1), uint64_t(333), largestCount(kind())}) {
            Problem p;
            p.op = op;
            p.count = count;
            p.root = 1;
            p.seed = count;
            SOLVE(*world, *comm, buffers, p, BufferLocation::heap, &config);
            if (variant == "copy_engine" || hasRoot(op))
              SOLVE(*world, *comm, buffers, p, BufferLocation::inPlace,
                    &config);
            if (hasRoot(op))
              SOLVE(*world, *comm, buffers, p, BufferLocation::ordinaryOnRoot,
                    &config);
            if (staged)
              SOLVE(*world, *comm, buffers, p, BufferLocation::ordinary,
                    &config);
          }
        }
    RANK_TRY(world->sync());
    return "";
  });
}

class CollectivesOfThree : public OnDevices {};
IRIS_ON_DEVICES(CollectivesOfThree, 3u);

TEST_P(CollectivesOfThree, EveryTypeAndReduction) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    for (int t = 0; t <= static_cast<int>(DType::u64); ++t)
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
  });
}

TEST_P(CollectivesOfThree, SendAndRecv) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm,
                Communicator::create(*world, communicatorOptions({2, 0, 1})));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    auto me = static_cast<uint32_t>(comm->index());
    for (uint64_t count : {1, 100, 30000})
      for (uint32_t from = 0; from < 3; ++from)
        for (uint32_t to = 0; to < 3; ++to) {
          if (from == to || (me != from && me != to))
            continue;
          std::vector<uint64_t> sent(count), got(count);
          for (uint64_t i = 0; i < count; ++i)
            sent[i] = from << 28 | to << 24 | i;
          Problem p;
          p.op = me == from ? Op::send : Op::recv;
          p.dtype = DType::i64;
          p.count = count;
          p.root = me == from ? to : from;
          if (me == from) {
            RANK_TRY(world->copyToDevice(buffers.in, sent.data(), 8 * count));
            RANK_TRY(call(*world, *comm, p, buffers.in, 0));
          } else {
            RANK_TRY(call(*world, *comm, p, 0, buffers.out));
            RANK_TRY(world->copyToHost(got.data(), buffers.out, 8 * count));
          }
          RANK_TRY(world->synchronize());
          RANK_CHECK(me == from || got == sent);
        }
    RANK_TRY(world->sync());
    return "";
  });
}

/// The smallest workspace: default tiles are as small as it needs, and larger
/// messages take several rounds.
TEST_P(CollectivesOfThree, SmallWorkspaces) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    CommunicatorOptions options = communicatorOptions();
    options.workspaceBytes = 512 << 10;
    options.checkCalls = true; // they apply to the stand-ins
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    for (Op op : operations)
      for (uint64_t count : {uint64_t(5), uint64_t(20001)}) {
        Problem p;
        p.op = op;
        p.count = count;
        p.root = 2;
        p.seed = count;
        SOLVE(*world, *comm, buffers, p);
        SOLVE(*world, *comm, buffers, p, BufferLocation::ordinary);
        SOLVE(*world, *comm, buffers, p, BufferLocation::inPlace);
      }
    Problem p;
    p.dtype = DType::i32;
    p.count = 20001;
    if (launch.rank < 2) {
      p.op = launch.rank == 0 ? Op::send : Op::recv;
      p.root = 1 - launch.rank;
      RANK_TRY(call(*world, *comm, p, buffers.in, buffers.out));
    }
    RANK_TRY(world->sync());
    return "";
  });
}

/// NCCL's rule: two ranks that both send first wait for each other. The wait
/// times out with a message that names both.
TEST_P(CollectivesOfThree, BothSendFirst) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    WorldOptions worlds = worldOptions(kind(), launch);
    worlds.waitLimit = 1;
    RANK_ASSIGN(auto world, World::create(worlds));
    CommunicatorOptions options = communicatorOptions();
    options.workspaceBytes = 512 << 10; // FIFO slots hold less than the message
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    Problem p;
    p.dtype = DType::i32;
    p.count = largestCount(kind());
    p.root = 1 - std::min(launch.rank, 1u);
    if (launch.rank < 2)
      for (Op op : {Op::send, Op::recv}) {
        p.op = op;
        RANK_TRY(call(*world, *comm, p, buffers.in, buffers.out));
      }
    const Status status = world->sync();
    RANK_CHECK(!status.ok());
    bool isNamed =
        status.message().find("send") != std::string::npos &&
        status.message().find("owed the signal") != std::string::npos;
    if (launch.rank < 2 && !isNamed)
      return "it says: " + status.message();
    return "";
  });
}

class TransfersOfTwo : public OnDevices {};
IRIS_ON_DEVICES(TransfersOfTwo, 2u);

/// The first send or receive loads the kernels of both directions, since a
/// driver may not load while a send waits: a receive after it can be captured,
/// which needs a loaded kernel.
TEST_P(TransfersOfTwo, FirstSendLoadsTheReceives) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    RANK_ASSIGN(Stream stream, world->createStream());
    Problem p;
    p.dtype = DType::i64;
    p.count = 1000;
    p.root = 1 - launch.rank;
    p.op = launch.rank == 0 ? Op::send : Op::recv;
    RANK_TRY(call(*world, *comm, p, buffers.in, buffers.out));
    RANK_TRY(world->synchronize());
    p.op = launch.rank == 0 ? Op::recv : Op::send;
    RANK_TRY(world->beginCapture(stream));
    RANK_TRY(call(*world, *comm, p, buffers.in, buffers.out, nullptr, stream));
    RANK_ASSIGN(Graph graph, world->endCapture(stream));
    RANK_TRY(world->launchGraph(graph, stream));
    RANK_TRY(world->sync());
    return "";
  });
}

/// The first transfers of a communicator, in both directions at once: no load
/// waits for a send of the same rank. They are larger than the FIFO slots.
TEST_P(TransfersOfTwo, BothDirectionsAtOnce) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    RANK_ASSIGN(Stream sends, world->createStream());
    RANK_ASSIGN(Stream receives, world->createStream());
    Problem p;
    p.dtype = DType::i32;
    p.count = largestCount(kind());
    p.root = 1 - launch.rank;
    auto valueOf = [](uint32_t rank, uint64_t i) {
      return static_cast<uint32_t>((2 * i + rank) * 2654435761u);
    };
    std::vector<uint32_t> values(p.count);
    for (uint64_t i = 0; i < p.count; ++i)
      values[i] = valueOf(launch.rank, i);
    RANK_TRY(world->copyToDevice(buffers.in, values.data(), 4 * p.count));
    RANK_TRY(world->synchronize());
    p.op = Op::send;
    RANK_TRY(call(*world, *comm, p, buffers.in, buffers.out, nullptr, sends));
    p.op = Op::recv;
    RANK_TRY(
        call(*world, *comm, p, buffers.in, buffers.out, nullptr, receives));
    RANK_TRY(world->sync());
    RANK_TRY(world->copyToHost(values.data(), buffers.out, 4 * p.count));
    RANK_TRY(world->synchronize());
    for (uint64_t i = 0; i < p.count; ++i)
      RANK_CHECK(values[i] == valueOf(1 - launch.rank, i));
    RANK_TRY(world->sync());
    return "";
  });
}

/// Messages that fit into the slots stay there until they are received,
/// whatever the ranks do in between. One side's buffer is on the heap, the
/// other side's is not: both select the same variant and programs.
TEST_P(TransfersOfTwo, StayUntilTheyAreReceived) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
    Config large;
    large.variant = "fifo";
    for (uint64_t bytes : {1u, 16u, 1000u, 4096u, 65536u, 100001u}) {
      std::vector<uint8_t> values(bytes), got(bytes);
      for (uint64_t i = 0; i < bytes; ++i)
        values[i] = static_cast<uint8_t>((i + bytes) * 2654435761u >> 24);
      const bool isSender = launch.rank == 0;
      const uint64_t out = buffers.ordinaryOut;
      const Config *config = bytes > 4096 ? &large : nullptr;
      Problem p;
      p.dtype = DType::u8;
      p.count = bytes;
      p.root = 1 - launch.rank;
      p.op = isSender ? Op::send : Op::recv;
      if (isSender) {
        RANK_TRY(world->copyToDevice(buffers.in, values.data(), bytes));
        RANK_TRY(call(*world, *comm, p, buffers.in, out, config));
      }
      for (bool isOnHeap : {true, false}) {
        Problem between;
        between.dtype = DType::f32;
        between.count = std::min<uint64_t>(largestCount(kind()), 100000);
        SOLVE(*world, *comm, buffers, between,
              isOnHeap ? BufferLocation::heap : BufferLocation::ordinary);
      }
      if (!isSender) {
        RANK_TRY(call(*world, *comm, p, buffers.in, out, config));
        RANK_TRY(world->copyToHost(got.data(), out, bytes));
        RANK_TRY(world->synchronize());
        RANK_CHECK(got == values);
      }
    }
    RANK_TRY(world->sync());
    return "";
  });
}

class CollectivesOfGroups : public OnDevices {};
IRIS_ON_DEVICES(CollectivesOfGroups, 8u);

TEST_P(CollectivesOfGroups, AtTheSameTime) {
  // Not evenly strided, in permuted order; all groups run at once.
  const std::vector<std::vector<uint32_t>> groups = {
      {6, 0, 1}, {3, 7}, {2, 5, 4}};
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    std::vector<std::unique_ptr<Communicator>> comms;
    for (const std::vector<uint32_t> &ranks : groups) {
      RANK_ASSIGN(auto comm,
                  Communicator::create(*world, communicatorOptions(ranks)));
      comms.push_back(std::move(comm));
    }
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes(kind())));
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
  });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// A rank's data: distinct eight-byte words.
static uint64_t wordOf(uint64_t rank, uint64_t i) {
  uint64_t x = (i + (rank << 56)) * 0x9e3779b97f4a7c15ull;
  return x ^ x >> 29;
}

/// Sums of the eight bytes of each, without carries between bytes.
static uint64_t addBytes(uint64_t a, uint64_t b) {
  constexpr uint64_t high = 0x8080808080808080ull;
  return ((a & ~high) + (b & ~high)) ^ ((a ^ b) & high);
}

/// "" if the words from word `first` on match `expected`.
static std::string
checkWords(World &world, uint64_t buffer, uint64_t first, uint64_t last,
           const std::function<uint64_t(uint64_t)> &expected) {
  std::vector<uint64_t> got(last - first);
  RANK_TRY(world.copyToHost(got.data(), buffer + 8 * first, 8 * got.size()));
  RANK_TRY(world.synchronize());
  for (uint64_t i = first; i < last; ++i)
    if (got[i - first] != expected(i))
      return "bytes " + std::to_string(8 * i) + " to " +
             std::to_string(8 * i + 7) + " are wrong";
  return "";
}

/// Checking everything would take minutes: checks the elements around the
/// multiples of 2^31 bytes and the ends of chunks, and samples of the rest.
static std::string
checkSome(World &world, uint64_t buffer, uint64_t words, uint64_t chunk,
          const std::function<uint64_t(uint64_t)> &expected) {
  constexpr uint64_t window = 1 << 16;
  std::vector<uint64_t> places = {0, words};
  for (uint64_t at = chunk; at < words; at += chunk)
    places.push_back(at);
  for (uint64_t at = uint64_t(1) << 28; at < words; at += uint64_t(1) << 28)
    places.push_back(at);
  for (uint64_t i = 0; i < 100; ++i)
    places.push_back(wordOf(0, i) % words);
  for (uint64_t place : places) {
    uint64_t first = place - std::min(place, window);
    std::string wrong = checkWords(world, buffer, first,
                                   std::min(place + window, words), expected);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

/// One all-gather and one all-reduce.
static std::string solveLarge(World &world, Communicator &comm, Problem p) {
  const uint64_t words = p.count / 8, n = comm.size();
  auto me = static_cast<uint32_t>(comm.index());
  RANK_ASSIGN(uint64_t in, world.allocate(8 * words));
  RANK_ASSIGN(uint64_t out, world.allocate(8 * words * n));
  std::vector<uint64_t> piece(1 << 22);
  for (uint64_t first = 0; first < words; first += piece.size()) {
    uint64_t size = std::min<uint64_t>(piece.size(), words - first);
    for (uint64_t i = 0; i < size; ++i)
      piece[i] = wordOf(me, first + i);
    RANK_TRY(world.copyToDevice(in + 8 * first, piece.data(), 8 * size));
    RANK_TRY(world.synchronize());
  }
  p.op = Op::allGather;
  RANK_TRY(call(world, comm, p, in, out));
  RANK_TRY(world.synchronize());
  std::string wrong = checkSome(world, out, words * n, words, [&](uint64_t i) {
    return wordOf(i / words, i % words);
  });
  if (!wrong.empty())
    return "all_gather: " + wrong;
  p.op = Op::allReduce;
  RANK_TRY(call(world, comm, p, in, out));
  RANK_TRY(world.synchronize());
  wrong = checkSome(world, out, words, words, [&](uint64_t i) {
    uint64_t sum = 0;
    for (uint64_t rank = 0; rank < n; ++rank)
      sum = addBytes(sum, wordOf(rank, i));
    return sum;
  });
  if (!wrong.empty())
    return "all_reduce: " + wrong;
  RANK_TRY(world.sync());
  return "";
}

class CollectivesOfLargeData : public OnDevices {};
IRIS_ON_DEVICES(CollectivesOfLargeData, 2u, 4u, 8u);

TEST_P(CollectivesOfLargeData, MoreThanTwoToThe31Elements) {
  Problem p;
  p.dtype = DType::i8;
  p.count = (uint64_t(1) << 31) + 8 * 777;
  if (kind() == DeviceKind::host) {
    for (Op op : {Op::allGather, Op::allReduce}) {
      TuningKey tuningKey;
      tuningKey.op = op;
      tuningKey.dtype = p.dtype;
      tuningKey.bytes = p.count;
      tuningKey.groupSize = ranks();
      recordCall(tuningKey, p.reduce, nullptr, "stride");
    }
    GTEST_SKIP() << "needs the memory of GPUs";
  }
  const char *wanted = std::getenv("IRIS_TEST_LARGE");
  if (!wanted || std::string(wanted) != "1")
    GTEST_SKIP() << "takes much memory; IRIS_TEST_LARGE=1 runs it";
  expectGood([&](const LaunchInfo &launch) -> std::string {
    WorldOptions options = worldOptions(kind(), launch);
    options.heapBytes = uint64_t(ranks() + 3) << 31;
    options.heapChunkBytes = 1 << 30;
    RANK_ASSIGN(auto world, World::create(options));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    return solveLarge(*world, *comm, p);
  });
}
