// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jobs on several nodes, which the tests declare on one machine.
#include "iris/rt/Job.h"
#include "core/NodeName.h"
#include "iris/rt/World.h"
#include "support/JoinNodes.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

static std::string textOf(uint32_t rank, size_t size) {
  std::string text(size, 0);
  for (size_t i = 0; i < size; ++i)
    text[i] =
        static_cast<char>((rank + 1) * 2654435761u + i * 40503u + i / 251);
  return text;
}

TEST(Job, NodesAndTheirWorlds) {
  // The node of each rank.
  for (const std::string &nodes :
       {std::string("a"), std::string("ab"), std::string("aab"),
        std::string("abab"), std::string("aaaabbbb"),
        std::string("aaaabbbbccccdddd")}) {
    const auto numRanks = static_cast<uint32_t>(nodes.size());
    SharedText address;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(auto job,
                  joinNodes(launch, nodes.substr(launch.rank, 1), address));
      RANK_CHECK(job->rank() == launch.rank && job->numRanks() == numRanks);
      uint32_t numNodes = 0;
      for (uint32_t rank = 0; rank < numRanks; ++rank) {
        const uint32_t node = static_cast<uint32_t>(nodes[rank] - 'a');
        RANK_CHECK(job->nodeOf(rank) == node);
        numNodes = std::max(numNodes, node + 1);
      }
      RANK_CHECK(job->numNodes() == numNodes);
      RANK_CHECK(job->nodeOf(numRanks) == numNodes);
      RANK_CHECK(job->ranksOf(numNodes).empty());
      RANK_CHECK(job->ranksOf(job->node())[job->localRank()] == launch.rank);
      // The ranks of a node share memory, all of them exchange texts.
      WorldOptions options;
      options.launch = job->nodeLaunch();
      options.heapBytes = 1 << 20;
      RANK_ASSIGN(auto world, World::create(options));
      RANK_CHECK(world->numRanks() == job->localSize());
      RANK_CHECK(world->rank() == job->localRank());
      for (size_t size : {0u, 1u, 1024u, 1025u, 5000u}) {
        RANK_ASSIGN(auto texts,
                    job->allGather(textOf(launch.rank, size + launch.rank)));
        for (uint32_t rank = 0; rank < numRanks; ++rank)
          RANK_CHECK(texts[rank] == textOf(rank, size + rank));
      }
      RANK_TRY(world->barrier());
      RANK_TRY(job->barrier());
      RANK_TRY(world->destroy());
      RANK_TRY(job->destroy());
      RANK_CHECK(job->barrier().code() == StatusCode::failedPrecondition);
      return "";
    };
    EXPECT_EQ("", failures(runProcesses(numRanks, body))) << nodes;
  }
}

TEST(Job, OneMachineNeedsNoAddress) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    JobOptions options;
    options.launch = launch;
    options.launch->token = 0;
    RANK_ASSIGN(auto job, Job::create(options));
    RANK_CHECK(job->numNodes() == 1);
    RANK_CHECK(job->localRank() == launch.rank);
    RANK_ASSIGN(auto second, Job::create(options)); // another one
    RANK_TRY(second->barrier());
    RANK_TRY(job->destroy());
    RANK_TRY(second->destroy());
    return "";
  };
  EXPECT_EQ("", failures(runThreads(3, body)));
}

TEST(Job, ThisProcessIsOnItsNode) {
  Expected<std::string> name = nodeName();
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(*name, *nodeName());
  EXPECT_NE(name->find("mnt:"), std::string::npos);
  EXPECT_NE(name->find("user " + std::to_string(::geteuid())),
            std::string::npos);
}

TEST(Job, AnAddressNeedsAToken) {
  JobOptions options;
  options.launch = launchOf(freshJob(), 0, 2);
  options.launch->token = 0;
  options.launch->address = "127.0.0.1:1";
  Status status = Job::create(options).status();
  EXPECT_EQ(status.code(), StatusCode::failedPrecondition);
  EXPECT_NE(status.message().find("IRIS_TOKEN"), std::string::npos);
}

TEST(Job, SeveralNodesNeedAnAddress) {
  JobOptions options;
  options.launch = launchOf(freshJob(), 0, 2);
  options.launch->localSize = 1;
  Status status = Job::create(options).status();
  EXPECT_EQ(status.code(), StatusCode::failedPrecondition);
  EXPECT_NE(status.message().find("IRIS_RENDEZVOUS_ADDRESS"),
            std::string::npos);
  options.launch->localSize = 0;
  options.launch->node = std::string(300, 'x');
  EXPECT_EQ(Job::create(options).status().code(), StatusCode::invalidArgument);
}

TEST(Job, AKilledNodeEndsTheJob) {
  SharedText address;
  Arrivals left;
  auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job,
                joinNodes(launch, launch.rank < 2 ? "a" : "b", address));
    std::atomic<int> calls{0};
    job->onFailure([&](const Status &) { ++calls; });
    RANK_TRY(job->barrier());
    left.arrive();
    if (launch.rank >= 2 && left.wait(4))
      ::raise(SIGKILL);
    Status status = job->barrier();
    RANK_CHECK(status.code() == StatusCode::aborted);
    RANK_CHECK(job->failure().message() == status.message());
    RANK_CHECK(!job->destroy().ok());
    RANK_CHECK(calls == 1);
    if (status.message().find("rank 2 failed") == std::string::npos &&
        status.message().find("rank 3 failed") == std::string::npos)
      return status.message();
    return "";
  });
  EXPECT_EQ(ends[0].text, "");
  EXPECT_EQ(ends[1].text, "");
}

TEST(Job, FailuresReachAllNodes) {
  SharedText address;
  Arrivals left;
  auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job,
                joinNodes(launch, launch.rank % 2 ? "a" : "b", address));
    RANK_TRY(job->barrier());
    left.arrive();
    if (launch.rank == 1 && left.wait(4))
      job->fail(Status(StatusCode::outOfMemory, "no room"));
    Status status = job->barrier();
    RANK_CHECK(!status.ok());
    if (status.message().find("no room") == std::string::npos)
      return status.message();
    return "";
  });
  EXPECT_EQ("", failures(ends));
}
