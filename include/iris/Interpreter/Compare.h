// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.h - Compares a device's buffer with the reference *- C++ -*-===//
#ifndef IRIS_INTERPRETER_COMPARE_H
#define IRIS_INTERPRETER_COMPARE_H

#include "iris/Interpreter/Interpreter.h"

namespace mlir::iris {

/// How a buffer differs from the reference.
struct BufferDifference {
  /// Elements that differ; 0: none does.
  uint64_t count = 0;
  /// Elements that were compared. The others have no value that the program
  /// determines.
  uint64_t compared = 0;
  /// The first element that differs: its indices, and the values as text.
  SmallVector<int64_t> index;
  std::string found, expected;
};

/// Compares a buffer's bytes on a device with the reference's. Elements are
/// equal if their bits are, or if both are NaN; floats also if they differ by
/// at most `tolerance` times the larger of 1 and the expected magnitude.
/// `found` has as many bytes as the reference's buffer.
BufferDifference compareBuffer(const BufferSnapshot &expected,
                               ArrayRef<uint8_t> found, double tolerance);

} // namespace mlir::iris

#endif // IRIS_INTERPRETER_COMPARE_H
