// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundToOdd.cpp - Narrowing in two steps ----------------------------===//

#include "iris/Dialect/Iris/Utils/RoundToOdd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

#include <limits>

using namespace mlir;
using namespace mlir::iris;

Value mlir::iris::emitRoundToOdd(ImplicitLocOpBuilder &b, Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  auto like = [&](Type element) -> Type {
    return shaped ? Type(shaped.clone(element)) : element;
  };
  auto constant = [&](IntegerType element, int64_t number) -> Value {
    TypedAttr attr = b.getIntegerAttr(element, number);
    if (shaped)
      attr = DenseElementsAttr::get(shaped.clone(element), attr);
    return arith::ConstantOp::create(b, attr);
  };
  IntegerType i32 = b.getI32Type(), i64 = b.getI64Type();
  Value near = arith::TruncFOp::create(b, like(b.getF32Type()), value);
  Value back = arith::ExtFOp::create(b, like(b.getF64Type()), near);
  Value bits = arith::BitcastOp::create(b, like(i32), near);
  Value one = constant(i32, 1);
  // The comparison is false for NaN, which is not changed.
  Value inexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
  Value last = arith::AndIOp::create(b, bits, one);
  Value isEven = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, last,
                                       constant(i32, 0));
  // An even result is the neighbor of the odd one on the other side of `value`.
  auto magnitude = [&](Value wide) -> Value {
    Value raw = arith::BitcastOp::create(b, like(i64), wide);
    return arith::AndIOp::create(
        b, raw, constant(i64, std::numeric_limits<int64_t>::max()));
  };
  Value above = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                      magnitude(back), magnitude(value));
  Value down = arith::SubIOp::create(b, bits, one);
  Value up = arith::AddIOp::create(b, bits, one);
  Value odd = arith::SelectOp::create(b, above, down, up);
  Value move = arith::AndIOp::create(b, inexact, isEven);
  bits = arith::SelectOp::create(b, move, odd, bits);
  return arith::BitcastOp::create(b, like(b.getF32Type()), bits);
}

Value mlir::iris::emitFmaRoundedToOdd(ImplicitLocOpBuilder &b, Value x, Value y,
                                      Value z) {
  Type type = x.getType();
  auto shaped = dyn_cast<ShapedType>(type);
  auto like = [&](Type element) -> Type {
    return shaped ? Type(shaped.clone(element)) : element;
  };
  auto constant = [&](Type element, TypedAttr attr) -> Value {
    if (shaped)
      attr = DenseElementsAttr::get(shaped.clone(element), attr);
    return arith::ConstantOp::create(b, attr);
  };
  IntegerType i64 = b.getI64Type();
  auto add = [&](Value l, Value r) -> Value {
    return arith::AddFOp::create(b, l, r);
  };
  auto subtract = [&](Value l, Value r) -> Value {
    return arith::SubFOp::create(b, l, r);
  };
  Type wide = like(b.getF64Type());
  auto widen = [&](Value narrow) -> Value {
    return arith::ExtFOp::create(b, wide, narrow);
  };
  x = widen(x), y = widen(y), z = widen(z);
  Value product = arith::MulFOp::create(b, x, y);
  Value sum = add(product, z);
  // Knuth's TwoSum: the rounding error, exactly.
  Value part = subtract(sum, product);
  Value error = add(subtract(product, subtract(sum, part)), subtract(z, part));
  Value zero = constant(b.getF64Type(), b.getF64FloatAttr(0.0));
  // False for NaN, which is the error of infinities.
  Value inexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, error, zero);
  Value bits = arith::BitcastOp::create(b, like(i64), sum);
  Value one = constant(i64, b.getI64IntegerAttr(1));
  Value none = constant(i64, b.getI64IntegerAttr(0));
  Value last = arith::AndIOp::create(b, bits, one);
  Value isEven = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, last, none);
  // The exact value is beyond the sum, seen from 0, if the error has its
  // sign.
  auto isNegative = [&](Value value) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, zero);
  };
  Value inward = arith::XOrIOp::create(b, isNegative(error), isNegative(sum));
  Value odd =
      arith::SelectOp::create(b, inward, arith::SubIOp::create(b, bits, one),
                              arith::AddIOp::create(b, bits, one));
  Value move = arith::AndIOp::create(b, inexact, isEven);
  bits = arith::SelectOp::create(b, move, odd, bits);
  return arith::BitcastOp::create(b, wide, bits);
}
