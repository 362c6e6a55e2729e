// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Footprint.h - What a synchronizing op accesses -----------*- C++ -*-===//
#ifndef IRIS_LIB_INTERPRETER_FOOTPRINT_H
#define IRIS_LIB_INTERPRETER_FOOTPRINT_H

#include "Machine.h"

namespace mlir::iris::interp {

/// One access.
struct Touch {
  /// The allocation, and the rank whose copy it is.
  int64_t allocation = 0;
  unsigned rank = 0;
  int64_t begin = 0, end = 0;
  bool writes = false;
  /// Of a write: the bytes before it.
  SmallVector<uint8_t, 8> before;
};

/// The accesses of one op, in order.
using Footprint = SmallVector<Touch, 2>;

/// Whether two ops access a common byte, which one of them writes: their order
/// matters.
bool conflict(const Footprint &a, const Footprint &b);

/// The accesses of a wait that has not been executed.
Footprint footprintOf(const Awaited &awaited);

/// Whether the wait may hold right before `op` wrote.
bool mayHoldBefore(const Awaited &awaited, const Footprint &op);

/// The end of a program whose place another one takes: all ends of a rank
/// conflict.
Touch placeOf(unsigned rank);

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_FOOTPRINT_H
