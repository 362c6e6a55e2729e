// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lengths of sends and receives that Communicator compares, also of those
// in graphs. NcclTransferCheckTest has both orders of the two sides.
#include "support/Devices.h"
#include "support/Ranks.h"
#include "support/ccl/Kernels.h"
#include "support/ccl/Solve.h"

#include <gtest/gtest.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// A rank with a buffer on the heap.
struct Rank {
  std::unique_ptr<World> world;
  std::unique_ptr<Communicator> comm;
  Stream stream;
  int32_t *data = nullptr;

  /// A send of rank 0, or a receive of rank 1.
  Status transfer(uint64_t count) {
    if (world->rank() > 1)
      return Status::success();
    return world->rank() == 0 ? comm->send(data, count, DType::i32, 1, stream)
                              : comm->recv(data, count, DType::i32, 0, stream);
  }
  Expected<Graph> capture(uint64_t count) {
    IRISRT_RETURN_IF_ERROR(world->beginCapture(stream));
    IRISRT_RETURN_IF_ERROR(transfer(count));
    return world->endCapture(stream);
  }
};
} // namespace

using Body = std::function<std::string(Rank &)>;

/// On threads and on processes.
static void expectGood(uint32_t numRanks, const Body &body) {
  (void)communicatorOptions();
  auto ofRank = [&](const LaunchInfo &launch) -> std::string {
    Rank rank;
    WorldOptions worlds = worldOptions(DeviceKind::host, launch);
    worlds.waitLimit = 20;
    RANK_ASSIGN(rank.world, World::create(worlds));
    CommunicatorOptions options = communicatorOptions();
    options.checkCalls = true;
    RANK_ASSIGN(rank.comm, Communicator::create(*rank.world, options));
    RANK_ASSIGN(rank.stream, rank.world->createStream());
    RANK_ASSIGN(uint64_t address, rank.world->allocate(65536));
    rank.data = reinterpret_cast<int32_t *>(address);
    for (Op op : {Op::send, Op::recv})
      RANK_TRY(rank.comm->prepare(op, DType::i32));
    return body(rank);
  };
  EXPECT_EQ("", failures(runThreads(numRanks, ofRank)));
  EXPECT_EQ("", failures(runProcesses(numRanks, ofRank)));
}

/// The world has failed on all ranks, with the text; the rank that finds it has
/// the code.
static std::string expectFailure(Rank &rank, const Status &status,
                                 bool isFinder, const std::string &expected) {
  const StatusCode code =
      isFinder ? StatusCode::invalidArgument : StatusCode::aborted;
  for (const Status &each : {status, rank.world->failure()})
    if (each.code() != code ||
        each.message().find(expected) == std::string::npos)
      return "another error: " + each.toString();
  return "";
}

/// Groups number their ranks in another way than the world.
TEST(TransferCheck, NamesRanksOfTheWorld) {
  expectGood(4, [](Rank &rank) -> std::string {
    CommunicatorOptions options = communicatorOptions({3, 1});
    options.checkCalls = true;
    RANK_ASSIGN(auto pair, Communicator::create(*rank.world, options));
    const uint32_t me = rank.world->rank();
    if (me == 1)
      RANK_TRY(pair->send(rank.data, 5, DType::i32, 0, rank.stream));
    Status status = rank.world->barrier();
    if (status.ok()) // before the failure
      status = me == 3 ? pair->recv(rank.data, 6, DType::i32, 1, rank.stream)
                       : rank.world->barrier();
    return expectFailure(rank, status, me == 3,
                         "rank 3 receives 24 bytes (i32 x 6) from rank 1; its "
                         "send, message 1 between them, has 20 bytes");
  });
}

/// Calls that are refused before they are launched do not count.
TEST(TransferCheck, RefusedCallsDoNotCount) {
  expectGood(2, [](Rank &rank) -> std::string {
    if (rank.world->rank() == 0) {
      RANK_CHECK(!rank.comm->send(nullptr, 7, DType::i32, 1).ok());
      Config config;
      config.variant = "magic";
      RANK_CHECK(
          !rank.comm->send(rank.data, 7, DType::i32, 1, {}, &config).ok());
      // Its kernel cannot be compiled.
      config.variant = "fifo";
      config.tile = 1 << 20;
      RANK_CHECK(
          !rank.comm->send(rank.data, 7, DType::f64, 1, rank.stream, &config)
               .ok());
    }
    for (uint64_t count : {7, 8})
      RANK_TRY(rank.transfer(count));
    RANK_TRY(rank.world->sync());
    return "";
  });
}

TEST(TransferCheck, ComparesCaptures) {
  expectGood(3, [](Rank &rank) -> std::string {
    RANK_ASSIGN(Graph graph, rank.capture(100));
    for (int round = 0; round < 3; ++round) {
      RANK_TRY(rank.world->launchGraph(graph, rank.stream));
      RANK_TRY(rank.transfer(10));
    }
    RANK_TRY(rank.world->sync());
    const bool isFinder = rank.world->rank() == 1;
    if (!isFinder)
      RANK_TRY(rank.capture(101).status());
    Status status = rank.world->barrier();
    if (status.ok()) // before the failure
      status = isFinder ? rank.capture(102).status() : rank.world->barrier();
    return expectFailure(rank, status, isFinder,
                         "rank 1 receives 408 bytes (i32 x 102) from rank 0; "
                         "its send, message 5 between them, has 404 bytes");
  });
}

/// How often a graph runs is not known: nothing is compared from then on, and
/// nothing that is right is refused.
TEST(TransferCheck, GraphsOfOneSide) {
  for (const uint32_t capturing : {0u, 1u})
    expectGood(2, [&](Rank &rank) -> std::string {
      const bool isCapturing = rank.world->rank() == capturing;
      RANK_TRY(rank.transfer(3));
      Graph graph;
      if (isCapturing) {
        RANK_ASSIGN(graph, rank.capture(50));
      }
      for (int round = 0; round < 3; ++round) {
        if (isCapturing)
          RANK_TRY(rank.world->launchGraph(graph, rank.stream));
        else
          RANK_TRY(rank.transfer(50));
      }
      for (uint64_t count : {1, 2, 3, 4, 5, 6})
        RANK_TRY(rank.transfer(count));
      RANK_TRY(rank.world->sync());
      return "";
    });
}
