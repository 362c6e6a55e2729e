// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Float8.h - f8 types as bytes -----------------------------*- C++ -*-===//
//
// Buffers hold f8 elements as i8; arithmetic is on f32. The conversions are
// integer arithmetic, the same bits on every target.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_KERNELS_FLOAT8_H
#define IRIS_LIB_KERNELS_FLOAT8_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// tensor<...xi8> that holds `type` to tensor<...xf32>, exactly.
Value emitFromFloat8(ImplicitLocOpBuilder &b, FloatType type, Value bytes);
/// tensor<...xf32> to `type` in tensor<...xi8>: to nearest even; what is too
/// large, infinities included, becomes the largest finite value.
Value emitToFloat8(ImplicitLocOpBuilder &b, FloatType type, Value values);

} // namespace mlir::iris

#endif // IRIS_LIB_KERNELS_FLOAT8_H
