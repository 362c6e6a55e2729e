// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WholeWindows.h - Windows without bounds checks -----------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_TILETOTHREADS_WHOLEWINDOWS_H
#define IRIS_LIB_CONVERSION_TILETOTHREADS_WHOLEWINDOWS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::iris {

/// True if a window of `extent` elements at `offset` along a dimension of
/// `buffer` is known to be inside. Recognizes loops over the whole tiles of a
/// dimension:
///
///   %whole = arith.divui %size, %tile
///   scf.for %t = %first to %whole step %step {
///     %offset = arith.muli %t, %tile
bool isWholeWindow(Value offset, Value buffer, unsigned dim, int64_t extent);

/// True if such a window is known to exceed the buffer: the tile after the
/// whole ones, at `arith.muli %whole, %tile`.
bool isCutWindow(Value offset, Value buffer, unsigned dim, int64_t extent);

/// An upper bound of a size, if it is known.
std::optional<uint64_t> getSizeBound(Value buffer, unsigned dim);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOTHREADS_WHOLEWINDOWS_H
