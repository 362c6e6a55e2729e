// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Window.h - Addresses of a buffer's elements --------------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_TILETOLOOPS_WINDOW_H
#define IRIS_LIB_CONVERSION_TILETOLOOPS_WINDOW_H

#include "TileLowering.h"

namespace mlir::iris {

/// A window of a user's buffer. Byte offsets have 64 bits; coordinates outside
/// of the buffer are valid as long as they are not accessed.
class Window {
public:
  /// The window of `extents` elements at `offsets` of `buffer`; without
  /// offsets, the whole buffer.
  Window(ImplicitLocOpBuilder &b, TypedValue<MemRefType> buffer,
         ValueRange offsets, ArrayRef<int64_t> extents);

  /// The address of the element at `coordinates`, relative to the window's
  /// first element.
  Value address(ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates) const;

  /// True (i1) if the whole window is inside the buffer.
  Value isInside(ImplicitLocOpBuilder &b) const;

  /// The coordinates of the window that are inside the buffer.
  SmallVector<Bound> insideBounds(ImplicitLocOpBuilder &b) const;

  /// True (i1) if `coordinates` of the *buffer* are valid.
  Value contains(ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates) const;

  /// True if the last dimension has stride 1.
  bool hasContiguousRows() const { return contiguousRows; }

  Value load(ImplicitLocOpBuilder &b, Value address, bool isVolatile) const;
  void store(ImplicitLocOpBuilder &b, Value value, Value address,
             bool isVolatile) const;

private:
  Type element;
  Value origin;
  SmallVector<Value> offsets, sizes, strides;
  SmallVector<int64_t> extents;
  bool contiguousRows;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOLOOPS_WINDOW_H
