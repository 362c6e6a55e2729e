// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Values.h"

#include <algorithm>
#include <cstring>

using namespace nccl_random;

const std::vector<Type> &nccl_random::allTypes() {
  static const std::vector<Type> types = {
      {ncclInt8, "i8", 1, 0, 0, true},
      {ncclUint8, "u8", 1, 0, 0, false},
      {ncclInt32, "i32", 4, 0, 0, true},
      {ncclUint32, "u32", 4, 0, 0, false},
      {ncclInt64, "i64", 8, 0, 0, true},
      {ncclUint64, "u64", 8, 0, 0, false},
      {ncclFloat16, "f16", 2, 5, 10, true},
      {ncclBfloat16, "bf16", 2, 8, 7, true},
      {ncclFloat32, "f32", 4, 8, 23, true},
      {ncclFloat64, "f64", 8, 11, 52, true},
      {ncclFloat8e4m3, "f8e4m3", 1, 4, 3, true},
      {ncclFloat8e5m2, "f8e5m2", 1, 5, 2, true},
  };
  return types;
}

void Type::encode(int64_t value, uint8_t *to) const {
  auto bits = static_cast<uint64_t>(value);
  if (isFloat() && value != 0) {
    uint64_t magnitude = value < 0 ? -bits : bits;
    unsigned top = 63;
    while (!(magnitude >> top))
      --top;
    const uint64_t exponent = top + (uint64_t(1) << (exponentBits - 1)) - 1;
    // Without the leading one; the bits below the mantissa are zero.
    const uint64_t fraction = magnitude ^ (uint64_t(1) << top);
    const uint64_t mantissa = top > mantissaBits
                                  ? fraction >> (top - mantissaBits)
                                  : fraction << (mantissaBits - top);
    bits = (exponent << mantissaBits | mantissa) | uint64_t(value < 0)
                                                       << (8 * bytes - 1);
  }
  std::memcpy(to, &bits, bytes); // little-endian
}

uint64_t nccl_random::hashOf(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t hash = 0;
  for (uint64_t word : {a, b, c, d}) {
    // The finalizer of SplitMix64.
    hash = (hash ^ word) + 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  }
  return hash;
}

bool Reduction::isExact() const {
  switch (kind) {
  case none:
  case min:
  case max:
  case prod:
    return true;
  case sum: // 0 or 1 of each rank; three bits of mantissa have 0 to 8
    return !type->isFloat8() || ranks <= 8;
  case avg: // a multiple of 1 / ranks
    return !type->isFloat8() && (ranks & (ranks - 1)) == 0;
  case preMulSum:
    return !type->isFloat8();
  }
  return false;
}

int64_t Reduction::input(int member, uint64_t index) const {
  const uint64_t hash = hashOf(seed, static_cast<uint64_t>(member), index, 0);
  auto below = [&](int64_t n) {
    return static_cast<int64_t>(hash % static_cast<uint64_t>(n));
  };
  switch (kind) {
  case sum:
  case preMulSum:
    if (type->isFloat8())
      return below(2);
    return type->isSigned ? below(15) - 7 : below(15);
  case prod: // at most 256, which every float has
    return member < 8 ? 1 + below(2) : 1;
  case avg: // the sum fits into 8 bits
    return ranks * below(std::max(1, std::min(8, 128 / (ranks * ranks))));
  case min:
  case max:
    return type->isSigned ? below(15) - 7 : below(15);
  case none:
    break;
  }
  // Any that is exact in three bits of mantissa.
  return type->isSigned ? below(15) - 7 : below(8);
}

int64_t Reduction::reduced(uint64_t index) const {
  int64_t result = input(0, index) * (kind == preMulSum ? factor(0) : 1);
  for (int member = 1; member < ranks; ++member) {
    const int64_t value = input(member, index);
    switch (kind) {
    case none:
      break;
    case sum:
    case avg:
      result += value;
      break;
    case preMulSum:
      result += value * factor(member);
      break;
    case prod:
      result *= value;
      break;
    case min:
      result = std::min(result, value);
      break;
    case max:
      result = std::max(result, value);
      break;
    }
  }
  return kind == avg ? result / ranks : result;
}
