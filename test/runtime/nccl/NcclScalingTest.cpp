// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums whose inputs have factors (ncclRedOpCreatePreMulSum).
#include "nccl/NcclRanks.h"

#include "support/Hash.h"

#include "iris/rt/HostStream.h"

#include <cstring>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

/// Small, so that every sum of 8 ranks is exact in every type but f8.
static int64_t valueOf(int rank, uint64_t i) {
  return static_cast<int64_t>(hash(static_cast<uint64_t>(rank), i, 3) % 4);
}
static int64_t factorOf(int rank) { return rank % 3 + 1; }

/// The sum of all ranks' scaled element i.
static int64_t sumOf(int size, uint64_t i) {
  int64_t sum = 0;
  for (int rank = 0; rank < size; ++rank)
    sum += factorOf(rank) * valueOf(rank, i);
  return sum;
}

/// An array of a type; elements are stored by their bits.
struct Elements {
  Elements(DType dtype, uint64_t count)
      : dtype(dtype), width(dtypeBytes(dtype)), bytes(count * width) {}
  void set(uint64_t i, int64_t value) {
    uint64_t bits = encode(dtype, value);
    std::memcpy(&bytes[i * width], &bits, width);
  }
  bool is(uint64_t i, int64_t value) const {
    uint64_t bits = encode(dtype, value);
    return std::memcmp(&bytes[i * width], &bits, width) == 0;
  }
  DType dtype;
  uint64_t width;
  std::vector<uint8_t> bytes;
};

class NcclScaling : public NcclRanksTest {};
NCCL_ON_RANKS(NcclScaling, 1, 2, 3, 8);

/// Each rank has a factor of its own; large inputs take several slices.
TEST_P(NcclScaling, EveryReduction) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        const int n = rank.size, me = rank.rank;
        const auto chunks = static_cast<uint64_t>(n);
        float factor = static_cast<float>(factorOf(me));
        ncclRedOp_t copied, read;
        NCCL_TRY(ncclRedOpCreatePreMulSum(&copied, &factor, ncclFloat,
                                          ncclScalarHostImmediate, rank.comm));
        NCCL_TRY(ncclRedOpCreatePreMulSum(&read, &factor, ncclFloat,
                                          ncclScalarDevice, rank.comm));
        for (uint64_t count : {0, 1, 999, 2500000}) {
          if (count > 1000 && n > 3)
            continue; // the same code, more slowly
          ncclRedOp_t op = count == 999 ? read : copied;
          std::vector<float> in(chunks * count), out(count);
          for (uint64_t i = 0; i < in.size(); ++i)
            in[i] = static_cast<float>(valueOf(me, i));
          NCCL_TRY(ncclReduceScatter(in.data(), out.data(), count, ncclFloat,
                                     op, rank.comm, nullptr));
          for (uint64_t i = 0; i < count; ++i)
            RANK_CHECK(out[i] ==
                       static_cast<float>(
                           sumOf(n, static_cast<uint64_t>(me) * count + i)));
          NCCL_TRY(ncclReduce(in.data(), me == 0 ? out.data() : nullptr, count,
                              ncclFloat, op, 0, rank.comm, nullptr));
          for (uint64_t i = 0; i < count && me == 0; ++i)
            RANK_CHECK(out[i] == static_cast<float>(sumOf(n, i)));
          NCCL_TRY(ncclAllReduce(in.data(), in.data(), count, ncclFloat, op,
                                 rank.comm, nullptr));
          for (uint64_t i = 0; i < count; ++i)
            RANK_CHECK(in[i] == static_cast<float>(sumOf(n, i)));
        }
        NCCL_TRY(ncclRedOpDestroy(copied, rank.comm));
        NCCL_EXPECT(ncclInvalidArgument, ncclRedOpDestroy(copied, rank.comm));
        float value = 1;
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllReduce(&value, &value, 1, ncclFloat, copied,
                                  rank.comm, nullptr));
        double wide = 1;
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllReduce(&wide, &wide, 1, ncclDouble, read, rank.comm,
                                  nullptr));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllReduce(nullptr, &value, 1, ncclFloat, read,
                                  rank.comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclAllReduce(&value, &value, size_t(1) << 62, ncclFloat,
                                  read, rank.comm, nullptr));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclRedOpCreatePreMulSum(&copied, nullptr, ncclFloat,
                                             ncclScalarHostImmediate,
                                             rank.comm));
        NCCL_EXPECT(ncclInvalidArgument,
                    ncclRedOpCreatePreMulSum(
                        &copied, &value, ncclFloat,
                        static_cast<ncclScalarResidence_t>(7), rank.comm));
        return "";
      }));
}

class NcclScalingOfTwo : public NcclRanksTest {};
NCCL_ON_RANKS(NcclScalingOfTwo, 2);

TEST_P(NcclScalingOfTwo, EveryType) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        for (DType dtype :
             {DType::i8, DType::u8, DType::i32, DType::u32, DType::i64,
              DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64,
              DType::f8e4m3fn, DType::f8e5m2}) {
          Elements factor(dtype, 1), data(dtype, 3000);
          // Sums of at most 2 + 2: exact also in f8.
          const bool isNarrow = dtype >= DType::f8e4m3fn && dtype < DType::u32;
          factor.set(0, factorOf(rank.rank));
          auto value = [&](int of, uint64_t i) {
            return isNarrow ? valueOf(of, i) % 2 : valueOf(of, i);
          };
          for (uint64_t i = 0; i < 3000; ++i)
            data.set(i, value(rank.rank, i));
          ncclRedOp_t op;
          NCCL_TRY(ncclRedOpCreatePreMulSum(
              &op, factor.bytes.data(), ncclTypeOf(dtype),
              ncclScalarHostImmediate, rank.comm));
          factor.set(0, 0); // it was copied
          NCCL_TRY(ncclAllReduce(data.bytes.data(), data.bytes.data(), 3000,
                                 ncclTypeOf(dtype), op, rank.comm, nullptr));
          for (uint64_t i = 0; i < 3000; ++i)
            if (!data.is(i,
                         factorOf(0) * value(0, i) + factorOf(1) * value(1, i)))
              return std::string(dtypeName(dtype)) + ": element " +
                     std::to_string(i) + " is wrong";
          NCCL_TRY(ncclRedOpDestroy(op, rank.comm));
        }
        return "";
      }));
}

/// Reductions that live, and that are destroyed before others are made.
TEST_P(NcclScalingOfTwo, ManyFactors) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              std::vector<ncclRedOp_t> ops;
              for (int32_t i = 0; i < 1000; ++i) {
                ncclRedOp_t op;
                NCCL_TRY(ncclRedOpCreatePreMulSum(
                    &op, &i, ncclInt32, ncclScalarHostImmediate, rank.comm));
                if (i % 100 == 0) {
                  int32_t data = 1;
                  NCCL_TRY(ncclAllReduce(&data, &data, 1, ncclInt32, op,
                                         rank.comm, nullptr));
                  RANK_CHECK(data == 2 * i);
                }
                if (i % 2 == 0)
                  NCCL_TRY(ncclRedOpDestroy(op, rank.comm));
                else
                  ops.push_back(op);
              }
              for (size_t i = 0; i < ops.size(); i += 7) {
                int32_t data = 1;
                NCCL_TRY(ncclAllReduce(&data, &data, 1, ncclInt32, ops[i],
                                       rank.comm, nullptr));
                RANK_CHECK(data == static_cast<int32_t>(2 * (2 * i + 1)));
              }
              return "";
            }));
}

/// The scalar is taken with the call, which runs after its reduction was
/// destroyed, and many others made.
TEST_P(NcclScalingOfTwo, FactorsOfAGroup) {
  EXPECT_EQ("", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
              constexpr size_t most = 300;
              std::vector<int32_t> data(most, 1);
              auto make = [&](size_t i, ncclRedOp_t &op) {
                auto factor = static_cast<int32_t>(i + 1);
                return ncclRedOpCreatePreMulSum(&op, &factor, ncclInt32,
                                                ncclScalarHostImmediate,
                                                rank.comm);
              };
              NCCL_TRY(ncclGroupStart());
              for (size_t i = 0; i < most; ++i) {
                ncclRedOp_t op;
                NCCL_TRY(make(i, op));
                // Of the others only the number of creations matters.
                if (i == 0 || i + 1 == most)
                  NCCL_TRY(ncclAllReduce(&data[i], &data[i], 1, ncclInt32, op,
                                         rank.comm, nullptr));
                NCCL_TRY(ncclRedOpDestroy(op, rank.comm));
              }
              NCCL_TRY(ncclGroupEnd());
              RANK_CHECK(data[0] == 2);
              RANK_CHECK(data[most - 1] == 2 * static_cast<int32_t>(most));
              return "";
            }));
}

/// A reduction belongs to the communicator that it was made with.
TEST_P(NcclScalingOfTwo, OfAnotherCommunicator) {
  EXPECT_EQ(
      "", onComm(kind(), size(), [](NcclRank &rank) -> std::string {
        ncclComm_t other;
        NCCL_TRY(ncclCommSplit(rank.comm, 0, 0, &other, nullptr));
        int32_t factors[] = {2, 3}, data = 1;
        ncclRedOp_t mine, others;
        NCCL_TRY(ncclRedOpCreatePreMulSum(&mine, &factors[0], ncclInt32,
                                          ncclScalarHostImmediate, rank.comm));
        NCCL_TRY(ncclRedOpCreatePreMulSum(&others, &factors[1], ncclInt32,
                                          ncclScalarHostImmediate, other));
        NCCL_EXPECT(
            ncclInvalidArgument,
            ncclAllReduce(&data, &data, 1, ncclInt32, mine, other, nullptr));
        NCCL_EXPECT(ncclInvalidArgument, ncclRedOpDestroy(mine, other));
        NCCL_TRY(
            ncclAllReduce(&data, &data, 1, ncclInt32, others, other, nullptr));
        RANK_CHECK(data == 6);
        NCCL_TRY(ncclRedOpDestroy(others, other));
        NCCL_TRY(ncclCommDestroy(other));
        NCCL_TRY(ncclAllReduce(&data, &data, 1, ncclInt32, mine, rank.comm,
                               nullptr));
        RANK_CHECK(data == 24);
        return "";
      }));
}
