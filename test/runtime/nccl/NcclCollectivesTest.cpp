// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The collectives of NCCL's API, against exact references.
#include "nccl/NcclRanks.h"

#include "iris/rt/HostStream.h"

#include <cmath>
#include <cstdlib>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static const Op operations[] = {Op::allGather, Op::allReduce, Op::reduceScatter,
                                Op::allToAll,  Op::broadcast, Op::reduce,
                                Op::gather,    Op::scatter};

class NcclCollectives : public NcclRanksTest {};
NCCL_ON_RANKS(NcclCollectives, 1, 2, 3, 4, 8, 12, 16);

TEST_P(NcclCollectives, EveryOperation) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              uint64_t seed = 0;
              for (Op op : operations)
                for (uint64_t count : {0, 1, 7, 1000, 20001}) {
                  Problem p;
                  p.op = op;
                  p.count = count;
                  p.dtype = DType::i32;
                  p.root = static_cast<uint32_t>(count) %
                           static_cast<uint32_t>(rank.size);
                  p.seed = ++seed;
                  TRY_TEXT(solve(rank, p));
                  TRY_TEXT(solve(rank, p, InPlace::yes));
                }
              return "";
            }));
}

class NcclCollectivesOfThree : public NcclRanksTest {};
NCCL_ON_RANKS(NcclCollectivesOfThree, 3);

static const DType types[] = {DType::i8,  DType::u8,       DType::i32,
                              DType::u32, DType::i64,      DType::u64,
                              DType::f16, DType::bf16,     DType::f32,
                              DType::f64, DType::f8e4m3fn, DType::f8e5m2};

TEST_P(NcclCollectivesOfThree, EveryTypeAndReduction) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              uint64_t seed = 0;
              for (DType dtype : types)
                for (int reduce = 0; reduce <= static_cast<int>(ReduceOp::avg);
                     ++reduce) {
                  Problem p;
                  p.op = Op::allReduce;
                  p.dtype = dtype;
                  p.reduce = static_cast<ReduceOp>(reduce);
                  p.count = 999;
                  p.seed = ++seed;
                  TRY_TEXT(solve(rank, p));
                }
              return "";
            }));
}

/// What differs from NCCL, as its guide says.
TEST_P(NcclCollectivesOfThree, AveragesAndNaN) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              // Inputs that are multiplied by 1/3 are rounded, and finite.
              float in[] = {3e38f, 1, 5, -7}, out[4] = {};
              NCCL_TRY(ncclAllReduce(in, out, 4, ncclFloat, ncclAvg, rank.comm,
                                     nullptr));
              RANK_CHECK(std::isinf(out[0]));
              RANK_CHECK(out[1] == 1 && out[2] == 5 && out[3] == -7);
              float one = rank.rank == 1 ? std::nanf("") : 1;
              for (ncclRedOp_t op : {ncclMin, ncclMax}) {
                NCCL_TRY(ncclAllReduce(&one, out, 1, ncclFloat, op, rank.comm,
                                       nullptr));
                RANK_CHECK(std::isnan(out[0]));
              }
              return "";
            }));
}

/// Work of one communicator runs in the order of the calls, whatever the
/// streams; a stream may be destroyed before the communicator.
TEST_P(NcclCollectivesOfThree, SeveralStreams) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              RANK_ASSIGN(void *first, createHostStream());
              RANK_ASSIGN(void *second, createHostStream());
              for (uint64_t round = 0; round < 6; ++round) {
                Problem p;
                p.op = round % 2 ? Op::allReduce : Op::allGather;
                p.dtype = DType::i32;
                p.count = 5000;
                p.seed = round;
                TRY_TEXT(solve(rank, p, InPlace::no,
                               round % 3 == 2 ? nullptr
                               : round % 3    ? second
                                              : first));
              }
              // Each call doubles or triples what the last one has left.
              std::vector<int32_t> data(4000, 1);
              for (int round = 0; round < 8; ++round)
                NCCL_TRY(ncclAllReduce(
                    data.data(), data.data(), data.size(), ncclInt32, ncclSum,
                    rank.comm,
                    static_cast<cudaStream_t>(round % 2 ? second : first)));
              RANK_TRY(synchronizeHostStream(second));
              for (int32_t value : data)
                RANK_CHECK(value == 6561); // 3^8
              RANK_TRY(destroyHostStream(first));
              NCCL_TRY(ncclAllReduce(data.data(), data.data(), data.size(),
                                     ncclInt32, ncclMax, rank.comm,
                                     static_cast<cudaStream_t>(second)));
              RANK_TRY(destroyHostStream(second));
              RANK_CHECK(data[3999] == 6561);
              return "";
            }));
}

/// A call on the default stream, which returns when its results are there,
/// waits for earlier ones on other streams, and later ones of its group wait
/// for it.
TEST_P(NcclCollectivesOfThree, DefaultStreamAndOthers) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              RANK_ASSIGN(void *stream, createHostStream());
              auto *on = static_cast<cudaStream_t>(stream);
              std::vector<int32_t> data(200000, 1), all(600000);
              for (int round = 0; round < 12; ++round) {
                std::fill(data.begin(), data.end(), 1);
                auto reduce = [&](cudaStream_t where) {
                  return ncclAllReduce(data.data(), data.data(), data.size(),
                                       ncclInt32, ncclSum, rank.comm, where);
                };
                NCCL_TRY(reduce(on));
                NCCL_TRY(reduce(nullptr));
                NCCL_TRY(ncclGroupStart());
                NCCL_TRY(reduce(nullptr));
                NCCL_TRY(reduce(on));
                NCCL_TRY(ncclAllGather(data.data(), all.data(), data.size(),
                                       ncclInt32, rank.comm, nullptr));
                NCCL_TRY(ncclGroupEnd());
                for (int32_t value : all)
                  RANK_CHECK(value == 81); // 3^4
                RANK_TRY(synchronizeHostStream(stream));
              }
              RANK_TRY(destroyHostStream(stream));
              return "";
            }));
}

/// A group of several collectives runs them in order.
TEST_P(NcclCollectivesOfThree, Groups) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              std::vector<int64_t> a(777, rank.rank + 1), b(777), c(3 * 777);
              NCCL_TRY(ncclGroupStart());
              NCCL_TRY(ncclAllReduce(a.data(), b.data(), a.size(), ncclInt64,
                                     ncclSum, rank.comm, nullptr));
              NCCL_TRY(ncclGroupStart());
              NCCL_TRY(ncclAllGather(b.data(), c.data(), b.size(), ncclInt64,
                                     rank.comm, nullptr));
              NCCL_TRY(ncclGroupEnd());
              RANK_CHECK(b[0] == 0); // nothing has run
              NCCL_TRY(ncclGroupEnd());
              for (int64_t value : c)
                RANK_CHECK(value == 6);
              NCCL_EXPECT(ncclInvalidUsage, ncclGroupEnd());
              return "";
            }));
}

/// Communicators that share a stream in a group are enqueued there in the same
/// order on all ranks, also while kernels are loaded. One is created for every
/// round, so that each loads its own.
TEST_P(NcclCollectivesOfThree, GroupsOfCommunicatorsOnOneStream) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        RANK_ASSIGN(void *stream, createHostStream());
        auto *on = static_cast<cudaStream_t>(stream);
        for (int round = 0; round < 12; ++round) {
          ncclComm_t other = nullptr;
          NCCL_TRY(ncclCommSplit(rank.comm, 0, rank.rank, &other, nullptr));
          std::vector<int64_t> a(300, rank.rank + 1), b(300, 5), sum(300),
              all(900), received(300), turned(300, rank.rank);
          const int next = (rank.rank + 1) % 3, last = (rank.rank + 2) % 3;
          NCCL_TRY(ncclGroupStart());
          NCCL_TRY(ncclAllGather(a.data(), all.data(), 300, ncclInt64,
                                 rank.comm, on));
          NCCL_TRY(ncclAllReduce(b.data(), sum.data(), 300, ncclInt64, ncclSum,
                                 other, on));
          NCCL_TRY(ncclSend(turned.data(), 300, ncclInt64, next, other, on));
          NCCL_TRY(ncclRecv(received.data(), 300, ncclInt64, last, other, on));
          NCCL_TRY(ncclGroupEnd());
          RANK_TRY(synchronizeHostStream(stream));
          RANK_CHECK(sum[299] == 15 && received[299] == last);
          for (size_t i = 0; i < 900; ++i)
            RANK_CHECK(all[i] == static_cast<int64_t>(1 + i / 300));
          NCCL_TRY(ncclCommDestroy(other));
        }
        RANK_TRY(destroyHostStream(stream));
        return "";
      }));
}

/// Ranks that call different things learn it, and what.
TEST_P(NcclCollectivesOfThree, DifferentCalls) {
  EXPECT_EQ("", onRanks(kind(), size(), [](ncclUniqueId id, int rank) {
              auto body = [&]() -> std::string {
                ncclComm_t comm;
                NCCL_TRY(ncclCommInitRank(&comm, 3, id, rank));
                std::vector<float> data(100), more(300);
                ncclResult_t result =
                    rank == 1
                        ? ncclAllGather(data.data(), more.data(), 100,
                                        ncclFloat, comm, nullptr)
                        : ncclAllReduce(data.data(), data.data(), 100,
                                        ncclFloat, ncclSum, comm, nullptr);
                RANK_CHECK(result == ncclInvalidUsage);
                std::string text = ncclGetLastError(comm);
                RANK_CHECK(text.find("all_gather") != std::string::npos);
                RANK_CHECK(text.find("all_reduce") != std::string::npos);
                NCCL_TRY(ncclCommDestroy(comm));
                return "";
              };
              return body();
            }));
}

/// A rank that compares calls makes all of them do so.
TEST(NcclChecks, OfOneRank) {
  EXPECT_EQ("",
            onRanks(RankKind::processes, 2,
                    [](ncclUniqueId id, int rank) -> std::string {
                      if (rank == 1)
                        ::setenv("IRIS_CHECK_COLLECTIVES", "1", 1);
                      ncclComm_t comm;
                      NCCL_TRY(ncclCommInitRank(&comm, 2, id, rank));
                      std::vector<int32_t> data(100, 1);
                      for (int round = 0; round < 2; ++round)
                        NCCL_TRY(ncclAllReduce(data.data(), data.data(), 100,
                                               ncclInt32, ncclSum, comm,
                                               nullptr));
                      RANK_CHECK(data[99] == 4);
                      // The same kernel: only a comparison finds it.
                      NCCL_EXPECT(ncclInvalidUsage,
                                  ncclAllReduce(data.data(), data.data(),
                                                rank == 0 ? 100 : 99, ncclInt32,
                                                ncclSum, comm, nullptr));
                      NCCL_TRY(ncclCommDestroy(comm));
                      return "";
                    }));
}
