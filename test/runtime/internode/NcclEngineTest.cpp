// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL's API as the engine between nodes; libiris_nccl takes NCCL's place.
#include "iris/ccl/JobCommunicator.h"
#include "iris/rt/HostStream.h"
#include "support/Hash.h"
#include "support/JoinNodes.h"
#include "support/Ranks.h"
#include "support/ccl/Kernels.h"
#include "support/ccl/Solve.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// A rank with an engine; `nodes` has a letter for the node of each rank.
struct EngineRank {
  static Expected<EngineRank> create(const LaunchInfo &launch,
                                     const std::string &nodes,
                                     SharedText &address,
                                     const std::string &library);
  Status destroy();

  std::unique_ptr<World> world;
  std::unique_ptr<Job> job;
  std::unique_ptr<InterNode> engine;
};
} // namespace

Expected<EngineRank> EngineRank::create(const LaunchInfo &launch,
                                        const std::string &nodes,
                                        SharedText &address,
                                        const std::string &library) {
  EngineRank rank;
  IRISRT_ASSIGN_OR_RETURN(rank.job,
                          joinNodes(launch, nodes.substr(launch.rank, 1),
                                    address, "127.0.0.1", 60));
  IRISRT_ASSIGN_OR_RETURN(
      rank.world,
      World::create(worldOptions(DeviceKind::host, rank.job->nodeLaunch())));
  InterNodeOptions options;
  options.library = library;
  options.limit = 60;
  IRISRT_ASSIGN_OR_RETURN(rank.engine,
                          InterNode::connect(*rank.job, *rank.world, options));
  return std::move(rank);
}

Status EngineRank::destroy() {
  IRISRT_RETURN_IF_ERROR(engine->destroy());
  IRISRT_RETURN_IF_ERROR(world->destroy());
  return job->destroy();
}

/// All pairs of ranks of different nodes, twice; transfers run in the order of
/// the stream.
TEST(NcclEngine, TransfersAreEnqueuedOnStreams) {
  for (const std::string nodes : {"ab", "aab", "abcd", "aabbccdd"}) {
    SharedText address;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(EngineRank rank,
                  EngineRank::create(launch, nodes, address, IRIS_TEST_NCCL));
      RANK_CHECK(rank.engine->isOnStreams());
      RANK_CHECK(rank.engine->name().find("NCCL 2.") != std::string::npos);
      RANK_ASSIGN(void *native, createHostStream());
      RANK_ASSIGN(Stream stream, rank.world->adoptStream(native));
      const uint32_t me = launch.rank;
      auto valueOf = [](uint32_t from, uint32_t to, uint32_t round, size_t i) {
        return static_cast<uint32_t>(hash(from * 8 + to, i, round));
      };
      using Data = std::vector<uint32_t>;
      std::vector<Data> out, in;
      for (uint32_t round = 0; round < 2; ++round) {
        std::vector<InterNode::Transfer> transfers;
        const size_t count = round == 0 ? 1 : 70001;
        for (uint32_t peer = 0; peer < nodes.size(); ++peer) {
          if (nodes[peer] == nodes[me])
            continue;
          out.emplace_back(count);
          in.emplace_back(count);
          for (size_t i = 0; i < count; ++i)
            out.back()[i] = valueOf(me, peer, round, i);
          transfers.push_back(
              InterNode::send(peer, out.back().data(), count * 4));
          transfers.push_back(
              InterNode::recv(peer, in.back().data(), count * 4));
        }
        RANK_TRY(rank.engine->enqueue(transfers, stream));
      }
      RANK_TRY(synchronizeHostStream(native));
      auto received = in.begin();
      for (uint32_t round = 0; round < 2; ++round)
        for (uint32_t peer = 0; peer < nodes.size(); ++peer)
          if (nodes[peer] != nodes[me]) {
            for (size_t i = 0; i < received->size(); ++i)
              RANK_CHECK((*received)[i] == valueOf(peer, me, round, i));
            ++received;
          }
      RANK_TRY(rank.destroy());
      RANK_TRY(destroyHostStream(native));
      return "";
    };
    EXPECT_EQ("", failures(runProcesses(static_cast<uint32_t>(nodes.size()),
                                        body, 120)))
        << nodes;
  }
}

TEST(NcclEngine, RefusesOtherUses) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(EngineRank rank,
                EngineRank::create(launch, "ab", address, IRIS_TEST_NCCL));
    uint8_t byte = 0;
    const auto transfer = InterNode::send(1 - launch.rank, &byte, 1);
    auto tells = [](const Status &status, StatusCode code, const char *text) {
      return status.code() == code &&
             status.message().find(text) != std::string::npos;
    };
    RANK_CHECK(tells(rank.engine->run({transfer}),
                     StatusCode::failedPrecondition, "InterNode::enqueue"));
    // The world's own streams on the host are no streams of other libraries.
    RANK_CHECK(tells(rank.engine->enqueue({transfer}, Stream()),
                     StatusCode::unavailable, "createHostStream"));
    RANK_CHECK(tells(
        rank.engine->enqueue({InterNode::send(launch.rank, &byte, 1)}, {}),
        StatusCode::invalidArgument, "a transfer with rank"));
    RANK_ASSIGN(void *native, createHostStream());
    RANK_ASSIGN(Stream stream, rank.world->adoptStream(native));
    RANK_TRY(rank.engine->destroy());
    RANK_CHECK(tells(rank.engine->enqueue({transfer}, stream),
                     StatusCode::failedPrecondition, "were ended"));
    RANK_TRY(rank.world->destroy());
    RANK_TRY(rank.job->destroy());
    RANK_TRY(destroyHostStream(native));
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

/// Every rank gets the error of one.
TEST(NcclEngine, LibrariesAreChecked) {
  for (auto [library, reason] :
       {std::pair("/nowhere/libnccl.so.2", "cannot open"),
        std::pair("libm.so.6", "is no engine"),
        // A library for GPUs: the ranks run on the host.
        std::pair(IRIS_TEST_FAKE_NCCL, "moves memory of GPUs"),
        std::pair(IRIS_TEST_UCX, "the engines between nodes differ: rank 0 has "
                                 "Iris' NCCL")}) {
    SharedText address;
    auto body = [&, library = library,
                 reason = reason](const LaunchInfo &launch) -> std::string {
      Status status =
          EngineRank::create(launch, "aab", address,
                             launch.rank == 1 ? library : IRIS_TEST_NCCL)
              .status();
      RANK_CHECK(!status.ok());
      if (status.message().find(reason) == std::string::npos)
        return status.message();
      return "";
    };
    EXPECT_EQ("", failures(runProcesses(3, body))) << library;
  }
}

/// Where each node has one rank, the engine's collectives run on the caller's
/// stream, also while it is captured.
TEST(NcclEngine, CallsRunOnTheCallersStream) {
  const std::string nodes = "abc";
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(EngineRank rank,
                EngineRank::create(launch, nodes, address, IRIS_TEST_NCCL));
    World &world = *rank.world;
    const CommunicatorOptions options = communicatorOptions();
    RANK_ASSIGN(auto node, Communicator::create(world, options));
    JobCommunicatorOptions between;
    between.cache = options.cache;
    RANK_ASSIGN(auto all, JobCommunicator::create(*rank.job, world, *node,
                                                  *rank.engine, between));
    RANK_ASSIGN(void *native, createHostStream());
    RANK_ASSIGN(Stream stream, world.adoptStream(native));
    for (Op op :
         {Op::allReduce, Op::reduceScatter, Op::allGather, Op::broadcast,
          Op::reduce, Op::gather, Op::scatter, Op::allToAll}) {
      Problem p;
      p.op = op;
      p.count = 3001;
      p.root = 1;
      p.ranks = {0, 1, 2};
      std::vector<uint8_t> in = inputOf(p, launch.rank),
                           out(outputOf(p, launch.rank).size());
      Call call;
      call.op = op;
      call.in = in.data();
      call.out = out.data();
      call.count = p.count;
      call.dtype = p.dtype;
      call.reduce = p.reduce;
      call.root = p.root;
      call.stream = stream;
      RANK_TRY(all->run(call)); // loads the kernels
      RANK_TRY(world.synchronize(stream));
      std::string wrong = compare(p, out, outputOf(p, launch.rank));
      if (!wrong.empty())
        return describe(p) + wrong;
      RANK_TRY(world.beginCapture(stream));
      RANK_TRY(all->run(call));
      RANK_ASSIGN(Graph graph, world.endCapture(stream));
      for (p.seed = 1; p.seed < 4; ++p.seed) {
        const std::vector<uint8_t> next = inputOf(p, launch.rank);
        std::copy(next.begin(), next.end(), in.begin());
        RANK_TRY(world.launchGraph(graph, stream));
        RANK_TRY(world.synchronize(stream));
        wrong = compare(p, out, outputOf(p, launch.rank));
        if (!wrong.empty())
          return describe(p) + wrong;
      }
      RANK_TRY(world.destroyGraph(graph));
    }
    RANK_TRY(all->destroy());
    RANK_TRY(node->destroy());
    RANK_TRY(rank.destroy());
    RANK_TRY(destroyHostStream(native));
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body, 250)));
}
