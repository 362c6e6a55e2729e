// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators whose ranks are on several nodes, declared by IRIS_NODE: over
// UCX, or, with IRIS_TEST_NCCL=1, over NCCL's API, by this library itself.
#include "iris/rt/HostStream.h"
#include "nccl/NcclRanks.h"
#include "support/Hash.h"
#include "support/Shared.h"

#include <gtest/gtest.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static bool usesNccl() { return std::getenv("IRIS_TEST_NCCL") != nullptr; }

/// Runs the body on a communicator of ranks on nodes: `nodes` has a letter for
/// the node of each rank, which is a process.
static std::vector<RankEnd> onNodes(const std::string &nodes,
                                    const NcclBody &body,
                                    const char *limit = "200") {
  SharedValue<ncclUniqueId> id;
  return runProcesses(
      static_cast<uint32_t>(nodes.size()),
      [&](const LaunchInfo &launch) -> std::string {
        // The environment is read at the first call.
        ::setenv("IRIS_NODE", nodes.substr(launch.rank, 1).c_str(), 1);
        ::setenv("IRIS_NODE_ADDRESS", "127.0.0.1", 1);
        ::setenv("IRIS_INTERNODE_LIBRARY",
                 usesNccl() ? IRIS_TEST_NCCL : IRIS_TEST_UCX, 1);
        ::setenv("IRIS_COLLECTIVE_LIMIT", limit, 1);
        // The ranks are on one machine, where UCX would prefer shared memory.
        ::setenv("UCX_TLS", "tcp,self", 1);
        if (launch.rank == 0) {
          ncclUniqueId made;
          NCCL_TRY(ncclGetUniqueId(&made));
          id.set(made);
        }
        NcclRank rank = {nullptr, static_cast<int>(launch.rank),
                         static_cast<int>(launch.numRanks)};
        NCCL_TRY(ncclCommInitRank(&rank.comm, rank.size, id.get(), rank.rank));
        TRY_TEXT(body(rank));
        if (rank.comm)
          NCCL_TRY(ncclCommDestroy(rank.comm));
        return "";
      },
      250);
}

TEST(NcclNodesCollectives, SolveProblems) {
  for (const char *nodes : {"ab", "aab", "abab"}) {
    auto body = [](NcclRank &rank) -> std::string {
      Expected<void *> stream = createHostStream();
      RANK_TRY(stream.status());
      uint64_t seed = 0;
      for (Op op :
           {Op::allReduce, Op::reduceScatter, Op::allGather, Op::broadcast,
            Op::reduce, Op::gather, Op::scatter, Op::allToAll})
        for (DType type : {DType::f32, DType::bf16, DType::i32})
          for (ReduceOp reduce : {ReduceOp::sum, ReduceOp::avg})
            for (InPlace inPlace : {InPlace::no, InPlace::yes}) {
              Problem p;
              p.op = op;
              p.dtype = type;
              p.reduce = reduce;
              p.seed = ++seed;
              p.count = seed * 977 % 5000;
              p.root = static_cast<uint32_t>(seed) %
                       static_cast<uint32_t>(rank.size);
              // With the null stream, the call waits.
              TRY_TEXT(
                  solve(rank, p, inPlace, seed % 3 == 0 ? nullptr : *stream));
            }
      RANK_TRY(destroyHostStream(*stream));
      return "";
    };
    EXPECT_EQ("", failures(onNodes(nodes, body))) << nodes;
  }
}

TEST(NcclNodesCollectives, SixteenRanks) {
  auto body = [](NcclRank &rank) -> std::string {
    Problem p;
    p.count = 1000;
    TRY_TEXT(solve(rank, p));
    p.op = Op::broadcast;
    p.root = 9;
    TRY_TEXT(solve(rank, p, InPlace::yes));
    return "";
  };
  EXPECT_EQ("", failures(onNodes("aaaabbbbccccdddd", body)));
}

TEST(NcclNodesCollectives, GroupsAndFactors) {
  auto body = [](NcclRank &rank) -> std::string {
    float factor = 2 + static_cast<float>(rank.rank);
    ncclRedOp_t scaled;
    NCCL_TRY(ncclRedOpCreatePreMulSum(&scaled, &factor, ncclFloat32,
                                      ncclScalarHostImmediate, rank.comm));
    std::vector<float> in(1000, 3), sum(1000), weighted(1000), all(3000);
    NCCL_TRY(ncclGroupStart());
    NCCL_TRY(ncclAllReduce(in.data(), sum.data(), in.size(), ncclFloat32,
                           ncclSum, rank.comm, nullptr));
    NCCL_TRY(ncclAllReduce(in.data(), weighted.data(), in.size(), ncclFloat32,
                           scaled, rank.comm, nullptr));
    NCCL_TRY(ncclAllGather(in.data(), all.data(), in.size(), ncclFloat32,
                           rank.comm, nullptr));
    NCCL_TRY(ncclGroupEnd());
    for (size_t i = 0; i < in.size(); ++i)
      RANK_CHECK(sum[i] == 9 && weighted[i] == 27 && all[i * 3] == 3);
    NCCL_TRY(ncclRedOpDestroy(scaled, rank.comm));
    return "";
  };
  EXPECT_EQ("", failures(onNodes("aab", body)));
}

/// A ring and an all-to-all of sends and receives, of which some cross nodes,
/// with one of each rank to itself.
TEST(NcclNodesCollectives, SendsAndReceivesOfGroups) {
  for (const char *nodes : {"ab", "aabb", "abab", "abb"}) {
    auto body = [](NcclRank &rank) -> std::string {
      Expected<void *> stream = createHostStream();
      RANK_TRY(stream.status());
      const auto size = static_cast<uint32_t>(rank.size);
      const auto me = static_cast<uint32_t>(rank.rank);
      auto countOf = [](uint32_t from, uint32_t to) {
        return 1 + (from * 7919 + to * 104729) % 20000;
      };
      auto valueOf = [](uint32_t from, uint32_t to, size_t i) {
        return static_cast<int32_t>(hash(from * 16 + to, i, 3));
      };
      for (uint32_t step : {1u, 0u}) { // 0: all peers
        std::vector<std::vector<int32_t>> in(size), out(size);
        NCCL_TRY(ncclGroupStart());
        for (uint32_t to = 0; to < size; ++to) {
          const uint32_t from = (2 * me + size - to) % size;
          if (step != 0 && to != (me + step) % size)
            continue;
          in[to].resize(countOf(me, to));
          for (size_t i = 0; i < in[to].size(); ++i)
            in[to][i] = valueOf(me, to, i);
          out[from].resize(countOf(from, me));
          NCCL_TRY(ncclSend(in[to].data(), in[to].size(), ncclInt32,
                            static_cast<int>(to), rank.comm,
                            static_cast<cudaStream_t>(*stream)));
          NCCL_TRY(ncclRecv(out[from].data(), out[from].size(), ncclInt32,
                            static_cast<int>(from), rank.comm,
                            static_cast<cudaStream_t>(*stream)));
        }
        NCCL_TRY(ncclGroupEnd());
        RANK_TRY(synchronizeHostStream(*stream));
        for (uint32_t from = 0; from < size; ++from)
          for (size_t i = 0; i < out[from].size(); ++i)
            RANK_CHECK(out[from][i] == valueOf(from, me, i));
      }
      RANK_TRY(destroyHostStream(*stream));
      return "";
    };
    EXPECT_EQ("", failures(onNodes(nodes, body))) << nodes;
  }
}

static std::string reduceAndGather(NcclRank &rank) {
  Problem p;
  p.count = 3001;
  p.seed = 7;
  TRY_TEXT(solve(rank, p));
  p.op = Op::allGather;
  return solve(rank, p, InPlace::yes);
}

/// Splits a communicator, by keys that reverse the order, and uses the part of
/// this rank; `colors` has a letter for each rank, '-' for none.
static std::string useParts(const NcclRank &rank, const std::string &colors,
                            const std::function<std::string(NcclRank &)> &use) {
  const char mine = colors[static_cast<size_t>(rank.rank)];
  NcclRank part = {nullptr, 0, 0};
  for (int other = 0; other < rank.size; ++other)
    if (colors[static_cast<size_t>(other)] == mine) {
      ++part.size;
      part.rank += other > rank.rank;
    }
  NCCL_TRY(ncclCommSplit(rank.comm, mine == '-' ? NCCL_SPLIT_NOCOLOR : mine,
                         -rank.rank, &part.comm, nullptr));
  RANK_CHECK((part.comm == nullptr) == (mine == '-'));
  if (!part.comm)
    return "";
  int index = -1, size = 0;
  NCCL_TRY(ncclCommUserRank(part.comm, &index));
  NCCL_TRY(ncclCommCount(part.comm, &size));
  RANK_CHECK(index == part.rank && size == part.size);
  TRY_TEXT(use(part));
  NCCL_TRY(ncclCommDestroy(part.comm));
  return "";
}

/// Parts on one node and on several, and parts of these.
TEST(NcclNodesCollectives, Split) {
  for (auto [nodes, colors] :
       {std::pair("aabb", "xyxy"), std::pair("aabb", "xxyy"),
        std::pair("abab", "xxx-"), std::pair("abbb", "zxyx"),
        std::pair("ab", "--")}) {
    auto body = [&, colors = std::string(colors)](NcclRank &rank) {
      return useParts(rank, colors, [&](NcclRank &part) -> std::string {
        TRY_TEXT(reduceAndGather(part));
        return useParts(part, std::string(static_cast<size_t>(part.size), 'x'),
                        reduceAndGather);
      });
    };
    auto both = [&](NcclRank &rank) -> std::string {
      TRY_TEXT(body(rank));
      return reduceAndGather(rank); // still in use
    };
    EXPECT_EQ("", failures(onNodes(nodes, both))) << nodes << " " << colors;
  }
}

/// The communicator of the ranks that `excluded` does not name, which `use`
/// gets.
static std::string useRest(const NcclRank &rank, std::vector<int> excluded,
                           int flags, const NcclBody &use) {
  auto isExcluded = [&](int other) {
    return std::find(excluded.begin(), excluded.end(), other) != excluded.end();
  };
  if (isExcluded(rank.rank))
    return "";
  NcclRank rest = {nullptr, 0, 0};
  for (int other = 0; other < rank.size; ++other)
    if (!isExcluded(other)) {
      rest.rank += other < rank.rank;
      ++rest.size;
    }
  NCCL_TRY(ncclCommShrink(rank.comm, excluded.data(),
                          static_cast<int>(excluded.size()), &rest.comm,
                          nullptr, flags));
  int index = -1, size = 0;
  NCCL_TRY(ncclCommUserRank(rest.comm, &index));
  NCCL_TRY(ncclCommCount(rest.comm, &size));
  RANK_CHECK(index == rest.rank && size == rest.size);
  TRY_TEXT(use(rest));
  NCCL_TRY(ncclCommDestroy(rest.comm));
  return "";
}

/// Without the first rank and without others; what is left is on one node or on
/// several. The parent stays in use, and is shrunk again.
TEST(NcclNodesCollectives, Shrink) {
  for (auto [nodes, excluded] : {std::pair("aabb", std::vector<int>{0}),
                                 std::pair("abab", std::vector<int>{1, 2}),
                                 std::pair("aabb", std::vector<int>{3, 2}),
                                 std::pair("abcd", std::vector<int>{2}),
                                 std::pair("ab", std::vector<int>{0})}) {
    auto body = [&, excluded = excluded](NcclRank &rank) -> std::string {
      for (int round = 0; round < 3; ++round)
        TRY_TEXT(useRest(rank, excluded, NCCL_SHRINK_DEFAULT,
                         [](NcclRank &rest) -> std::string {
                           TRY_TEXT(reduceAndGather(rest));
                           if (rest.size < 3)
                             return "";
                           return useRest(rest, {0}, NCCL_SHRINK_DEFAULT,
                                          reduceAndGather);
                         }));
      return reduceAndGather(rank);
    };
    EXPECT_EQ("", failures(onNodes(nodes, body))) << nodes;
  }
}

/// Ranks are gone, also the first one, at whose address the others had met.
TEST(NcclNodesCollectives, ShrinkAfterRanksHaveEnded) {
  for (const std::vector<int> &gone :
       {std::vector<int>{0, 1}, std::vector<int>{2, 4}}) {
    Shared<std::atomic<int>> numDone;
    auto ends = onNodes("aabbc", [&](NcclRank &rank) -> std::string {
      TRY_TEXT(reduceAndGather(rank));
      numDone->fetch_add(1);
      RANK_CHECK(waitUntil([&] { return numDone->load() == 5; }));
      if (std::find(gone.begin(), gone.end(), rank.rank) != gone.end())
        ::raise(SIGKILL);
      ncclResult_t error = ncclSuccess;
      while (error == ncclSuccess)
        NCCL_TRY(ncclCommGetAsyncError(rank.comm, &error));
      NCCL_EXPECT(ncclRemoteError, error);
      return useRest(rank, gone, NCCL_SHRINK_ABORT, reduceAndGather);
    });
    for (size_t rank = 0; rank < ends.size(); ++rank) {
      const bool isGone = std::find(gone.begin(), gone.end(),
                                    static_cast<int>(rank)) != gone.end();
      EXPECT_EQ(ends[rank].text, "") << rank;
      EXPECT_EQ(ends[rank].signal, isGone ? SIGKILL : 0) << rank;
    }
  }
}

TEST(NcclNodesCollectives, ShrinkMisuse) {
  auto body = [](NcclRank &rank) -> std::string {
    ncclComm_t child = nullptr;
    for (int excluded : {-1, 3, rank.rank})
      NCCL_EXPECT(ncclInvalidArgument,
                  ncclCommShrink(rank.comm, &excluded, 1, &child, nullptr,
                                 NCCL_SHRINK_DEFAULT));
    RANK_CHECK(child == nullptr);
    return reduceAndGather(rank);
  };
  EXPECT_EQ("", failures(onNodes("aab", body)));
}

/// More data takes longer, and the group does not run.
TEST(NcclNodesCollectives, GroupsAreEstimated) {
  auto body = [](NcclRank &rank) -> std::string {
    const int next = (rank.rank + 1) % rank.size;
    const int last = (rank.rank + rank.size - 1) % rank.size;
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    float before = 0, ofOne = 0;
    for (size_t count : {size_t(1), size_t(1) << 16, size_t(1) << 22}) {
      std::vector<float> in(count, 1), out(count, 2);
      auto estimate = [&](bool sends) -> std::string {
        NCCL_TRY(ncclGroupStart());
        NCCL_TRY(ncclAllReduce(in.data(), out.data(), count, ncclFloat32,
                               ncclSum, rank.comm, nullptr));
        if (sends) {
          NCCL_TRY(ncclSend(in.data(), count, ncclFloat32, next, rank.comm,
                            nullptr));
          NCCL_TRY(ncclRecv(out.data(), count, ncclFloat32, last, rank.comm,
                            nullptr));
        }
        NCCL_TRY(ncclGroupSimulateEnd(&info));
        return "";
      };
      TRY_TEXT(estimate(/*sends=*/false));
      ofOne = info.estimatedTime;
      RANK_CHECK(ofOne > before);
      before = ofOne;
      TRY_TEXT(estimate(/*sends=*/true));
      RANK_CHECK(info.estimatedTime > ofOne);
      RANK_CHECK(out[0] == 2 && out[count - 1] == 2);
    }
    NCCL_TRY(ncclGroupStart());
    NCCL_TRY(
        ncclBroadcast(nullptr, nullptr, 4, ncclFloat32, 0, rank.comm, nullptr));
    NCCL_EXPECT(ncclInvalidArgument, ncclGroupSimulateEnd(&info));
    return reduceAndGather(rank);
  };
  for (const char *nodes : {"ab", "aab", "abab"})
    EXPECT_EQ("", failures(onNodes(nodes, body))) << nodes;
}

TEST(NcclNodesCollectives, DifferentCallsAreNamed) {
  auto body = [](NcclRank &rank) -> std::string {
    std::vector<float> in(8, 1), out(8);
    // All ranks compare the calls; the error of a peer may come first.
    const ncclResult_t result =
        ncclAllReduce(in.data(), out.data(), rank.rank == 2 ? 7 : 8,
                      ncclFloat32, ncclSum, rank.comm, nullptr);
    RANK_CHECK(result == ncclInvalidUsage || result == ncclRemoteError);
    const std::string text = ncclGetLastError(nullptr);
    if (text.find("rank 2 has all_reduce, f32 x 7, sum") == std::string::npos)
      return text;
    NCCL_TRY(ncclCommAbort(rank.comm));
    rank.comm = nullptr;
    return "";
  };
  ::setenv("IRIS_CHECK_COLLECTIVES", "1", 1);
  EXPECT_EQ("", failures(onNodes("aab", body)));
  ::unsetenv("IRIS_CHECK_COLLECTIVES");
}

/// Within a node, whose ranks have other numbers there.
TEST(NcclNodesCollectives, DifferentLengthsAreNamed) {
  SharedValue<bool> created[4];
  auto body = [&created](NcclRank &rank) -> std::string {
    std::vector<float> data(8, 1);
    // Before a rank fails, all have created the communicator.
    created[rank.rank].set(true);
    for (SharedValue<bool> &each : created)
      RANK_CHECK(each.get());
    ncclResult_t result = ncclSuccess;
    if (rank.rank == 2)
      result = ncclSend(data.data(), 8, ncclFloat32, 3, rank.comm, nullptr);
    if (rank.rank == 3)
      result = ncclRecv(data.data(), 7, ncclFloat32, 2, rank.comm, nullptr);
    while (result == ncclSuccess)
      NCCL_TRY(ncclCommGetAsyncError(rank.comm, &result));
    RANK_CHECK(result == ncclRemoteError ||
               (rank.rank > 1 && result == ncclInvalidArgument));
    // The text is that of the next call.
    RANK_CHECK(ncclAllReduce(data.data(), data.data(), 8, ncclFloat32, ncclSum,
                             rank.comm, nullptr) != ncclSuccess);
    const std::string text = ncclGetLastError(nullptr);
    for (const char *part :
         {"by the numbers in node 1, which has ranks 2, 3",
          "28 bytes (f32 x 7)", "message 1 between them", "32 bytes (f32 x 8)"})
      if (text.find(part) == std::string::npos)
        return text;
    NCCL_TRY(ncclCommAbort(rank.comm));
    rank.comm = nullptr;
    return "";
  };
  ::setenv("IRIS_CHECK_COLLECTIVES", "1", 1);
  EXPECT_EQ("", failures(onNodes("aabb", body)));
  ::unsetenv("IRIS_CHECK_COLLECTIVES");
}

TEST(NcclNodesCollectives, AKilledNodeIsARemoteErrorOfAllOthers) {
  const std::string nodes = "aabbc";
  auto ends = onNodes(nodes, [](NcclRank &rank) -> std::string {
    Problem p;
    p.count = 30000;
    TRY_TEXT(solve(rank, p));
    std::vector<float> in(p.count, 1), out(p.count);
    // Node b ends while the others are at work.
    const bool isKilled = rank.rank == 2 || rank.rank == 3;
    for (int i = 0; i < 100000; ++i) {
      if (isKilled && i == 3)
        ::raise(SIGKILL);
      const ncclResult_t result =
          ncclAllReduce(in.data(), out.data(), in.size(), ncclFloat32, ncclSum,
                        rank.comm, nullptr);
      if (result == ncclSuccess)
        continue;
      const std::string text = ncclGetLastError(nullptr);
      if (result != ncclRemoteError ||
          (text.find("rank 2 failed") == std::string::npos &&
           text.find("rank 3 failed") == std::string::npos))
        return "another error: " + text;
      NCCL_TRY(ncclCommAbort(rank.comm));
      rank.comm = nullptr;
      return "";
    }
    return "no error";
  });
  for (size_t rank : {0u, 1u, 4u})
    EXPECT_EQ("", ends[rank].text) << rank;
}

TEST(NcclNodesCollectives, AnAbortEndsTheCallsOfOtherNodes) {
  auto body = [](NcclRank &rank) -> std::string {
    std::vector<float> in(30000, 1), out(in.size());
    // The abort may come before the others have ended the first call.
    ncclResult_t result = ncclSuccess;
    while (result == ncclSuccess && (rank.rank != 0 || out[0] == 0))
      result = ncclAllReduce(in.data(), out.data(), in.size(), ncclFloat32,
                             ncclSum, rank.comm, nullptr);
    const std::string text =
        result == ncclSuccess ? "" : ncclGetLastError(nullptr);
    NCCL_TRY(ncclCommAbort(rank.comm));
    rank.comm = nullptr;
    if (rank.rank == 0)
      return text;
    RANK_CHECK(result == ncclRemoteError);
    return text.find("rank 0 failed: ncclCommAbort") != std::string::npos
               ? ""
               : "another error: " + text;
  };
  EXPECT_EQ("", failures(onNodes("abb", body)));
}
