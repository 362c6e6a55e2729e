// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices, and products of them that the host computes: hashes of places in
// the whole matrices, random numbers of 8 bits (fp8: fewer), so that a GPU
// works as hard as with other random data, and sums are exact in whole numbers.
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
  /// Values of k over all ranks.
  uint64_t depth = 0;

  std::vector<uint8_t> left() const { return fill(a, 1); }
  std::vector<uint8_t> right() const { return fill(b, 2); }
  uint64_t resultBytes() const;

  /// The largest error of a result, in units of what rounding may make of it: 1
  /// or less is right.  Small results are looked at as a whole; of others some
  /// elements, one in each cell of a grid.
  double worstError(const std::vector<uint8_t> &result,
                    std::string &where) const;

private:
  std::vector<uint8_t> fill(const MatrixPart &part, uint64_t salt) const;
  int number(uint64_t row, uint64_t column, uint64_t salt) const;
  /// What the element may differ by and what it should be.
  double errorAt(const uint8_t *place, uint64_t row, uint64_t column) const;

  ccl::MatmulProblem problem;
  uint32_t numRanks;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_MATMULDATA_H
