// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArgumentView.h - Buffers as windows of arguments ---------*- C++ -*-===//
//
// A tensor map describes a kernel argument. A matmul may read a
// `memref.subview` of an argument, on this rank or on another one. It uses the
// argument's tensor map, with coordinates offset by the subview's. The TMA unit
// then checks bounds against the argument, not against the subview.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_ARGUMENTVIEW_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_ARGUMENTVIEW_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// A two-dimensional buffer as a window of an argument.
struct ArgumentView {
  /// Null if the buffer has no tensor map; `missed` says why.
  BlockArgument argument;
  std::string missed;
  /// The translation to the rank; null for this rank.
  TranslateOp translate;
  /// The subviews from the argument to the buffer, with unit strides; empty if
  /// the buffer is the whole argument.
  SmallVector<memref::SubViewOp> subviews;

  /// The window's first element along `dim`, as an index of the argument; null
  /// for 0.
  Value emitOffset(ImplicitLocOpBuilder &b, unsigned dim) const;
  /// Whether TMA loads of the `extent` elements from `start` (index) on along
  /// `dim` equal `buffer`, the window, with zeros outside of it (i1). Null if
  /// they always do.
  Value emitIsExact(ImplicitLocOpBuilder &b, Value buffer, Value start,
                    unsigned dim, int64_t extent) const;
};

/// Finds the argument of which `buffer` is a window.
ArgumentView findArgument(Value buffer);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_ARGUMENTVIEW_H
