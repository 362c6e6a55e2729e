// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arithmetic.cpp - Builder of expansions -----------------------------===//

#include "Arithmetic.h"

using namespace mlir;
using namespace mlir::iris;

Value Arithmetic::powerOfTwo(Value exponent, Type element) {
  bool wide = element.isF64();
  Value bias = integer(wide ? 64 : 32, wide ? 1023 : 127);
  Value shift = integer(wide ? 64 : 32, wide ? 52 : 23);
  Value bits = arith::AddIOp::create(b, exponent, bias);
  bits = arith::ShLIOp::create(b, bits, shift);
  return arith::BitcastOp::create(b, like(element), bits);
}

Value Arithmetic::clamp(Value value, double bound) {
  Type element = getElementTypeOrSelf(value);
  value = arith::MaximumFOp::create(b, value, floating(element, -bound));
  return arith::MinimumFOp::create(b, value, floating(element, bound));
}

Value Arithmetic::polynomial(Value value, ArrayRef<double> coefficients) {
  Type element = getElementTypeOrSelf(value);
  Value result = floating(element, coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result =
        math::FmaOp::create(b, result, value, floating(element, coefficient));
  return result;
}

Value Arithmetic::scale(Value factor, Value whole) {
  Type element = getElementTypeOrSelf(factor);
  unsigned bits = element.isF64() ? 64 : 32;
  Value exponent =
      arith::FPToSIOp::create(b, like(b.getIntegerType(bits)), whole);
  Value half = arith::ShRSIOp::create(b, exponent, integer(bits, 1));
  Value rest = arith::SubIOp::create(b, exponent, half);
  factor = arith::MulFOp::create(b, factor, powerOfTwo(half, element));
  return arith::MulFOp::create(b, factor, powerOfTwo(rest, element));
}
