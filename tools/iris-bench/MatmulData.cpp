// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulData.cpp - Matrices and expected results of matmuls ----------===//
#include "MatmulData.h"

#include "Data.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace iris;
using namespace iris::bench;
using ccl::DType;
using ccl::MatmulKind;

MatmulData::MatmulData(const ccl::MatmulProblem &p, uint32_t rank,
                       uint32_t numRanks)
    : a{p.m, p.k, 0, 0}, b{p.k, p.n, 0, 0}, c{p.m, p.n, 0, 0}, depth(p.k),
      problem(p), numRanks(numRanks) {
  const uint64_t me = rank, ranks = numRanks;
  switch (p.kind) {
  case MatmulKind::matmul:
    break;
  case MatmulKind::allGatherMatmul:
    if (p.config.shard == "m") {
      a.firstRow = me * p.m;
      c.rows *= ranks;
    } else {
      a.firstColumn = me * p.k;
      b.rows = depth = ranks * p.k;
    }
    break;
  case MatmulKind::matmulAllGather:
    if (p.config.shard == "n") {
      b.firstColumn = me * p.n;
      c.columns *= ranks;
    } else {
      a.firstRow = me * p.m;
      c.rows *= ranks;
    }
    break;
  case MatmulKind::matmulReduceScatter:
    a.rows *= ranks;
    c.firstRow = me * p.m;
    [[fallthrough]];
  case MatmulKind::matmulAllReduce:
    a.firstColumn = b.firstRow = me * p.k;
    depth = ranks * p.k;
    break;
  }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The bits of an integer; elements are the integer times 2^-shift.
static unsigned bitsOf(DType element) {
  switch (element) {
  case DType::f8e4m3fn:
  case DType::f8e4m3fnuz:
    return 4;
  case DType::f8e5m2:
  case DType::f8e5m2fnuz:
    return 3;
  default:
    return 8;
  }
}
static unsigned shiftOf(DType element) {
  return element == DType::i8 ? 0 : bitsOf(element) - 2;
}

int MatmulData::number(uint64_t row, uint64_t column, uint64_t salt) const {
  uint64_t h = (row * 0x9E3779B97F4A7C15ull) ^
               (column * 0xC2B2AE3D27D4EB4Full + salt * 0x165667B19E3779F9ull);
  h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ull;
  unsigned bits = bitsOf(problem.element);
  return static_cast<int>(h >> (64 - bits)) - (1 << (bits - 1));
}

std::vector<uint8_t> MatmulData::fill(const MatrixPart &part,
                                      uint64_t salt) const {
  const size_t size = ccl::dtypeBytes(problem.element);
  const int half = 1 << (bitsOf(problem.element) - 1);
  std::vector<uint64_t> codes;
  for (int value = -half; value < half; ++value)
    codes.push_back(encode(value, shiftOf(problem.element), problem.element));
  const bool isColumnMajor =
      salt == 1 ? problem.aIsColumnMajor : problem.bIsColumnMajor;
  std::vector<uint8_t> bytes(part.count() * size);
  for (uint64_t i = 0; i < part.rows; ++i)
    for (uint64_t j = 0; j < part.columns; ++j) {
      int value = number(part.firstRow + i, part.firstColumn + j, salt);
      uint64_t index = isColumnMajor ? j * part.rows + i : i * part.columns + j;
      std::memcpy(&bytes[index * size],
                  &codes[static_cast<size_t>(value + half)],
                  size); // little endian
    }
  return bytes;
}

uint64_t MatmulData::resultBytes() const {
  return c.count() * ccl::dtypeBytes(problem.result);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The value of an element of type f16, bf16, f32 or i32.
static double decode(const uint8_t *from, DType dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, from, ccl::dtypeBytes(dtype));
  if (dtype == DType::i32)
    return static_cast<int32_t>(bits);
  if (dtype == DType::f16) {
    int exponent = static_cast<int>((bits >> 10) & 31);
    double fraction = bits & 1023;
    double size = exponent == 31  ? HUGE_VAL
                  : exponent == 0 ? std::ldexp(fraction, -24)
                                  : std::ldexp(fraction + 1024, exponent - 25);
    return (bits >> 15) != 0 ? -size : size;
  }
  if (dtype == DType::bf16)
    bits <<= 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Half a unit in the last place, relative.
static double roundingOf(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return std::ldexp(1, -11);
  case DType::bf16:
    return std::ldexp(1, -8);
  case DType::f32:
    return std::ldexp(1, -24);
  default:
    return 0;
  }
}

/// The relative error of an accumulation, with respect to the sum of the
/// products' absolute values: f32 has 24 bits; sm_90a accumulates fp8 products
/// with fewer.
static double lossOf(DType element) {
  if (element == DType::i8)
    return 0;
  return std::ldexp(1, ccl::dtypeBytes(element) == 1 ? -12 : -22);
}

double MatmulData::errorAt(const uint8_t *element, uint64_t row,
                           uint64_t column) const {
  // Partial sums, rank by rank.
  bool hasPartialSums = problem.config.partialType == "result";
  uint64_t part = hasPartialSums ? depth / numRanks : depth;
  int64_t sum = 0, size = 0, partialSizes = 0;
  for (uint64_t first = 0; first < depth; first += part) {
    int64_t partialSum = 0;
    for (uint64_t k = first; k < first + part; ++k) {
      int64_t product = static_cast<int64_t>(number(c.firstRow + row, k, 1)) *
                        number(k, c.firstColumn + column, 2);
      partialSum += product;
      size += std::abs(product);
    }
    sum += partialSum;
    partialSizes += std::abs(partialSum);
  }
  const int scale = -2 * static_cast<int>(shiftOf(problem.element));
  auto real = [&](int64_t value) {
    return std::ldexp(static_cast<double>(value), scale);
  };
  double rounding = roundingOf(problem.result);
  double bound = rounding * std::abs(real(sum)) +
                 lossOf(problem.element) * real(size) + 1e-30;
  if (hasPartialSums)
    bound += rounding * real(partialSizes);
  double error = std::abs(decode(element, problem.result) - real(sum));
  return error <= bound ? error / bound : std::max(error / bound, 1.001);
}

double MatmulData::worstError(const std::vector<uint8_t> &result,
                              std::string &where) const {
  constexpr uint64_t products = 1 << 24, fewest = 64;
  uint64_t elements = std::max(products / std::max<uint64_t>(depth, 1), fewest);
  double area = std::max(1.0, static_cast<double>(c.count()) /
                                  static_cast<double>(elements));
  auto step = static_cast<uint64_t>(std::ceil(std::sqrt(area)));
  const size_t size = ccl::dtypeBytes(problem.result);
  double worst = 0;
  for (uint64_t i = 0; i < c.rows; i += step)
    for (uint64_t j = 0; j < c.columns; j += step) {
      // A pseudo-random element of the cell.
      auto h = static_cast<uint64_t>(number(i, j, 3) + 128) * 0x9E3779B9u;
      uint64_t row = std::min(i + (h >> 8) % step, c.rows - 1);
      uint64_t column = std::min(j + (h >> 16) % step, c.columns - 1);
      const uint8_t *element = &result[(row * c.columns + column) * size];
      double error = errorAt(element, row, column);
      if (!(error <= worst)) {
        worst = error;
        where = "(" + std::to_string(row) + ", " + std::to_string(column) +
                ") is " + std::to_string(decode(element, problem.result));
      }
    }
  return worst;
}
