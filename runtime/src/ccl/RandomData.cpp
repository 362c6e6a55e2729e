// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RandomData.cpp - Data for measurements -----------------------------===//
#include "ccl/RandomData.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;

namespace {
/// The bits of a float format: those of 1.0, and the sign and mantissa, which
/// vary.
struct FloatBits {
  uint32_t one, varying;
};
} // namespace

static FloatBits floatBitsOf(DType type) {
  switch (type) {
  case DType::f16:
    return {0x3c00, 0x83ff};
  case DType::bf16:
    return {0x3f80, 0x807f};
  case DType::f32:
    return {0x3f800000, 0x807fffff};
  case DType::f8e4m3fn:
    return {0x38, 0x87};
  case DType::f8e5m2:
    return {0x3c, 0x83};
  case DType::f8e4m3fnuz:
    return {0x40, 0x87};
  case DType::f8e5m2fnuz:
    return {0x40, 0x83};
  default: // integers
    return {0, 0xffffffff};
  }
}

Status iris::ccl::fillRandomly(World &world, uint64_t address, uint64_t count,
                               DType type, Stream stream) {
  const uint32_t size = dtypeBytes(type);
  const FloatBits bits = floatBitsOf(type);
  constexpr uint64_t blockBytes = 1 << 20;
  const uint64_t bytes = count * size;
  std::vector<uint8_t> block(std::min(bytes, blockBytes / size * size));
  uint64_t state = 0x9e3779b97f4a7c15ull + world.rank();
  for (size_t i = 0; i < block.size(); i += size) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    auto random = static_cast<uint32_t>(state >> 32);
    uint32_t element = bits.one | (random & bits.varying);
    std::memcpy(&block[i], &element, std::min<size_t>(size, sizeof(element)));
  }
  IRISRT_RETURN_IF_ERROR(
      world.writeNow(address, block.data(), block.size(), stream));
  for (uint64_t done = block.size(); done < bytes;) {
    uint64_t step = std::min(done, bytes - done);
    IRISRT_RETURN_IF_ERROR(
        world.copyOnDevice(address + done, address, step, stream));
    done += step;
  }
  return Status::success();
}
