// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arithmetic.h - Builder of expansions ---------------------*- C++ -*-===//

#ifndef IRIS_LIB_DIALECT_IRIS_TRANSFORMS_ARITHMETIC_H
#define IRIS_LIB_DIALECT_IRIS_TRANSFORMS_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::iris {

/// Arithmetic on scalars, or on vectors with the shape of `model`.
class Arithmetic {
public:
  Arithmetic(Location loc, OpBuilder &builder, Type model)
      : b(loc, builder), model(model) {}

  Type like(Type element) {
    if (auto shaped = dyn_cast<ShapedType>(model))
      return shaped.clone(element);
    return element;
  }
  Value floating(Type element, double value) {
    return constant(element, b.getFloatAttr(element, value));
  }
  Value integer(unsigned bits, int64_t value) {
    Type element = b.getIntegerType(bits);
    return constant(element, b.getIntegerAttr(element, value));
  }

  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(b, predicate, lhs, rhs);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  /// 64-bit forms of f32 values, and back.
  Value widen(Value value) {
    return arith::ExtFOp::create(b, like(b.getF64Type()), value);
  }
  Value round(Value value) {
    return arith::TruncFOp::create(b, like(b.getF32Type()), value);
  }
  Value add(Value lhs, Value rhs) { return arith::AddFOp::create(b, lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return arith::SubFOp::create(b, lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return arith::MulFOp::create(b, lhs, rhs); }
  Value div(Value lhs, Value rhs) { return arith::DivFOp::create(b, lhs, rhs); }
  Value isNaN(Value value) {
    return compare(arith::CmpFPredicate::UNO, value, value);
  }

  /// 2^`exponent` for an integer in the range of normal numbers.
  Value powerOfTwo(Value exponent, Type element);
  /// `value` clamped to [-bound, bound]; NaN is preserved.
  Value clamp(Value value, double bound);
  /// The polynomial with `coefficients`, lowest degree first.
  Value polynomial(Value value, ArrayRef<double> coefficients);
  /// 2^`whole` * `factor`, rounded once if it is denormal.
  Value scale(Value factor, Value whole);

  ImplicitLocOpBuilder b;

private:
  Value constant(Type element, TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(model))
      value = DenseElementsAttr::get(shaped.clone(element), value);
    return arith::ConstantOp::create(b, value);
  }

  Type model;
};

/// Rewrites an op on f32 with `expand`.
template <typename OpT, Value (*expand)(Arithmetic &, OpT)>
struct ExpandF32 : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not on f32");
    Arithmetic a(op.getLoc(), rewriter, op.getType());
    rewriter.replaceOp(op, expand(a, op));
    return success();
  }
};

} // namespace mlir::iris

#endif // IRIS_LIB_DIALECT_IRIS_TRANSFORMS_ARITHMETIC_H
