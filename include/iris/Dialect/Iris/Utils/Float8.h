// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Float8.h - f8 types as bytes -----------------------------*- C++ -*-===//
//
// Buffers hold f8 elements as i8; arithmetic is on f32. The conversions are
// integer arithmetic, the same bits on every target.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_DIALECT_IRIS_UTILS_FLOAT8_H
#define IRIS_DIALECT_IRIS_UTILS_FLOAT8_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// i8, or a vector or tensor of it, that holds `type` to f32, exactly.
Value emitFromFloat8(ImplicitLocOpBuilder &b, FloatType type, Value bytes);
/// f32, or a vector or tensor of it, to `type` in i8: to nearest even; what is
/// too large, infinities included, becomes the largest finite value.
Value emitToFloat8(ImplicitLocOpBuilder &b, FloatType type, Value values);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_UTILS_FLOAT8_H
