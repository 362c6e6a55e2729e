// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jobs over a link between network namespaces. Skipped where the machine does
// not allow them.
#include "support/JoinNodes.h"
#include "support/LinkedNodes.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

using namespace iris::rt;
using namespace iris::rt::test;

/// Rank 0 and 1 are on node 0, the others on node 1.
static Expected<std::unique_ptr<Job>> joinOver(const LinkedNodes &nodes,
                                               const LaunchInfo &launch,
                                               SharedText &address) {
  const int node = launch.rank < 2 ? 0 : 1;
  if (!nodes.enter(node))
    return Status(StatusCode::internal, "cannot enter the namespace");
  return joinNodes(launch, std::to_string(node), address,
                   LinkedNodes::address(0), 60);
}

static std::string textOf(uint32_t rank, size_t size) {
  std::string text(size, 0);
  for (size_t i = 0; i < size; ++i)
    text[i] = static_cast<char>((rank + 1) * 2654435761u + i * 40503u + i / 7);
  return text;
}

static void expectExchange(const LinkedNodes &nodes) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job, joinOver(nodes, launch, address));
    for (size_t size : {0u, 1u, 20000u}) {
      RANK_ASSIGN(auto texts, job->allGather(textOf(launch.rank, size)));
      for (uint32_t rank = 0; rank < launch.numRanks; ++rank)
        RANK_CHECK(texts[rank] == textOf(rank, size));
    }
    RANK_TRY(job->destroy());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(4, body, 120)));
}

TEST(JobLink, RanksExchange) {
  LinkedNodes nodes;
  if (!nodes.why().empty())
    GTEST_SKIP() << nodes.why();
  expectExchange(nodes);
}

TEST(JobLink, RanksExchangeOverASlowLinkThatLosesPackets) {
  LinkedNodes nodes;
  nodes.disturb("delay 10ms loss 3%");
  if (!nodes.why().empty())
    GTEST_SKIP() << nodes.why();
  expectExchange(nodes);
}

TEST(JobLink, ALinkThatIsCutEndsTheJobOnBothSides) {
  LinkedNodes nodes;
  if (!nodes.why().empty())
    GTEST_SKIP() << nodes.why();
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job, joinOver(nodes, launch, address));
    RANK_TRY(job->barrier());
    if (launch.rank == 0) {
      nodes.cut();
      RANK_CHECK(nodes.why().empty());
    }
    // Contributions may have passed before.
    Status status;
    while (status.ok())
      status = job->barrier();
    return status.code() == StatusCode::aborted ? "" : status.toString();
  };
  EXPECT_EQ("", failures(runProcesses(4, body, 120)));
}
