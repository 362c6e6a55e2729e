// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundToOdd.h - Narrowing in two steps --------------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_UTILS_ROUNDTOODD_H
#define IRIS_DIALECT_IRIS_UTILS_ROUNDTOODD_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// Converts `value`, f64 or a vector or tensor of f64, to f32, rounded to odd:
/// exact if possible, otherwise the neighbor whose last bit is set. Rounding
/// the result to a type of at most 22 bits of precision equals rounding `value`
/// once.
Value emitRoundToOdd(ImplicitLocOpBuilder &b, Value value);

/// x * y + z of 16-bit floats, or of vectors or tensors of them, in f64,
/// rounded to odd: f64 holds x * y exactly, but not always the sum.
Value emitFmaRoundedToOdd(ImplicitLocOpBuilder &b, Value x, Value y, Value z);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_UTILS_ROUNDTOODD_H
