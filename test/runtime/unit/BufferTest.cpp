// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/rt/Buffer.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace iris::rt;
using namespace iris::rt::test;

TEST(Elements, Encoding) {
  EXPECT_EQ(encodeElement(IRISRT_ELT_I8, -1), 0xffu);
  EXPECT_EQ(encodeElement(IRISRT_ELT_I8, 257), 1u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_I64, -2), ~uint64_t(1));
  EXPECT_EQ(encodeElement(IRISRT_ELT_F32, 1), 0x3f800000u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_BF16, 1), 0x3f80u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_BF16, 1.00390625), 0x3f80u); // tie: even
  EXPECT_EQ(encodeElement(IRISRT_ELT_BF16, 1.01171875), 0x3f82u); // tie: even
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, 1), 0x3c00u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, -2.5), 0xc100u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, 65504), 0x7bffu);
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, 65519.9), 0x7bffu);
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, 65520), 0x7c00u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, 2049), 0x6800u); // tie: even
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, std::ldexp(1, -24)), 1u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, std::ldexp(1, -25)), 0u); // tie
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, std::ldexp(1023.5, -24)), 0x400u);
  EXPECT_EQ(encodeElement(IRISRT_ELT_F16, std::ldexp(1, -14)), 0x400u);
}

TEST(TypedBuffers, ConvertToAddressesAndPointers) {
  static_assert(elementOf<float>() == IRISRT_ELT_F32 &&
                elementOf<double>() == IRISRT_ELT_F64 &&
                elementOf<bool>() == IRISRT_ELT_I1 &&
                elementOf<uint8_t>() == IRISRT_ELT_I8 &&
                elementOf<int16_t>() == IRISRT_ELT_I16 &&
                elementOf<uint32_t>() == IRISRT_ELT_I32 &&
                elementOf<int64_t>() == IRISRT_ELT_I64);
  TypedBuffer<int32_t> buffer(0x10000, 0x400, 100);
  const void *input = buffer;
  void *output = buffer;
  uint64_t address = buffer;
  EXPECT_EQ(address, 0x10000u);
  EXPECT_EQ(input, buffer.data());
  EXPECT_EQ(output, buffer.data());
  EXPECT_EQ(buffer.bytes(), 400u);
  EXPECT_TRUE(static_cast<bool>(buffer));
  EXPECT_FALSE(static_cast<bool>(TypedBuffer<float>()));

  TypedBuffer<int32_t> slice = buffer.slice(10, 3);
  EXPECT_EQ(slice.address(), 0x10000u + 40);
  EXPECT_EQ(slice.offset(), 0x400u + 40);
  EXPECT_EQ(slice.size(), 3u);
  IrisRtArg arg = slice.arg();
  EXPECT_EQ(arg.kind, static_cast<uint32_t>(IRISRT_ARG_MEMREF));
  EXPECT_EQ(arg.element, static_cast<uint32_t>(IRISRT_ELT_I32));
  EXPECT_EQ(arg.rank, 1u);
  EXPECT_EQ(arg.symmetric, 1u);
  EXPECT_EQ(arg.value, slice.address());
  EXPECT_EQ(arg.sizes[0], 3);
  EXPECT_EQ(arg.strides[0], 1);
}

TEST(TypedBuffers, AreOnTheHeapAtOneOffset) {
  EXPECT_EQ(
      "", failures(runThreads(2, [](const LaunchInfo &launch) -> std::string {
        WorldOptions options;
        options.launch = launch;
        options.heapBytes = 64 << 20;
        RANK_ASSIGN(auto world, World::create(options));
        RANK_ASSIGN(auto first, world->allocate<double>(33));
        RANK_ASSIGN(auto second, world->allocate<int16_t>(5));
        RANK_CHECK(first.size() == 33 && first.bytes() == 33 * 8);
        RANK_CHECK(second.address() ==
                   world->context().heapBase + second.offset());
        RANK_CHECK(world->isSymmetric(second, second.bytes()));
        RANK_ASSIGN(auto group, world->makeGroup({0, 1}));
        RANK_ASSIGN(auto offsets,
                    world->exchange(group, world->makeChannel(),
                                    std::to_string(second.offset())));
        RANK_CHECK(offsets[0] == offsets[1]);
        const double values[2] = {1.5, -2};
        RANK_TRY(world->writeNow(first.slice(31, 2), values, sizeof(values)));
        double read[33];
        RANK_TRY(world->readNow(read, first, first.bytes()));
        RANK_CHECK(read[0] == 0 && read[31] == 1.5 && read[32] == -2);
        RANK_CHECK(world->allocate<double>(SIZE_MAX / 4).status().code() ==
                   StatusCode::invalidArgument);
        RANK_TRY(world->deallocate(first));
        RANK_TRY(world->deallocate(second));
        RANK_TRY(world->destroy());
        return "";
      })));
}

TEST(Buffers, Contents) {
  EXPECT_EQ(
      "", failures(runThreads(2, [](const LaunchInfo &launch) -> std::string {
        WorldOptions options;
        options.launch = launch;
        options.heapBytes = 64 << 20;
        RANK_ASSIGN(auto world, World::create(options));
        RANK_ASSIGN(Buffer z, zeros(*world, IRISRT_ELT_F64, {3, 5}));
        RANK_ASSIGN(Buffer f, full(*world, IRISRT_ELT_F32, {7}, 2.5));
        RANK_ASSIGN(Buffer i, iota(*world, IRISRT_ELT_I32, {3000000}, 5, 2));
        RANK_ASSIGN(Buffer r, random(*world, IRISRT_ELT_F32, {1000}, 9));
        RANK_CHECK(z.bytes() == 120);
        RANK_CHECK(world->isSymmetric(i.address, i.bytes()));
        auto *fs = reinterpret_cast<float *>(f.address);
        auto *is = reinterpret_cast<int32_t *>(i.address);
        auto *rs = reinterpret_cast<float *>(r.address);
        RANK_CHECK(reinterpret_cast<double *>(z.address)[14] == 0);
        RANK_CHECK(fs[0] == 2.5f && fs[6] == 2.5f);
        RANK_CHECK(is[0] == 5 && is[2999999] == 5999998 + 5);
        double sum = 0;
        for (int k = 0; k < 1000; ++k) {
          RANK_CHECK(rs[k] >= -1 && rs[k] < 1);
          sum += rs[k];
        }
        RANK_CHECK(std::fabs(sum) < 60);
        RANK_TRY(world->sync());
        RANK_ASSIGN(uint64_t peer,
                    world->translate(r.address, 1 - launch.rank));
        RANK_CHECK(std::memcmp(rs, reinterpret_cast<void *>(peer), 4000) != 0);
        RANK_CHECK(!zeros(*world, IRISRT_ELT_F32, {-1}).ok());
        RANK_CHECK(!zeros(*world, IRISRT_ELT_F32, {1ll << 40, 1ll << 40}).ok());
        RANK_TRY(world->destroy());
        return "";
      })));
}
