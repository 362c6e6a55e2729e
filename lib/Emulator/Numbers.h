// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Numbers.h - Floating-point formats -----------------------*- C++ -*-===//
//
// Conversions without branches, which the compiler vectorizes.
#ifndef IRIS_EMULATOR_NUMBERS_H
#define IRIS_EMULATOR_NUMBERS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace mlir::iris::emulator {

template <class To, class From>
inline To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

/// The value of an f16.
inline float fromHalf(uint32_t half) {
  uint32_t magnitude = half & 0x7FFF, sign = (half & 0x8000) << 16;
  // As if the exponent had the bias of f32, then scaled: exact, also for
  // subnormal numbers.
  float scaled = bitCast<float>(magnitude << 13) * 0x1p112f;
  uint32_t special = magnitude >= 0x7C00 ? 0x7F800000u | magnitude << 13 : 0;
  return bitCast<float>(bitCast<uint32_t>(scaled) | special | sign);
}

/// The nearest f16; ties to even. NaN stays a quiet NaN.
inline uint32_t toHalf(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  // Subnormal results: the addition rounds at the right bit.
  uint32_t small =
      bitCast<uint32_t>(bitCast<float>(magnitude) + 0.5f) - 0x3F000000u;
  uint32_t normal =
      (magnitude + 0xFFFu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  uint32_t result = magnitude < (113u << 23) ? small : normal;
  result = magnitude >= (143u << 23) - 0x1000u ? 0x7C00u : result;
  result =
      magnitude > 0x7F800000u ? 0x7E00u | (magnitude >> 13 & 0x3FF) : result;
  return result | sign;
}

/// f64 to the nearest f32 whose last bit is set if it is not exact, so that
/// rounding it again to a shorter format gives the correctly rounded result.
inline float roundToOdd(double value) {
  float nearest = float(value);
  uint32_t bits = bitCast<uint32_t>(nearest);
  double back = nearest;
  bool isInexact = back != value && value == value;
  // The neighbour toward the value, if the last bit is clear.
  bool isTooLarge = std::fabs(back) > std::fabs(value);
  uint32_t neighbour = isTooLarge ? bits - 1 : bits + 1;
  return bitCast<float>(isInexact && !(bits & 1) ? neighbour : bits);
}

/// a * b + c in f64, where the product is exact, rounded to odd: rounding the
/// result to f32 or f16 gives the correctly rounded fused operation.
inline double fuseToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  uint64_t bits = bitCast<uint64_t>(sum);
  // Not for NaN, which the error of an infinite sum is.
  bool isInexact = error < 0 || error > 0;
  uint64_t neighbour = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return bitCast<double>(isInexact && !(bits & 1) ? neighbour : bits);
}

/// a * b + c, rounded once: as an instruction, where the host has one.
inline float fuseSlowly(float a, float b, float c) {
  return float(fuseToOdd(a, b, c));
}
inline float fuse(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

inline float fromBrain(uint32_t brain) { return bitCast<float>(brain << 16); }

/// The nearest bf16; ties to even. NaN stays a quiet NaN.
inline uint32_t toBrain(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7FFFFFFF) > 0x7F800000u ? bits >> 16 | 0x40 : rounded;
}

/// The nearest number of an integer type.
template <class Number>
inline Number saturate(int64_t value) {
  using Limits = std::numeric_limits<Number>;
  return Number(std::clamp<int64_t>(value, Limits::min(), Limits::max()));
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_NUMBERS_H
