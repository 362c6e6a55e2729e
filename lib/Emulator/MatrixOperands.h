// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixOperands.h - Operands and rows of matrix operations -*- C++
//-*-===//
#ifndef IRIS_EMULATOR_MATRIXOPERANDS_H
#define IRIS_EMULATOR_MATRIXOPERANDS_H

#include "Numbers.h"
#include "Wave.h"
#include <algorithm>
#include <array>
#include <limits>

namespace mlir::iris::emulator {

/// The formats of 8 bits: E4M3 and E5M2, with one zero or as of OCP.
template <unsigned kMantissa, bool kIsFnuz>
struct Float8 {
  static float decode(uint32_t bits) {
    unsigned exponent = bits >> kMantissa & ((1u << (7 - kMantissa)) - 1);
    unsigned mantissa = bits & ((1u << kMantissa) - 1);
    constexpr int bias = (1 << (6 - kMantissa)) - (kIsFnuz ? 0 : 1);
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (kIsFnuz && bits == 0x80)
      return nan;
    if (!kIsFnuz && kMantissa == 3 && (bits & 0x7F) == 0x7F)
      return nan;
    if (!kIsFnuz && kMantissa == 2 && exponent == 31)
      return mantissa ? nan : sign * std::numeric_limits<float>::infinity();
    float fraction = float(mantissa) / float(1 << kMantissa);
    return sign * (exponent ? std::ldexp(1 + fraction, int(exponent) - bias)
                            : std::ldexp(fraction, 1 - bias));
  }
};

/// Values of 256 codes.
template <unsigned kMantissa, bool kIsFnuz>
const float *tableOfFloat8() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values;
    for (unsigned bits = 0; bits < 256; ++bits)
      values[bits] = Float8<kMantissa, kIsFnuz>::decode(bits);
    return values;
  }();
  return table.data();
}

/// Reads the values of all lanes: values[j][lane] is the jth of a lane.
using LoadFunction = void (*)(Wave &, const Operand &, unsigned count,
                              float (*values)[kLanes]);

template <float (*decode)(uint32_t)>
inline void loadHalfValues(Wave &wave, const Operand &operand, unsigned count,
                           float (*values)[kLanes]) {
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *words = wave.row(operand.index + j / 2);
    unsigned shift = j % 2 * 16;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[j][lane] = decode(words[lane] >> shift & 0xFFFF);
  }
}

inline void loadSingles(Wave &wave, const Operand &operand, unsigned count,
                        float (*values)[kLanes]) {
  std::memcpy(values, wave.row(operand.index), count * sizeof(Row));
}

template <unsigned kMantissa, bool kIsFnuz>
inline void loadFloat8s(Wave &wave, const Operand &operand, unsigned count,
                        float (*values)[kLanes]) {
  const float *table = tableOfFloat8<kMantissa, kIsFnuz>();
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *words = wave.row(operand.index + j / 4);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[j][lane] = table[words[lane] >> (j % 4 * 8) & 0xFF];
  }
}

/// Of integers as well: they are exact in f32.
inline void loadBytes(Wave &wave, const Operand &operand, unsigned count,
                      float (*values)[kLanes]) {
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *words = wave.row(operand.index + j / 4);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[j][lane] = float(int8_t(words[lane] >> (j % 4 * 8)));
  }
}

/// Multiplies a row of A by kColumns columns of B, and adds. Consecutive k
/// are in consecutive rows of `a` and `b`, `count` of them, then in the next
/// group of kColumns lanes.
template <unsigned kColumns, class Sum>
inline void accumulate(Sum *sums, const float *a, const float *b,
                       unsigned groups, unsigned count) {
  Sum local[kColumns];
  std::copy_n(sums, kColumns, local);
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned j = 0; j < count; ++j) {
      Sum factor = Sum(a[j * kLanes + group * kColumns]);
      const float *columns = b + j * kLanes + group * kColumns;
      for (unsigned i = 0; i < kColumns; ++i)
        local[i] += factor * Sum(columns[i]);
    }
  std::copy_n(local, kColumns, sums);
}

/// The same for 32 and 16 columns, with the host's widest instructions.
void addFloats32(float *sums, const float *a, const float *b, unsigned groups,
                 unsigned count);
void addFloats16(float *sums, const float *a, const float *b, unsigned groups,
                 unsigned count);

template <unsigned kColumns>
inline void addRow(float *sums, const float *a, const float *b, unsigned groups,
                   unsigned count) {
  if (kColumns == 32)
    addFloats32(sums, a, b, groups, count);
  else if (kColumns == 16)
    addFloats16(sums, a, b, groups, count);
  else
    accumulate<kColumns>(sums, a, b, groups, count);
}
template <unsigned kColumns>
inline void addRow(int32_t *sums, const float *a, const float *b,
                   unsigned groups, unsigned count) {
  accumulate<kColumns>(sums, a, b, groups, count);
}

/// The sums before a multiplication: registers, or a constant.
template <class Sum>
inline void loadSums(Wave &wave, const Operand &initial, unsigned reg,
                     Sum *sums) {
  if (initial.kind == Operand::Vector)
    std::memcpy(sums, wave.row(initial.index + reg), sizeof(Row));
  else
    std::fill_n(sums, kLanes,
                bitCast<Sum>(initial.kind == Operand::Scalar
                                 ? wave.scalars[initial.index]
                                 : uint32_t(initial.constant)));
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_MATRIXOPERANDS_H
