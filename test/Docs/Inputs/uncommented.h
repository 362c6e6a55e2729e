// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- uncommented.h - A header with comments missing -----------*- C++ -*-===//
//
// Input of api.test.
#include <cstdint>

namespace iris::rt {

/// A number of rows and columns.
struct Shape {
  /// At least 1.
  uint32_t rows = 1;

  uint32_t columns = 1;

  /// Exchanges both.
  void transpose();
  void invert();

private:
  int hidden_ = 0;
};

/// Comments on another line do not count.

uint64_t area(const Shape &shape);

/// Scales a shape.
/// \param factor the factor
Shape scale(uint32_t by);

/// Checks a shape.
Status check(const Shape &shape);

} // namespace iris::rt
