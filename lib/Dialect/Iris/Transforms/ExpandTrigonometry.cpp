// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandTrigonometry.cpp - sin, cos, atan, atan2 and cbrt ------------===//
//
// All of them are computed in f64 and rounded once, so that argument reduction
// loses no precision and denormals need no special case.
//
//===----------------------------------------------------------------------===//

#include "ExpandFunctions.h"

#include "Arithmetic.h"

#include <limits>

using namespace mlir;
using namespace mlir::iris;

using Predicate = arith::CmpFPredicate;

static constexpr double kPi = 3.14159265358979323846;

//===----------------------------------------------------------------------===//
// sin and cos
//===----------------------------------------------------------------------===//

/// Coefficients of r^(2k + first) / (2k + first)! with alternating signs.
static SmallVector<double> circularSeries(unsigned first) {
  SmallVector<double> series;
  double term = 1.0;
  for (unsigned k = 0; k < 8; ++k) {
    series.push_back(term);
    unsigned next = 2 * k + first;
    term /= -double((next + 1) * (next + 2));
  }
  return series;
}

/// sin(x + quarters * pi / 2) of an f32.
static Value emitSine(Arithmetic &a, Value x, int64_t quarters) {
  Type f64 = a.b.getF64Type();
  Type i64 = a.b.getI64Type();
  Value wide = a.widen(x);
  // Beyond 2^40 the nearest multiple of pi / 2 is not accurate enough.
  Value inRange = a.compare(Predicate::OLE, math::AbsFOp::create(a.b, wide),
                            a.floating(f64, 0x1.0p40));
  wide = a.select(inRange, wide, a.floating(f64, 0.0));

  Value turns =
      math::RoundEvenOp::create(a.b, a.mul(wide, a.floating(f64, 2.0 / kPi)));
  // pi / 2 in two parts; fma makes the first product exact.
  constexpr double high = 1.57079632679489655800;
  constexpr double low = 6.12323399573676603587e-17;
  Value rest = math::FmaOp::create(a.b, turns, a.floating(f64, -high), wide);
  rest = math::FmaOp::create(a.b, turns, a.floating(f64, -low), rest);

  Value square = a.mul(rest, rest);
  Value sine = a.mul(rest, a.polynomial(square, circularSeries(1)));
  Value cosine = a.polynomial(square, circularSeries(0));
  Value quadrant = arith::FPToSIOp::create(a.b, a.like(i64), turns);
  quadrant = arith::AddIOp::create(a.b, quadrant, a.integer(64, quarters));
  auto hasBit = [&](int64_t bit) -> Value {
    Value masked = arith::AndIOp::create(a.b, quadrant, a.integer(64, bit));
    return arith::CmpIOp::create(a.b, arith::CmpIPredicate::ne, masked,
                                 a.integer(64, 0));
  };
  Value value = a.select(hasBit(1), cosine, sine);
  value = a.select(hasBit(2), arith::NegFOp::create(a.b, value), value);
  Value nan = a.floating(f64, std::numeric_limits<double>::quiet_NaN());
  return a.round(a.select(inRange, value, nan));
}

/// sin(x), with sin(-0.0) = -0.0: the sum of quadrants would lose the sign.
static Value emitSin(Arithmetic &a, Value x) {
  Value isZero =
      a.compare(Predicate::OEQ, x, a.floating(a.b.getF32Type(), 0.0));
  return a.select(isZero, x, emitSine(a, x, 0));
}

//===----------------------------------------------------------------------===//
// atan and atan2
//===----------------------------------------------------------------------===//

/// atan(z) of an f64 in [0, 1].
static Value emitAtanOfUnit(Arithmetic &a, Value z) {
  Type f64 = a.b.getF64Type();
  Value one = a.floating(f64, 1.0);
  // atan(z) = pi / 4 + atan((z - 1) / (z + 1)) brings it to |t| <= sqrt(2) - 1.
  Value large =
      a.compare(Predicate::OGT, z, a.floating(f64, 0.41421356237309503));
  Value t = a.select(large, a.div(a.sub(z, one), a.add(z, one)), z);
  SmallVector<double> series;
  for (int k = 0; k < 18; ++k)
    series.push_back((k % 2 ? -1.0 : 1.0) / (2 * k + 1));
  Value angle = a.mul(t, a.polynomial(a.mul(t, t), series));
  return a.select(large, a.add(angle, a.floating(f64, kPi / 4)), angle);
}

static Value emitAtan2(Arithmetic &a, Value y, Value x) {
  Type f64 = a.b.getF64Type();
  Value wideY = a.widen(y);
  Value wideX = a.widen(x);
  Value absY = math::AbsFOp::create(a.b, wideY);
  Value absX = math::AbsFOp::create(a.b, wideX);
  Value steep = a.compare(Predicate::OGT, absY, absX);
  Value quotient =
      a.div(a.select(steep, absX, absY), a.select(steep, absY, absX));
  // 0 / 0 and infinity / infinity: the angles of the axes and the diagonals.
  Value zero = a.floating(f64, 0.0);
  Value one = a.floating(f64, 1.0);
  Value same = a.compare(Predicate::OEQ, absX, absY);
  quotient = a.select(same, one, quotient);
  Value atOrigin =
      arith::AndIOp::create(a.b, same, a.compare(Predicate::OEQ, absX, zero));
  quotient = a.select(atOrigin, zero, quotient);

  Value angle = emitAtanOfUnit(a, quotient);
  angle = a.select(steep, a.sub(a.floating(f64, kPi / 2), angle), angle);
  Value xSign = math::CopySignOp::create(a.b, one, wideX);
  Value left = a.compare(Predicate::OLT, xSign, zero);
  angle = a.select(left, a.sub(a.floating(f64, kPi), angle), angle);
  angle = math::CopySignOp::create(a.b, angle, wideY);
  // Comparisons with NaN are false, so NaN must be propagated explicitly.
  angle = a.select(a.isNaN(wideX), wideX, angle);
  angle = a.select(a.isNaN(wideY), wideY, angle);
  return a.round(angle);
}

//===----------------------------------------------------------------------===//
// cbrt
//===----------------------------------------------------------------------===//

static Value emitCbrt(Arithmetic &a, Value x) {
  Type f64 = a.b.getF64Type();
  Type i64 = a.b.getI64Type();
  Value wide = a.widen(x);
  Value magnitude = math::AbsFOp::create(a.b, wide);
  // A third of the exponent gives one digit; each Halley step triples the
  // digits.
  Value bits = arith::BitcastOp::create(a.b, a.like(i64), magnitude);
  bits = arith::DivUIOp::create(a.b, bits, a.integer(64, 3));
  bits = arith::AddIOp::create(a.b, bits, a.integer(64, 0x2a9f7893782da1ce));
  Value root = arith::BitcastOp::create(a.b, a.like(f64), bits);
  Value two = a.floating(f64, 2.0);
  for (int step = 0; step < 3; ++step) {
    Value cube = a.mul(root, a.mul(root, root));
    Value above = math::FmaOp::create(a.b, two, magnitude, cube);
    Value below = math::FmaOp::create(a.b, two, cube, magnitude);
    root = a.mul(root, a.div(above, below));
  }
  Value infinity = a.floating(f64, std::numeric_limits<double>::infinity());
  Value isFinite = a.compare(Predicate::ONE, magnitude, infinity);
  Value isZero = a.compare(Predicate::OEQ, magnitude, a.floating(f64, 0.0));
  root = a.select(isFinite, root, magnitude);
  root = a.select(isZero, magnitude, root);
  return a.round(math::CopySignOp::create(a.b, root, wide));
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static Value expand(Arithmetic &a, math::SinOp op) {
  return emitSin(a, op.getOperand());
}
static Value expand(Arithmetic &a, math::CosOp op) {
  return emitSine(a, op.getOperand(), 1);
}
static Value expand(Arithmetic &a, math::AtanOp op) {
  return emitAtan2(a, op.getOperand(), a.floating(a.b.getF32Type(), 1.0));
}
static Value expand(Arithmetic &a, math::Atan2Op op) {
  return emitAtan2(a, op.getLhs(), op.getRhs());
}
static Value expand(Arithmetic &a, math::CbrtOp op) {
  return emitCbrt(a, op.getOperand());
}

void mlir::iris::populateExpandTrigonometryPatterns(
    RewritePatternSet &patterns) {
  patterns
      .add<ExpandF32<math::SinOp, expand>, ExpandF32<math::CosOp, expand>,
           ExpandF32<math::AtanOp, expand>, ExpandF32<math::Atan2Op, expand>,
           ExpandF32<math::CbrtOp, expand>>(patterns.getContext(),
                                            /*benefit=*/2);
}
