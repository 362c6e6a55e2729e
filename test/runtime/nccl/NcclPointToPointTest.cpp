// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sends and receives of NCCL's API, alone and in groups.
#include "nccl/NcclRanks.h"

#include "support/Hash.h"

#include "iris/rt/HostStream.h"

#include <algorithm>
#include <dlfcn.h>

using namespace iris::rt;
using namespace iris::rt::test;

/// What `from` sends to `to`.
static std::vector<int64_t> message(int from, int to, uint64_t count,
                                    uint64_t seed) {
  std::vector<int64_t> data(count);
  for (uint64_t i = 0; i < count; ++i)
    data[i] = static_cast<int64_t>(
        hash(static_cast<uint64_t>(from * 8 + to), i, seed));
  return data;
}

/// Elements that `from` sends to `to`: 0 for some pairs.
static uint64_t raggedCount(int from, int to, uint64_t seed) {
  uint64_t h =
      hash(static_cast<uint64_t>(from), static_cast<uint64_t>(to), seed);
  return h % 4 == 0 ? 0 : h / 4 % (h % 3 ? 3000 : 40000);
}

class NcclPointToPoint : public NcclRanksTest {};
NCCL_ON_RANKS(NcclPointToPoint, 1, 2, 3, 4, 8, 12, 16);

/// All ranks send first: more than fits between two ranks at once.
TEST_P(NcclPointToPoint, Ring) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              const int next = (rank.rank + 1) % rank.size;
              const int previous = (rank.rank + rank.size - 1) % rank.size;
              for (uint64_t count : {1, 1000, 1 << 19}) {
                std::vector<int64_t> in =
                    message(rank.rank, next, count, count);
                std::vector<int64_t> out(count);
                NCCL_TRY(ncclGroupStart());
                NCCL_TRY(ncclSend(in.data(), count, ncclInt64, next, rank.comm,
                                  nullptr));
                NCCL_TRY(ncclRecv(out.data(), count, ncclInt64, previous,
                                  rank.comm, nullptr));
                NCCL_TRY(ncclGroupEnd());
                RANK_CHECK(out == message(previous, rank.rank, count, count));
              }
              return "";
            }));
}

/// Every pair, in an order that differs on each rank, and two messages for
/// some, on two streams.
TEST_P(NcclPointToPoint, RaggedAllToAll) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        RANK_ASSIGN(void *made, createHostStream());
        auto *stream = static_cast<cudaStream_t>(made);
        for (uint64_t seed = 1; seed <= 3; ++seed) {
          std::vector<std::vector<int64_t>> in, out;
          std::vector<int> from;
          NCCL_TRY(ncclGroupStart());
          for (int k = 0; k < 2 * rank.size; ++k) {
            // Receives in the opposite order of the sends.
            const int to = k % rank.size;
            const int source = rank.size - 1 - to;
            const uint64_t round = seed + (k < rank.size ? 0 : 8);
            in.push_back(message(rank.rank, to,
                                 raggedCount(rank.rank, to, round), round));
            out.push_back(
                std::vector<int64_t>(raggedCount(source, rank.rank, round)));
            from.push_back(source);
            NCCL_TRY(ncclSend(in.back().data(), in.back().size(), ncclInt64, to,
                              rank.comm, stream));
            NCCL_TRY(ncclRecv(out.back().data(), out.back().size(), ncclInt64,
                              source, rank.comm, stream));
          }
          NCCL_TRY(ncclGroupEnd());
          RANK_TRY(synchronizeHostStream(made));
          for (size_t k = 0; k < out.size(); ++k)
            RANK_CHECK(out[k] == message(from[k], rank.rank, out[k].size(),
                                         seed + 8 * (k >= static_cast<size_t>(
                                                              rank.size))));
        }
        RANK_TRY(destroyHostStream(made));
        return "";
      }));
}

/// Without a group, one rank sends and another one receives.
TEST_P(NcclPointToPoint, Chain) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              constexpr uint64_t count = 30000;
              std::vector<int64_t> data = message(0, 1, count, 5);
              std::vector<int64_t> mine(count);
              if (rank.rank == 0)
                mine = data;
              else
                NCCL_TRY(ncclRecv(mine.data(), count, ncclInt64, rank.rank - 1,
                                  rank.comm, nullptr));
              if (rank.rank + 1 < rank.size)
                NCCL_TRY(ncclSend(mine.data(), count, ncclInt64, rank.rank + 1,
                                  rank.comm, nullptr));
              RANK_CHECK(mine == data);
              return "";
            }));
}

/// Transfers of one group do not wait for each other, so that peers may make
/// them in any order.
class NcclIndependentTransfers : public NcclRanksTest {
protected:
  /// More than fits between two ranks at once.
  static constexpr uint64_t count = 1 << 17;

  static std::string send(const NcclRank &rank, int to, uint64_t seed) {
    const std::vector<int64_t> data = message(rank.rank, to, count, seed);
    NCCL_TRY(ncclSend(data.data(), count, ncclInt64, to, rank.comm, nullptr));
    return "";
  }
  static std::string receive(const NcclRank &rank, int from, uint64_t seed) {
    std::vector<int64_t> data(count);
    NCCL_TRY(ncclRecv(data.data(), count, ncclInt64, from, rank.comm, nullptr));
    RANK_CHECK(data == message(from, rank.rank, count, seed));
    return "";
  }
};
NCCL_ON_RANKS(NcclIndependentTransfers, 2, 3, 4);

/// Each rank receives from the root what it passes on to the rank before it
/// only afterwards: the messages arrive in the opposite order of the distances.
TEST_P(NcclIndependentTransfers, SendsOfTheRoot) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              if (rank.rank == 0) {
                std::vector<std::vector<int64_t>> in;
                NCCL_TRY(ncclGroupStart());
                for (int to = 1; to < rank.size; ++to) {
                  in.push_back(message(0, to, count, 1));
                  NCCL_TRY(ncclSend(in.back().data(), count, ncclInt64, to,
                                    rank.comm, nullptr));
                }
                NCCL_TRY(ncclGroupEnd());
                return "";
              }
              if (rank.rank + 1 < rank.size)
                TRY_TEXT(receive(rank, rank.rank + 1, 2));
              TRY_TEXT(receive(rank, 0, 1));
              if (rank.rank > 1)
                TRY_TEXT(send(rank, rank.rank - 1, 2));
              return "";
            }));
}

/// The same for receives of the root.
TEST_P(NcclIndependentTransfers, ReceivesOfTheRoot) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        if (rank.rank == 0) {
          std::vector<std::vector<int64_t>> out(static_cast<size_t>(rank.size),
                                                std::vector<int64_t>(count));
          NCCL_TRY(ncclGroupStart());
          for (int from = rank.size - 1; from > 0; --from)
            NCCL_TRY(ncclRecv(out[static_cast<size_t>(from)].data(), count,
                              ncclInt64, from, rank.comm, nullptr));
          NCCL_TRY(ncclGroupEnd());
          for (int from = 1; from < rank.size; ++from)
            RANK_CHECK(out[static_cast<size_t>(from)] ==
                       message(from, 0, count, 1));
          return "";
        }
        if (rank.rank > 1)
          TRY_TEXT(receive(rank, rank.rank - 1, 2));
        TRY_TEXT(send(rank, 0, 1));
        if (rank.rank + 1 < rank.size)
          TRY_TEXT(send(rank, rank.rank + 1, 2));
        return "";
      }));
}

/// The root's transfers in both directions, two with each peer, in one group.
/// The peers make them one after another: some send first, some receive first.
TEST_P(NcclIndependentTransfers, BothDirections) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              if (rank.rank == 0) {
                std::vector<std::vector<int64_t>> in, out;
                NCCL_TRY(ncclGroupStart());
                for (int k = 0; k < 2 * rank.size; ++k) {
                  const int peer = k % rank.size;
                  const auto seed = static_cast<uint64_t>(k / rank.size);
                  in.push_back(message(0, peer, count, seed));
                  out.emplace_back(count);
                  NCCL_TRY(ncclSend(in.back().data(), count, ncclInt64, peer,
                                    rank.comm, nullptr));
                  NCCL_TRY(ncclRecv(out.back().data(), count, ncclInt64, peer,
                                    rank.comm, nullptr));
                }
                NCCL_TRY(ncclGroupEnd());
                for (size_t k = 0; k < out.size(); ++k) {
                  const auto numRanks = static_cast<size_t>(rank.size);
                  RANK_CHECK(out[k] == message(static_cast<int>(k % numRanks),
                                               0, count, k / numRanks));
                }
                return "";
              }
              for (bool isSend : {rank.rank % 2 == 0, rank.rank % 2 != 0})
                for (uint64_t seed : {0, 1})
                  TRY_TEXT(isSend ? send(rank, 0, seed)
                                  : receive(rank, 0, seed));
              return "";
            }));
}

/// RCCL's function, with gaps between the chunks.
TEST_P(NcclPointToPoint, AllToAllV) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              const auto numRanks = static_cast<size_t>(rank.size);
              for (uint64_t seed = 1; seed <= 4; ++seed) {
                std::vector<size_t> sendCounts, sends, recvCounts, recvs;
                size_t inSize = 0, outSize = 0;
                for (int peer = 0; peer < rank.size; ++peer) {
                  sends.push_back(inSize += seed);
                  sendCounts.push_back(raggedCount(rank.rank, peer, seed));
                  inSize += sendCounts.back();
                  recvs.push_back(outSize += 2);
                  recvCounts.push_back(raggedCount(peer, rank.rank, seed));
                  outSize += recvCounts.back();
                }
                std::vector<int64_t> in(inSize), out(outSize, -1),
                    expected(outSize, -1);
                for (size_t i = 0; i < numRanks; ++i) {
                  const int peer = static_cast<int>(i);
                  const std::vector<int64_t> sent =
                      message(rank.rank, peer, sendCounts[i], seed);
                  std::copy(sent.begin(), sent.end(), in.data() + sends[i]);
                  const std::vector<int64_t> received =
                      message(peer, rank.rank, recvCounts[i], seed);
                  std::copy(received.begin(), received.end(),
                            expected.data() + recvs[i]);
                }
                NCCL_TRY((seed % 2 ? ncclAllToAllv : pncclAllToAllv)(
                    in.data(), sendCounts.data(), sends.data(), out.data(),
                    recvCounts.data(), recvs.data(), ncclInt64, rank.comm,
                    nullptr));
                RANK_CHECK(out == expected);
              }
              return "";
            }));
}

/// RCCL's name of NCCL's function, alone and in a group.
TEST_P(NcclPointToPoint, AllToAll) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              std::vector<int32_t> in, out(static_cast<size_t>(rank.size)),
                  again = out, expected;
              for (int peer = 0; peer < rank.size; ++peer) {
                in.push_back(rank.rank * 8 + peer);
                expected.push_back(peer * 8 + rank.rank);
              }
              NCCL_TRY(ncclAllToAll(in.data(), out.data(), 1, ncclInt32,
                                    rank.comm, nullptr));
              NCCL_TRY(ncclGroupStart());
              NCCL_TRY(pncclAllToAll(in.data(), again.data(), 1, ncclInt32,
                                     rank.comm, nullptr));
              NCCL_TRY(ncclGroupEnd());
              RANK_CHECK(out == expected && again == expected);
              return "";
            }));
}

/// Programs that link RCCL find its functions.
TEST(NcclRccl, HasFunctionsThatNcclHasNot) {
  void *library = ::dlopen(IRIS_TEST_RCCL, RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << ::dlerror();
  for (const char *name :
       {"ncclAllToAll", "pncclAllToAll", "ncclAllToAllv", "pncclAllToAllv"})
    EXPECT_TRUE(::dlsym(library, name)) << name;
  ::dlclose(library);
}

class NcclPointToPointOfTwo : public NcclRanksTest {};
NCCL_ON_RANKS(NcclPointToPointOfTwo, 2);

TEST_P(NcclPointToPointOfTwo, Misuse) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        int64_t data[4] = {};
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclSend(data, 4, ncclInt64, 2, rank.comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclRecv(data, 4, ncclInt64, -1, rank.comm, nullptr));
        NCCL_EXPECT(
            ncclInvalidArgument,
            ncclSend(nullptr, 4, ncclInt64, 1 - rank.rank, rank.comm, nullptr));
        // To itself, without a receive, and without a send.
        NCCL_EXPECT(ncclInvalidUsage, ncclSend(data, 4, ncclInt64, rank.rank,
                                               rank.comm, nullptr));
        NCCL_EXPECT(ncclInvalidUsage, ncclRecv(data, 4, ncclInt64, rank.rank,
                                               rank.comm, nullptr));
        // Bytes that overflow.
        constexpr size_t many = size_t(1) << 61;
        NCCL_TRY(ncclGroupStart());
        NCCL_EXPECT(
            ncclInvalidArgument,
            ncclSend(data, many, ncclInt64, rank.rank, rank.comm, nullptr));
        NCCL_EXPECT(
            ncclInvalidArgument,
            ncclRecv(data + 1, many, ncclInt64, rank.rank, rank.comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclGroupEnd());
        // Collectives and transfers in one group.
        int64_t sum = rank.rank, other = -1;
        NCCL_TRY(ncclGroupStart());
        NCCL_TRY(
            ncclSend(&sum, 1, ncclInt64, 1 - rank.rank, rank.comm, nullptr));
        NCCL_TRY(ncclAllReduce(&sum, &sum, 1, ncclInt64, ncclSum, rank.comm,
                               nullptr));
        NCCL_TRY(
            ncclRecv(&other, 1, ncclInt64, 1 - rank.rank, rank.comm, nullptr));
        NCCL_TRY(ncclGroupEnd());
        RANK_CHECK(sum == 1 && other == 1); // the transfer is last
        return "";
      }));
}

TEST_P(NcclPointToPointOfTwo, MisuseOfAllToAllV) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        int64_t data[8] = {};
        const size_t counts[2] = {2, 2}, offsets[2] = {0, 2};
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllToAllv(data, counts, offsets, data + 4, counts,
                                  nullptr, ncclInt64, rank.comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllToAllv(data, counts, offsets, data + 4, counts,
                                  offsets, ncclNumTypes, rank.comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllToAllv(data, counts, offsets, data + 4, counts,
                                  offsets, ncclInt64, nullptr, nullptr));
        NCCL_TRY(ncclAllToAllv(data, counts, offsets, data + 4, counts, offsets,
                               ncclInt64, rank.comm, nullptr));
        return "";
      }));
}
