// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IRIS_CHECK_COLLECTIVES=1 compares the lengths of sends and receives: of two
// calls that differ, the later one is refused, on whichever side it is, and the
// communicator fails on all ranks.
#include "nccl/NcclRanks.h"

#include "iris/rt/HostStream.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// A communicator, and another one for barriers.
struct CheckedRank : NcclRank {
  ncclComm_t barriers = nullptr;
  cudaStream_t stream = nullptr;

  /// Waits until all ranks are here.
  std::string barrier() const {
    int32_t data = 1;
    NCCL_TRY(
        ncclAllReduce(&data, &data, 1, ncclInt32, ncclSum, barriers, nullptr));
    RANK_CHECK(data == size);
    return "";
  }
};

class NcclTransferCheck : public NcclRanksTest {
protected:
  using Body = std::function<std::string(CheckedRank &)>;
  /// The test destroys the stream itself: it may end with an error.
  std::string onChecked(const Body &body) const {
    return onRanks(
        kind(), size(),
        [&](ncclUniqueId id, int number) -> std::string {
          CheckedRank rank;
          rank.rank = number;
          rank.size = size();
          NCCL_TRY(ncclCommInitRank(&rank.comm, rank.size, id, number));
          NCCL_TRY(
              ncclCommSplit(rank.comm, 0, number, &rank.barriers, nullptr));
          RANK_ASSIGN(void *made, createHostStream());
          rank.stream = static_cast<cudaStream_t>(made);
          TRY_TEXT(body(rank));
          destroyHostStream(made).ignore("a wait may have ended");
          NCCL_TRY(ncclCommDestroy(rank.barriers));
          NCCL_TRY(ncclCommDestroy(rank.comm));
          return "";
        },
        [] { ::setenv("IRIS_CHECK_COLLECTIVES", "1", 1); });
  }
};
} // namespace

NCCL_ON_RANKS(NcclTransferCheck, 2, 3);

/// Bytes that message `number` has, 0 for some.
static uint64_t lengthOf(uint64_t number) {
  return number % 7 == 0 ? 0 : number * 37 % 5000;
}

static std::vector<char> contentOf(uint64_t number) {
  std::vector<char> data(lengthOf(number));
  std::iota(data.begin(), data.end(), static_cast<char>(number));
  return data;
}

/// More messages than are remembered, each in a group or not. The host of the
/// sender, or of the receiver, comes first with all of them.
TEST_P(NcclTransferCheck, EqualLengths) {
  const uint64_t end = 1200;
  EXPECT_EQ(
      "", onChecked([&](CheckedRank &rank) -> std::string {
        for (const bool isSendFirst : {false, true}) {
          const bool isSender = rank.rank == 0;
          std::vector<std::vector<char>> data(end);
          if (rank.rank < 2 && isSender != isSendFirst)
            TRY_TEXT(rank.barrier());
          for (uint64_t number = 0; rank.rank < 2 && number < end; ++number) {
            // The groups of the two ranks are not the same.
            const bool begins = number % (isSender ? 5 : 8) == 1;
            const bool ends = number % (isSender ? 5 : 8) == 4;
            if (begins)
              NCCL_TRY(ncclGroupStart());
            data[number] = contentOf(number);
            const size_t count = data[number].size();
            if (isSender) {
              NCCL_TRY(ncclSend(data[number].data(), count, ncclInt8, 1,
                                rank.comm, rank.stream));
            } else {
              std::fill(data[number].begin(), data[number].end(), 0);
              NCCL_TRY(ncclRecv(data[number].data(), count, ncclInt8, 0,
                                rank.comm, rank.stream));
            }
            if (ends)
              NCCL_TRY(ncclGroupEnd());
          }
          if (rank.rank >= 2 || isSender == isSendFirst)
            TRY_TEXT(rank.barrier());
          RANK_TRY(synchronizeHostStream(rank.stream));
          for (uint64_t number = 0; rank.rank < 2 && number < end; ++number)
            RANK_CHECK(data[number] == contentOf(number));
          TRY_TEXT(rank.barrier());
        }
        return "";
      }));
}

/// NCCL compares no types.
TEST_P(NcclTransferCheck, DifferentTypesOfEqualLength) {
  EXPECT_EQ("", onChecked([](CheckedRank &rank) -> std::string {
              std::vector<int32_t> data(1000, rank.rank == 0 ? 0x01020304 : 0);
              if (rank.rank == 0)
                NCCL_TRY(ncclSend(data.data(), 1000, ncclInt32, 1, rank.comm,
                                  rank.stream));
              if (rank.rank == 1)
                NCCL_TRY(ncclRecv(data.data(), 4000, ncclUint8, 0, rank.comm,
                                  rank.stream));
              RANK_TRY(synchronizeHostStream(rank.stream));
              RANK_CHECK(data[999] == (rank.rank < 2 ? 0x01020304 : 0));
              return "";
            }));
}

namespace {
/// Elements of f32 of a message.
struct Lengths {
  uint64_t sent, received;
  const char *sentText, *receivedText;
};
} // namespace

static const Lengths differentLengths[] = {
    {32, 24, "128 bytes (f32 x 32)", "96 bytes (f32 x 24)"},
    {24, 32, "96 bytes (f32 x 24)", "128 bytes (f32 x 32)"},
    {0, 1, "0 bytes (f32 x 0)", "4 bytes (f32 x 1)"},
    {1 << 20, 0, "4194304 bytes (f32 x 1048576)", "0 bytes (f32 x 0)"},
};

/// Makes the call, in a group with messages to and from the other rank in the
/// opposite direction.
static ncclResult_t transfer(const CheckedRank &rank, bool isSender,
                             bool isGrouped, std::vector<float> &data,
                             std::vector<float> &back) {
  const int peer = isSender ? 1 : 0;
  auto call = [&](bool sends, std::vector<float> &buffer) {
    return sends ? ncclSend(buffer.data(), buffer.size(), ncclFloat, peer,
                            rank.comm, rank.stream)
                 : ncclRecv(buffer.data(), buffer.size(), ncclFloat, peer,
                            rank.comm, rank.stream);
  };
  if (!isGrouped)
    return call(isSender, data);
  ncclGroupStart();
  call(!isSender, back);
  call(isSender, data);
  return ncclGroupEnd();
}

/// Waits until the communicator fails.
static std::string awaitFailure(const CheckedRank &rank) {
  const auto limit =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  ncclResult_t result = ncclSuccess;
  while (result == ncclSuccess && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    NCCL_TRY(ncclCommGetAsyncError(rank.comm, &result));
  }
  RANK_CHECK(result == ncclRemoteError);
  // Its text is that of the next call.
  float one = 1;
  NCCL_EXPECT(ncclRemoteError, ncclAllReduce(&one, &one, 1, ncclFloat, ncclSum,
                                             rank.comm, nullptr));
  return "";
}

/// After two equal messages, one of different lengths.
TEST_P(NcclTransferCheck, DifferentLengths) {
  for (const Lengths &lengths : differentLengths)
    for (const bool isSendFirst : {false, true})
      for (const bool isGrouped : {false, true}) {
        const std::string sends = std::string("rank 0 sends ") +
                                  lengths.sentText + " to rank 1; its receive";
        const std::string receives = std::string("rank 1 receives ") +
                                     lengths.receivedText +
                                     " from rank 0; its send";
        const std::string expected =
            (isSendFirst ? receives : sends) +
            ", message 3 between them, has " +
            (isSendFirst ? lengths.sentText : lengths.receivedText);
        auto body = [&](CheckedRank &rank) -> std::string {
          const bool isSender = rank.rank == 0;
          std::vector<float> data(10), back(10);
          if (rank.rank < 2)
            for (int round = 0; round < 2; ++round)
              NCCL_TRY(transfer(rank, isSender, isGrouped, data, back));
          RANK_TRY(synchronizeHostStream(rank.stream));
          data.resize(isSender ? lengths.sent : lengths.received);
          const bool isFirst = rank.rank < 2 && isSender == isSendFirst;
          if (isFirst)
            NCCL_TRY(transfer(rank, isSender, isGrouped, data, back));
          TRY_TEXT(rank.barrier());
          if (rank.rank < 2 && !isFirst)
            NCCL_EXPECT(ncclInvalidArgument,
                        transfer(rank, isSender, isGrouped, data, back));
          else
            TRY_TEXT(awaitFailure(rank));
          const std::string text = ncclGetLastError(rank.comm);
          synchronizeHostStream(rank.stream).ignore("it may have failed");
          return text.find(expected) == std::string::npos
                     ? "another text: " + text
                     : "";
        };
        EXPECT_EQ("", onChecked(body)) << expected;
      }
}
