// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between nodes, which are declared on one machine: over UCX, or,
// with IRIS_TEST_NCCL=1, over NCCL's API, which libiris_nccl serves on the
// host.
#include "internode/JobRank.h"
#include "support/Hash.h"
#include "support/ccl/Solve.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <tuple>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

/// The buffers of a call, in ordinary memory.
struct Memory {
  Memory(const Problem &p, uint32_t me, bool isInPlace)
      : input(inputOf(p, me)),
        output(p.outCount(me) * dtypeBytes(p.dtype), 0x5a) {
    in = input.data();
    out = output.data();
    if (!isInPlace || input.empty() || output.empty())
      return;
    const uint64_t chunk = getCollective(p.op).isChunkInPlace()
                               ? me * p.count * dtypeBytes(p.dtype)
                               : 0;
    if (input.size() <= output.size()) {
      std::memcpy(output.data() + chunk, input.data(), input.size());
      in = out + chunk;
    } else {
      out = in + chunk;
    }
  }
  std::vector<uint8_t> result(const Problem &p, uint32_t me) const {
    return {out, out + p.outCount(me) * dtypeBytes(p.dtype)};
  }

  std::vector<uint8_t> input, output;
  uint8_t *in, *out;
};

static Call callOf(const Problem &p, const Memory &memory, Stream stream = {}) {
  Call call;
  call.op = p.op;
  call.in = memory.in;
  call.out = memory.out;
  call.count = p.count;
  call.dtype = p.dtype;
  call.reduce = p.reduce;
  call.root = p.root;
  call.stream = stream;
  return call;
}

static std::string solveAmongNodes(JobRank &rank, Problem p,
                                   bool isInPlace = false) {
  const uint32_t me = rank.job->rank();
  for (uint32_t i = 0; i < rank.job->numRanks(); ++i)
    p.ranks.push_back(i);
  Memory memory(p, me, isInPlace);
  RANK_TRY(rank.all->run(callOf(p, memory)));
  RANK_TRY(rank.world->synchronize());
  const std::string wrong = compare(p, memory.result(p, me), outputOf(p, me));
  return wrong.empty() ? ""
                       : describe(p, isInPlace ? BufferLocation::inPlace
                                               : BufferLocation::ordinary) +
                             wrong;
}

/// Inside a RankBody: returns a description that is not empty.
#define SOLVE_TEXT(expr)                                                       \
  do {                                                                         \
    std::string wrong_ = (expr);                                               \
    if (!wrong_.empty())                                                       \
      return wrong_;                                                           \
  } while (false)

static constexpr Op served[] = {Op::allReduce, Op::reduceScatter, Op::allGather,
                                Op::broadcast, Op::reduce,        Op::gather,
                                Op::scatter,   Op::allToAll};

/// Ragged sizes, in and out of place, on nodes of equal and other sizes whose
/// ranks follow each other or not.
static void solveSizes(const std::string &nodes,
                       const JobCommunicatorOptions &options,
                       const std::vector<uint64_t> &counts) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address, options));
    uint64_t seed = 0;
    for (Op op : served)
      for (uint64_t count : counts)
        for (bool isInPlace : {false, true}) {
          Problem p;
          p.op = op;
          p.count = count;
          p.root = static_cast<uint32_t>(++seed % nodes.size());
          p.seed = seed;
          SOLVE_TEXT(solveAmongNodes(rank, p, isInPlace));
        }
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body)) << nodes;
}

TEST(JobCommunicator, SizesOnNodesOfAnyShape) {
  for (const char *nodes : {"a", "ab", "aabb", "abab", "aab", "abbcb", "abcd"})
    solveSizes(nodes, smallSlices(), {0, 1, 3, 1000, 20011});
}

TEST(JobCommunicator, FewSlices) {
  for (const char *nodes : {"aabb", "abc"})
    solveSizes(nodes, {}, {1, 5, 4096, 100003});
}

TEST(JobCommunicator, EightRanksOnFourNodes) {
  solveSizes("aabbccdd", smallSlices(), {7, 5003});
}

TEST(JobCommunicator, SixteenRanksOnFourNodes) {
  solveSizes("aaaabbbbccccdddd", smallSlices(), {2051});
}

/// The kernels inside of nodes have tests of their own.
static void solveTypes(const std::string &nodes,
                       const std::vector<DType> &types,
                       const std::vector<ReduceOp> &reductions) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank,
                JobRank::create(launch, nodes, address, smallSlices()));
    uint64_t seed = 0;
    for (Op op : {Op::allReduce, Op::reduceScatter})
      for (DType type : types)
        for (ReduceOp reduce : reductions) {
          Problem p;
          p.op = op;
          p.dtype = type;
          p.reduce = reduce;
          p.count = 3001;
          p.seed = ++seed;
          SOLVE_TEXT(solveAmongNodes(rank, p));
        }
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body)) << nodes;
}

TEST(JobCommunicator, TypesAndReductions) {
  std::vector<DType> types;
  for (int32_t type = 0; type <= static_cast<int32_t>(DType::u64); ++type)
    types.push_back(static_cast<DType>(type));
  solveTypes("abc", types,
             {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max,
              ReduceOp::avg});
  solveTypes("aabb", {DType::f32, DType::bf16, DType::u8},
             {ReduceOp::sum, ReduceOp::max, ReduceOp::avg});
}

/// The smallest and largest inputs stay what they are, infinities of 8 bits
/// too, and NaN is propagated.
TEST(JobCommunicator, ExtremesOfFloats) {
  const std::string nodes = "abc";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
    auto combine = [&](DType dtype, ReduceOp reduce, auto value,
                       auto &result) -> Status {
      Call call;
      call.op = Op::allReduce;
      call.dtype = dtype;
      call.reduce = reduce;
      call.count = 1;
      call.in = &value;
      call.out = &result;
      IRISRT_RETURN_IF_ERROR(rank.all->run(call));
      return rank.world->synchronize();
    };
    // f8e5m2: infinities, 1, and the most negative finite number.
    for (auto [reduce, values, expected] :
         {std::tuple(ReduceOp::max, std::array<uint8_t, 3>{0x3c, 0x7c, 0xfb},
                     0x7c),
          std::tuple(ReduceOp::min, std::array<uint8_t, 3>{0x3c, 0xfb, 0xfc},
                     0xfc),
          std::tuple(ReduceOp::min, std::array<uint8_t, 3>{0x3c, 0x7c, 0xfb},
                     0xfb),
          // A sum that is too large is the largest finite number.
          std::tuple(ReduceOp::sum, std::array<uint8_t, 3>{0x7b, 0x7b, 0x7b},
                     0x7b)}) {
      uint8_t result = 0;
      RANK_TRY(combine(DType::f8e5m2, reduce, values[launch.rank], result));
      RANK_CHECK(result == expected);
    }
    for (ReduceOp reduce : {ReduceOp::min, ReduceOp::max, ReduceOp::sum}) {
      float result = 0;
      RANK_TRY(combine(DType::f32, reduce,
                       launch.rank == 1 ? std::nanf("") : 1.0f, result));
      RANK_CHECK(std::isnan(result));
    }
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

/// Many calls in flight, on changing streams that are ordered by an event.
TEST(JobCommunicator, CallsFollowEachOther) {
  const std::string nodes = "aabb";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank,
                JobRank::create(launch, nodes, address, smallSlices()));
    World &world = *rank.world;
    RANK_ASSIGN(Stream first, world.createStream());
    RANK_ASSIGN(Stream second, world.createStream());
    RANK_ASSIGN(Event done, world.createEvent());
    std::vector<Problem> problems;
    std::vector<std::unique_ptr<Memory>> memories;
    for (uint32_t i = 0; i < 64; ++i) {
      Problem p;
      p.op = served[i % 8];
      p.count = 1 + i * 131 % 4000;
      p.root = i % 3;
      p.seed = i;
      p.ranks = {0, 1, 2, 3};
      problems.push_back(p);
      memories.push_back(
          std::make_unique<Memory>(p, launch.rank, /*isInPlace=*/i % 5 == 0));
    }
    for (uint32_t i = 0; i < 64; ++i) {
      const Stream stream = i % 7 < 3 ? first : second;
      RANK_TRY(world.waitFor(done, stream));
      RANK_TRY(rank.all->run(callOf(problems[i], *memories[i], stream)));
      RANK_TRY(world.record(done, stream));
    }
    RANK_TRY(world.synchronize(first));
    RANK_TRY(world.synchronize(second));
    for (uint32_t i = 0; i < 64; ++i) {
      std::string wrong =
          compare(problems[i], memories[i]->result(problems[i], launch.rank),
                  outputOf(problems[i], launch.rank));
      if (!wrong.empty())
        return describe(problems[i]) + wrong;
    }
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

/// All pairs of ranks of different nodes exchange messages of other sizes, in
/// two directions and twice, with work of two streams before and after.
TEST(JobCommunicator, TransfersStartTogether) {
  const std::string nodes = "aabbc";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
    World &world = *rank.world;
    RANK_ASSIGN(Stream first, world.createStream());
    RANK_ASSIGN(Stream second, world.createStream());
    struct Message {
      uint32_t peer;
      std::vector<int32_t> made, sent, received, copied;
    };
    auto sizeOf = [](uint32_t from, uint32_t to, uint32_t round) {
      return (from * 977 + to * 331 + round * 71) % 3000;
    };
    auto valueOf = [](uint32_t from, uint32_t to, uint32_t round, size_t i) {
      return static_cast<int32_t>(hash(from * 8 + to, i, round));
    };
    std::vector<Message> messages;
    const uint32_t me = launch.rank;
    for (uint32_t round = 0; round < 2; ++round)
      for (uint32_t peer = 0; peer < nodes.size(); ++peer) {
        if (nodes[peer] == nodes[me])
          continue;
        Message message = {peer, {}, {}, {}, {}};
        message.made.resize(sizeOf(me, peer, round));
        for (size_t i = 0; i < message.made.size(); ++i)
          message.made[i] = valueOf(me, peer, round, i);
        message.sent.resize(message.made.size());
        message.received.resize(sizeOf(peer, me, round));
        message.copied.resize(message.received.size());
        messages.push_back(std::move(message));
      }
    auto addressOf = [](std::vector<int32_t> &data) {
      return reinterpret_cast<uint64_t>(data.data());
    };
    std::vector<Call> calls;
    for (size_t i = 0; i < messages.size(); ++i) {
      Message &m = messages[i];
      // What is sent is there only when the streams have run.
      if (!m.made.empty())
        RANK_TRY(world.copyOnDevice(addressOf(m.sent), addressOf(m.made),
                                    m.made.size() * 4,
                                    i % 2 == 0 ? first : second));
      Call call;
      call.dtype = DType::i32;
      call.root = m.peer;
      call.op = Op::recv;
      call.out = m.received.data();
      call.count = m.received.size();
      calls.push_back(call);
      call.op = Op::send;
      call.in = m.sent.data();
      call.count = m.sent.size();
      calls.push_back(call);
    }
    bool isBeside = false;
    RANK_TRY(rank.all->transfer(calls, {first, second}, [&] {
      isBeside = true;
      return Status::success();
    }));
    RANK_CHECK(isBeside);
    for (size_t i = 0; i < messages.size(); ++i)
      if (!messages[i].received.empty())
        RANK_TRY(world.copyOnDevice(
            addressOf(messages[i].copied), addressOf(messages[i].received),
            messages[i].received.size() * 4, i % 2 == 0 ? second : first));
    RANK_TRY(world.synchronize(first));
    RANK_TRY(world.synchronize(second));
    for (size_t k = 0; k < messages.size(); ++k) {
      const auto round = static_cast<uint32_t>(k / (messages.size() / 2));
      for (size_t i = 0; i < messages[k].copied.size(); ++i)
        RANK_CHECK(messages[k].copied[i] ==
                   valueOf(messages[k].peer, me, round, i));
    }
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

TEST(JobCommunicator, GraphsReplay) {
  const std::string nodes = "aab";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank,
                JobRank::create(launch, nodes, address, smallSlices()));
    World &world = *rank.world;
    RANK_ASSIGN(Stream stream, world.createStream());
    for (Op op : served) {
      Problem p;
      p.op = op;
      p.count = 2000;
      p.ranks = {0, 1, 2};
      Memory memory(p, launch.rank, false);
      // Once before, which loads the kernels.
      RANK_TRY(rank.all->run(callOf(p, memory, stream)));
      RANK_TRY(world.synchronize(stream));
      RANK_TRY(world.beginCapture(stream));
      RANK_TRY(rank.all->run(callOf(p, memory, stream)));
      RANK_ASSIGN(Graph graph, world.endCapture(stream));
      for (uint64_t seed = 1; seed < 5; ++seed) {
        p.seed = seed;
        const std::vector<uint8_t> next = inputOf(p, launch.rank);
        std::copy(next.begin(), next.end(), memory.in);
        RANK_TRY(world.launchGraph(graph, stream));
        RANK_TRY(world.synchronize(stream));
        const std::string wrong =
            compare(p, memory.result(p, launch.rank), outputOf(p, launch.rank));
        if (!wrong.empty())
          return describe(p) + wrong;
      }
      RANK_TRY(world.destroyGraph(graph));
    }
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(JobCommunicator, InvalidCallsAreRefusedAndFailNothing) {
  const std::string nodes = "ab";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
    Problem p;
    p.ranks = {0, 1};
    p.count = 4;
    Memory memory(p, launch.rank, false);
    Call call = callOf(p, memory);
    for (Op op : served)
      RANK_CHECK(JobCommunicator::serves(op));
    call.op = Op::send;
    RANK_CHECK(!JobCommunicator::serves(call.op));
    Status status = rank.all->run(call);
    RANK_CHECK(status.code() == StatusCode::failedPrecondition);
    RANK_CHECK(status.message().find("send between nodes is not a "
                                     "collective") != std::string::npos);
    call.op = Op::allReduce;
    call.in = nullptr;
    RANK_CHECK(rank.all->run(call).code() == StatusCode::invalidArgument);
    call.in = memory.in + 1;
    RANK_CHECK(rank.all->run(call).code() == StatusCode::invalidArgument);
    call.op = Op::broadcast;
    call.in = memory.in;
    call.root = 2;
    RANK_CHECK(rank.all->run(call).code() == StatusCode::invalidArgument);
    call.op = Op::send;
    call.root = launch.rank;
    RANK_CHECK(rank.all->transfer({call}, {Stream()}).code() ==
               StatusCode::invalidArgument);
    call.op = Op::broadcast;
    RANK_CHECK(rank.all->transfer({call}, {Stream()}).code() ==
               StatusCode::invalidArgument);
    const Config config;
    call.root = 0;
    call.config = &config;
    RANK_CHECK(rank.all->run(call).code() == StatusCode::invalidArgument);
    p.ranks.clear();
    SOLVE_TEXT(solveAmongNodes(rank, p));
    RANK_TRY(rank.destroy());
    RANK_CHECK(rank.all->run(callOf(p, memory)).code() ==
               StatusCode::failedPrecondition);
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

/// Of nodes of one rank, where only transfers take time: 10 000 bytes at 2.5
/// GB/s take 4 us after a latency of 30.
TEST(JobCommunicator, EstimatesFollowTheModel) {
  const std::string nodes = "abc";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    JobCommunicatorOptions options;
    options.model.emplace();
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address, options));
    std::vector<float> in(3 * 2500), out(3 * 2500);
    auto estimate = [&](Op op, uint64_t count) {
      Call call;
      call.op = op;
      call.in = in.data();
      call.out = out.data();
      call.count = count;
      call.dtype = DType::f32;
      call.root = op == Op::send ? (launch.rank + 1) % 3 : 1;
      Expected<double> us = rank.all->estimate(call);
      return us.ok() ? *us : -1;
    };
    auto isNear = [](double us, double expected) {
      return std::abs(us - expected) < 1e-9;
    };
    RANK_CHECK(isNear(estimate(Op::send, 2500), 34));
    // To, or from, each of the two other ranks.
    for (Op op : {Op::allReduce, Op::allGather, Op::broadcast, Op::gather,
                  Op::scatter, Op::allToAll, Op::reduceScatter, Op::reduce})
      RANK_CHECK(isNear(estimate(op, 2500), 38));
    RANK_CHECK(estimate(Op::allReduce, 0) == 0);
    RANK_CHECK(estimate(Op::allToAllV, 1) == -1);
    RANK_CHECK(estimate(Op::barrier, 1) == -1);
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

/// Whatever is measured, all ranks take the same, also those on no rail.
TEST(JobCommunicator, RanksTakeTheSameMeasuredModel) {
  for (const std::string nodes : {"ab", "aab", "abcb", "aabbccdd"}) {
    SharedText address;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      JobCommunicatorOptions options;
      if (nodes == "ab")
        options.stagingBytes = 64 << 10;
      RANK_ASSIGN(JobRank rank,
                  JobRank::create(launch, nodes, address, options));
      const InterNodeModel &model = rank.all->model();
      RANK_CHECK(model.latencyUs > 0 && model.bandwidthGBs > 0);
      RANK_CHECK(model.sliceUs == InterNodeModel().sliceUs);
      char text[80];
      std::snprintf(text, sizeof(text), "%a %a", model.latencyUs,
                    model.bandwidthGBs);
      RANK_ASSIGN(std::vector<std::string> texts, rank.job->allGather(text));
      for (const std::string &other : texts)
        RANK_CHECK(other == text);
      Problem p;
      p.count = 50000;
      SOLVE_TEXT(solveAmongNodes(rank, p));
      RANK_TRY(rank.destroy());
      return "";
    };
    EXPECT_EQ("", failuresOn(nodes, body)) << nodes;
  }
}

/// Sums that are rounded have the same bits, whatever each communicator has
/// measured.
TEST(JobCommunicator, MeasurementsDoNotChangeSums) {
  const std::string nodes = "aabb";
  SharedText addresses[3];
  auto body = [&](const LaunchInfo &launch) -> std::string {
    std::vector<float> in(200003), first, out(in.size());
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>(hash(launch.rank, i, 9) % 1000003) / 7;
    for (SharedText &address : addresses) {
      RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
      Call call;
      call.op = Op::allReduce;
      call.in = in.data();
      call.out = out.data();
      call.count = in.size();
      call.dtype = DType::f32;
      RANK_TRY(rank.all->run(call));
      RANK_TRY(rank.world->synchronize());
      RANK_TRY(rank.destroy());
      if (first.empty())
        first = out;
      RANK_CHECK(std::memcmp(out.data(), first.data(), out.size() * 4) == 0);
    }
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

/// The model of the options is not changed.
TEST(JobCommunicator, AGivenModelIsTaken) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    JobCommunicatorOptions options = smallSlices();
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, "ab", address, options));
    RANK_CHECK(rank.all->model().latencyUs == 0.01);
    RANK_CHECK(rank.all->model().bandwidthGBs == InterNodeModel().bandwidthGBs);
    RANK_TRY(rank.destroy());
    return "";
  };
  EXPECT_EQ("", failuresOn("ab", body));
}

TEST(JobCommunicator, OptionsMustBeEqual) {
  const std::string nodes = "aab";
  for (bool modelled : {false, true}) { // only rank 2 has one; it has another
    SharedText address;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      JobCommunicatorOptions options;
      if (modelled || launch.rank == 2)
        options.model.emplace();
      if (launch.rank == 2)
        options.model->latencyUs = 7;
      Status status = JobRank::create(launch, nodes, address, options).status();
      RANK_CHECK(!status.ok());
      if (status.message().find("the options of ranks differ") ==
          std::string::npos)
        return status.message();
      return "";
    };
    EXPECT_EQ("", failuresOn(nodes, body));
  }
  SharedText other;
  auto invalid = [&](const LaunchInfo &launch) -> std::string {
    JobCommunicatorOptions options;
    options.stagingBytes = 1000;
    Status status = JobRank::create(launch, "ab", other, options).status();
    RANK_CHECK(status.message().find("a staging buffer of 1000 bytes") !=
               std::string::npos);
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, invalid)));
}

/// The error of a rank after one of its peers has ended or failed: calls return
/// it at the latest when a call cannot complete.
static Status runUntilFailure(JobRank &rank, uint64_t count) {
  Problem p;
  p.count = count;
  for (uint32_t each = 0; each < rank.job->numRanks(); ++each)
    p.ranks.push_back(each);
  // Not freed: after a failure, kernels may use it for a moment.
  auto &memory = *new Memory(p, rank.job->rank(), false);
  for (uint32_t i = 0; i < 100000; ++i) {
    Status status = rank.all->run(callOf(p, memory));
    Status ended = rank.world->synchronize();
    if (!status.ok() || !ended.ok())
      return rank.all->poll();
  }
  return Status::success();
}

TEST(JobCommunicator, AKilledRankIsNamedOnEveryRank) {
  const std::string nodes = "aabbcc";
  for (uint32_t killed : {3u, 4u}) {
    SharedText address;
    auto ends = runProcesses(
        6,
        [&](const LaunchInfo &launch) -> std::string {
          RANK_ASSIGN(JobRank rank,
                      JobRank::create(launch, nodes, address, smallSlices()));
          // In the middle: the others are at work on a call.
          if (launch.rank == killed) {
            Problem p;
            p.count = 50000;
            for (int i = 0; i < 5; ++i)
              SOLVE_TEXT(solveAmongNodes(rank, p));
            p.ranks = {0, 1, 2, 3, 4, 5};
            Memory memory(p, launch.rank, false);
            RANK_TRY(rank.all->run(callOf(p, memory)));
            ::raise(SIGKILL);
          }
          Status status = runUntilFailure(rank, 50000);
          const std::string expected =
              "rank " + std::to_string(killed) + " failed";
          if (status.message().find(expected) == std::string::npos)
            return "no " + expected + ": " + status.toString();
          RANK_CHECK(status.code() == StatusCode::aborted);
          RANK_CHECK(!rank.destroy().ok());
          return "";
        },
        120);
    for (uint32_t rank = 0; rank < 6; ++rank)
      if (rank != killed)
        EXPECT_EQ(ends[rank].text, "") << rank;
  }
}

TEST(JobCommunicator, ARankThatDoesNotCallIsATimeoutOnEveryRank) {
  const std::string nodes = "aab";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    // The kernels are compiled before, in a job without the short limit.
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address, {}, 4));
    Status status;
    if (launch.rank == 2) {
      while (status.ok()) {
        ::usleep(10000);
        status = rank.all->poll();
      }
    } else {
      status = runUntilFailure(rank, 1 << 20);
    }
    // Rank 1 is on no rail. NCCL does not tell for whom it waits.
    const std::string expected =
        std::string(usesNccl() ? "transfers" : "with rank 2") +
        " between nodes were not complete within 4 s";
    if (status.message().find(expected) == std::string::npos)
      return "no timeout: " + status.toString();
    return "";
  };
  solveSizes(nodes, {}, {1 << 20});
  EXPECT_EQ("", failures(runProcesses(3, body, 120)));
}

TEST(JobCommunicator, AFailureOfOneRankIsThatOfAll) {
  const std::string nodes = "aabb";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(JobRank rank, JobRank::create(launch, nodes, address));
    if (launch.rank == 1) {
      Problem p;
      p.count = 1000;
      SOLVE_TEXT(solveAmongNodes(rank, p));
      rank.all->fail(Status(StatusCode::aborted, "enough"));
    }
    Status status = runUntilFailure(rank, 1000);
    if (status.message().find("enough") == std::string::npos)
      return "no failure: " + status.toString();
    return "";
  };
  EXPECT_EQ("", failuresOn(nodes, body));
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

TEST(InterNodeModel, ChoosesByBytes) {
  InterNodeModel model;
  for (uint32_t nodes : {3u, 4u, 8u, 16u}) {
    EXPECT_EQ(model.chooseReduce(8, nodes), Exchange::direct);
    EXPECT_EQ(model.chooseReduce(16 << 20, nodes), Exchange::relayed);
    EXPECT_EQ(model.chooseBroadcast(8, nodes), Exchange::direct);
    EXPECT_EQ(model.chooseBroadcast(16 << 20, nodes), Exchange::relayed);
  }
  // Of two nodes, the second step would only cost its latency.
  EXPECT_EQ(model.chooseReduce(1 << 30, 2), Exchange::direct);
  EXPECT_EQ(model.chooseBroadcast(1 << 30, 2), Exchange::direct);
  EXPECT_EQ(model.reduceUs(Exchange::direct, 1 << 20, 1), 0);
  EXPECT_DOUBLE_EQ(model.sendUs(2500, 3), 33);
}

/// 1 MB in 400 us after a latency of 20.
TEST(InterNodeModel, FitsMeasurements) {
  InterNodeModel base;
  base.sliceUs = 11;
  const InterNodeModel model = base.fitted(20, 1000000, 420);
  EXPECT_DOUBLE_EQ(model.latencyUs, 20);
  EXPECT_DOUBLE_EQ(model.bandwidthGBs, 2.5);
  EXPECT_DOUBLE_EQ(model.sliceUs, 11);
  EXPECT_DOUBLE_EQ(model.sendUs(1000000, 1), 420);
  // Times that contradict each other, and a clock that has not moved.
  EXPECT_DOUBLE_EQ(base.fitted(50, 1000, 40).bandwidthGBs, 0.25);
  const InterNodeModel still = base.fitted(0, 1000, 0);
  EXPECT_GT(still.latencyUs, 0);
  EXPECT_DOUBLE_EQ(still.bandwidthGBs, 1000);
}

TEST(InterNodeModel, SlicesGrowWithTheData) {
  InterNodeModel model;
  const uint64_t most = 4 << 20;
  EXPECT_EQ(model.sliceBytes(1, most), model.minSliceBytes);
  uint64_t last = 0;
  for (uint64_t bytes = 1024; bytes <= uint64_t(1) << 32; bytes *= 2) {
    const uint64_t slice = model.sliceBytes(bytes, most);
    EXPECT_GE(slice, last);
    EXPECT_LE(slice, most);
    last = slice;
  }
  EXPECT_EQ(last, most);
  // A faster network is worth smaller slices.
  InterNodeModel faster;
  faster.latencyUs = 2;
  EXPECT_LT(faster.sliceBytes(64 << 20, 1 << 30),
            model.sliceBytes(64 << 20, 1 << 30));
}
