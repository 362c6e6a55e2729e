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
#include <type_traits>

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

/// Multiplies kRows rows of A by kColumns columns of B, and adds. The sums of
/// consecutive rows are in consecutive registers, values of A `rowStep` lanes
/// apart. Consecutive k are in consecutive rows of `a` and `b`, `count` of
/// them, then in the next group of `groupLanes` lanes.
template <unsigned kRows, unsigned kColumns, class Sum>
inline void accumulate(Sum *sums, const float *a, unsigned rowStep,
                       const float *b, unsigned groups, unsigned groupLanes,
                       unsigned count) {
  Sum local[kRows][kColumns];
  for (unsigned row = 0; row < kRows; ++row)
    std::copy_n(sums + row * kLanes, kColumns, local[row]);
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned j = 0; j < count; ++j) {
      const float *columns = b + j * kLanes + group * groupLanes;
      for (unsigned row = 0; row < kRows; ++row) {
        Sum factor = Sum(a[j * kLanes + group * groupLanes + row * rowStep]);
        for (unsigned i = 0; i < kColumns; ++i)
          local[row][i] += factor * Sum(columns[i]);
      }
    }
  for (unsigned row = 0; row < kRows; ++row)
    std::copy_n(local[row], kColumns, sums + row * kLanes);
}

/// The same for four rows of eight columns, with the host's widest
/// instructions.
void addFloats(float *sums, const float *a, unsigned rowStep, const float *b,
               unsigned groups, unsigned groupLanes, unsigned count);

/// The same for sixteen columns.
void addFloats16(float *sums, const float *a, unsigned rowStep, const float *b,
                 unsigned groups, unsigned groupLanes, unsigned count);

constexpr unsigned kRowsAtOnce = 4;

/// The same for four rows of kColumns columns.
template <unsigned kColumns, class Sum>
inline void addRows(Sum *sums, const float *a, unsigned rowStep, const float *b,
                    unsigned groups, unsigned count) {
  if constexpr (std::is_same_v<Sum, float> && kColumns % 16 == 0) {
    for (unsigned column = 0; column < kColumns; column += 16)
      addFloats16(sums + column, a, rowStep, b + column, groups, kColumns,
                  count);
  } else if constexpr (std::is_same_v<Sum, float> && kColumns % 8 == 0) {
    for (unsigned column = 0; column < kColumns; column += 8)
      addFloats(sums + column, a, rowStep, b + column, groups, kColumns, count);
  } else {
    accumulate<kRowsAtOnce, kColumns>(sums, a, rowStep, b, groups, kColumns,
                                      count);
  }
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
