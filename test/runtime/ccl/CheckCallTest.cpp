// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Argument checks of every operation: valid, invalid, in place.
#include "ccl/CheckCall.h"

#include <gtest/gtest.h>

using namespace iris::ccl;
using namespace iris::rt;

static Call callOf(Op op, uint64_t in, uint64_t out, uint64_t count,
                   DType dtype = DType::f32, uint32_t root = 0) {
  Call call;
  call.op = op;
  call.in = reinterpret_cast<const void *>(in);
  call.out = reinterpret_cast<void *>(out);
  call.count = count;
  call.dtype = dtype;
  call.root = root;
  return call;
}

static std::string messageOf(const Call &call, uint32_t size = 4,
                             uint32_t index = 1) {
  Expected<CheckedCall> checked = checkCall(call, size, index);
  if (checked.ok())
    return "";
  EXPECT_EQ(checked.status().code(), StatusCode::invalidArgument);
  return checked.status().message();
}

static constexpr uint64_t far = 0x100000, near = 0x1000;
static const Op withBuffers[] = {
    Op::allGather, Op::allReduce, Op::reduceScatter, Op::allToAll,
    Op::broadcast, Op::reduce,    Op::gather,        Op::scatter};

TEST(CheckCall, Words) {
  EXPECT_EQ(messageOf(callOf(Op::allReduce, near, far, 1, DType(15))),
            "all_reduce: 15 is no element type");
  Call call = callOf(Op::allReduce, near, far, 1);
  call.reduce = ReduceOp(5);
  EXPECT_EQ(messageOf(call), "all_reduce: 5 is no reduction; expected sum, "
                             "prod, min, max or avg");
  EXPECT_EQ(messageOf(callOf(Op::broadcast, near, far, 1, DType::f32, 4)),
            "broadcast: the root is member 4; expected less than 4");
  EXPECT_EQ(messageOf(callOf(Op::send, near, 0, 1, DType::f32, 9)),
            "send: the peer is member 9; expected less than 4");
  EXPECT_EQ(messageOf(callOf(Op::recv, 0, far, 1, DType::f32, 1)),
            "recv: member 1 is this rank; expected another");
  Config config;
  config.warps = 5;
  call = callOf(Op::allGather, near, far, 1);
  call.config = &config;
  EXPECT_NE(messageOf(call), "");
  call.config = nullptr;
  call.maxPrograms = -1;
  EXPECT_EQ(messageOf(call),
            "all_gather: at most -1 programs; expected at least 0");
}

TEST(CheckCall, NullAndAlignment) {
  for (Op op : withBuffers) {
    // Rank 1 of the group is the root, so it uses both buffers.
    std::string name(opName(op));
    EXPECT_EQ(messageOf(callOf(op, near, far, 8, DType::f32, 1)), "");
    EXPECT_EQ(messageOf(callOf(op, 0, far, 8, DType::f32, 1))
                  .find(name + ": 'in' is null; expected "),
              0u);
    EXPECT_EQ(messageOf(callOf(op, near, 0, 8, DType::f32, 1))
                  .find(name + ": 'out' is null; expected "),
              0u);
    EXPECT_EQ(messageOf(callOf(op, 0, 0, 0, DType::f32, 1)), "");
    EXPECT_EQ(messageOf(callOf(op, near + 2, far, 8, DType::f32, 1)),
              name + ": 'in' is 0x1002; expected a multiple of 4, the size of "
                     "an element of f32");
    EXPECT_EQ(messageOf(callOf(op, near, far + 4, 8, DType::i64, 1)),
              name + ": 'out' is 0x100004; expected a multiple of 8, the size "
                     "of an element of i64");
    EXPECT_EQ(messageOf(callOf(op, near + 1, far + 3, 8, DType::u8, 1)), "");
  }
  // Unused pointers may be null.
  EXPECT_EQ(messageOf(callOf(Op::broadcast, 0, far, 8, DType::f32, 0)), "");
  EXPECT_EQ(messageOf(callOf(Op::scatter, 0, far, 8, DType::f32, 0)), "");
  EXPECT_EQ(messageOf(callOf(Op::reduce, near, 0, 8, DType::f32, 0)), "");
  EXPECT_EQ(messageOf(callOf(Op::gather, near, 0, 8, DType::f32, 0)), "");
  EXPECT_EQ(messageOf(callOf(Op::send, near, 0, 8, DType::f32, 0)), "");
  EXPECT_EQ(messageOf(callOf(Op::recv, 0, far, 8, DType::f32, 0)), "");
  EXPECT_NE(messageOf(callOf(Op::send, 0, 0, 8, DType::f32, 0)), "");
  EXPECT_NE(messageOf(callOf(Op::recv, 0, 0, 8, DType::f32, 0)), "");
}

TEST(CheckCall, Sizes) {
  uint64_t most = (uint64_t(1) << 63) / 4 / 4 - 1;
  EXPECT_EQ(messageOf(callOf(Op::allGather, near, far, most + 1)),
            "all_gather: 576460752303423488 elements of f32; expected at most "
            "576460752303423487");
  EXPECT_NE(messageOf(callOf(Op::allGather, near, far, UINT64_MAX)), "");
  EXPECT_NE(messageOf(callOf(Op::allReduce, near, far, UINT64_MAX / 4)), "");
  EXPECT_EQ(messageOf(callOf(Op::allReduce, near, UINT64_MAX - 15, 8))
                .find("all_reduce: 32 bytes at 0xfffffffffffffff0 ('out') end "
                      "beyond"),
            0u);
  Expected<CheckedCall> checked =
      checkCall(callOf(Op::reduceScatter, near, far, 8), 4, 1);
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked->in.bytes, 128u);
  EXPECT_EQ(checked->out.bytes, 32u);
  EXPECT_FALSE(checked->inPlace);
}

TEST(CheckCall, InPlaceIsExact) {
  // The smaller buffer's offset in the larger one, for rank 1 of a group of 4
  // with 8 elements of 4 bytes; the root is rank 1.
  struct Case {
    Op op;
    uint64_t inOffset, outOffset;
  };
  const Case cases[] = {
      {Op::allGather, 32, 0}, {Op::allReduce, 0, 0}, {Op::reduceScatter, 0, 32},
      {Op::allToAll, 0, 0},   {Op::broadcast, 0, 0}, {Op::reduce, 0, 0},
      {Op::gather, 32, 0},    {Op::scatter, 0, 32},
  };
  for (const Case &each : cases) {
    uint64_t in = near + each.inOffset, out = near + each.outOffset;
    Expected<CheckedCall> checked =
        checkCall(callOf(each.op, in, out, 8, DType::f32, 1), 4, 1);
    ASSERT_TRUE(checked.ok()) << opName(each.op) << checked.status().message();
    EXPECT_TRUE(checked->inPlace);
    for (uint64_t shift : {4, 16, 28}) {
      EXPECT_NE(messageOf(callOf(each.op, in + shift, out, 8, DType::f32, 1))
                    .find("overlap; expected"),
                std::string::npos)
          << opName(each.op);
      EXPECT_NE(messageOf(callOf(each.op, in, out + shift, 8, DType::f32, 1)),
                "");
    }
  }
  // Adjacent buffers do not overlap.
  EXPECT_EQ(messageOf(callOf(Op::allReduce, near, near + 32, 8)), "");
  EXPECT_EQ(messageOf(callOf(Op::allGather, near, near + 32, 8)), "");
  EXPECT_EQ(messageOf(callOf(Op::allGather, near + 128, near, 8)), "");
  EXPECT_EQ(messageOf(callOf(Op::allGather, near, near, 8)),
            "all_gather: 'in' (0x1000, 32 bytes) and 'out' (0x1000, 128 bytes) "
            "overlap; expected in == out + 1 * 8 elements, or apart");
  // On all ranks but the root, one of them is unused.
  EXPECT_EQ(messageOf(callOf(Op::broadcast, near, near + 4, 8)), "");
}
