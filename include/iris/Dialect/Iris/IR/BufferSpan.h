// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_DIALECT_IRIS_IR_BUFFERSPAN_H
#define IRIS_DIALECT_IRIS_IR_BUFFERSPAN_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::iris {

/// True if 63 bits can hold the bytes of a buffer of `type` and the offset of
/// every element, as far as its static extents, strides and offset tell: the
/// others count as 1, 0 and 0. Sizes of other buffers overflow.
bool isAddressable(MemRefType type);

/// What messages expect of a buffer that is not addressable.
inline constexpr llvm::StringLiteral kAddressableBytes =
    "a buffer of fewer than 2^63 bytes";

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_IR_BUFFERSPAN_H
