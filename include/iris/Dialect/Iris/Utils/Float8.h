// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Float8.h - f8 types as bytes -----------------------------*- C++ -*-===//
//
// Buffers hold f8 elements as i8; arithmetic is in f32. The conversions use
// integer arithmetic and give the same bits on every target.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_DIALECT_IRIS_UTILS_FLOAT8_H
#define IRIS_DIALECT_IRIS_UTILS_FLOAT8_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// Converts f8 of `type`, as i8 or a vector or tensor of i8, to f32, exactly.
Value emitFromFloat8(ImplicitLocOpBuilder &b, FloatType type, Value bytes);
/// Converts f32, or a vector or tensor of f32, to f8 of `type` as i8: rounds to
/// nearest even; values that are too large become the largest finite value.
/// `keepsInfinity`: infinities stay what they are in types that have them, as
/// for values that come from f8 and were not computed with; otherwise they are
/// too large as well.
Value emitToFloat8(ImplicitLocOpBuilder &b, FloatType type, Value values,
                   bool keepsInfinity = false);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_UTILS_FLOAT8_H
