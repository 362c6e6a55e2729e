// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/rt/Kernel.h"

#include "package/ArgLayout.h"

#include "iris/rt/Package.h"
#include "package/Metadata.h"
#include "support/Metadata.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {

constexpr uint64_t heapBegin = 0x10000, heapEnd = 0x20000;

bool onHeap(uint64_t address, uint64_t bytes) {
  return address >= heapBegin && address <= heapEnd &&
         bytes <= heapEnd - address;
}

class KernelArgs : public testing::Test {
protected:
  void SetUp() override {
    Expected<std::vector<KernelInfo>> kernels = parseMetadata(richMetadata());
    ASSERT_TRUE(kernels.ok()) << kernels.status().toString();
    kernel = (*kernels)[0];
    args = {makeContextArg(),
            makeMemrefArg(IRISRT_ELT_F16, heapBegin + 32, {3, 16}),
            makeMemrefArg(IRISRT_ELT_F32, 0x5000, {4, 7}, false),
            makeScalarArg(IRISRT_ELT_I32, uint32_t(-8)),
            makeScalarArg(IRISRT_ELT_I1, 1),
            makeScalarArg(IRISRT_ELT_INDEX, 1ull << 40)};
    args[2].strides[0] = 10;
  }

  Status check() { return checkArgs(kernel, args.data(), args.size(), onHeap); }

  /// The check must fail with a message that has `part` and names the kernel.
  void expectError(const std::string &part) {
    Status status = check();
    EXPECT_EQ(status.code(), StatusCode::invalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find("kernels::k"), std::string::npos)
        << status.message();
  }

  KernelInfo kernel;
  std::vector<IrisRtArg> args;
};

TEST_F(KernelArgs, AcceptsGoodOnes) { EXPECT_EQ(check().toString(), "ok"); }

TEST_F(KernelArgs, Packs) {
  IrisRtContext context = {};
  context.rank = 3;
  context.launchId = 77;
  std::vector<uint8_t> block(500, 0xff);
  ASSERT_TRUE(packArgs(kernel, context, args.data(), args.size(), block).ok());
  ASSERT_EQ(block.size(), 152u);
  IrisRtContext seen;
  std::memcpy(&seen, block.data(), sizeof(seen));
  EXPECT_EQ(seen.rank, 3u);
  EXPECT_EQ(seen.launchId, 77u);
  auto word = [&](size_t at) {
    int64_t value;
    std::memcpy(&value, &block[at], 8);
    return value;
  };
  EXPECT_EQ(word(88), int64_t(heapBegin + 32));
  EXPECT_EQ(word(96), 3);
  EXPECT_EQ(word(104), 16);
  EXPECT_EQ(word(112), 0x5000); // static size 4 and stride 1 are not passed
  EXPECT_EQ(word(120), 7);
  EXPECT_EQ(word(128), 10);
  int32_t scalar;
  std::memcpy(&scalar, &block[136], 4);
  EXPECT_EQ(scalar, -8);
  EXPECT_EQ(block[140], 1);
  EXPECT_EQ(block[141], 0); // padding
  EXPECT_EQ(word(144), int64_t(1) << 40);
}

TEST_F(KernelArgs, CountsThem) {
  args.pop_back();
  expectError("takes 6 arguments, but got 5");
  args.resize(8);
  expectError("takes 6 arguments, but got 8");
  args.clear();
  expectError("takes 6 arguments, but got 0");
  std::vector<uint8_t> block;
  EXPECT_FALSE(packArgs(kernel, {}, nullptr, 0, block).ok());
}

TEST_F(KernelArgs, ComparesTypes) {
  std::swap(args[0], args[1]);
  expectError("argument 0 should be !iris.ctx, but got memref<3x16xf16");
  std::swap(args[0], args[1]);
  args[1].element = IRISRT_ELT_BF16;
  expectError("should be memref<?x?xf16, symmetric>, but got "
              "memref<3x16xbf16, symmetric>");
  args[1].element = 1000;
  expectError("memref<3x16xunknown");
  args[1].element = IRISRT_ELT_F16;
  args[3].element = IRISRT_ELT_F32;
  expectError("argument 3 should be i32, but got f32");
  args[3].kind = 99;
  expectError("unknown kind 99");
}

TEST_F(KernelArgs, ComparesShapes) {
  args[1].rank = 1;
  expectError("expected 2 dimensions, but got 1");
  args[1].rank = 1000;
  expectError("expected 2 dimensions, but got 1000");
  args[1].rank = 2;
  args[1].sizes[0] = -1;
  expectError("size 0 is negative");
  args[1].sizes[0] = 3;
  args[2].sizes[0] = 5;
  expectError("size 0 should be 4, but is 5");
  args[2].sizes[0] = 4;
  args[2].strides[1] = 2;
  expectError("stride 1 should be 1, but is 2");
  args[2].strides[1] = 1;
  args[1].strides[0] = 24;
  expectError("stride 0 should be 16 (row major), but is 24");
}

TEST_F(KernelArgs, ChecksDivisibility) {
  args[1].value += 2;
  expectError("should be a multiple of 16");
  args[1].value -= 2;
  args[1] = makeMemrefArg(IRISRT_ELT_F16, heapBegin, {3, 12});
  expectError("size 1 should be a multiple of 8, but is 12");
  args[1] = makeMemrefArg(IRISRT_ELT_F16, heapBegin, {3, 0});
  EXPECT_EQ(check().toString(), "ok");
  args[3].value = 6;
  expectError("value 6 should be a multiple of 4");
  args[3].value = uint32_t(INT32_MIN);
  EXPECT_EQ(check().toString(), "ok");
}

TEST_F(KernelArgs, ChecksTheHeap) {
  args[1].value = heapBegin - 16;
  expectError("are not on the symmetric heap");
  args[1].value = heapEnd - 16;
  expectError("96 bytes at 0x1fff0 are not on the symmetric heap");
  args[1].value = heapEnd - 96;
  EXPECT_EQ(check().toString(), "ok");
  args[1].symmetric = 0;
  expectError("passed as non-symmetric");
}

TEST_F(KernelArgs, SurvivesHugeNumbers) {
  int64_t huge = INT64_MAX;
  args[1] = makeMemrefArg(IRISRT_ELT_F16, heapBegin, {huge & ~7, 8});
  expectError("larger than the address space");
  args[1] = makeMemrefArg(IRISRT_ELT_F16, heapBegin, {1, huge & ~7});
  expectError("larger than the address space");
  args[2].sizes[1] = huge;
  args[1] = makeMemrefArg(IRISRT_ELT_F16, heapBegin, {3, 16});
  expectError("larger than the address space");
  args[2].sizes[1] = 7;
  args[2].strides[0] = INT64_MIN;
  expectError("larger than the address space");
}

TEST_F(KernelArgs, ChecksScalars) {
  args[3].value = uint64_t(1) << 32;
  expectError("value 0x100000000 does not fit i32");
  args[3].value = 4;
  args[4].value = 2;
  expectError("value 0x2 does not fit i1");
}

TEST_F(KernelArgs, ComparesMemory) {
  // 96 bytes, and 148: 4 rows, 10 elements apart, of 7 each.
  const uint64_t first = args[1].value;
  for (uint64_t apart : {first + 96, first - 148})
    for (bool same : {false, true}) {
      kernel.overlaps = {{1, 2, same}};
      args[2].value = apart;
      EXPECT_EQ(check().toString(), "ok");
    }
  for (uint64_t overlapping : {first + 92, first - 144, first})
    for (bool same : {false, true}) {
      kernel.overlaps = {{1, 2, same}};
      args[2].value = overlapping;
      expectError("arguments 1 (memref<3x16xf16, symmetric>, 96 bytes at "
                  "0x10020) and 2 (memref<4x7xf32>, 148 bytes at");
      expectError("do not overlap");
      kernel.overlaps.clear();
      EXPECT_EQ(check().toString(), "ok");
    }
  // An empty buffer overlaps nothing.
  kernel.overlaps = {{1, 2, false}};
  args[1].sizes[0] = 0;
  EXPECT_EQ(check().toString(), "ok");
}

TEST_F(KernelArgs, AcceptsTheSameBufferInPlace) {
  kernel.args.push_back(kernel.args[1]);
  args.push_back(args[1]);
  kernel.overlaps = {{1, 6, false}};
  expectError("do not overlap. A kernel");
  kernel.overlaps[0].same = true;
  EXPECT_EQ(check().toString(), "ok");
  args[6].value += 32;
  expectError("do not overlap, or the same buffer twice");
  args[6] = args[1];
  args[6].sizes[0] = 2;
  expectError("or the same buffer twice");
}

TEST_F(KernelArgs, RefusesHiddenOnesOfUnknownKinds) {
  HiddenArgInfo hidden;
  hidden.kindName = "sampler";
  kernel.hidden.push_back(hidden);
  Status status = check();
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_NE(status.message().find("'sampler'"), std::string::npos);
}

// Offsets may differ from the block's: the driver gets each parameter's offset.
TEST(Kernel, PlacesParameters) {
  KernelInfo kernel;
  kernel.args.resize(4);
  kernel.args[0].kind = IRISRT_ARG_CONTEXT;
  kernel.args[1].kind = IRISRT_ARG_MEMREF;
  kernel.args[1].offset = 88;
  kernel.args[1].sizes = {std::nullopt, 8};
  kernel.args[1].identity = false;
  kernel.args[1].strides = {std::nullopt, 1};
  kernel.args[2].element = IRISRT_ELT_F16;
  kernel.args[2].offset = 112;
  kernel.args[3].element = IRISRT_ELT_I64;
  kernel.args[3].offset = 120;
  kernel.hidden.resize(2);
  kernel.hidden[0].offset = 128;
  kernel.hidden[1].offset = 256;
  EXPECT_EQ(
      placeParameters(kernel),
      (std::vector<uint32_t>{0,  4,  8,  16, 24, 32,  40,  48,  56,  64, 72,
                             76, 80, 84, 88, 96, 104, 112, 120, 128, 256}));
}

TEST(Kernel, NamesElements) {
  for (uint32_t i = 0; i <= IRISRT_ELT_INDEX; ++i) {
    EXPECT_EQ(parseElement(elementName(i)), IrisRtElement(i));
    EXPECT_GT(elementBytes(i), 0u);
  }
  EXPECT_EQ(elementBytes(10), 0u);
  EXPECT_FALSE(parseElement("f8").has_value());
  // Reference value of FNV-1a.
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8ull);
}

} // namespace
