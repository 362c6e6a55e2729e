// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Footprint.h - What a synchronizing op accesses -----------*- C++ -*-===//
#ifndef IRIS_LIB_INTERPRETER_FOOTPRINT_H
#define IRIS_LIB_INTERPRETER_FOOTPRINT_H

#include "Machine.h"

namespace mlir::iris::interp {

/// One access, of at most 8 bytes.
struct Touch {
  /// The allocation, and the rank whose copy it is.
  int64_t allocation = 0;
  unsigned rank = 0;
  int64_t begin = 0, end = 0;
  bool writes = false;
  /// Of a write: the bytes before it, the first one lowest.
  uint64_t before = 0;
};

/// The accesses of one op.
class Footprint {
public:
  Footprint() = default;
  /// `touches` are in the order in which the op made them.
  explicit Footprint(ArrayRef<Touch> touches);
  /// Those of a wait that has not been executed.
  explicit Footprint(const Awaited &awaited);

  /// Whether both access a common byte, which one of them writes: their order
  /// matters.
  bool conflictsWith(const Footprint &other) const;
  /// Whether the wait may hold right before this op writes.
  bool mayHoldBefore(const Awaited &awaited) const;

private:
  /// Bytes next to each other.
  struct Span {
    int64_t allocation;
    unsigned rank;
    int64_t begin, end;
    /// Of writes: the bytes before all of the op's writes.
    std::vector<uint8_t> before;
  };
  using Spans = std::vector<Span>;

  static bool overlap(const Spans &a, const Spans &b);

  /// Disjoint, in order.
  Spans reads, writes;
};

/// The end of a program whose place another one takes: all ends of a rank
/// conflict.
Touch slotOf(unsigned rank);

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_FOOTPRINT_H
