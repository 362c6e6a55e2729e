// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers from the view of one thread: addresses, bounds, guarded accesses.
#ifndef IRIS_CONVERSION_BUFFERVIEW_H
#define IRIS_CONVERSION_BUFFERVIEW_H

#include "iris/Conversion/ThreadContext.h"

namespace mlir::iris {

/// The address, strides and sizes of a buffer, extracted once per access.
class BufferView {
public:
  BufferView(Value buffer, ThreadBuilder &t);

  /// Address of the first byte of the buffer's allocation on this rank, index.
  Value getOwnAddress() const { return ownAddress; }
  /// Offset of the first element from that address, in elements, index.
  Value getOffset() const { return offset; }
  Value getStride(unsigned dim) const { return strides[dim]; }
  Value getSize(unsigned dim) const { return sizes[dim]; }
  unsigned getRank() const { return sizes.size(); }

  /// Returns the pointer `elements` (index) elements after the buffer's first
  /// one.
  Value getPointer(ThreadBuilder &t, Value elements) const;

  /// Returns the pointer to the element at `coordinates` (index each).
  Value getElementPointer(ThreadBuilder &t, ValueRange coordinates) const;

  /// Returns whether `coordinates` (index each) are inside the buffer.
  Value isInside(ThreadBuilder &t, ValueRange coordinates) const;

private:
  MemRefType type;
  Value ownAddress, offset;
  Value base; // pointer to the first byte, on the accessed rank
  SmallVector<Value> strides, sizes;
};

/// Returns the coordinate along `dim` (i32) in the tile of this thread's first
/// register; of its register `iteration` * `count` with `iteration` (i32).
Value getFirstCoordinate(ThreadBuilder &t, const LinearLayout &layout,
                         unsigned dim, Value iteration = Value(),
                         uint64_t count = 0);

/// Returns, for each register of `layout`, the buffer coordinates (index each)
/// of its element of the window at `offsets`. With `iteration` (i32), only for
/// the `count` registers (a power of two) from register `iteration` * `count`
/// on.
SmallVector<SmallVector<Value>> getWindowCoordinates(ThreadBuilder &t,
                                                     const LinearLayout &layout,
                                                     ValueRange offsets,
                                                     Value iteration = Value(),
                                                     uint64_t count = 0);

/// Keeps LLVM from unrolling `loop`.
void disableUnrolling(scf::ForOp loop);

/// Emits `body` under `condition`, or unconditionally if that is null.
void emitGuarded(ThreadBuilder &t, Value condition,
                 llvm::function_ref<void(ThreadBuilder &)> body);

/// As above for a value, which is `other` if the condition does not hold.
Value emitGuardedValue(ThreadBuilder &t, Value condition, Value other,
                       llvm::function_ref<Value(ThreadBuilder &)> body);

/// The conjunction of two conditions, either of which may be null.
Value emitAnd(ThreadBuilder &t, Value lhs, Value rhs);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_BUFFERVIEW_H
