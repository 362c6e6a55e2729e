// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages between nodes, by UCX over TCP.
#include "iris/rt/InterNode.h"
#include "support/JoinNodes.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// The ranks are on one machine, where UCX would prefer shared memory.
struct UseTcp {
  UseTcp() { ::setenv("UCX_TLS", "tcp,self", /*overwrite=*/1); }
} useTcp;
} // namespace

static InterNodeOptions options(double limit = 20) {
  InterNodeOptions options;
  options.library = IRIS_TEST_UCX;
  options.limit = limit;
  return options;
}

/// A hash of the ranks, the message and the index.
static std::vector<uint8_t> bytesOf(uint32_t from, uint32_t to, uint32_t round,
                                    size_t size) {
  std::vector<uint8_t> bytes(size);
  uint64_t state = (uint64_t(from) << 40 | uint64_t(to) << 20 | round) + 1;
  for (uint8_t &byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(state >> 33);
  }
  return bytes;
}

TEST(InterNode, AllPairsExchange) {
  for (const std::string &nodes :
       {std::string("a"), std::string("ab"), std::string("aab"),
        std::string("abcd"), std::string("aabbccdd"),
        std::string("aaaabbbbccccdddd")}) {
    const auto numRanks = static_cast<uint32_t>(nodes.size());
    SharedText address;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(auto job,
                  joinNodes(launch, nodes.substr(launch.rank, 1), address));
      RANK_ASSIGN(auto engine, InterNode::connect(*job, options()));
      uint32_t round = 0;
      for (size_t size : {0u, 1u, 1000u, 100003u, 1u << 20}) {
        if (numRanks > 8 && size > 200000)
          continue;
        ++round;
        std::vector<std::vector<uint8_t>> out(numRanks), in(numRanks);
        std::vector<InterNode::Transfer> transfers;
        for (uint32_t rank = 0; rank < numRanks; ++rank) {
          if (nodes[rank] == nodes[launch.rank])
            continue;
          out[rank] = bytesOf(launch.rank, rank, round, size);
          in[rank].resize(size);
          transfers.push_back(
              InterNode::send(rank, out[rank].data(), out[rank].size()));
          transfers.push_back(
              InterNode::recv(rank, in[rank].data(), in[rank].size()));
        }
        RANK_TRY(engine->run(transfers));
        for (uint32_t rank = 0; rank < numRanks; ++rank)
          if (nodes[rank] != nodes[launch.rank])
            RANK_CHECK(in[rank] == bytesOf(rank, launch.rank, round, size));
      }
      RANK_TRY(engine->destroy());
      RANK_CHECK(engine->run({}).code() == StatusCode::failedPrecondition);
      RANK_TRY(job->destroy());
      return "";
    };
    EXPECT_EQ("", failures(runProcesses(numRanks, body, 120))) << nodes;
  }
}

TEST(InterNode, MessagesKeepTheirOrder) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job,
                joinNodes(launch, launch.rank == 0 ? "a" : "b", address));
    RANK_ASSIGN(auto engine, InterNode::connect(*job, options()));
    constexpr uint32_t count = 200;
    // One call for each on one side, one call for all on the other.
    std::vector<std::vector<uint8_t>> messages(count);
    std::vector<InterNode::Transfer> transfers;
    for (uint32_t i = 0; i < count; ++i) {
      const size_t size = i * 97 % 5000;
      messages[i] = launch.rank == 0 ? bytesOf(0, 1, i, size)
                                     : std::vector<uint8_t>(size);
      transfers.push_back(launch.rank == 0
                              ? InterNode::send(1, messages[i].data(), size)
                              : InterNode::recv(0, messages[i].data(), size));
    }
    if (launch.rank == 0)
      for (const InterNode::Transfer &transfer : transfers)
        RANK_TRY(engine->run({transfer}));
    else
      RANK_TRY(engine->run(transfers));
    for (uint32_t i = 0; i < count; ++i)
      RANK_CHECK(messages[i] == bytesOf(0, 1, i, messages[i].size()));
    RANK_TRY(engine->destroy());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(InterNode, RanksOfOneNodeAreNoPeers) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job,
                joinNodes(launch, launch.rank < 2 ? "a" : "b", address));
    RANK_ASSIGN(auto engine, InterNode::connect(*job, options()));
    uint8_t byte = 0;
    const uint32_t neighbor = launch.rank < 2 ? 1 - launch.rank : 2;
    RANK_CHECK(engine->run({InterNode::send(neighbor, &byte, 1)}).code() ==
               StatusCode::invalidArgument);
    RANK_CHECK(engine->run({InterNode::recv(3, &byte, 1)}).code() ==
               StatusCode::invalidArgument);
    RANK_CHECK(
        engine->run({InterNode::recv(2 - neighbor, nullptr, 1)}).code() ==
        StatusCode::invalidArgument);
    // Refused arguments fail nothing.
    RANK_TRY(job->barrier());
    RANK_TRY(engine->destroy());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(InterNode, SizesMustBeEqual) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job,
                joinNodes(launch, launch.rank == 0 ? "a" : "b", address));
    RANK_ASSIGN(auto engine, InterNode::connect(*job, options()));
    std::vector<uint8_t> bytes(100);
    Status status =
        engine->run({launch.rank == 0 ? InterNode::send(1, bytes.data(), 99)
                                      : InterNode::recv(0, bytes.data(), 100)});
    if (launch.rank == 0 && status.ok())
      status = job->barrier();
    RANK_CHECK(!status.ok());
    if (status.message().find("another size; expected 100") ==
        std::string::npos)
      return status.message();
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(InterNode, AKilledNodeEndsTheTransfersOfAll) {
  SharedText address;
  Arrivals connected;
  auto ends = runProcesses(6, [&](const LaunchInfo &launch) -> std::string {
    const char *node = launch.rank < 2 ? "a" : launch.rank < 4 ? "b" : "c";
    RANK_ASSIGN(auto job, joinNodes(launch, node, address));
    RANK_ASSIGN(auto engine, InterNode::connect(*job, options()));
    connected.arrive();
    if (launch.rank >= 4 && connected.wait(6))
      ::raise(SIGKILL);
    // Of the node that is gone, and of one that waits for it as well.
    std::vector<uint8_t> in(2 << 20), out(2 << 20);
    const uint32_t peer = launch.rank < 2 ? 4 + launch.rank : launch.rank - 2;
    Status status = engine->run({InterNode::send(peer, out.data(), out.size()),
                                 InterNode::recv(peer, in.data(), in.size())});
    RANK_CHECK(!status.ok());
    RANK_CHECK(!engine->run({}).ok());
    RANK_CHECK(!engine->destroy().ok());
    if (status.message().find("rank 4 failed") == std::string::npos &&
        status.message().find("rank 5 failed") == std::string::npos)
      return status.message();
    return "";
  });
  for (uint32_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(ends[rank].text, "") << rank;
}

TEST(InterNode, APeerThatDoesNotReceiveIsATimeout) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job,
                joinNodes(launch, launch.rank == 0 ? "a" : "b", address));
    RANK_ASSIGN(auto engine, InterNode::connect(*job, options(2)));
    std::vector<uint8_t> bytes(16 << 20); // nothing buffers that much
    Status status =
        launch.rank == 0
            ? engine->run({InterNode::send(1, bytes.data(), bytes.size())})
            : job->barrier();
    RANK_CHECK(!status.ok());
    RANK_CHECK(launch.rank == 1 || status.code() == StatusCode::timeout);
    if (status.message().find("with rank 1 between nodes were not complete "
                              "within 2 s") == std::string::npos)
      return status.message();
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(InterNode, LibrariesAreChecked) {
  for (auto [library, reason] :
       {std::pair("/nowhere/libengine.so", "cannot open"),
        std::pair("libm.so.6", "is no engine")}) {
    SharedText address;
    auto body = [&, library = library,
                 reason = reason](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(auto job,
                  joinNodes(launch, launch.rank == 0 ? "a" : "b", address));
      InterNodeOptions other = options();
      if (launch.rank == 1)
        other.library = library;
      Status status = InterNode::connect(*job, other).status();
      RANK_CHECK(!status.ok());
      if (status.message().find(reason) == std::string::npos)
        return status.message();
      return "";
    };
    EXPECT_EQ("", failures(runProcesses(2, body)));
  }
}

TEST(InterNode, SignalsStayTheProgramsOwn) {
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto job,
                joinNodes(launch, launch.rank == 0 ? "a" : "b", address));
    RANK_ASSIGN(auto engine, InterNode::connect(*job, options()));
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM}) {
      struct sigaction action = {};
      ::sigaction(signal, nullptr, &action);
      RANK_CHECK(action.sa_handler == SIG_DFL);
    }
    RANK_TRY(engine->destroy());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}
