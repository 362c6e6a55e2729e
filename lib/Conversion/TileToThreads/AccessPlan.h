// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a window of a buffer is accessed: how wide, and what has to be checked at
// run time for that.
#ifndef IRIS_LIB_CONVERSION_TILETOTHREADS_ACCESSPLAN_H
#define IRIS_LIB_CONVERSION_TILETOTHREADS_ACCESSPLAN_H

#include "iris/Analysis/LinearLayout.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"

namespace mlir::iris {

/// The decision about one tile.load or tile.store.
struct AccessPlan {
  /// Elements per access on the fast path; neighbours in memory.
  unsigned width = 1;
  /// Bytes of one element.
  int64_t elementBytes = 1;
  /// Register bits that count the elements of one access.
  SmallVector<unsigned> vectorBits;
  /// Per-thread offsets may exceed 31 bits.
  bool wideOffsets = false;
  /// Every byte of the buffer lies below 31 bits from its begin, and the window
  /// inside: where the window begins is an offset per thread, too.
  bool narrowStart = false;
  /// The window is known to lie partly outside: there is no fast path.
  bool neverInside = false;

  /// What the fast path needs and only the run time knows.
  bool checkPointer = false;
  bool checkBufferOffset = false;
  bool checkLastOffset = false;
  /// Dimensions whose stride must be a multiple of `width`.
  SmallVector<unsigned> alignedStrides;
  /// Dimensions whose stride must not exceed a limit: {dimension, limit}.
  SmallVector<std::pair<unsigned, int64_t>> smallStrides;
  /// Dimensions whose window might begin before or end behind the buffer.
  SmallVector<unsigned> lowerBounds;
  SmallVector<unsigned> upperBounds;

  bool hasChecks() const {
    return checkPointer || checkBufferOffset || checkLastOffset ||
           !alignedStrides.empty() || !smallStrides.empty() ||
           !lowerBounds.empty() || !upperBounds.empty();
  }

  /// Why accesses are not as wide as the hardware's; empty if they are.
  std::string missed;
};

/// Plans the access to the window of `buffer` at `offsets` that a tile of type
/// `tile` covers.
AccessPlan planAccess(Value buffer, ValueRange offsets, RankedTensorType tile);

/// Reports the plan as a remark at `op`.
void remarkAccess(Operation *op, const AccessPlan &plan);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOTHREADS_ACCESSPLAN_H
