// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest power of two that divides an index, a pointer, an extent or a
// stride.
//
// Facts come from constants, from static types and from the attribute
// `iris.divisibility` of kernel arguments, which the runtime checks at launch.
// Only powers of two are tracked: they alone matter for alignment, and they
// survive wrap-around.
#ifndef IRIS_ANALYSIS_DIVISIBILITY_H
#define IRIS_ANALYSIS_DIVISIBILITY_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::iris {

/// Computes divisors on demand and caches those of values. Invalid after any
/// change of the IR.
class Divisibility {
public:
  /// The divisor of zero.
  static constexpr uint64_t kMax = uint64_t(1) << 62;

  /// Returns the largest power of two known to divide the integer or index
  /// `value`.
  uint64_t getDivisor(Value value);

  /// Returns the largest power of two known to divide the address, in bytes, of
  /// the first element of the allocation that contains `buffer`. The buffer's
  /// offset is not included.
  uint64_t getPointerDivisor(Value buffer);

  /// Returns the largest power of two known to divide the extent of a
  /// dimension, and its stride in elements.
  uint64_t getSizeDivisor(Value buffer, unsigned dim);
  uint64_t getStrideDivisor(Value buffer, unsigned dim);

private:
  uint64_t compute(Value value);
  uint64_t computeResult(OpResult result);

  llvm::DenseMap<Value, uint64_t> divisors;
};

/// Returns the buffer with the same extents, strides and alignment as `buffer`:
/// looks through translations to other ranks, which preserve all three.
Value getOwnBuffer(Value buffer);

/// Returns the largest power of two that divides `value`.
uint64_t getPowerOfTwoDivisor(int64_t value);

} // namespace mlir::iris

#endif // IRIS_ANALYSIS_DIVISIBILITY_H
