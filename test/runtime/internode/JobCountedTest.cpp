// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives with counts, and barriers, between nodes: ragged and empty chunks
// at any offsets, counts that are wrong, and calls that cannot run.
#include "ccl/CountedCall.h"
#include "internode/JobRank.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// Who sends how many rows to whom, and where they are.
struct CountedProblem {
  Op op;
  uint32_t size;
  /// Rows of the largest chunk, and elements (i32) of a row.
  uint64_t most, rowElements;
  uint64_t seed;

  bool isGather() const { return op == Op::allGatherV; }
  /// Every fourth chunk is empty.
  uint64_t count(uint32_t from, uint32_t to) const {
    const uint64_t h = hash(from, isGather() ? 0 : to, seed);
    return h % 4 == 0 ? 0 : h / 4 % (most + 1);
  }
  /// Chunks are apart, and in another order than the ranks.
  uint64_t inOffset(uint32_t to) const {
    return isGather() ? 0 : (to + 1) % size * most + seed % 3;
  }
  /// Differs among the ranks.
  uint64_t outOffset(uint32_t to, uint32_t from) const {
    return (size - 1 - from) * most + (to + seed) % 4;
  }
  uint64_t inRows() const { return isGather() ? most : size * most + 2; }
  uint64_t outRows() const { return size * most + 3; }
  int32_t input(uint32_t rank, uint64_t element) const {
    return static_cast<int32_t>(hash(rank, element, seed + 77));
  }
};

/// The buffers and tables of a rank, in ordinary memory.
struct CountedBuffers {
  std::vector<int32_t> in, out, expected;
  std::vector<int64_t> tables;

  CountedBuffers(const CountedProblem &p, uint32_t me)
      : in(p.inRows() * p.rowElements), out(p.outRows() * p.rowElements, -7),
        expected(out), tables(chunkTables(p.size, [&](uint32_t peer) {
          return PeerChunks{p.count(me, peer), p.inOffset(peer),
                            p.count(peer, me), p.outOffset(me, peer)};
        })) {
    for (uint64_t i = 0; i < in.size(); ++i)
      in[i] = p.input(me, i);
    for (uint32_t from = 0; from < p.size; ++from)
      for (uint64_t i = 0; i < p.count(from, me) * p.rowElements; ++i)
        expected[p.outOffset(me, from) * p.rowElements + i] =
            p.input(from, p.inOffset(me) * p.rowElements + i);
  }

  Call call(const CountedProblem &p) {
    auto address = [](const auto &data) {
      return reinterpret_cast<uint64_t>(data.data());
    };
    Call call = countedCall(p.op, DType::i32, p.rowElements, p.size,
                            {address(in), address(out), address(tables)});
    call.inSize = in.size();
    call.outSize = out.size();
    return call;
  }
  /// The table's entry of a peer: 0 and 1 are those of the input.
  int64_t &entry(uint32_t table, uint32_t peer) {
    return tables[table * (tables.size() / 4) + peer];
  }
};
} // namespace

static std::string solveCounted(JobRank &rank, const CountedProblem &p) {
  CountedBuffers buffers(p, rank.job->rank());
  const std::vector<int32_t> before = buffers.in;
  RANK_TRY(rank.all->run(buffers.call(p)));
  RANK_TRY(rank.world->synchronize());
  RANK_CHECK(buffers.in == before);
  for (uint64_t i = 0; i < buffers.out.size(); ++i)
    if (buffers.out[i] != buffers.expected[i])
      return std::string(opName(p.op)) + " of up to " + std::to_string(p.most) +
             " rows of " + std::to_string(p.rowElements) + ": element " +
             std::to_string(i) + " is " + std::to_string(buffers.out[i]) +
             ", not " + std::to_string(buffers.expected[i]);
  return "";
}

#define COUNTED_TEXT(expr)                                                     \
  do {                                                                         \
    std::string text_ = (expr);                                                \
    if (!text_.empty())                                                        \
      return text_;                                                            \
  } while (false)

TEST(JobCounted, ChunksOfAnySize) {
  for (const std::string nodes : {"a", "ab", "aab", "abab", "abbcb", "abcd"}) {
    SharedText address;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(JobRank rank,
                  JobRank::create(launch, nodes, address, smallSlices()));
      uint64_t seed = 0;
      for (Op op : {Op::allToAllV, Op::allGatherV}) {
        RANK_CHECK(JobCommunicator::serves(op));
        for (uint64_t most : {1, 17, 3000})
          for (uint64_t rowElements : {1, 5})
            for (int repeat = 0; repeat < 3; ++repeat)
              COUNTED_TEXT(solveCounted(
                  rank, {op, launch.numRanks, most, rowElements, ++seed}));
      }
      RANK_TRY(rank.destroy());
      return "";
    };
    EXPECT_EQ("", failuresOn(nodes, body)) << nodes;
  }
}

TEST(JobCounted, EightRanksOnTwoNodes) {
  const std::string nodes = "aaaabbbb";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
    for (Op op : {Op::allToAllV, Op::allGatherV})
      COUNTED_TEXT(solveCounted(rank, {op, launch.numRanks, 20000, 1, 5}));
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

/// Every rank gets the same error, nothing is stored, and the communicator
/// stays in use.
TEST(JobCounted, WrongCountsAreAnErrorOfEveryRank) {
  const std::string nodes = "aab";
  struct Wrong {
    Op op;
    /// What is wrong on rank 2.
    uint32_t table, peer;
    int64_t value;
    const char *message;
  };
  const Wrong all[] = {
      {Op::allToAllV, 0, 1, 999, "chunk 1 of the input of rank 2 has 999 rows"},
      {Op::allToAllV, 0, 1, -1, "chunk 1 of the input of rank 2 has -1 rows"},
      {Op::allToAllV, 1, 0, 200, "chunk 0 of the input of rank 2"},
      {Op::allToAllV, 3, 0, -2, "chunk 0 of the output of rank 2"},
      {Op::allToAllV, 2, 0, 3, "rank 0 has 5 rows for rank 2, which expects 3"},
      {Op::allGatherV, 2, 1, 3,
       "rank 1 has 5 rows for rank 2, which expects 3"},
      {Op::allGatherV, 3, 1, INT64_MAX, "chunk 1 of the output of rank 2"}};
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
    for (const Wrong &wrong : all) {
      const CountedProblem p = {wrong.op, 3, 5, 2, 0};
      CountedBuffers buffers(p, launch.rank);
      // Chunks of five rows, but for what is wrong.
      for (uint32_t peer = 0; peer < 3; ++peer)
        buffers.entry(0, peer) = buffers.entry(2, peer) = 5;
      if (launch.rank == 2)
        buffers.entry(wrong.table, wrong.peer) = wrong.value;
      const std::vector<int32_t> before = buffers.out;
      Status status = rank.all->run(buffers.call(p));
      if (status.code() != StatusCode::invalidArgument ||
          status.message().find(wrong.message) == std::string::npos)
        return std::string("no '") + wrong.message + "': " + status.toString();
      RANK_CHECK(buffers.out == before);
      COUNTED_TEXT(solveCounted(rank, p));
    }
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

TEST(JobCounted, CallsThatCannotRun) {
  const std::string nodes = "ab";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
    World &world = *rank.world;
    const CountedProblem p = {Op::allToAllV, 2, 5, 2, 1};
    CountedBuffers buffers(p, launch.rank);
    RANK_ASSIGN(Stream stream, world.createStream());
    RANK_TRY(world.beginCapture(stream));
    Call call = buffers.call(p);
    call.stream = stream;
    Status status = rank.all->run(call);
    RANK_CHECK(status.code() == StatusCode::failedPrecondition);
    RANK_CHECK(status.message().find("cannot be captured") !=
               std::string::npos);
    RANK_ASSIGN(Graph graph, world.endCapture(stream));
    RANK_TRY(world.destroyGraph(graph));
    COUNTED_TEXT(solveCounted(rank, p));
    call = buffers.call(p);
    call.inChunks.counts = nullptr;
    RANK_CHECK(rank.all->run(call).code() == StatusCode::invalidArgument);
    call = buffers.call(p);
    call.inSize = call.outSize = 0;
    RANK_TRY(rank.all->run(call));
    // The ranks' calls differ: the job fails.
    call = buffers.call(p);
    call.rowElements = 1 + launch.rank;
    status = rank.all->run(call);
    RANK_CHECK(!status.ok());
    if (status.message().find("the ranks' calls differ") == std::string::npos)
      return status.message();
    RANK_CHECK(!rank.all->run(buffers.call(p)).ok());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

/// No rank passes a barrier before all have come to it.
TEST(JobCounted, Barriers) {
  for (const std::string nodes : {"a", "ab", "aab", "abcb"}) {
    SharedText address;
    Shared<std::atomic<uint32_t>> arrived;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
      Call barrier;
      barrier.op = Op::barrier;
      for (uint32_t round = 1; round <= 20; ++round) {
        if (round % launch.numRanks == launch.rank)
          ::usleep(2000);
        arrived->fetch_add(1);
        RANK_TRY(rank.all->run(barrier));
        RANK_TRY(rank.world->synchronize());
        RANK_CHECK(arrived->load() >= round * launch.numRanks);
      }
      RANK_TRY(rank.destroy());
      return "";
    };
    EXPECT_EQ("", failuresOn(nodes, body)) << nodes;
  }
}
