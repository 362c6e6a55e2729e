// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators of NCCL's API: creation by processes, threads and one thread,
// split and shrink, errors, aborts, dead ranks, and what they leave behind.
#include "nccl/NcclRanks.h"

#include "iris/rt/HostStream.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nccl_device.h>
#include <thread>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

/// The sum of ranks from all ranks.
static std::string sumRanks(ncclComm_t comm, int rank, int size) {
  std::vector<int32_t> data(100, rank + 1);
  NCCL_TRY(ncclAllReduce(data.data(), data.data(), data.size(), ncclInt32,
                         ncclSum, comm, nullptr));
  for (int32_t value : data)
    RANK_CHECK(value == size * (size + 1) / 2);
  return "";
}

/// Returns on the root when no other rank needs the communicator any more to
/// return here. The last message may end with the root's end.
static std::string meetAt(int root, ncclComm_t comm, int rank, int size) {
  TRY_TEXT(sumRanks(comm, rank, size));
  int32_t message = rank;
  if (rank != root) {
    (void)ncclSend(&message, 1, ncclInt32, root, comm, nullptr);
    return "";
  }
  for (int other = 0; other < size; ++other) {
    if (other == root)
      continue;
    NCCL_TRY(ncclRecv(&message, 1, ncclInt32, other, comm, nullptr));
    RANK_CHECK(message == other);
  }
  return "";
}

static std::string checkIdentity(ncclComm_t comm, int rank, int size) {
  int count = -1, mine = -1, device = -1;
  NCCL_TRY(ncclCommCount(comm, &count));
  NCCL_TRY(ncclCommUserRank(comm, &mine));
  NCCL_TRY(ncclCommCuDevice(comm, &device));
  RANK_CHECK(count == size && mine == rank && device >= 0);
  ncclResult_t error = ncclInternalError;
  NCCL_TRY(ncclCommGetAsyncError(comm, &error));
  RANK_CHECK(error == ncclSuccess);
  return "";
}

class NcclComms : public NcclRanksTest {};
NCCL_ON_RANKS(NcclComms, 1, 2, 3, 8);

/// Two communicators at once, in different orders of calls and ends.
TEST_P(NcclComms, TwoAtOnce) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              TRY_TEXT(checkIdentity(rank.comm, rank.rank, rank.size));
              ncclComm_t parts;
              NCCL_TRY(
                  ncclCommSplit(rank.comm, 0, -rank.rank, &parts, nullptr));
              const int other = rank.size - 1 - rank.rank;
              TRY_TEXT(checkIdentity(parts, other, rank.size));
              TRY_TEXT(sumRanks(parts, other, rank.size));
              TRY_TEXT(sumRanks(rank.comm, rank.rank, rank.size));
              NCCL_TRY(ncclCommFinalize(parts));
              NCCL_EXPECT(ncclInvalidUsage,
                          ncclAllReduce(nullptr, nullptr, 0, ncclInt8, ncclSum,
                                        parts, nullptr));
              TRY_TEXT(sumRanks(rank.comm, rank.rank, rank.size));
              NCCL_TRY(ncclCommDestroy(parts));
              return sumRanks(rank.comm, rank.rank, rank.size);
            }));
}

/// Every rank makes the id itself, once for each communicator.
TEST(NcclCommId, IsMadeOnEachRank) {
  auto ends = runProcesses(3, [](const LaunchInfo &launch) -> std::string {
    ::setenv("NCCL_COMM_ID", "127.0.0.1:34567", 1);
    for (int repetition = 0; repetition < 3; ++repetition) {
      ncclUniqueId id;
      NCCL_TRY(ncclGetUniqueId(&id));
      ncclComm_t comm;
      const int rank = static_cast<int>(launch.rank);
      NCCL_TRY(ncclCommInitRank(&comm, 3, id, rank));
      int32_t data = rank + 1;
      NCCL_TRY(
          ncclAllReduce(&data, &data, 1, ncclInt32, ncclSum, comm, nullptr));
      RANK_CHECK(data == 6);
      NCCL_TRY(ncclCommDestroy(comm));
    }
    return "";
  });
  for (const RankEnd &end : ends)
    EXPECT_EQ("", end.text);
}

TEST_P(NcclComms, Split) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              // Odd and even ranks; the last one has no part.
              const bool isOut = rank.size > 2 && rank.rank == rank.size - 1;
              ncclComm_t part = rank.comm;
              NCCL_TRY(ncclCommSplit(rank.comm,
                                     isOut ? NCCL_SPLIT_NOCOLOR : rank.rank % 2,
                                     0, &part, nullptr));
              RANK_CHECK((part == nullptr) == isOut);
              if (!isOut) {
                const int members = rank.size > 2 ? rank.size - 1 : rank.size;
                const int mine = rank.rank / 2;
                const int size = (members + 1 - rank.rank % 2) / 2;
                TRY_TEXT(checkIdentity(part, mine, size));
                TRY_TEXT(sumRanks(part, mine, size));
                NCCL_TRY(ncclCommDestroy(part));
              }
              return sumRanks(rank.comm, rank.rank, rank.size);
            }));
}

TEST_P(NcclComms, Shrink) {
  if (size() == 1)
    GTEST_SKIP() << "there is no rank to exclude";
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              int excluded[] = {0};
              if (rank.rank != 0) {
                for (int round = 0; round < 2; ++round) {
                  ncclComm_t rest;
                  NCCL_TRY(ncclCommShrink(rank.comm, excluded, 1, &rest,
                                          nullptr, NCCL_SHRINK_DEFAULT));
                  TRY_TEXT(checkIdentity(rest, rank.rank - 1, rank.size - 1));
                  TRY_TEXT(sumRanks(rest, rank.rank - 1, rank.size - 1));
                  NCCL_TRY(ncclCommDestroy(rest));
                }
                int all[] = {rank.rank};
                ncclComm_t none;
                NCCL_EXPECT(ncclInvalidArgument,
                            ncclCommShrink(rank.comm, all, 1, &none, nullptr,
                                           NCCL_SHRINK_DEFAULT));
              }
              return sumRanks(rank.comm, rank.rank, rank.size);
            }));
}

class NcclShrinks : public NcclRanksTest {
protected:
  /// Runs the body on 3 ranks, which wait for each other a limited time.
  std::string onThree(const NcclBody &body) const {
    return onRanks(
        kind(), 3,
        [&](ncclUniqueId id, int rank) -> std::string {
          NcclRank mine = {nullptr, rank, 3};
          NCCL_TRY(ncclCommInitRank(&mine.comm, 3, id, rank));
          TRY_TEXT(body(mine));
          NCCL_TRY(ncclCommDestroy(mine.comm));
          return "";
        },
        [] { ::setenv("IRIS_JOIN_LIMIT", "60", 1); });
  }
};
NCCL_ON_RANKS(NcclShrinks, 3);

/// Ranks that have taken part in different shrinks before.
TEST_P(NcclShrinks, OfOtherRanksBefore) {
  EXPECT_EQ("", onThree([](NcclRank &rank) -> std::string {
              for (int out = 2; out >= 0; --out) {
                if (rank.rank == out)
                  continue;
                ncclComm_t rest;
                NCCL_TRY(ncclCommShrink(rank.comm, &out, 1, &rest, nullptr,
                                        NCCL_SHRINK_DEFAULT));
                const int index = rank.rank - (rank.rank > out ? 1 : 0);
                TRY_TEXT(checkIdentity(rest, index, 2));
                TRY_TEXT(sumRanks(rest, index, 2));
                NCCL_TRY(ncclCommDestroy(rest));
              }
              return "";
            }));
}

/// Attempts of one rank that end before the other one comes do not count.
TEST_P(NcclShrinks, AfterAttemptsThatFailed) {
  EXPECT_EQ("", onThree([](NcclRank &rank) -> std::string {
              int out = 2;
              ncclComm_t rest;
              if (rank.rank == 0) {
                NCCL_TRY(ncclGroupStart());
                NCCL_TRY(ncclCommShrink(rank.comm, &out, 1, &rest, nullptr,
                                        NCCL_SHRINK_DEFAULT));
                NCCL_EXPECT(ncclInvalidArgument,
                            ncclBroadcast(nullptr, nullptr, 0, ncclInt8, 3,
                                          rank.comm, nullptr));
                NCCL_EXPECT(ncclInvalidArgument, ncclGroupEnd());
                RANK_CHECK(rest == nullptr);
                ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
                config.blocking = 0;
                NCCL_EXPECT(ncclInProgress,
                            ncclCommShrink(rank.comm, &out, 1, &rest, &config,
                                           NCCL_SHRINK_DEFAULT));
                NCCL_TRY(ncclCommAbort(rest));
              }
              TRY_TEXT(sumRanks(rank.comm, rank.rank, rank.size));
              if (rank.rank == out)
                return "";
              NCCL_TRY(ncclCommShrink(rank.comm, &out, 1, &rest, nullptr,
                                      NCCL_SHRINK_DEFAULT));
              TRY_TEXT(sumRanks(rest, rank.rank, 2));
              NCCL_TRY(ncclCommDestroy(rest));
              return "";
            }));
}

/// Frameworks link the host's part of the device API.
TEST_P(NcclComms, TeamsWithoutDeviceCommunicators) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              const ncclTeam_t world = ncclTeamWorld(rank.comm);
              const ncclTeam_t node = ncclTeamLsa(rank.comm);
              const ncclTeam_t rail = ncclTeamRail(rank.comm);
              RANK_CHECK(world.nRanks == rank.size && world.rank == rank.rank &&
                         world.stride == 1);
              RANK_CHECK(node.nRanks == rank.size && node.rank == rank.rank &&
                         node.stride == 1);
              RANK_CHECK(rail.nRanks == 1 && rail.rank == 0 &&
                         rail.stride == rank.size);
              for (int peer = 0; peer < rank.size; ++peer) {
                RANK_CHECK(ncclTeamRankToWorld(rank.comm, node, peer) == peer);
                RANK_CHECK(ncclTeamRankToLsa(rank.comm, world, peer) == peer);
              }
              NCCL_EXPECT(ncclInvalidUsage,
                          ncclDevCommCreate(rank.comm, nullptr, nullptr));
              RANK_CHECK(std::string(ncclGetLastError(rank.comm))
                             .find("IRIS_NCCL_LIBRARY") != std::string::npos);
              NCCL_EXPECT(ncclInvalidUsage,
                          ncclDevCommDestroy(rank.comm, nullptr));
              NCCL_EXPECT(ncclInvalidUsage, ncclLsaBarrierCreateRequirement(
                                                world, 1, nullptr, nullptr));
              NCCL_EXPECT(ncclInvalidUsage,
                          ncclGinBarrierCreateRequirement(rank.comm, world, 1,
                                                          nullptr, nullptr));
              NCCL_EXPECT(ncclInvalidUsage,
                          ncclLLA2ACreateRequirement(1, 1, nullptr, nullptr));
              RANK_CHECK(ncclLLA2ACalcSlots(1, 1) == 0);
              RANK_CHECK(ncclTeamWorld(nullptr).nRanks == 0);
              // By the name for profilers.
              RANK_CHECK(pncclTeamWorld(rank.comm).nRanks == rank.size);
              return sumRanks(rank.comm, rank.rank, rank.size);
            }));
}

TEST_P(NcclComms, NonblockingCreationAndCalls) {
  EXPECT_EQ(
      "",
      onRanks(kind(), size(), [&](ncclUniqueId id, int rank) -> std::string {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        ncclComm_t comm = nullptr;
        auto wait = [&](ncclResult_t result) -> std::string {
          if (result != ncclInProgress)
            NCCL_TRY(result);
          while (result == ncclInProgress) {
            std::this_thread::yield();
            NCCL_TRY(ncclCommGetAsyncError(comm, &result));
          }
          NCCL_TRY(result);
          return "";
        };
        TRY_TEXT(
            wait(ncclCommInitRankConfig(&comm, size(), id, rank, &config)));
        std::vector<int32_t> data(1000, rank + 1);
        TRY_TEXT(wait(ncclAllReduce(data.data(), data.data(), data.size(),
                                    ncclInt32, ncclSum, comm, nullptr)));
        for (int32_t value : data)
          RANK_CHECK(value == size() * (size() + 1) / 2);
        TRY_TEXT(wait(ncclCommFinalize(comm)));
        NCCL_TRY(ncclCommDestroy(comm));
        return "";
      }));
}

/// The ranks agree on the smallest limit, although only some have one.
TEST_P(NcclComms, MostProgramsOfKernels) {
  EXPECT_EQ(
      "",
      onRanks(kind(), size(), [&](ncclUniqueId id, int rank) -> std::string {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        if (rank != 0)
          config.maxCTAs = rank;
        ncclComm_t comm = nullptr, child = nullptr;
        NCCL_TRY(ncclCommInitRankConfig(&comm, size(), id, rank, &config));
        // Enough for several programs: ranks with other numbers would wait for
        // programs that are not there.
        std::vector<int32_t> data(1 << 20, rank + 1);
        NCCL_TRY(ncclAllReduce(data.data(), data.data(), data.size(), ncclInt32,
                               ncclSum, comm, nullptr));
        for (int32_t value : data)
          RANK_CHECK(value == size() * (size() + 1) / 2);
        // Inherited.
        NCCL_TRY(ncclCommSplit(comm, 0, -rank, &child, nullptr));
        TRY_TEXT(sumRanks(child, size() - 1 - rank, size()));
        NCCL_TRY(ncclCommDestroy(child));
        NCCL_TRY(ncclCommDestroy(comm));
        return "";
      }));
}

//===----------------------------------------------------------------------===//
// One thread for all ranks
//===----------------------------------------------------------------------===//

class NcclOneThread : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, NcclOneThread, ::testing::Values(1, 2, 4, 8));

/// In a process of its own, so that the test's has no threads when it forks.
static std::string alone(const std::function<std::string()> &body) {
  return onRanks(RankKind::processes, 1,
                 [&](ncclUniqueId, int) { return body(); });
}

static std::string driveAll(int size) {
  std::vector<ncclComm_t> comms(static_cast<size_t>(size));
  NCCL_TRY(ncclCommInitAll(comms.data(), size, nullptr));
  std::vector<std::vector<int32_t>> data;
  for (int rank = 0; rank < size; ++rank)
    data.push_back(std::vector<int32_t>(3000, rank + 1));
  for (int round = 0; round < 3; ++round) {
    NCCL_TRY(ncclGroupStart());
    for (size_t rank = 0; rank < comms.size(); ++rank)
      NCCL_TRY(ncclAllReduce(data[rank].data(), data[rank].data(), 3000,
                             ncclInt32, round ? ncclMax : ncclSum, comms[rank],
                             nullptr));
    NCCL_TRY(ncclGroupEnd());
  }
  for (const std::vector<int32_t> &each : data)
    for (int32_t value : each)
      RANK_CHECK(value == size * (size + 1) / 2);
  // A call that is rejected drops the group; the communicators go on.
  NCCL_TRY(ncclGroupStart());
  NCCL_TRY(ncclAllReduce(data[0].data(), data[0].data(), 3000, ncclInt32,
                         ncclSum, comms[0], nullptr));
  NCCL_EXPECT(ncclInvalidArgument,
              ncclAllReduce(data[0].data(), data[0].data(), 3000,
                            static_cast<ncclDataType_t>(99), ncclSum, comms[0],
                            nullptr));
  NCCL_EXPECT(ncclInvalidArgument, ncclGroupEnd());
  // One that is found to be wrong when it runs, too: buffers that overlap.
  NCCL_TRY(ncclGroupStart());
  for (size_t rank = 0; rank < comms.size(); ++rank)
    NCCL_TRY(ncclAllReduce(data[rank].data(), data[rank].data() + 1, 2,
                           ncclInt32, ncclSum, comms[rank], nullptr));
  NCCL_EXPECT(ncclInvalidArgument, ncclGroupEnd());
  for (ncclComm_t comm : comms) {
    ncclResult_t error = ncclInternalError;
    NCCL_TRY(ncclCommGetAsyncError(comm, &error));
    RANK_CHECK(error == ncclSuccess);
  }
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  NCCL_TRY(ncclGroupStart());
  NCCL_TRY(ncclGroupSimulateEnd(&info));
  RANK_CHECK(info.estimatedTime == 0);
  // The group does not run, and more of it takes longer.
  float before = 0;
  for (size_t count : {size_t(1), size_t(1) << 20, size_t(1) << 24}) {
    std::vector<int32_t> in(count, 1), out(count, 2);
    NCCL_TRY(ncclGroupStart());
    for (size_t rank = 0; rank < comms.size(); ++rank)
      NCCL_TRY(ncclAllReduce(in.data(), out.data(), count, ncclInt32, ncclSum,
                             comms[rank], nullptr));
    NCCL_TRY(ncclGroupSimulateEnd(&info));
    RANK_CHECK(out[0] == 2 && out[count - 1] == 2);
    RANK_CHECK(comms.size() == 1 ? info.estimatedTime == 0
                                 : info.estimatedTime > before);
    before = info.estimatedTime;
  }
  info.magic = 0;
  NCCL_TRY(ncclGroupStart());
  NCCL_EXPECT(ncclInvalidArgument, ncclGroupSimulateEnd(&info));
  NCCL_EXPECT(ncclInvalidUsage, ncclGroupSimulateEnd(&info)); // there is none
  NCCL_TRY(ncclGroupStart());
  for (size_t rank = 0; rank < comms.size(); ++rank)
    NCCL_TRY(ncclBroadcast(data[rank].data(), data[rank].data(), 1, ncclInt32,
                           0, comms[rank], nullptr));
  NCCL_TRY(ncclGroupEnd());
  for (ncclComm_t comm : comms)
    NCCL_TRY(ncclCommFinalize(comm));
  for (ncclComm_t comm : comms)
    NCCL_EXPECT(ncclInvalidArgument, ncclCommFinalize(comm));
  for (ncclComm_t comm : comms)
    NCCL_TRY(ncclCommDestroy(comm));
  return "";
}

/// Groups on streams: the second and later ones only enqueue, on this thread.
static std::string driveAllOnStreams(int size) {
  constexpr size_t count = 3000;
  const auto ranks = static_cast<size_t>(size);
  auto valueOf = [](size_t rank, size_t i, int round) {
    return static_cast<int32_t>((i * 8 + rank) * 40503 % 100003) + round;
  };
  std::vector<ncclComm_t> comms(ranks);
  NCCL_TRY(ncclCommInitAll(comms.data(), size, nullptr));
  std::vector<void *> streams(ranks);
  for (void *&stream : streams) {
    RANK_ASSIGN(void *made, createHostStream());
    stream = made;
  }
  for (int round = 0; round < 5; ++round) {
    std::vector<std::vector<int32_t>> in(ranks, std::vector<int32_t>(count)),
        sums = in, left = in;
    for (size_t rank = 0; rank < ranks; ++rank)
      for (size_t i = 0; i < count; ++i)
        in[rank][i] = valueOf(rank, i, round);
    NCCL_TRY(ncclGroupStart());
    for (size_t rank = 0; rank < ranks; ++rank) {
      auto *stream = static_cast<cudaStream_t>(streams[rank]);
      const int me = static_cast<int>(rank);
      NCCL_TRY(ncclAllReduce(in[rank].data(), sums[rank].data(), count,
                             ncclInt32, ncclSum, comms[rank], stream));
      NCCL_TRY(ncclSend(in[rank].data(), count, ncclInt32, (me + 1) % size,
                        comms[rank], stream));
      NCCL_TRY(ncclRecv(left[rank].data(), count, ncclInt32,
                        (me + size - 1) % size, comms[rank], stream));
    }
    NCCL_TRY(ncclGroupEnd());
    for (void *stream : streams)
      RANK_TRY(synchronizeHostStream(stream));
    for (size_t rank = 0; rank < ranks; ++rank)
      for (size_t i = 0; i < count; ++i) {
        int32_t sum = 0;
        for (size_t other = 0; other < ranks; ++other)
          sum += valueOf(other, i, round);
        RANK_CHECK(sums[rank][i] == sum);
        RANK_CHECK(left[rank][i] ==
                   valueOf((rank + ranks - 1) % ranks, i, round));
      }
  }
  for (ncclComm_t comm : comms)
    NCCL_TRY(ncclCommDestroy(comm));
  for (void *stream : streams)
    RANK_TRY(destroyHostStream(stream));
  return "";
}

TEST_P(NcclOneThread, DrivesAllRanksOnStreams) {
  EXPECT_EQ("", alone([this] { return driveAllOnStreams(GetParam()); }));
}

TEST_P(NcclOneThread, InitAll) {
  EXPECT_EQ("", alone([&] { return driveAll(GetParam()); }));
}

TEST_P(NcclOneThread, InitRankInGroup) {
  EXPECT_EQ("", alone([&]() -> std::string {
              const int size = GetParam();
              ncclUniqueId id;
              NCCL_TRY(ncclGetUniqueId(&id));
              std::vector<ncclComm_t> comms(static_cast<size_t>(size));
              NCCL_TRY(ncclGroupStart());
              for (int rank = 0; rank < size; ++rank)
                NCCL_TRY(ncclCommInitRank(&comms[static_cast<size_t>(rank)],
                                          size, id, rank));
              NCCL_TRY(ncclGroupEnd());
              // Split by one thread.
              std::vector<ncclComm_t> parts(comms.size());
              NCCL_TRY(ncclGroupStart());
              for (size_t rank = 0; rank < comms.size(); ++rank)
                NCCL_TRY(ncclCommSplit(comms[rank], static_cast<int>(rank) / 2,
                                       0, &parts[rank], nullptr));
              NCCL_TRY(ncclGroupEnd());
              for (size_t rank = 0; rank < comms.size(); ++rank) {
                int mine = -1;
                NCCL_TRY(ncclCommUserRank(parts[rank], &mine));
                RANK_CHECK(mine == static_cast<int>(rank) % 2);
              }
              for (ncclComm_t comm : parts)
                NCCL_TRY(ncclCommDestroy(comm));
              for (ncclComm_t comm : comms)
                NCCL_TRY(ncclCommDestroy(comm));
              // A group that fails creates nothing.
              ncclComm_t first, second;
              NCCL_TRY(ncclGetUniqueId(&id));
              NCCL_TRY(ncclGroupStart());
              NCCL_TRY(ncclCommInitRank(&first, 2, id, 0));
              NCCL_EXPECT(ncclInvalidArgument,
                          ncclCommInitRank(&second, 2, id, 2));
              NCCL_EXPECT(ncclInvalidArgument, ncclGroupEnd());
              RANK_CHECK(first == nullptr && second == nullptr);
              return "";
            }));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(NcclMisuse, Codes) {
  EXPECT_EQ(
      "", alone([]() -> std::string {
        int value = 0;
        NCCL_TRY(ncclGetVersion(&value));
        RANK_CHECK(value == NCCL_VERSION_CODE);
        NCCL_EXPECT(ncclInvalidArgument, ncclGetVersion(nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclGetUniqueId(nullptr));
        RANK_CHECK(ncclGetErrorString(ncclSuccess) != std::string());
        RANK_CHECK(ncclGetErrorString(static_cast<ncclResult_t>(77)) ==
                   std::string("unknown result code"));

        ncclUniqueId id;
        NCCL_TRY(ncclGetUniqueId(&id));
        ncclComm_t comm;
        NCCL_EXPECT(ncclInvalidArgument, ncclCommInitRank(nullptr, 1, id, 0));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommInitRank(&comm, 0, id, 0));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommInitRank(&comm, 2, id, 2));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommInitRank(&comm, 2, id, -1));
        NCCL_EXPECT(ncclInvalidUsage, ncclCommInitRank(&comm, 17, id, 0));
        RANK_CHECK(std::string(ncclGetLastError(nullptr)).find("17 ranks") !=
                   std::string::npos);
        ncclUniqueId damaged = id;
        damaged.internal[30] = static_cast<char>(damaged.internal[30] ^ 1);
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclCommInitRank(&comm, 1, damaged, 0));
        damaged = {};
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclCommInitRank(&comm, 1, damaged, 0));
        ncclConfig_t config = {};
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclCommInitRankConfig(&comm, 1, id, 0, &config));
        config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 2;
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclCommInitRankConfig(&comm, 1, id, 0, &config));
        for (auto [least, most] : {std::pair(0, 4), {1, 0}, {5, 4}}) {
          config = NCCL_CONFIG_INITIALIZER;
          config.minCTAs = least;
          config.maxCTAs = most;
          NCCL_EXPECT(ncclInvalidArgument,
                      ncclCommInitRankConfig(&comm, 1, id, 0, &config));
        }
        // Of options without an effect, too.
        for (auto [option, value] :
             {std::pair(&ncclConfig_t::cgaClusterSize, -1),
              {&ncclConfig_t::splitShare, 2},
              {&ncclConfig_t::collnetEnable, 2},
              {&ncclConfig_t::CTAPolicy, 4},
              {&ncclConfig_t::shrinkShare, -1},
              {&ncclConfig_t::nvlsCTAs, 0},
              {&ncclConfig_t::nChannelsPerNetPeer, 65},
              {&ncclConfig_t::nvlinkCentricSched, 2}}) {
          config = NCCL_CONFIG_INITIALIZER;
          config.*option = value;
          NCCL_EXPECT(ncclInvalidArgument,
                      ncclCommInitRankConfig(&comm, 1, id, 0, &config));
        }
        // A group creates communicators of one kind.
        config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        ncclComm_t waits = nullptr, goesOn = nullptr;
        NCCL_TRY(ncclGroupStart());
        NCCL_TRY(ncclCommInitRank(&waits, 1, id, 0));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclCommInitRankConfig(&goesOn, 1, id, 0, &config));
        NCCL_EXPECT(ncclInvalidArgument, ncclGroupEnd());
        RANK_CHECK(!waits && !goesOn);
        config = NCCL_CONFIG_INITIALIZER;
        NCCL_EXPECT(ncclInvalidArgument, ncclCommInitAll(nullptr, 1, nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommInitAll(&comm, 0, nullptr));

        // The config of NCCL 2.14 ends behind `blocking`.
        config.blocking = 1;
        config.size = offsetof(ncclConfig_t, cgaClusterSize);
        config.version = 21400;
        NCCL_TRY(ncclCommInitRankScalable(&comm, 1, 0, 1, &id, &config));
        float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {};
        NCCL_EXPECT(
            ncclInvalidArgument,
            ncclAllReduce(in, out, 8, ncclFloat, ncclSum, nullptr, nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclAllReduce(in, out, 8, ncclNumTypes,
                                                       ncclSum, comm, nullptr));
        NCCL_EXPECT(
            ncclInvalidArgument,
            ncclAllReduce(in, out, 8, ncclFloat, ncclNumOps, comm, nullptr));
        NCCL_EXPECT(
            ncclInvalidArgument,
            ncclAllReduce(nullptr, out, 8, ncclFloat, ncclSum, comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclAllReduce(in, in + 1, 7, ncclFloat,
                                                       ncclSum, comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclBroadcast(in, out, 8, ncclFloat, 1, comm, nullptr));
        int noStream = 0;
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllReduce(in, out, 8, ncclFloat, ncclSum, comm,
                                  reinterpret_cast<cudaStream_t>(&noStream)));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommCount(comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommCount(nullptr, &value));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommGetAsyncError(comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommRevoke(comm, 1));
        // None of them has an effect.
        NCCL_TRY(ncclAllReduce(in, out, 8, ncclFloat, ncclSum, comm, nullptr));
        RANK_CHECK(out[7] == 8);
        NCCL_TRY(ncclCommDestroy(comm));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommDestroy(comm));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommAbort(comm));
        NCCL_EXPECT(ncclInvalidArgument, ncclCommCount(comm, &value));
        NCCL_TRY(ncclCommDestroy(nullptr));
        return "";
      }));
}

/// A thread without an error of its own is told the last one of any.
TEST(NcclMisuse, LastErrorOfAnotherThread) {
  EXPECT_EQ("", failures(runProcesses(1, [](const LaunchInfo &) -> std::string {
              std::string first, second, own;
              std::thread([] { (void)ncclCommCount(nullptr, nullptr); }).join();
              first = ncclGetLastError(nullptr);
              std::thread([] { (void)ncclMemAlloc(nullptr, 8); }).join();
              second = ncclGetLastError(nullptr);
              (void)ncclGetUniqueId(nullptr);
              std::thread([] { (void)ncclMemAlloc(nullptr, 8); }).join();
              own = ncclGetLastError(nullptr);
              RANK_CHECK(first.find("ncclCommCount") != std::string::npos);
              RANK_CHECK(second.find("ncclMemAlloc") != std::string::npos);
              RANK_CHECK(own.find("ncclGetUniqueId") != std::string::npos);
              return "";
            })));
}

class NcclFaults : public NcclRanksTest {};
NCCL_ON_RANKS(NcclFaults, 2, 4);

/// The other ranks wait for a rank that aborts, and go on without it.
TEST_P(NcclFaults, AbortEndsTheCallsOfAllRanks) {
  EXPECT_EQ(
      "",
      onRanks(kind(), size(), [&](ncclUniqueId id, int rank) -> std::string {
        ncclComm_t comm;
        NCCL_TRY(ncclCommInitRank(&comm, size(), id, rank));
        TRY_TEXT(meetAt(0, comm, rank, size()));
        if (rank == 0) {
          NCCL_TRY(ncclCommAbort(comm));
          return "";
        }
        std::vector<int32_t> data(100, 1);
        NCCL_EXPECT(ncclRemoteError,
                    ncclAllReduce(data.data(), data.data(), 100, ncclInt32,
                                  ncclSum, comm, nullptr));
        RANK_CHECK(std::string(ncclGetLastError(comm)).find("Abort") !=
                   std::string::npos);
        ncclResult_t error = ncclSuccess;
        NCCL_TRY(ncclCommGetAsyncError(comm, &error));
        RANK_CHECK(error == ncclRemoteError);
        int excluded[] = {0};
        ncclComm_t rest;
        NCCL_TRY(ncclCommShrink(comm, excluded, 1, &rest, nullptr,
                                NCCL_SHRINK_ABORT));
        TRY_TEXT(sumRanks(rest, rank - 1, size() - 1));
        NCCL_TRY(ncclCommDestroy(comm));
        NCCL_TRY(ncclCommDestroy(rest));
        return "";
      }));
}

/// A thread aborts what another one waits for: work on a stream, or the other
/// ranks of a creation.
TEST_P(NcclFaults, AbortByAnotherThread) {
  EXPECT_EQ("", onRanks(kind(), size(), [&](ncclUniqueId id, int rank) {
              auto body = [&]() -> std::string {
                ncclComm_t comm;
                NCCL_TRY(ncclCommInitRank(&comm, size(), id, rank));
                TRY_TEXT(meetAt(0, comm, rank, size()));
                if (rank != 0) { // never calls
                  ncclResult_t error = ncclSuccess;
                  while (error == ncclSuccess) {
                    std::this_thread::yield();
                    NCCL_TRY(ncclCommGetAsyncError(comm, &error));
                  }
                  RANK_CHECK(error == ncclRemoteError);
                  NCCL_TRY(ncclCommDestroy(comm));
                  return "";
                }
                RANK_ASSIGN(void *stream, createHostStream());
                std::vector<int32_t> data(100, 1);
                NCCL_TRY(ncclAllReduce(data.data(), data.data(), 100, ncclInt32,
                                       ncclSum, comm,
                                       static_cast<cudaStream_t>(stream)));
                RANK_CHECK(!synchronizeHostStream(stream, 0.05).ok());
                std::thread other([&] { (void)ncclCommAbort(comm); });
                Status ended = synchronizeHostStream(stream, 100);
                other.join();
                RANK_TRY(ended);
                RANK_TRY(destroyHostStream(stream));
                // No other rank comes here.
                ncclUniqueId own;
                NCCL_TRY(ncclGetUniqueId(&own));
                ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
                config.blocking = 0;
                NCCL_EXPECT(ncclInProgress,
                            ncclCommInitRankConfig(&comm, 2, own, 0, &config));
                NCCL_EXPECT(ncclInvalidArgument,
                            ncclAllReduce(data.data(), data.data(), 100,
                                          ncclInt32, ncclSum, comm, nullptr));
                NCCL_TRY(ncclCommAbort(comm));
                return "";
              };
              return body();
            }));
}

TEST_P(NcclFaults, Revoke) {
  EXPECT_EQ(
      "",
      onRanks(kind(), size(), [&](ncclUniqueId id, int rank) -> std::string {
        ncclComm_t comm;
        NCCL_TRY(ncclCommInitRank(&comm, size(), id, rank));
        TRY_TEXT(meetAt(0, comm, rank, size()));
        if (rank == 0)
          NCCL_TRY(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT));
        // Where it was called, no operation can follow; elsewhere
        // operations fail.
        int32_t data = 0;
        NCCL_EXPECT(
            rank == 0 ? ncclInvalidUsage : ncclRemoteError,
            ncclAllReduce(&data, &data, 1, ncclInt32, ncclSum, comm, nullptr));
        NCCL_TRY(ncclCommDestroy(comm));
        return "";
      }));
}

/// Communicators are made of one that was revoked on all ranks.
TEST_P(NcclFaults, SplitAndShrinkAfterRevoke) {
  EXPECT_EQ(
      "",
      onRanks(kind(), size(), [&](ncclUniqueId id, int rank) -> std::string {
        ncclComm_t comm, part = nullptr, rest = nullptr;
        NCCL_TRY(ncclCommInitRank(&comm, size(), id, rank));
        TRY_TEXT(meetAt(0, comm, rank, size()));
        // The first one ends the work of all.
        for (ncclResult_t error = ncclSuccess;
             rank != 0 && error == ncclSuccess;) {
          std::this_thread::yield();
          NCCL_TRY(ncclCommGetAsyncError(comm, &error));
        }
        NCCL_TRY(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT));
        for (int round = 0; round < 2; ++round) {
          NCCL_TRY(ncclCommSplit(comm, rank % 2, -rank, &part, nullptr));
          const int mine = (size() - 1 - rank) / 2;
          TRY_TEXT(checkIdentity(part, mine, size() / 2));
          TRY_TEXT(sumRanks(part, mine, size() / 2));
          NCCL_TRY(ncclCommDestroy(part));
        }
        int excluded = size() - 1;
        if (rank != excluded) {
          NCCL_TRY(ncclCommShrink(comm, &excluded, 1, &rest, nullptr,
                                  NCCL_SHRINK_DEFAULT));
          TRY_TEXT(sumRanks(rest, rank, size() - 1));
          NCCL_TRY(ncclCommDestroy(rest));
        }
        int32_t data = 0;
        NCCL_EXPECT(ncclInvalidUsage, ncclAllReduce(&data, &data, 1, ncclInt32,
                                                    ncclSum, comm, nullptr));
        NCCL_TRY(ncclCommDestroy(comm));
        return "";
      }));
}

TEST(NcclDeadRank, EndsTheCallsOfAllRanks) {
  ncclUniqueId id;
  ASSERT_EQ("", makeId(id));
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    const int rank = static_cast<int>(launch.rank);
    ncclComm_t comm, bystander;
    NCCL_TRY(ncclCommInitRank(&comm, 3, id, rank));
    TRY_TEXT(meetAt(1, comm, rank, 3));
    if (rank == 1)
      ::raise(SIGKILL);
    NCCL_TRY(ncclGetUniqueId(&id));
    NCCL_TRY(ncclCommInitRank(&bystander, 1, id, 0));
    std::vector<int32_t> data(100, 1);
    NCCL_EXPECT(ncclRemoteError,
                ncclAllReduce(data.data(), data.data(), 100, ncclInt32, ncclSum,
                              comm, nullptr));
    RANK_CHECK(std::string(ncclGetLastError(comm)).find("rank 1") !=
               std::string::npos);
    // Other communicators go on.
    TRY_TEXT(sumRanks(bystander, 0, 1));
    NCCL_TRY(ncclCommDestroy(comm));
    NCCL_TRY(ncclCommDestroy(bystander));
    return "";
  });
  EXPECT_EQ(ends[1].signal, SIGKILL);
  EXPECT_EQ(ends[0].text, "");
  EXPECT_EQ(ends[2].text, "");
}

/// A rank that never joins.
TEST(NcclDeadRank, IsMissingAtTheCreation) {
  EXPECT_EQ("", onRanks(
                    RankKind::processes, 2,
                    [](ncclUniqueId id, int rank) -> std::string {
                      ncclComm_t comm;
                      NCCL_EXPECT(ncclRemoteError,
                                  ncclCommInitRank(&comm, 3, id, rank));
                      RANK_CHECK(comm == nullptr);
                      RANK_CHECK(
                          std::string(ncclGetLastError(nullptr)).find("rank") !=
                          std::string::npos);
                      return "";
                    },
                    [] { ::setenv("IRIS_JOIN_LIMIT", "1", 1); }));
}

//===----------------------------------------------------------------------===//
// What is left
//===----------------------------------------------------------------------===//

static size_t entriesOf(const char *path) {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(path)) {
    (void)entry;
    ++count;
  }
  return count;
}

/// Lines of this process's map of memory that are shared.
static size_t sharedMappings() {
  size_t count = 0;
  std::FILE *file = std::fopen("/proc/self/maps", "r");
  char line[4096];
  while (file && std::fgets(line, sizeof(line), file))
    count += std::string(line).find("iris-heap") != std::string::npos;
  if (file)
    std::fclose(file);
  return count;
}

TEST(NcclLeaks, CyclesLeaveNothing) {
  EXPECT_EQ("", alone([]() -> std::string {
              size_t fds = 0, threads = 0;
              for (int cycle = 0; cycle < 40; ++cycle) {
                ncclComm_t comms[2];
                NCCL_TRY(ncclCommInitAll(comms, 2, nullptr));
                int32_t data[2] = {1, 2};
                NCCL_TRY(ncclGroupStart());
                for (int rank = 0; rank < 2; ++rank)
                  NCCL_TRY(ncclAllReduce(&data[rank], &data[rank], 1, ncclInt32,
                                         ncclSum, comms[rank], nullptr));
                NCCL_TRY(ncclGroupEnd());
                RANK_CHECK(data[0] == 3 && data[1] == 3);
                for (ncclComm_t comm : comms)
                  NCCL_TRY(cycle % 3 == 2 ? ncclCommAbort(comm)
                                          : ncclCommDestroy(comm));
                RANK_CHECK(sharedMappings() == 0);
                if (cycle == 4) { // after what is created once
                  fds = entriesOf("/proc/self/fd");
                  threads = entriesOf("/proc/self/task");
                }
              }
              RANK_CHECK(entriesOf("/proc/self/fd") == fds);
              // The kernel removes an ended thread's entry a little later.
              for (int i = 0; i < 1000; ++i)
                if (entriesOf("/proc/self/task") > threads)
                  ::usleep(1000);
              RANK_CHECK(entriesOf("/proc/self/task") == threads);
              RANK_CHECK(rendezvousLeftovers().empty());
              return "";
            }));
}
