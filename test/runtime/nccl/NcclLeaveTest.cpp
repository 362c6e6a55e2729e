// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks that leave: they abort, or their processes end, without
// ncclCommDestroy. What needs nothing more of them works, and nothing else
// looks as if it had.
#include "NcclRanks.h"

#include "iris/rt/HostStream.h"
#include "support/Shared.h"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace iris::rt;
using namespace iris::rt::test;

static constexpr size_t numElements = 1000;

namespace {
/// How a rank leaves.
enum class Leave { exit, abort };

class NcclLeave : public ::testing::TestWithParam<Leave> {
protected:
  /// Leaves as the parameter says; never returns where the process ends.
  static std::string leave(ncclComm_t comm) {
    if (GetParam() == Leave::exit)
      ::_exit(0);
    NCCL_TRY(ncclCommAbort(comm));
    return "";
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, NcclLeave,
                         ::testing::Values(Leave::exit, Leave::abort),
                         [](const auto &info) {
                           return info.param == Leave::exit ? "Exit" : "Abort";
                         });

/// Makes waits for ranks that left end soon.
static void setShortLimit() { ::setenv("IRIS_WAIT_LIMIT", "20", 1); }

/// Runs the body on processes; those that end by _exit(0) are none of failures.
static std::string
onProcesses(int size, const std::function<std::string(ncclComm_t, int)> &body) {
  ncclUniqueId id;
  TRY_TEXT(makeId(id));
  auto ends = runProcesses(static_cast<uint32_t>(size),
                           [&](const LaunchInfo &launch) -> std::string {
                             setShortLimit();
                             ncclComm_t comm;
                             const int rank = static_cast<int>(launch.rank);
                             NCCL_TRY(ncclCommInitRank(&comm, size, id, rank));
                             return body(comm, rank);
                           });
  std::string text;
  for (size_t rank = 0; rank < ends.size(); ++rank)
    if (!ends[rank].text.empty() || ends[rank].signal != 0 ||
        ends[rank].exitStatus != 0)
      text += "rank " + std::to_string(rank) + ": " + ends[rank].text + "\n";
  return text;
}

/// Waits until the communicator, which had no error, tells that a rank has
/// left: in the text of the last error, unless work has failed.
static std::string waitUntilOneLeft(ncclComm_t comm,
                                    ncclResult_t expected = ncclSuccess) {
  ncclResult_t error = ncclSuccess;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    NCCL_TRY(ncclCommGetAsyncError(comm, &error));
  } while (*ncclGetLastError(comm) == '\0');
  NCCL_TRY(ncclCommGetAsyncError(comm, &error));
  RANK_CHECK(error == expected);
  return "";
}

/// Sends and receives once between two ranks, which loads the kernels.
static std::string transfer(ncclComm_t comm, int rank, int from, int to,
                            cudaStream_t stream = nullptr) {
  std::vector<int32_t> data(numElements, rank == from ? 5 : 0);
  if (rank == from)
    NCCL_TRY(ncclSend(data.data(), data.size(), ncclInt32, to, comm, stream));
  if (rank == to) {
    NCCL_TRY(ncclRecv(data.data(), data.size(), ncclInt32, from, comm, stream));
    RANK_CHECK(data == std::vector<int32_t>(numElements, 5));
  }
  return "";
}

/// Enqueues a receive and a send of what is received.
static std::string passOn(ncclComm_t comm, std::vector<int32_t> &data, int from,
                          int to, void *stream) {
  auto on = static_cast<cudaStream_t>(stream);
  NCCL_TRY(ncclRecv(data.data(), data.size(), ncclInt32, from, comm, on));
  NCCL_TRY(ncclSend(data.data(), data.size(), ncclInt32, to, comm, on));
  return "";
}

/// The others can join although a rank has already left.
TEST_P(NcclLeave, AfterTheCreation) {
  for (int repetition = 0; repetition < 5; ++repetition)
    for (int leaver : {0, 1, 3})
      ASSERT_EQ("",
                onProcesses(4, [&](ncclComm_t comm, int rank) -> std::string {
                  if (rank == leaver)
                    return leave(comm);
                  NCCL_TRY(ncclCommDestroy(comm));
                  return "";
                }));
}

/// The last collective: every rank leaves as soon as it has its result.
TEST_P(NcclLeave, AfterTheLastCollective) {
  for (int repetition = 0; repetition < 20; ++repetition)
    ASSERT_EQ("", onProcesses(3, [](ncclComm_t comm, int rank) -> std::string {
                std::vector<int32_t> in(numElements, rank + 1);
                std::vector<int32_t> out(numElements);
                NCCL_TRY(ncclAllReduce(in.data(), out.data(), in.size(),
                                       ncclInt32, ncclSum, comm, nullptr));
                RANK_CHECK(out == std::vector<int32_t>(numElements, 6));
                return leave(comm);
              }));
}

/// A send ends before its receive is called.
TEST_P(NcclLeave, BeforeItsSendIsReceived) {
  EXPECT_EQ("", onProcesses(2, [](ncclComm_t comm, int rank) -> std::string {
              TRY_TEXT(transfer(comm, rank, 0, 1));
              if (rank == 1)
                TRY_TEXT(waitUntilOneLeft(comm));
              TRY_TEXT(transfer(comm, rank, 0, 1));
              if (rank == 0)
                return leave(comm);
              // The next one was never sent.
              int32_t data = 0;
              NCCL_EXPECT(ncclRemoteError,
                          ncclRecv(&data, 1, ncclInt32, 0, comm, nullptr));
              RANK_CHECK(std::string(ncclGetLastError(comm)).find("rank 0") !=
                         std::string::npos);
              return "";
            }));
}

/// A pipeline goes on without its first stage.
TEST_P(NcclLeave, OtherPairsGoOn) {
  EXPECT_EQ("", onProcesses(3, [](ncclComm_t comm, int rank) -> std::string {
              TRY_TEXT(transfer(comm, rank, 0, 1));
              if (rank == 0)
                return leave(comm);
              TRY_TEXT(waitUntilOneLeft(comm));
              for (int i = 0; i < 3; ++i)
                TRY_TEXT(transfer(comm, rank, 1, 2));
              return "";
            }));
}

/// What is pending on a stream when a rank leaves that takes no part in it.
TEST_P(NcclLeave, DuringATransferOfOthers) {
  Shared<std::atomic<bool>> mayLeave, maySend;
  EXPECT_EQ("", onProcesses(3, [&](ncclComm_t comm, int rank) -> std::string {
              TRY_TEXT(transfer(comm, rank, 2, 1));
              if (rank == 0) {
                while (!mayLeave->load())
                  std::this_thread::yield();
                return leave(comm);
              }
              if (rank == 2) {
                while (!maySend->load())
                  std::this_thread::yield();
                return transfer(comm, rank, 2, 1);
              }
              RANK_ASSIGN(void *stream, createHostStream());
              std::vector<int32_t> data(numElements, 0);
              NCCL_TRY(ncclRecv(data.data(), data.size(), ncclInt32, 2, comm,
                                static_cast<cudaStream_t>(stream)));
              mayLeave->store(true);
              TRY_TEXT(waitUntilOneLeft(comm));
              // Waits that are ended look every 10 ms.
              Status early = synchronizeHostStream(stream, 0.1);
              maySend->store(true);
              RANK_CHECK(early.code() == StatusCode::timeout);
              RANK_TRY(synchronizeHostStream(stream, 100));
              RANK_CHECK(data == std::vector<int32_t>(numElements, 5));
              return "";
            }));
}

/// Work that lacks what a rank owed never looks as if it had ended well.
TEST_P(NcclLeave, BeforeItsPart) {
  EXPECT_EQ("", onProcesses(3, [](ncclComm_t comm, int rank) -> std::string {
              TRY_TEXT(transfer(comm, rank, 0, 1));
              if (rank == 0)
                return leave(comm);
              RANK_ASSIGN(void *stream, createHostStream());
              std::vector<int32_t> data(numElements, 0);
              if (rank == 1) {
                NCCL_TRY(ncclRecv(data.data(), data.size(), ncclInt32, 0, comm,
                                  static_cast<cudaStream_t>(stream)));
                Status ended = synchronizeHostStream(stream, 100);
                RANK_CHECK(ended.code() == StatusCode::aborted);
                // It is told once: the stream is not the communicator's.
                RANK_TRY(synchronizeHostStream(stream, 100));
              }
              NCCL_EXPECT(ncclRemoteError,
                          ncclAllReduce(data.data(), data.data(), data.size(),
                                        ncclInt32, ncclSum, comm, nullptr));
              RANK_CHECK(std::string(ncclGetLastError(comm)).find("rank 0") !=
                         std::string::npos);
              NCCL_TRY(ncclCommDestroy(comm));
              return "";
            }));
}

TEST_P(NcclLeave, FinalizeAndDestroyAfterwards) {
  EXPECT_EQ("", onProcesses(3, [](ncclComm_t comm, int rank) -> std::string {
              TRY_TEXT(transfer(comm, rank, 0, 1));
              if (rank == 0)
                return leave(comm);
              TRY_TEXT(waitUntilOneLeft(comm));
              NCCL_TRY(ncclCommFinalize(comm));
              NCCL_TRY(ncclCommDestroy(comm));
              return "";
            }));
}

/// Rank 1 has queued a send of what it never receives. The receiver of that
/// gets an error, not what was never received.
TEST_P(NcclLeave, EndedReceivesAreNotPassedOn) {
  for (int from : {0, 2})
    EXPECT_EQ("", onProcesses(3, [&](ncclComm_t comm, int rank) -> std::string {
                const int to = 2 - from;
                TRY_TEXT(transfer(comm, rank, from, 1));
                TRY_TEXT(transfer(comm, rank, 1, to));
                if (rank == from)
                  return leave(comm);
                RANK_ASSIGN(void *stream, createHostStream());
                std::vector<int32_t> data(numElements, 0);
                if (rank == 1)
                  TRY_TEXT(passOn(comm, data, from, to, stream));
                if (rank == to)
                  NCCL_TRY(ncclRecv(data.data(), data.size(), ncclInt32, 1,
                                    comm, static_cast<cudaStream_t>(stream)));
                Status ended = synchronizeHostStream(stream, 15);
                RANK_CHECK(ended.code() == StatusCode::aborted);
                RANK_CHECK(data == std::vector<int32_t>(numElements, 0));
                NCCL_TRY(ncclCommDestroy(comm));
                return "";
              }));
}

/// Rank 0, which tells how other ranks end, leaves first.
TEST_P(NcclLeave, AfterRankZero) {
  EXPECT_EQ("", onProcesses(4, [](ncclComm_t comm, int rank) -> std::string {
              TRY_TEXT(transfer(comm, rank, 1, 2));
              TRY_TEXT(transfer(comm, rank, 2, 3));
              TRY_TEXT(transfer(comm, rank, 3, 0));
              if (rank == 0)
                return leave(comm);
              TRY_TEXT(waitUntilOneLeft(comm));
              if (rank == 1)
                return leave(comm);
              RANK_ASSIGN(void *stream, createHostStream());
              std::vector<int32_t> data(numElements, 0);
              if (rank == 2)
                TRY_TEXT(passOn(comm, data, 1, 3, stream));
              if (rank == 3)
                NCCL_TRY(ncclRecv(data.data(), data.size(), ncclInt32, 2, comm,
                                  static_cast<cudaStream_t>(stream)));
              Status ended = synchronizeHostStream(stream, 15);
              RANK_CHECK(ended.code() == StatusCode::aborted);
              NCCL_TRY(ncclCommDestroy(comm));
              return "";
            }));
}

/// A rank that aborts before its operations have ended.
TEST(NcclAbort, InTheMiddle) {
  for (int repetition = 0; repetition < 10; ++repetition) {
    Shared<std::atomic<int>> numReady;
    ASSERT_EQ("", onProcesses(3, [&](ncclComm_t comm, int rank) -> std::string {
                TRY_TEXT(transfer(comm, rank, 2, 1));
                TRY_TEXT(transfer(comm, rank, 1, 0));
                RANK_ASSIGN(void *stream, createHostStream());
                std::vector<int32_t> data(numElements, 0);
                if (rank == 1) {
                  TRY_TEXT(passOn(comm, data, 2, 0, stream));
                  while (numReady->load() < 2)
                    std::this_thread::yield();
                  NCCL_TRY(ncclCommAbort(comm));
                  return "";
                }
                if (rank == 0) {
                  NCCL_TRY(ncclRecv(data.data(), data.size(), ncclInt32, 1,
                                    comm, static_cast<cudaStream_t>(stream)));
                  numReady->fetch_add(1);
                  Status ended = synchronizeHostStream(stream, 100);
                  RANK_CHECK(ended.code() == StatusCode::aborted);
                }
                if (rank == 2)
                  numReady->fetch_add(1);
                TRY_TEXT(waitUntilOneLeft(comm, ncclRemoteError));
                NCCL_EXPECT(ncclRemoteError,
                            ncclAllReduce(data.data(), data.data(), data.size(),
                                          ncclInt32, ncclSum, comm, nullptr));
                RANK_CHECK(std::string(ncclGetLastError(comm)).find("rank 1") !=
                           std::string::npos);
                NCCL_TRY(ncclCommDestroy(comm));
                return "";
              }));
  }
}

/// No rank leaves, but a call is missing. The limits are equal, as by default.
TEST(NcclTimeLimit, NamesTheMissingRank) {
  auto reduce = [](ncclComm_t comm) {
    std::vector<int32_t> in(numElements, 1), out(numElements);
    return ncclAllReduce(in.data(), out.data(), in.size(), ncclInt32, ncclSum,
                         comm, nullptr);
  };
  // Compiles the kernel, which may take longer than the limits below.
  ASSERT_EQ("", onProcesses(3, [&](ncclComm_t comm, int) -> std::string {
              NCCL_TRY(reduce(comm));
              return "";
            }));
  ncclUniqueId id;
  ASSERT_EQ("", makeId(id));
  Shared<std::atomic<int>> numEnded;
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    ::setenv("IRIS_WAIT_LIMIT", "3", 1);
    ::setenv("IRIS_COLLECTIVE_LIMIT", "3", 1);
    ncclComm_t comm;
    NCCL_TRY(ncclCommInitRank(&comm, 3, id, static_cast<int>(launch.rank)));
    NCCL_TRY(reduce(comm));
    if (launch.rank == 1) {
      while (numEnded->load() < 2)
        std::this_thread::yield();
      return "";
    }
    ncclResult_t result = reduce(comm);
    numEnded->fetch_add(1);
    RANK_CHECK(result == ncclRemoteError);
    return ncclGetLastError(comm);
  });
  for (int rank : {0, 2}) {
    EXPECT_NE(ends[rank].text.find("rank 1"), std::string::npos)
        << ends[rank].text;
    EXPECT_EQ(ends[rank].text.find("did not end"), std::string::npos)
        << ends[rank].text;
  }
}
