// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives whose chunks have counts and offsets in device memory: ragged and
// empty chunks in any order, replays of a graph with other counts, and counts
// that are wrong.
#include "ccl/CheckCall.h"
#include "ccl/CountedCall.h"
#include "ccl/OnDevices.h"

#include <cstring>
#include <functional>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// Who sends how much to whom, and where it is.
struct Counted {
  Op op = Op::allToAllV;
  DType dtype = DType::i32;
  uint64_t rowElements = 1;
  /// Rows of the largest chunk.
  uint64_t most = 1;
  uint64_t seed = 0;
  uint32_t size = 1;

  uint64_t rowBytes() const { return rowElements * dtypeBytes(dtype); }
  bool isGather() const { return op == Op::allGatherV; }
  /// Rows that `from` sends to `to`; every fifth chunk is empty.
  uint64_t count(uint32_t from, uint32_t to) const {
    uint64_t h = hash(from, isGather() ? 0 : to, seed);
    return h % 5 == 0 ? 0 : h / 5 % (most + 1);
  }
  /// Chunks are apart, and in another order than the members.
  uint64_t inOffset(uint32_t, uint32_t to) const {
    return isGather() ? 0 : (to + 1) % size * most + seed % 3;
  }
  uint64_t outOffset(uint32_t to, uint32_t from) const {
    return (size - 1 - from) * most + (to + seed) % 4;
  }
  uint64_t inRows() const { return isGather() ? most : size * most + 2; }
  uint64_t outRows() const { return size * most + 3; }
  uint8_t inByte(uint32_t rank, uint64_t i) const {
    return static_cast<uint8_t>(hash(rank, i, seed + 77));
  }
};
} // namespace

static std::vector<int64_t> tablesOf(const Counted &p, uint32_t me) {
  return chunkTables(p.size, [&](uint32_t peer) -> PeerChunks {
    return {p.count(me, peer), p.inOffset(me, peer), p.count(peer, me),
            p.outOffset(me, peer)};
  });
}

static std::vector<uint8_t> inputOf(const Counted &p, uint32_t me) {
  std::vector<uint8_t> bytes(p.inRows() * p.rowBytes());
  for (uint64_t i = 0; i < bytes.size(); ++i)
    bytes[i] = p.inByte(me, i);
  return bytes;
}

static std::vector<uint8_t> outputOf(const Counted &p, uint32_t me) {
  std::vector<uint8_t> bytes(p.outRows() * p.rowBytes() + guardBytes, guard);
  for (uint32_t from = 0; from < p.size; ++from) {
    uint64_t target = p.outOffset(me, from) * p.rowBytes();
    uint64_t source = p.inOffset(from, me) * p.rowBytes();
    for (uint64_t i = 0; i < p.count(from, me) * p.rowBytes(); ++i)
      bytes[target + i] = p.inByte(from, source + i);
  }
  return bytes;
}

static Call callOf(const Counted &p, const CountedMemory &memory) {
  Call call = countedCall(p.op, p.dtype, p.rowElements, p.size, memory);
  call.inSize = p.inRows() * p.rowElements;
  call.outSize = p.outRows() * p.rowElements;
  return call;
}

/// The bytes must stay until they got there.
static Status upload(World &world, const CountedMemory &memory,
                     const std::vector<uint8_t> &input,
                     const std::vector<uint8_t> &fresh,
                     const std::vector<int64_t> &tables) {
  IRISRT_RETURN_IF_ERROR(
      world.copyToDevice(memory.in, input.data(), input.size()));
  IRISRT_RETURN_IF_ERROR(
      world.copyToDevice(memory.out, fresh.data(), fresh.size()));
  return world.copyToDevice(memory.tables, tables.data(), 8 * tables.size());
}

/// Runs `enqueue` on fresh memory, and compares the whole output.
static std::string check(World &world, Communicator &comm, const Counted &p,
                         const CountedMemory &memory,
                         const std::function<Status()> &enqueue,
                         const std::string &what) {
  auto me = static_cast<uint32_t>(comm.index());
  const std::vector<uint8_t> input = inputOf(p, me), want = outputOf(p, me),
                             fresh(want.size(), guard);
  const std::vector<int64_t> tables = tablesOf(p, me);
  RANK_TRY(upload(world, memory, input, fresh, tables));
  // No rank writes to an output that is not reset.
  RANK_TRY(deviceBarrier(world, comm));
  RANK_TRY(enqueue());
  std::vector<uint8_t> got(want.size()), after(input.size());
  RANK_TRY(world.copyToHost(got.data(), memory.out, got.size()));
  RANK_TRY(world.copyToHost(after.data(), memory.in, after.size()));
  RANK_TRY(world.synchronize());
  std::string text = std::string(opName(p.op)) + " " + what + ", " +
                     std::to_string(p.size) + " members, up to " +
                     std::to_string(p.most) + " rows of " +
                     std::to_string(p.rowBytes()) + " bytes, seed " +
                     std::to_string(p.seed) + ": ";
  for (uint64_t i = 0; i < want.size(); ++i)
    if (got[i] != want[i])
      return text + "byte " + std::to_string(i) + " is " +
             std::to_string(got[i]) + ", not " + std::to_string(want[i]);
  return after == input ? "" : text + "input changed";
}

static std::string solve(World &world, Communicator &comm, const Counted &p,
                         const CountedMemory &memory, const Config *config,
                         const std::string &what) {
  return check(
      world, comm, p, memory,
      [&] {
        Call call = callOf(p, memory);
        call.config = config;
        return comm.run(call);
      },
      what);
}

static const Op operations[] = {Op::allToAllV, Op::allGatherV};

class CountedCollectives : public OnDevices {
protected:
  /// Rows of the largest chunks: of some tiles for each program on a GPU.
  static uint64_t largest() {
    return kind() == DeviceKind::host ? 5001 : 70001;
  }
  static uint64_t bufferBytes() { return 8 * 8 * (largest() + 8) + 4096; }
};
IRIS_ON_DEVICES(CountedCollectives, 1u, 2u, 3u, 4u, 8u);

TEST_P(CountedCollectives, EveryVariant) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes()));
    RANK_ASSIGN(uint64_t tables, world->allocate(4096));
    Counted p;
    p.size = comm->size();
    for (Op op : operations)
      for (const std::string &variant : variantsOf(op))
        for (bool staged : {false, true}) {
          Config config;
          config.variant = variant;
          config.staged = staged;
          for (uint64_t most :
               {uint64_t(0), uint64_t(3), uint64_t(700), largest()}) {
            p.op = op;
            p.most = most;
            ++p.seed;
            std::string what = variant + (staged ? " staged" : "");
            SOLVE(*world, *comm, p, {buffers.in, buffers.out, tables}, &config,
                  what);
            if (staged)
              SOLVE(*world, *comm, p,
                    {buffers.ordinaryIn, buffers.ordinaryOut, tables}, &config,
                    what + " elsewhere");
          }
        }
    RANK_TRY(world->sync());
    return "";
  });
}

/// Without a config, in every type, in rows, and off the heap.
TEST_P(CountedCollectives, EveryType) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes()));
    RANK_ASSIGN(uint64_t tables, world->allocate(4096));
    Counted p;
    p.size = comm->size();
    p.most = 333;
    for (Op op : operations)
      for (int t = 0; t <= static_cast<int>(DType::f8e5m2fnuz); ++t) {
        p.op = op;
        p.dtype = static_cast<DType>(t);
        p.rowElements = t % 3 == 0 ? 5 : 1;
        ++p.seed;
        SOLVE(*world, *comm, p, {buffers.in, buffers.out, tables}, nullptr,
              "heap");
        SOLVE(*world, *comm, p,
              {buffers.ordinaryIn, buffers.ordinaryOut, tables}, nullptr,
              "elsewhere");
      }
    // Several rounds through the smallest workspace.
    CommunicatorOptions options = communicatorOptions();
    options.workspaceBytes = 512 << 10;
    options.checkCalls = true;
    RANK_ASSIGN(auto small, Communicator::create(*world, options));
    p.dtype = DType::i64;
    p.rowElements = 1;
    p.most = largest();
    for (Op op : operations)
      for (int turn = 0; turn < 3; ++turn) {
        p.op = op;
        ++p.seed;
        SOLVE(*world, *small, p,
              {buffers.ordinaryIn, buffers.ordinaryOut, tables}, nullptr,
              "small workspace");
      }
    RANK_TRY(world->sync());
    return "";
  });
}

/// Only the device knows the counts: one graph serves all.
TEST_P(CountedCollectives, CountsChangeBetweenReplays) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, bufferBytes()));
    RANK_ASSIGN(uint64_t tables, world->allocate(4096));
    CountedMemory memory = {buffers.in, buffers.out, tables};
    for (Op op : operations)
      for (const char *variant : {"push", "pull", "buffered"}) {
        Config config;
        config.variant = variant;
        Counted p;
        p.op = op;
        p.size = comm->size();
        p.most = 1000;
        RANK_TRY(comm->prepare(op, p.dtype, {}, &config));
        Call call = callOf(p, memory);
        call.config = &config;
        RANK_ASSIGN(call.stream, world->createStream());
        RANK_TRY(world->beginCapture(call.stream));
        RANK_TRY(comm->run(call));
        RANK_ASSIGN(Graph graph, world->endCapture(call.stream));
        for (p.seed = 100; p.seed < 106; ++p.seed) {
          std::string wrong = check(
              *world, *comm, p, memory,
              [&] { return world->launchGraph(graph); }, variant);
          if (!wrong.empty())
            return wrong;
        }
        RANK_TRY(world->destroyGraph(graph));
      }
    RANK_TRY(world->sync());
    return "";
  });
}

class WrongCounts : public OnDevices {};
IRIS_ON_DEVICES(WrongCounts, 2u);

/// Makes a call of two ranks with up to 19 rows in a chunk, whose tables
/// `change` has changed on each rank. "" if it fails on this rank with
/// `expected` in its message.
static std::string
failWith(World &world, const std::string &variant,
         const std::function<void(uint32_t me, std::vector<int64_t> &)> &change,
         const std::string &expected) {
  RANK_ASSIGN(auto comm, Communicator::create(world, communicatorOptions()));
  RANK_ASSIGN(Buffers buffers, Buffers::create(world, 4096));
  RANK_ASSIGN(uint64_t tables, world.allocate(4096));
  CountedMemory memory = {buffers.in, buffers.out, tables};
  Counted p;
  p.size = 2;
  p.most = 19;
  Config config;
  config.variant = variant;
  auto me = static_cast<uint32_t>(comm->index());
  std::vector<int64_t> entries = tablesOf(p, me);
  change(me, entries);
  const std::vector<uint8_t> input = inputOf(p, me),
                             fresh(outputOf(p, me).size(), guard);
  RANK_TRY(upload(world, memory, input, fresh, entries));
  RANK_TRY(comm->prepare(p.op, p.dtype, {}, &config));
  RANK_TRY(world.sync());
  Call call = callOf(p, memory);
  call.config = &config;
  // The other rank may have failed before this one comes to the call.
  Status status = comm->run(call);
  if (status.ok())
    status = world.synchronize();
  RANK_CHECK(!status.ok());
  bool says = status.message().find(expected) != std::string::npos;
  return says ? "" : "'" + status.message() + "' has no " + expected;
}

/// A table entry of rank 1 is wrong: the world fails, on both ranks, with a
/// message that says what and where, and no output has changed that no right
/// chunk goes to.
TEST_P(WrongCounts, FailTheWorld) {
  struct Case {
    uint32_t entry;
    int64_t value;
    const char *expected;
  };
  // 40 rows of input, 41 of output; entries: see chunkTables().
  const Case cases[] = {
      {0, 43, "has a count of 43; expected 0 to 40, what the input holds"},
      {0, -1, "has a count of -1; expected 0 to 40, what the input holds"},
      {3, 41, "has an offset of 41; expected 0 to"},
      {4, int64_t(1) << 62, "expected 0 to 41, what the output holds"},
      {7, -8, "has an offset of -8; expected 0 to"},
  };
  for (const Case &each : cases)
    for (const char *variant : {"push", "pull", "buffered"})
      expectGood([&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto world, makeWorld(launch));
        return failWith(
            *world, variant,
            [&](uint32_t me, std::vector<int64_t> &entries) {
              if (me == 1)
                entries[each.entry] = each.value;
            },
            each.expected);
      });
}

/// Rank 0 sends another number of rows than rank 1 expects.
TEST_P(WrongCounts, PairsDiffer) {
  for (const char *variant : {"push", "pull", "buffered"})
    for (int64_t sent : {3, 5})
      expectGood([&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto world, makeWorld(launch));
        return failWith(
            *world, variant,
            [&](uint32_t me, std::vector<int64_t> &entries) {
              entries.assign(8, 0);
              entries[me == 0 ? 1 : 4] = me == 0 ? sent : 4;
            },
            "sends " + std::to_string(4 * sent) +
                " bytes to a member that expects 16");
      });
}

extern "C" int irisTestCountedCApi(const char *job, uint32_t rank,
                                   uint32_t numRanks,
                                   const char *cacheDirectory,
                                   const char *compiler);

TEST(Counted, IsCalledFromC) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    int line =
        irisTestCountedCApi(launch.job.c_str(), launch.rank, launch.numRanks,
                            IRIS_TEST_CACHE, IRIS_TEST_COMPILER);
    return line == 0 ? "" : "CountedCApiTest.c:" + std::to_string(line);
  };
  for (uint32_t n : {1u, 3u})
    EXPECT_EQ("", failures(runProcesses(n, body))) << n;
}

/// What the host can see is wrong before anything runs.
TEST(Counted, ArgumentsAreChecked) {
  const uint64_t in = 0x1000, out = 0x100000, table = 0x200000;
  auto messageOf = [&](const std::function<void(Call &)> &change) {
    Call call;
    call.op = Op::allToAllV;
    call.dtype = DType::f32;
    call.in = toPointer(in);
    call.out = toPointer(out);
    call.inSize = call.outSize = 100;
    auto *entries = static_cast<const int64_t *>(toPointer(table));
    call.inChunks = call.outChunks = {entries, entries + 8};
    change(call);
    return checkCall(call, 4, 1).status().message();
  };
  EXPECT_EQ(messageOf([](Call &) {}), "");
  EXPECT_EQ(messageOf([](Call &call) { call.in = nullptr; }),
            "all_to_all_v: 'in' is null; expected 400 bytes of device memory");
  EXPECT_EQ(messageOf([&](Call &call) { call.out = toPointer(in + 396); }),
            "all_to_all_v: 'in' and 'out' overlap; expected them apart");
  EXPECT_EQ(messageOf([](Call &call) { call.rowElements = 0; }),
            "all_to_all_v: rows of 0 elements; expected 1 to 281474976710656");
  EXPECT_EQ(messageOf([](Call &call) { call.outSize = UINT64_MAX; }),
            "all_to_all_v: a buffer of 18446744073709551615 elements; expected "
            "at most 281474976710656");
  EXPECT_EQ(messageOf([](Call &call) { call.inChunks.counts = nullptr; }),
            "all_to_all_v: the input's counts are at 0x0; expected device "
            "memory that is aligned to 8 bytes");
  EXPECT_EQ(messageOf([](Call &call) {
              call.outChunks.offsets = reinterpret_cast<const int64_t *>(0x4);
            }),
            "all_to_all_v: the output's offsets are at 0x4; expected device "
            "memory that is aligned to 8 bytes");
  // An input of one chunk has no table.
  EXPECT_EQ(messageOf([](Call &call) {
              call.op = Op::allGatherV;
              call.inChunks = {};
            }),
            "");
}
