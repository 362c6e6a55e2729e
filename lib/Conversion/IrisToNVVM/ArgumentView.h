// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArgumentView.h - Buffers as windows of arguments ---------*- C++ -*-===//
//
// A tensor map describes an argument of the kernel. A matmul may read a part of
// one, `memref.subview`, here or on another rank: it has the argument's map, at
// coordinates that begin where the part does. The copy engine then knows where
// the argument ends, not where the part does.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_ARGUMENTVIEW_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_ARGUMENTVIEW_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// A buffer of two dimensions as a window of an argument.
struct ArgumentView {
  /// Null if there is no map for the buffer; `missed` says why.
  BlockArgument argument;
  std::string missed;
  /// Names the rank; null for this one's.
  TranslateOp translate;
  /// The parts of parts that it is, of unit steps; none if it is all of the
  /// argument.
  SmallVector<memref::SubViewOp> parts;

  /// Where the window begins along `dim`, in elements (index); null for 0.
  Value emitOffset(ImplicitLocOpBuilder &b, unsigned dim) const;
  /// Whether the engine gives for the `extent` elements from `start` (index) on
  /// along `dim` what `buffer`, the window, has there: zeros outside of the
  /// window (i1). Null if that is always so.
  Value emitIsExact(ImplicitLocOpBuilder &b, Value buffer, Value start,
                    unsigned dim, int64_t extent) const;
};

/// Finds out what `buffer` is a window of.
ArgumentView findArgument(Value buffer);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_ARGUMENTVIEW_H
