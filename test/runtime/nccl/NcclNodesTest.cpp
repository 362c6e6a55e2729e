// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unique ids for ranks on several machines. Nodes are declared by IRIS_NODE.
#include "support/Ranks.h"
#include "support/Shared.h"

#include <gtest/gtest.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

/// Creates a communicator; the reason if that fails.
static std::string create(const LaunchInfo &launch, const std::string &node,
                          const char *address,
                          SharedValue<ncclUniqueId> &shared,
                          const char *device = "host") {
  // The environment is read at the first call.
  ::setenv("IRIS_NCCL_DEVICE", device, 1);
  ::setenv("IRIS_NODE", node.c_str(), 1);
  ::setenv("IRIS_JOIN_LIMIT", "20", 1);
  ::setenv("IRIS_COLLECTIVE_LIMIT", "20", 1);
  ::setenv("IRIS_NODE_ADDRESS", address, 1);
  if (launch.rank == 0) {
    ncclUniqueId id;
    if (ncclGetUniqueId(&id) != ncclSuccess)
      return ncclGetLastError(nullptr);
    shared.set(id);
  }
  ncclComm_t comm = nullptr;
  if (ncclCommInitRank(&comm, static_cast<int>(launch.numRanks), shared.get(),
                       static_cast<int>(launch.rank)) != ncclSuccess)
    return ncclGetLastError(nullptr);
  int count = 0, rank = -1;
  if (ncclCommCount(comm, &count) != ncclSuccess ||
      ncclCommUserRank(comm, &rank) != ncclSuccess ||
      count != static_cast<int>(launch.numRanks) ||
      rank != static_cast<int>(launch.rank))
    return "another rank";
  return ncclCommDestroy(comm) == ncclSuccess ? "" : ncclGetLastError(nullptr);
}

TEST(NcclNodes, RanksMeetAtTheAddressOfTheId) {
  for (uint32_t numRanks : {1u, 2u, 4u, 8u}) {
    SharedValue<ncclUniqueId> id;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      return create(launch, "one", "127.0.0.1", id);
    };
    EXPECT_EQ("", failures(runProcesses(numRanks, body))) << numRanks;
  }
}

TEST(NcclNodes, AMissingEngineIsAnErrorOfEveryRank) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 2)
      ::setenv("IRIS_INTERNODE_LIBRARY", "/nowhere/libengine.so", 1);
    const std::string text =
        create(launch, launch.rank < 2 ? "a" : "b", "127.0.0.1", id);
    if (text.find("engine between nodes") == std::string::npos)
      return "no error: " + text;
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(NcclNodes, ANodeHasAtMostEightRanks) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    const std::string text =
        create(launch, launch.rank == 3 ? "a" : "b", "127.0.0.1", id);
    if (text.find("9 ranks of the communicator are on node 0") ==
        std::string::npos)
      return "no error: " + text;
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(10, body)));
}

/// With the fake driver in ctest, if there is no GPU.
TEST(NcclNodes, GpusOfSeveralNodesAreInvalidUsage) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    const std::string text =
        create(launch, launch.rank < 2 ? "a" : "b", "127.0.0.1", id, "cuda");
    if (text.find("failed precondition: the communicator's ranks are on 2 "
                  "nodes and on device 'cuda'") != std::string::npos ||
        text.find("unavailable: ") != std::string::npos)
      return text;
    return "another error: " + text;
  };
  for (const RankEnd &end : runProcesses(3, body)) {
    if (end.text.find("unavailable: ") != std::string::npos)
      GTEST_SKIP() << end.text;
    EXPECT_EQ(end.text.find("another error"), std::string::npos) << end.text;
    EXPECT_TRUE(end.exited);
  }
}

TEST(NcclNodes, AddressesOfOtherMachinesAreRefused) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    // Of documentation (RFC 5737): no machine has it.
    const std::string text = create(launch, "a", "192.0.2.1", id);
    if (text.find("192.0.2.1") == std::string::npos)
      return "no error: " + text;
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(1, body)));
}

TEST(NcclNodes, RankZeroIsInTheProcessThatMadeTheId) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &given) -> std::string {
    LaunchInfo launch = given;
    launch.numRanks = 2;
    if (launch.rank == 2) { // makes the id, and waits for the end of rank 0
      ::setenv("IRIS_NODE_ADDRESS", "127.0.0.1", 1);
      ncclUniqueId made;
      if (ncclGetUniqueId(&made) != ncclSuccess)
        return ncclGetLastError(nullptr);
      id.set(made);
      ::sleep(4);
      return "";
    }
    ::setenv("IRIS_NCCL_DEVICE", "host", 1);
    ::setenv("IRIS_JOIN_LIMIT", "2", 1);
    ncclComm_t comm = nullptr;
    const ncclResult_t result =
        ncclCommInitRank(&comm, 2, id.get(), static_cast<int>(launch.rank));
    const std::string text = ncclGetLastError(nullptr);
    return result != ncclSuccess ? "" : "no error: " + text;
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}
