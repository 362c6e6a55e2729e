// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandExponentials.cpp - exp, exp2, powf, log and log2 -------------===//
//
// exp and exp2 reduce their argument to n + r with |r| <= 1/2 (in units of ln 2
// for exp), evaluate the Taylor polynomial of r, and scale by 2^n in two steps,
// so that denormal results are rounded and not flushed. Logarithms and powf use
// f64: f32 denormals are normal there, and the error of the logarithm remains
// small after the multiplication by the exponent.
//
//===----------------------------------------------------------------------===//

#include "ExpandFunctions.h"

#include "Arithmetic.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::iris;

/// Taylor coefficients of base^x, where `logBase` is the logarithm of base.
static SmallVector<double> exponentialSeries(double logBase, unsigned degree) {
  SmallVector<double> series = {1.0};
  for (unsigned k = 1; k <= degree; ++k)
    series.push_back(series.back() * logBase / k);
  return series;
}

static constexpr double kLn2 = 0.693147180559945309417;

/// 2^x, to the precision of x's type, for results in the range of f32.
static Value emitExp2(Arithmetic &a, Value x) {
  Type element = getElementTypeOrSelf(x);
  // Beyond these bounds the result is 0 or infinite, and the exponent still
  // fits.
  x = a.clamp(x, 252.0);
  Value whole = math::RoundEvenOp::create(a.b, x);
  // NaN must not be converted to an integer; the remainder propagates it.
  whole = a.select(a.isNaN(x), a.floating(element, 0.0), whole);
  Value rest = arith::SubFOp::create(a.b, x, whole);
  Value factor =
      a.polynomial(rest, exponentialSeries(kLn2, element.isF64() ? 12 : 7));
  return a.scale(factor, whole);
}

static Value emitExp(Arithmetic &a, Value x) {
  Type element = getElementTypeOrSelf(x);
  x = a.clamp(x, 174.0);
  Value whole = arith::MulFOp::create(a.b, x, a.floating(element, 1.0 / kLn2));
  whole = math::RoundEvenOp::create(a.b, whole);
  whole = a.select(a.isNaN(x), a.floating(element, 0.0), whole);
  // ln 2 in two parts; the product with the first one is exact.
  constexpr double high = 0.693359375;
  Value rest = math::FmaOp::create(a.b, whole, a.floating(element, -high), x);
  rest =
      math::FmaOp::create(a.b, whole, a.floating(element, high - kLn2), rest);
  Value factor = a.polynomial(rest, exponentialSeries(1.0, 7));
  return a.scale(factor, whole);
}

/// The logarithm of a positive normal f64 to base 2.
static Value emitLog2(Arithmetic &a, Value x) {
  Type f64 = a.b.getF64Type();
  Value bits = arith::BitcastOp::create(a.b, a.like(a.b.getI64Type()), x);
  // Shifts the range of the mantissa from [1, 2) to [sqrt(1/2), sqrt(2)).
  Value offset = a.integer(64, 0x3fe6a09e667f3bcd);
  Value shifted = arith::SubIOp::create(a.b, bits, offset);
  Value exponent = arith::ShRSIOp::create(a.b, shifted, a.integer(64, 52));
  Value mantissaBits = arith::SubIOp::create(
      a.b, bits, arith::ShLIOp::create(a.b, exponent, a.integer(64, 52)));
  Value mantissa = arith::BitcastOp::create(a.b, a.like(f64), mantissaBits);

  // log2(m) = 2 / ln 2 * artanh((m - 1) / (m + 1))
  Value one = a.floating(f64, 1.0);
  Value s =
      arith::DivFOp::create(a.b, arith::SubFOp::create(a.b, mantissa, one),
                            arith::AddFOp::create(a.b, mantissa, one));
  SmallVector<double> series;
  for (unsigned k = 1; k <= 21; k += 2)
    series.push_back(2.0 / (kLn2 * k));
  Value square = arith::MulFOp::create(a.b, s, s);
  Value log = arith::MulFOp::create(a.b, s, a.polynomial(square, series));
  Value whole = arith::SIToFPOp::create(a.b, a.like(f64), exponent);
  return arith::AddFOp::create(a.b, whole, log);
}

/// The logarithm of the magnitude of any f64, to base 2.
static Value emitLog2OfMagnitude(Arithmetic &a, Value magnitude) {
  Type f64 = a.b.getF64Type();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value log = emitLog2(a, magnitude);
  auto replace = [&](double at, double by) {
    Value hit =
        a.compare(arith::CmpFPredicate::OEQ, magnitude, a.floating(f64, at));
    log = a.select(hit, a.floating(f64, by), log);
  };
  replace(0.0, -infinity);
  replace(infinity, infinity);
  return a.select(a.isNaN(magnitude), magnitude, log);
}

/// log2(x) * `factor`; NaN for negative x.
static Value emitLog(Arithmetic &a, Value x, double factor) {
  Type f64 = a.b.getF64Type();
  Value wide = a.widen(x);
  Value log = emitLog2OfMagnitude(a, math::AbsFOp::create(a.b, wide));
  log = a.mul(log, a.floating(f64, factor));
  Value negative =
      a.compare(arith::CmpFPredicate::OLT, wide, a.floating(f64, 0.0));
  Value nan = a.floating(f64, std::numeric_limits<double>::quiet_NaN());
  return a.round(a.select(negative, nan, log));
}

/// |x|^y with the special values of C's pow.
static Value emitPowerOfMagnitude(Arithmetic &a, Value magnitude, Value y) {
  Type f64 = a.b.getF64Type();
  using Predicate = arith::CmpFPredicate;
  Value log = emitLog2OfMagnitude(a, magnitude);
  Value result = emitExp2(a, arith::MulFOp::create(a.b, y, log));
  // 1^y and x^0 are 1, even if the other operand is NaN or infinite.
  Value one = a.floating(f64, 1.0);
  Value yIsZero = a.compare(Predicate::OEQ, y, a.floating(f64, 0.0));
  return a.select(yIsZero, one, result);
}

static Value emitPow(Arithmetic &a, Value x, Value y) {
  using Predicate = arith::CmpFPredicate;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Type f64 = a.b.getF64Type();
  Type f32 = a.b.getF32Type();
  Value wideX = arith::ExtFOp::create(a.b, a.like(f64), x);
  Value wideY = arith::ExtFOp::create(a.b, a.like(f64), y);
  Value magnitude = math::AbsFOp::create(a.b, wideX);
  Value power = emitPowerOfMagnitude(a, magnitude, wideY);

  Value one = a.floating(f64, 1.0);
  Value yMagnitude = math::AbsFOp::create(a.b, wideY);
  Value yInfinite =
      a.compare(Predicate::OEQ, yMagnitude, a.floating(f64, infinity));
  Value unit = a.compare(Predicate::OEQ, magnitude, one);
  power = a.select(arith::AndIOp::create(a.b, unit, yInfinite), one, power);

  // The sign, and NaN if there is no real result.
  Value zero = a.floating(f64, 0.0);
  auto isWhole = [&](Value value) {
    Value whole = math::TruncOp::create(a.b, value);
    return a.compare(Predicate::OEQ, whole, value);
  };
  Value half = arith::MulFOp::create(a.b, wideY, a.floating(f64, 0.5));
  Value yWhole = isWhole(wideY);
  Value yEven = isWhole(half);
  Value signedPower = math::CopySignOp::create(a.b, power, wideX);
  Value odd =
      arith::AndIOp::create(a.b, yWhole,
                            arith::CmpIOp::create(a.b, arith::CmpIPredicate::eq,
                                                  yEven, a.integer(1, 0)));
  power = a.select(odd, signedPower, power);
  Value negative = a.compare(Predicate::OLT, wideX, zero);
  Value finite =
      a.compare(Predicate::ONE, magnitude, a.floating(f64, infinity));
  Value noRoot =
      arith::AndIOp::create(a.b, arith::AndIOp::create(a.b, negative, finite),
                            arith::CmpIOp::create(a.b, arith::CmpIPredicate::eq,
                                                  yWhole, a.integer(1, 0)));
  Value yNaN = a.isNaN(wideY);
  Value nan = a.floating(f64, std::numeric_limits<double>::quiet_NaN());
  power = a.select(noRoot, nan, power);
  power = a.select(yNaN, wideY, power);
  Value isOne = a.compare(Predicate::OEQ, wideX, one);
  power = a.select(isOne, one, power);
  return arith::TruncFOp::create(a.b, a.like(f32), power);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static Value expand(Arithmetic &a, math::ExpOp op) {
  return emitExp(a, op.getOperand());
}
static Value expand(Arithmetic &a, math::Exp2Op op) {
  return emitExp2(a, op.getOperand());
}
static Value expand(Arithmetic &a, math::LogOp op) {
  return emitLog(a, op.getOperand(), kLn2);
}
static Value expand(Arithmetic &a, math::Log2Op op) {
  return emitLog(a, op.getOperand(), 1.0);
}
static Value expand(Arithmetic &a, math::PowFOp op) {
  return emitPow(a, op.getLhs(), op.getRhs());
}

void mlir::iris::populateExpandExponentialsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ExpandF32<math::ExpOp, expand>, ExpandF32<math::Exp2Op, expand>,
               ExpandF32<math::LogOp, expand>, ExpandF32<math::Log2Op, expand>,
               ExpandF32<math::PowFOp, expand>>(patterns.getContext(),
                                                /*benefit=*/2);
}
