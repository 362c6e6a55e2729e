// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulData.h - Matrices and expected results of matmuls --*- C++ -*-===//
//
// Elements are hashes of their indices in the whole matrix: random numbers of 8
// bits (fp8: fewer), so that a GPU uses as much power as with other random
// data, and the host computes exact sums in integers.
#ifndef IRIS_TOOLS_IRIS_BENCH_MATMULDATA_H
#define IRIS_TOOLS_IRIS_BENCH_MATMULDATA_H

#include "iris/ccl/Matmul.h"

#include <cstdint>
#include <string>
#include <vector>

namespace iris::bench {

/// A rank's part of a whole matrix.
struct MatrixPart {
  uint64_t rows = 0, columns = 0, firstRow = 0, firstColumn = 0;
  uint64_t count() const { return rows * columns; }
};

class MatmulData {
public:
  MatmulData(const ccl::MatmulProblem &problem, uint32_t rank,
             uint32_t numRanks);

  MatrixPart a, b, c;
  /// The number of values of k over all ranks.
  uint64_t depth = 0;

  std::vector<uint8_t> left() const { return fill(a, 1); }
  std::vector<uint8_t> right() const { return fill(b, 2); }
  uint64_t resultBytes() const;

  /// The largest error of a result, relative to the bound for rounding: at most
  /// 1 if the result is correct. Checks all elements of small results, else one
  /// in each cell of a grid.
  double worstError(const std::vector<uint8_t> &result,
                    std::string &where) const;

private:
  std::vector<uint8_t> fill(const MatrixPart &part, uint64_t salt) const;
  int number(uint64_t row, uint64_t column, uint64_t salt) const;
  /// The error of an element, relative to its bound.
  double errorAt(const uint8_t *element, uint64_t row, uint64_t column) const;

  ccl::MatmulProblem problem;
  uint32_t numRanks;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_MATMULDATA_H
