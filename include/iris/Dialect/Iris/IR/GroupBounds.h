// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_DIALECT_IRIS_IR_GROUPBOUNDS_H
#define IRIS_DIALECT_IRIS_IR_GROUPBOUNDS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::iris {

/// An integer attribute of `iris.group_index`: the result is less, because the
/// kernel is launched by groups of at most so many ranks only.
inline constexpr llvm::StringLiteral kUpperBoundAttr = "iris.upper_bound";

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_IR_GROUPBOUNDS_H
