// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundToOdd.h - Narrowing in two steps --------------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_UTILS_ROUNDTOODD_H
#define IRIS_DIALECT_IRIS_UTILS_ROUNDTOODD_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// `value`, f64 or a vector or tensor of it, as f32 rounded to odd: exact if it
/// can be, else the neighbour whose last bit is set. Rounding that to a type of
/// at most 22 bits of precision gives what rounding `value` once would have
/// given.
Value emitRoundToOdd(ImplicitLocOpBuilder &b, Value value);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_UTILS_ROUNDTOODD_H
