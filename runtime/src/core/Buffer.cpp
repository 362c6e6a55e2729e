// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Buffer.cpp - Initialized buffers on the symmetric heap -------------===//
#include "iris/rt/Buffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

using namespace iris::rt;

/// Elements of the host buffer for initialization.
static constexpr int64_t stagingElements = 1 << 20;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Rounds a 32-bit float to bf16, to nearest even.
static uint16_t roundToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Rounds to f16, to nearest even, in units of the spacing of f16 at `value`.
static uint16_t roundToF16(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  double magnitude = std::fabs(value);
  if (magnitude >= 65520) // halfway between the largest f16 and 2^16
    return sign | 0x7c00;
  int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  // nearbyint rounds to nearest even in the default mode.
  double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  // Subnormals are multiples of 2^-24; a carry into the exponent is correct.
  uint32_t bits = static_cast<uint32_t>(steps) +
                  (static_cast<uint32_t>(exponent + 14) << 10);
  return static_cast<uint16_t>(sign | bits);
}

/// Truncates towards zero and wraps to 64 bits.
static uint64_t wrapToInteger(double value) {
  if (!std::isfinite(value))
    return 0;
  double whole = std::trunc(value);
  double rest = std::fmod(std::fabs(whole), 18446744073709551616.0);
  uint64_t bits = static_cast<uint64_t>(rest);
  return whole < 0 ? ~bits + 1 : bits;
}

uint64_t iris::rt::encodeElement(IrisRtElement element, double value) {
  switch (element) {
  case IRISRT_ELT_I1:
    return value != 0;
  case IRISRT_ELT_I8:
    return wrapToInteger(value) & 0xff;
  case IRISRT_ELT_I16:
    return wrapToInteger(value) & 0xffff;
  case IRISRT_ELT_I32:
    return wrapToInteger(value) & 0xffffffff;
  case IRISRT_ELT_I64:
  case IRISRT_ELT_INDEX:
    return wrapToInteger(value);
  case IRISRT_ELT_F16:
    return roundToF16(value);
  case IRISRT_ELT_BF16:
    return roundToBf16(static_cast<float>(value));
  case IRISRT_ELT_F32: {
    float narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    return bits;
  }
  case IRISRT_ELT_F64: {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  }
  return 0;
}

static bool isFloat(IrisRtElement element) {
  return element == IRISRT_ELT_F16 || element == IRISRT_ELT_BF16 ||
         element == IRISRT_ELT_F32 || element == IRISRT_ELT_F64;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

int64_t Buffer::numElements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

uint64_t Buffer::bytes() const {
  return static_cast<uint64_t>(numElements()) * elementBytes(element);
}

static Expected<Buffer> makeBuffer(World &world, IrisRtElement element,
                                   const std::vector<int64_t> &sizes) {
  uint64_t bytes = elementBytes(element);
  if (bytes == 0)
    return makeStatus(StatusCode::invalidArgument, "%d is not an element type",
                      static_cast<int>(element));
  if (sizes.size() > IRISRT_MAX_DIMS)
    return makeStatus(StatusCode::invalidArgument,
                      "a buffer of %zu dimensions; expected at most %d",
                      sizes.size(), IRISRT_MAX_DIMS);
  for (int64_t size : sizes)
    if (size < 0 ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return makeStatus(
          StatusCode::invalidArgument,
          "a buffer with a dimension of %lld elements; expected 0 or more, "
          "and less than 2^64 bytes in total",
          static_cast<long long>(size));
  Buffer buffer;
  buffer.element = element;
  buffer.sizes = sizes;
  IRISRT_ASSIGN_OR_RETURN(buffer.address, world.allocate(bytes));
  return buffer;
}

/// Allocates a buffer whose element `index` is `bitsOf(index)`.
static Expected<Buffer>
fillNew(World &world, IrisRtElement element, const std::vector<int64_t> &sizes,
        const std::function<uint64_t(int64_t)> &bitsOf) {
  IRISRT_ASSIGN_OR_RETURN(Buffer buffer, makeBuffer(world, element, sizes));
  uint64_t width = elementBytes(element);
  int64_t count = buffer.numElements();
  std::vector<uint8_t> staging(
      static_cast<size_t>(std::min(count, stagingElements)) * width);
  for (int64_t start = 0; start < count; start += stagingElements) {
    int64_t now = std::min(stagingElements, count - start);
    for (int64_t i = 0; i < now; ++i) {
      uint64_t bits = bitsOf(start + i); // little endian: low bytes first
      std::memcpy(staging.data() + static_cast<uint64_t>(i) * width, &bits,
                  width);
    }
    IRISRT_RETURN_IF_ERROR(
        world.writeNow(buffer.address + static_cast<uint64_t>(start) * width,
                       staging.data(), static_cast<uint64_t>(now) * width));
  }
  return buffer;
}

Expected<Buffer> iris::rt::zeros(World &world, IrisRtElement element,
                                 const std::vector<int64_t> &sizes) {
  return makeBuffer(world, element, sizes);
}

Expected<Buffer> iris::rt::full(World &world, IrisRtElement element,
                                const std::vector<int64_t> &sizes,
                                double value) {
  uint64_t bits = encodeElement(element, value);
  return fillNew(world, element, sizes, [=](int64_t) { return bits; });
}

Expected<Buffer> iris::rt::iota(World &world, IrisRtElement element,
                                const std::vector<int64_t> &sizes, double start,
                                double step) {
  return fillNew(world, element, sizes, [=](int64_t index) {
    return encodeElement(element, start + static_cast<double>(index) * step);
  });
}

/// The splitmix64 hash.
static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

Expected<Buffer> iris::rt::random(World &world, IrisRtElement element,
                                  const std::vector<int64_t> &sizes,
                                  uint64_t seed) {
  uint64_t base = mix(mix(seed) ^ world.rank());
  return fillNew(world, element, sizes, [=](int64_t index) {
    uint64_t bits = mix(base ^ mix(static_cast<uint64_t>(index)));
    if (!isFloat(element))
      return element == IRISRT_ELT_I1 ? bits & 1 : bits;
    // 53 random bits as a number in [0, 2), then shifted to [-1, 1).
    return encodeElement(element, std::ldexp(double(bits >> 11), -52) - 1);
  });
}
