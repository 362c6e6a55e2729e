// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixOperands.h - Operands of matrix operations ---------*- C++ -*-===//
#ifndef IRIS_EMULATOR_MATRIXOPERANDS_H
#define IRIS_EMULATOR_MATRIXOPERANDS_H

#include "Numbers.h"
#include "Wave.h"
#include "Wide.h"
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

/// Reads the values of all lanes: values[j][lane] is the jth of a lane. They
/// are of the type of the sums: float, or uint32_t, which wraps.
template <class Value>
using LoadFunction = void (*)(Wave &, const Operand &, unsigned count,
                              Value (*values)[kLanes]);

template <float (*decode)(uint32_t)>
IRIS_INLINE void loadHalfValues(Wave &wave, const Operand &operand,
                                unsigned count, float (*values)[kLanes]) {
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *words = wave.row(operand.index + j / 2);
    unsigned shift = j % 2 * 16;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[j][lane] = decode(words[lane] >> shift & 0xFFFF);
  }
}

IRIS_INLINE void loadSingles(Wave &wave, const Operand &operand, unsigned count,
                             float (*values)[kLanes]) {
  std::memcpy(values, wave.row(operand.index), count * sizeof(Row));
}

template <unsigned kMantissa, bool kIsFnuz>
IRIS_INLINE void loadFloat8s(Wave &wave, const Operand &operand, unsigned count,
                             float (*values)[kLanes]) {
  const float *table = tableOfFloat8<kMantissa, kIsFnuz>();
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *words = wave.row(operand.index + j / 4);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[j][lane] = table[words[lane] >> (j % 4 * 8) & 0xFF];
  }
}

IRIS_INLINE void loadSignedBytes(Wave &wave, const Operand &operand,
                                 unsigned count, uint32_t (*values)[kLanes]) {
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *words = wave.row(operand.index + j / 4);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[j][lane] = uint32_t(int8_t(words[lane] >> (j % 4 * 8)));
  }
}

/// Elements of the vectors that multiply, by the host's instructions.
constexpr unsigned kWideColumns = 8, kWidestColumns = 16;

/// As many columns as one vector has. A vector of the compiler's, in as many
/// registers as it takes.
template <class Value, unsigned kColumns>
struct ColumnVector {
  typedef Value Type __attribute__((vector_size(kColumns * sizeof(Value))));
};

/// Sums in registers at the same time: as many as hide the latency of
/// additions.
constexpr unsigned kSumsAtOnce = 8;

/// Vectors of a row of kColumns, each of at most kMostColumns, that share the
/// accesses to a value of A; and the rows whose sums are in registers with
/// them.
template <unsigned kColumns, unsigned kMostColumns>
struct SumShape {
  static constexpr unsigned columns = std::min(kColumns, kMostColumns);
  static constexpr unsigned vectors = std::min(2u, kColumns / columns);
  static constexpr unsigned rows = kSumsAtOnce / vectors;
};

/// sum + factor * values, rounded once.
template <class Sum, class Vector>
IRIS_INLINE void multiplyAdd(Vector &sum, Sum factor, const Vector &values) {
  if constexpr (std::is_same_v<Sum, float>) {
#if __has_builtin(__builtin_elementwise_fma)
    sum = __builtin_elementwise_fma(values, factor - Vector{}, sum);
#else
    // One instruction where the host has it.
    Vector result;
#pragma GCC unroll 16
    for (unsigned i = 0; i < sizeof(Vector) / sizeof(Sum); ++i)
      result[i] = __builtin_fmaf(factor, values[i], sum[i]);
    sum = result;
#endif
  } else {
    sum += factor * values;
  }
}

/// The rows that are added up together: the values of A are `valueStep` lanes
/// apart. The sums of four rows are in consecutive registers, those of the next
/// four `sumStep` words further.
struct RowSteps {
  unsigned valueStep, sumStep;

  IRIS_INLINE unsigned sumOf(unsigned row) const {
    return row / 4 * sumStep + row % 4 * kLanes;
  }
};

/// Multiplies kRows of A by kVectors vectors of columns of B, and adds.
/// Consecutive k are in consecutive rows of `a` and `b`, `count` of them, then
/// in the next group of `groupLanes` lanes.
template <unsigned kRows, unsigned kVectors, unsigned kSize, class Sum>
IRIS_INLINE void addColumns(Sum *sums, const Sum *a, RowSteps steps,
                            const Sum *b, unsigned groups, unsigned groupLanes,
                            unsigned count) {
  // Sums are in registers if all loops over them are unrolled. Without the
  // pragmas GCC does not, and each step goes through memory.
  using Vector = typename ColumnVector<Sum, kSize>::Type;
  Vector local[kRows][kVectors];
#pragma GCC unroll 8
  for (unsigned row = 0; row < kRows; ++row)
#pragma GCC unroll 2
    for (unsigned i = 0; i < kVectors; ++i)
      std::memcpy(&local[row][i], sums + steps.sumOf(row) + i * kSize,
                  sizeof(Vector));
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned j = 0; j < count; ++j) {
      unsigned first = j * kLanes + group * groupLanes;
      const Sum *factors = a + first;
      Vector columns[kVectors];
#pragma GCC unroll 2
      for (unsigned i = 0; i < kVectors; ++i)
        std::memcpy(&columns[i], b + first + i * kSize, sizeof(Vector));
#pragma GCC unroll 8
      for (unsigned row = 0; row < kRows; ++row)
#pragma GCC unroll 2
        for (unsigned i = 0; i < kVectors; ++i)
          multiplyAdd(local[row][i], factors[row * steps.valueStep],
                      columns[i]);
    }
#pragma GCC unroll 8
  for (unsigned row = 0; row < kRows; ++row)
#pragma GCC unroll 2
    for (unsigned i = 0; i < kVectors; ++i)
      std::memcpy(sums + steps.sumOf(row) + i * kSize, &local[row][i],
                  sizeof(Vector));
}

/// The same for any number of columns, by vectors of at most kMostColumns.
template <unsigned kRows, unsigned kColumns, unsigned kMostColumns, class Sum>
IRIS_INLINE void addRows(Sum *sums, const Sum *a, RowSteps steps, const Sum *b,
                         unsigned groups, unsigned count) {
  using Shape = SumShape<kColumns, kMostColumns>;
  for (unsigned column = 0; column < kColumns;
       column += Shape::vectors * Shape::columns)
    addColumns<kRows, Shape::vectors, Shape::columns>(
        sums + column, a, steps, b + column, groups, kColumns, count);
}

/// The sums before a multiplication, in the registers of the result: of other
/// registers, or a constant.
IRIS_INLINE void startSums(Wave &wave, const Instruction &instruction,
                           unsigned count) {
  const Operand &initial = instruction.sources[2];
  uint32_t *sums = wave.row(instruction.result.index);
  if (initial.kind == Operand::Vector) {
    if (initial.index != instruction.result.index)
      std::memmove(sums, wave.row(initial.index), count * sizeof(Row));
    return;
  }
  std::fill_n(sums, count * kLanes,
              initial.kind == Operand::Scalar ? wave.scalars[initial.index]
                                              : uint32_t(initial.constant));
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_MATRIXOPERANDS_H
