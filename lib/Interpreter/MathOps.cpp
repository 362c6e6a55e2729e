// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MathOps.cpp - math -------------------------------------------------===//
//
// Functions are correctly rounded. They are computed by the C library in 113
// bits of mantissa, with an error of a few units in the last place (ulp) there.
// Of f16, bf16 and f32 the result is rounded to 100 bits, and then to the op's
// type. That is the correct rounding unless the exact value is within 2^-99 of
// the middle of two neighbours, relatively, but not that middle: the first
// rounding turns a value that is computed next to a middle into the middle. No
// argument of these types comes that close: a function of one argument of 24
// bits is expected to come within about 2^-(24+32), one of two arguments within
// 2^-(24+64).
//
// Roots of f64 come within 2^-108 of a middle, such as that of the largest
// number, but are never a middle: they are rounded from all 113 bits. The error
// there is 1/2 ulp for sqrt, and less than 2 for 1 / sqrt, which is 2^-111.
#include "Machine.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::iris::interp;
using llvm::APFloat;
using llvm::APInt;
using Inputs = ArrayRef<Element>;

//===----------------------------------------------------------------------===//
// Quadruple precision
//===----------------------------------------------------------------------===//

using Quad = __float128;

// Of glibc's libm, which declares them for C only if extensions are on.
extern "C" {
Quad acosf128(Quad);
Quad asinf128(Quad);
Quad atanf128(Quad);
Quad atan2f128(Quad, Quad);
Quad cbrtf128(Quad);
Quad cosf128(Quad);
Quad erff128(Quad);
Quad erfcf128(Quad);
Quad expf128(Quad);
Quad exp2f128(Quad);
Quad expm1f128(Quad);
Quad logf128(Quad);
Quad log1pf128(Quad);
Quad log2f128(Quad);
Quad powf128(Quad, Quad);
Quad sinf128(Quad);
Quad sqrtf128(Quad);
Quad tanhf128(Quad);
}

static Quad toQuad(Kind type, Element e) {
  APFloat value = toFloat(type, e);
  bool inexact;
  value.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven, &inexact);
  APInt bits = value.bitcastToAPInt();
  Quad result;
  std::memcpy(&result, bits.getRawData(), sizeof(result));
  return result;
}

static Element fromQuad(Kind type, Quad quad) {
  uint64_t words[2];
  std::memcpy(words, &quad, sizeof(quad));
  APInt bits(128, words);
  bool isWide = type.semantics == &APFloat::IEEEdouble();
  if (isWide || !APFloat(APFloat::IEEEquad(), bits).isFinite())
    return fromFloat(type, APFloat(APFloat::IEEEquad(), bits));
  // 12 bits less of mantissa; a carry goes into the exponent, as it should.
  constexpr unsigned dropped = 12;
  bits += APInt::getOneBitSet(128, dropped - 1);
  bits.clearLowBits(dropped);
  return fromFloat(type, APFloat(APFloat::IEEEquad(), bits));
}

template <Quad (*fn)(Quad)>
static Step unary(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return fromQuad(type, fn(toQuad(type, in[0])));
  });
}
template <Quad (*fn)(Quad, Quad)>
static Step binary(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return fromQuad(type, fn(toQuad(type, in[0]), toQuad(type, in[1])));
  });
}

/// Arguments beyond 2^40 have no sine (docs/reference/math.md).
static bool hasSine(Quad x) { return x <= 0x1p40 && x >= -0x1p40; }
static Quad sine(Quad x) { return hasSine(x) ? sinf128(x) : Quad(NAN); }
static Quad cosine(Quad x) { return hasSine(x) ? cosf128(x) : Quad(NAN); }
static Quad inverseRoot(Quad x) { return 1 / sqrtf128(x); }
/// erf(-0.0) is 0.0.
static Quad errorFunction(Quad x) { return x == 0 ? Quad(0) : erff128(x); }

//===----------------------------------------------------------------------===//
// Exact functions
//===----------------------------------------------------------------------===//

template <APFloat::roundingMode mode>
static Step roundToInteger(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    APFloat value = toFloat(type, in[0]);
    value.roundToIntegral(mode);
    return fromInt(value.bitcastToAPInt());
  });
}

static Step absolute(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return fromInt(abs(toFloat(type, in[0])).bitcastToAPInt());
  });
}
static Step copySign(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return fromInt(APFloat::copySign(toFloat(type, in[0]), toFloat(type, in[1]))
                       .bitcastToAPInt());
  });
}
static Step isNaN(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return fromIndex(toFloat(type, in[0]).isNaN());
  });
}
static Step isFinite(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return fromIndex(toFloat(type, in[0]).isFinite());
  });
}
static Step fma(Program &program, Operation *op) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    APFloat value = toFloat(type, in[0]);
    value.fusedMultiplyAdd(toFloat(type, in[1]), toFloat(type, in[2]),
                           APFloat::rmNearestTiesToEven);
    return fromInt(value.bitcastToAPInt());
  });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <typename Fn>
static Step integer(Program &program, Operation *op, Fn fn) {
  Kind type = op->getOperand(0).getType();
  return mapElements(
      program, op, [&](Inputs in) { return Element{fn(toInt(type, in[0]))}; });
}
static Step absoluteInteger(Program &program, Operation *op) {
  return integer(program, op,
                 [](const APInt &a) { return a.abs().getZExtValue(); });
}
static Step leadingZeros(Program &program, Operation *op) {
  return integer(program, op,
                 [](const APInt &a) -> uint64_t { return a.countl_zero(); });
}
static Step trailingZeros(Program &program, Operation *op) {
  return integer(program, op,
                 [](const APInt &a) -> uint64_t { return a.countr_zero(); });
}
static Step setBits(Program &program, Operation *op) {
  return integer(program, op,
                 [](const APInt &a) -> uint64_t { return a.popcount(); });
}

void mlir::iris::interp::addMathOps(World &world) {
  world.add("math.acos", unary<acosf128>);
  world.add("math.asin", unary<asinf128>);
  world.add("math.atan", unary<atanf128>);
  world.add("math.atan2", binary<atan2f128>);
  world.add("math.cbrt", unary<cbrtf128>);
  world.add("math.cos", unary<cosine>);
  world.add("math.erf", unary<errorFunction>);
  world.add("math.erfc", unary<erfcf128>);
  world.add("math.exp", unary<expf128>);
  world.add("math.exp2", unary<exp2f128>);
  world.add("math.expm1", unary<expm1f128>);
  world.add("math.log", unary<logf128>);
  world.add("math.log1p", unary<log1pf128>);
  world.add("math.log2", unary<log2f128>);
  world.add("math.powf", binary<powf128>);
  world.add("math.rsqrt", unary<inverseRoot>);
  world.add("math.sin", unary<sine>);
  world.add("math.sqrt", unary<sqrtf128>);
  world.add("math.tanh", unary<tanhf128>);
  world.add("math.absf", absolute);
  world.add("math.copysign", copySign);
  world.add("math.ceil", roundToInteger<APFloat::rmTowardPositive>);
  world.add("math.floor", roundToInteger<APFloat::rmTowardNegative>);
  world.add("math.trunc", roundToInteger<APFloat::rmTowardZero>);
  world.add("math.round", roundToInteger<APFloat::rmNearestTiesToAway>);
  world.add("math.roundeven", roundToInteger<APFloat::rmNearestTiesToEven>);
  world.add("math.isnan", isNaN);
  world.add("math.isfinite", isFinite);
  world.add("math.fma", fma);
  world.add("vector.fma", fma);
  world.add("math.absi", absoluteInteger);
  world.add("math.ctlz", leadingZeros);
  world.add("math.cttz", trailingZeros);
  world.add("math.ctpop", setBits);
}
