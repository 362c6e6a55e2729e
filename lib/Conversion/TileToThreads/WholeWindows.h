// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WholeWindows.h - Windows that need no bounds check -------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_TILETOTHREADS_WHOLEWINDOWS_H
#define IRIS_LIB_CONVERSION_TILETOTHREADS_WHOLEWINDOWS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::iris {

/// True if a window of `extent` elements at `offset` along a dimension of
/// `buffer` is known to lie inside. The form that is known is that of a loop
/// over the whole tiles of a dimension:
///
///   %whole = arith.divui %size, %tile
///   scf.for %t = %first to %whole step %step {
///     %offset = arith.muli %t, %tile
bool isWholeWindow(Value offset, Value buffer, unsigned dim, int64_t extent);

/// True if such a window is known to hang over the end: the tile behind the
/// whole ones, at `arith.muli %whole, %tile`.
bool isCutWindow(Value offset, Value buffer, unsigned dim, int64_t extent);

/// A bound that a size does not exceed, if one follows from how it was made.
std::optional<uint64_t> getSizeBound(Value buffer, unsigned dim);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOTHREADS_WHOLEWINDOWS_H
