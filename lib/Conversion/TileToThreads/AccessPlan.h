// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of an access to a window of a buffer: its width, and the conditions
// that must be checked at run time.
#ifndef IRIS_LIB_CONVERSION_TILETOTHREADS_ACCESSPLAN_H
#define IRIS_LIB_CONVERSION_TILETOTHREADS_ACCESSPLAN_H

#include "iris/Analysis/LinearLayout.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"

namespace mlir::iris {

/// Byte offsets below this are added to an address as unsigned 32-bit numbers.
inline constexpr int64_t kOffsetLimit = int64_t(1) << 31;

/// The plan of one tile.load or tile.store.
struct AccessPlan {
  /// The dimension along which an access has its elements.
  unsigned innerDim = 0;
  /// Elements per access on the fast path; contiguous in memory.
  unsigned width = 1;
  /// Bytes of one element.
  int64_t elementBytes = 1;
  /// Bytes that the address of each access is a multiple of on the fast path.
  int64_t alignment = 1;
  /// Register bits that enumerate the elements of one access.
  SmallVector<unsigned> vectorBits;
  /// Per-thread byte offsets may exceed 31 bits.
  bool wideOffsets = false;
  /// Every byte of the buffer is less than 2^31 bytes from its start, and the
  /// window is inside: the window's start is added to the per-thread offset.
  bool narrowStart = false;
  /// The window is known to be partly outside: there is no fast path.
  bool neverInside = false;

  /// Conditions of the fast path that must be checked at run time.
  bool checkPointer = false;
  bool checkBufferOffset = false;
  bool checkInnerOffset = false;
  /// Dimensions whose stride must be a multiple of `width`.
  SmallVector<unsigned> alignedStrides;
  /// Dimensions whose stride must not exceed a limit: {dimension, limit}.
  SmallVector<std::pair<unsigned, int64_t>> smallStrides;
  /// Dimensions in which the window may begin before or end after the buffer.
  SmallVector<unsigned> lowerBounds;
  SmallVector<unsigned> upperBounds;

  bool hasChecks() const {
    return checkPointer || checkBufferOffset || checkInnerOffset ||
           !alignedStrides.empty() || !smallStrides.empty() ||
           !lowerBounds.empty() || !upperBounds.empty();
  }

  /// Why accesses are narrower than the hardware's widest; empty if they are
  /// not.
  std::string missed;
};

/// Plans the access to the window of `buffer` at `offsets` with the shape of
/// `tile`.
/// \param unalignedVectors vectors in global memory may begin at any address
AccessPlan planAccess(Value buffer, ValueRange offsets, RankedTensorType tile,
                      bool unalignedVectors);

/// Emits the plan as a remark at `op`.
void remarkAccess(Operation *op, const AccessPlan &plan);

/// Emits a remark at `op`, a gather or scatter of elements of `type`, which has
/// no plan.
void remarkIndexedAccess(Operation *op, Type type);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOTHREADS_ACCESSPLAN_H
