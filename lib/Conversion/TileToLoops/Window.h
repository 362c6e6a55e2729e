// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Window.h - Addresses of a buffer's elements --------------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_TILETOLOOPS_WINDOW_H
#define IRIS_LIB_CONVERSION_TILETOLOOPS_WINDOW_H

#include "TileLowering.h"

namespace mlir::iris {

/// The window of a user's buffer at some offsets. Byte offsets are 64 bits
/// wide; coordinates may lie outside of the buffer as long as nothing is
/// accessed there.
class Window {
public:
  /// The window of `extents` elements at `offsets` of `buffer`; without
  /// offsets the buffer itself.
  Window(ImplicitLocOpBuilder &b, TypedValue<MemRefType> buffer,
         ValueRange offsets, ArrayRef<int64_t> extents);

  /// The address of the element at `coordinates`, counted from the window's
  /// first one.
  Value address(ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates) const;

  /// i1: the whole window lies inside of the buffer.
  Value isInside(ImplicitLocOpBuilder &b) const;

  /// The coordinates of the window that lie inside of the buffer.
  SmallVector<Bound> insideBounds(ImplicitLocOpBuilder &b) const;

  /// i1: the element at `coordinates` of the *buffer* exists.
  Value contains(ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates) const;

  /// True if neighbours along the last dimension are neighbours in memory.
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
