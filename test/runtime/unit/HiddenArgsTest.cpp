// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments that the runtime creates, on a backend that records its calls.
#include "core/HiddenArgs.h"
#include "backends/gpu/GpuTypes.h"
#include "support/GpuFixture.h"

#include <cstring>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {

HiddenArgInfo mapOf(uint32_t contiguous, bool ranks) {
  HiddenArgInfo hidden;
  hidden.kind = HiddenArgInfo::Kind::tensorMap;
  hidden.contiguous = contiguous;
  hidden.box = {64, 128};
  hidden.swizzle = 128;
  hidden.ranks = ranks;
  return hidden;
}

/// rows x columns of f16 at 0x10000, a row every `pitch` elements.
IrisRtArg matrix(int64_t rows, int64_t columns, int64_t pitch) {
  IrisRtArg arg = makeMemrefArg(IRISRT_ELT_F16, 0x10000, {rows, columns});
  arg.strides[0] = pitch;
  return arg;
}

IrisRtContext world(uint32_t rank, uint32_t numRanks, int64_t stride) {
  IrisRtContext context = {};
  context.rank = rank;
  context.numRanks = numRanks;
  context.heapStride = stride;
  return context;
}

TEST(TensorMap, DescribesRows) {
  auto spec = describeTensorMap(mapOf(1, false), world(3, 8, 1 << 20),
                                matrix(100, 200, 208));
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->address, 0x10000u);
  EXPECT_EQ(spec->sizes[0], 200u);
  EXPECT_EQ(spec->sizes[1], 100u);
  EXPECT_EQ(spec->sizes[2], 1u);
  EXPECT_EQ(spec->strides[0], 416u);
  EXPECT_EQ(spec->box[0], 64u);
  EXPECT_EQ(spec->box[1], 128u);
}

TEST(TensorMap, DescribesColumns) {
  IrisRtArg arg = matrix(200, 100, 1);
  arg.strides[1] = 256;
  auto spec = describeTensorMap(mapOf(0, false), world(0, 1, 0), arg);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->sizes[0], 200u);
  EXPECT_EQ(spec->sizes[1], 100u);
  EXPECT_EQ(spec->strides[0], 512u);
}

TEST(TensorMap, CoversAllRanksFromTheFirst) {
  auto spec =
      describeTensorMap(mapOf(1, true), world(3, 8, 0x1000), matrix(8, 64, 64));
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->address, 0x10000u - 3 * 0x1000u);
  EXPECT_EQ(spec->sizes[2], 8u);
  EXPECT_EQ(spec->strides[1], 0x1000u);
}

TEST(TensorMap, IsNotMadeForUnsupportedLayouts) {
  IrisRtContext alone = world(0, 1, 0);
  auto made = [&](IrisRtArg arg) {
    return describeTensorMap(mapOf(1, false), alone, arg).has_value();
  };
  EXPECT_TRUE(made(matrix(8, 64, 64)));
  EXPECT_FALSE(made(matrix(8, 64, 65)));  // pitch of 130 bytes
  EXPECT_FALSE(made(matrix(0, 64, 64)));  // empty
  EXPECT_FALSE(made(matrix(8, 64, -64))); // backwards
  EXPECT_FALSE(made(matrix(8, 64, 0)));   // all rows are the same
  EXPECT_TRUE(made(matrix(1, 61, 61)));   // an unused pitch
  EXPECT_FALSE(made(matrix(8, int64_t(1) << 33, int64_t(1) << 33)));
  EXPECT_FALSE(made(matrix(8, 64, int64_t(1) << 39)));
  IrisRtArg odd = matrix(8, 64, 64);
  odd.value += 8;
  EXPECT_FALSE(made(odd));
  IrisRtArg apart = matrix(8, 64, 64);
  apart.strides[1] = 2;
  EXPECT_FALSE(made(apart));
  // Ranks whose heaps have no common stride.
  EXPECT_FALSE(
      describeTensorMap(mapOf(1, true), world(0, 2, 0), matrix(8, 64, 64))
          .has_value());
}

class HiddenArgs : public Gpu {};

TEST_P(HiddenArgs, ArePackedWithTheMaskOfWhatWasMade) {
  KernelInfo kernel;
  kernel.argsBytes = 128 + 2 * 128;
  HiddenArgInfo mask;
  mask.kind = HiddenArgInfo::Kind::tensorMapMask;
  mask.offset = 56;
  kernel.hidden = {mask, mapOf(1, false), mapOf(1, false)};
  kernel.hidden[1].arg = 0;
  kernel.hidden[1].offset = 128;
  kernel.hidden[2].arg = 1;
  kernel.hidden[2].offset = 256;
  const IrisRtArg args[] = {matrix(8, 64, 65), matrix(100, 200, 208)};
  std::vector<uint8_t> block(kernel.argsBytes);
  create();
  ASSERT_OK(packHiddenArgs(kernel, world(0, 1, 0), args, *backend, block));
  uint64_t made;
  std::memcpy(&made, block.data() + 56, 8);
  gpu::TensorMap maps[2];
  std::memcpy(maps, block.data() + 128, sizeof(maps));
  EXPECT_EQ(maps[0].words[0], 0u);
  EXPECT_EQ(made, cuda() ? 2u : 0u);
  EXPECT_EQ(maps[1].words[0], cuda() ? 0x10000u : 0u);
  EXPECT_EQ(maps[1].words[8], cuda() ? uint64_t(gpu::tensorMapF16) : 0u);
  EXPECT_EQ(maps[1].words[9], cuda() ? uint64_t(gpu::tensorMapSwizzle128) : 0u);
}

FAKE_GPU_SUITE(HiddenArgs);

} // namespace
