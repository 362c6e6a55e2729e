// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarBuilder.h - Integer arithmetic and control flow ----*- C++ -*-===//
//
// The common base of all kernel builders: index arithmetic and loops, so that a
// generator reads like the kernel it generates. The class implements the
// arithmetic interface of iris/Plan/Arithmetic.h.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_SCALARBUILDER_H
#define IRIS_KERNELS_SCALARBUILDER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

class ScalarBuilder {
public:
  using Number = Value;

  explicit ScalarBuilder(Location loc) : b(loc, loc.getContext()) {}

  //===--------------------------------------------------------------------===//
  // Numbers (index); division is unsigned
  //===--------------------------------------------------------------------===//

  Value index(int64_t value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value rem(Value a, Value b);
  Value ceilDiv(Value a, Value b);
  /// a / b for quotients of at most `most`: by comparisons, for loops in which
  /// a division is too slow.
  Value divUpTo(Value a, Value b, int64_t most);
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value equal(Value a, Value b);
  Value notEqual(Value a, Value b);
  Value less(Value a, Value b);
  Value notLess(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// a < b ? x : y.
  Value ifLess(Value a, Value b, Value x, Value y) {
    return select(less(a, b), x, y);
  }
  Value i32(int64_t value);
  Value addI32(Value a, Value b);
  /// Casts between index and i32; the value must fit.
  Value asI32(Value value);
  Value asIndex(Value value);

  //===--------------------------------------------------------------------===//
  // Control
  //===--------------------------------------------------------------------===//

  using Body = llvm::function_ref<void(Value)>;
  /// for (i = from; i < to; i += step).
  void loop(Value from, Value to, Value step, Body body);
  void ifThen(Value condition, llvm::function_ref<void()> body);
  void ifThenElse(Value condition, llvm::function_ref<void()> body,
                  llvm::function_ref<void()> other);

  ImplicitLocOpBuilder b;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_SCALARBUILDER_H
