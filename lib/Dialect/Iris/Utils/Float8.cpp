// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Float8.cpp - f8 types as bytes -------------------------------------===//

#include "iris/Dialect/Iris/Utils/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Elementwise ops on values of one shape, with constants on the right.
struct Elements {
  ImplicitLocOpBuilder &b;
  Type ints, floats;

  Elements(ImplicitLocOpBuilder &b, Value like)
      : b(b), ints(withElement(like, b.getI32Type())),
        floats(withElement(like, b.getF32Type())) {}

  /// The type of `like` with other elements.
  static Type withElement(Value like, Type element) {
    auto shaped = dyn_cast<ShapedType>(like.getType());
    return shaped ? shaped.clone(element) : element;
  }
  static TypedAttr splat(Type type, TypedAttr value) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped ? DenseElementsAttr::get(shaped, value) : value;
  }

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        b, splat(ints, b.getIntegerAttr(b.getI32Type(), APInt(32, value))));
  }
  Value constant(float value) {
    return arith::ConstantOp::create(b,
                                     splat(floats, b.getF32FloatAttr(value)));
  }
  Value andI(Value a, uint32_t c) {
    return arith::AndIOp::create(b, a, constant(c));
  }
  Value shl(Value a, uint32_t c) {
    return arith::ShLIOp::create(b, a, constant(c));
  }
  Value shr(Value a, uint32_t c) {
    return arith::ShRUIOp::create(b, a, constant(c));
  }
  Value addI(Value a, Value c) { return arith::AddIOp::create(b, a, c); }
  Value orI(Value a, Value c) { return arith::OrIOp::create(b, a, c); }
  Value is(arith::CmpIPredicate predicate, Value a, uint32_t c) {
    return arith::CmpIOp::create(b, predicate, a, constant(c));
  }
  Value select(Value condition, Value a, Value c) {
    return arith::SelectOp::create(b, condition, a, c);
  }
  Value asFloat(Value a) { return arith::BitcastOp::create(b, floats, a); }
  Value asInt(Value a) { return arith::BitcastOp::create(b, ints, a); }
};

/// The properties of an f8 type.
struct Format {
  unsigned mantissa;
  int bias;
  bool hasInfinity;
  /// No negative zero: its encoding is the only NaN.
  bool isUnsignedZero;
  /// The largest finite value; the encoding of NaN.
  float largest;
  uint32_t nan;

  explicit Format(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    mantissa = llvm::APFloat::semanticsPrecision(semantics) - 1;
    bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
    hasInfinity = isa<Float8E5M2Type>(type);
    isUnsignedZero = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
    largest = static_cast<float>(
        llvm::APFloat::getLargest(semantics).convertToDouble());
    nan = static_cast<uint32_t>(
        llvm::APFloat::getQNaN(semantics).bitcastToAPInt().getZExtValue());
  }
};
} // namespace

static float powerOfTwo(int exponent) {
  return static_cast<float>(llvm::scalbn(llvm::APFloat(1.0f), exponent,
                                         llvm::APFloat::rmNearestTiesToEven)
                                .convertToFloat());
}

static constexpr int kFloatBias = 127;
static constexpr unsigned kFloatMantissa = 23;
static constexpr uint32_t kInfinity = 0x7f800000;

Value mlir::iris::emitFromFloat8(ImplicitLocOpBuilder &b, FloatType type,
                                 Value bytes) {
  using Predicate = arith::CmpIPredicate;
  Format format(type);
  Elements t(b, bytes);
  Value code = arith::ExtUIOp::create(b, t.ints, bytes);
  Value magnitude = t.andI(code, 0x7f);
  // The exponent and mantissa bits in the position of an f32's: a number that
  // is too small by the difference of the biases. Denormals are converted
  // correctly.
  Value small = t.asFloat(t.shl(magnitude, kFloatMantissa - format.mantissa));
  Value value = arith::MulFOp::create(
      b, small, t.constant(powerOfTwo(kFloatBias - format.bias)));
  Value bits = t.asInt(value);
  Value sign = t.shl(t.andI(code, 0x80), 24);
  constexpr uint32_t quiet = 0x7fc00000;
  if (format.hasInfinity) {
    uint32_t first = 0x1f << format.mantissa;
    bits = t.select(t.is(Predicate::eq, magnitude, first),
                    t.constant(kInfinity), bits);
    bits = t.select(t.is(Predicate::ugt, magnitude, first), t.constant(quiet),
                    bits);
  } else if (!format.isUnsignedZero) {
    bits =
        t.select(t.is(Predicate::eq, magnitude, 0x7f), t.constant(quiet), bits);
  }
  bits = t.orI(bits, sign);
  if (format.isUnsignedZero)
    bits = t.select(t.is(Predicate::eq, code, 0x80), t.constant(quiet), bits);
  return t.asFloat(bits);
}

Value mlir::iris::emitToFloat8(ImplicitLocOpBuilder &b, FloatType type,
                               Value values, bool keepsInfinity) {
  using Predicate = arith::CmpIPredicate;
  Format format(type);
  Elements t(b, values);
  unsigned dropped = kFloatMantissa - format.mantissa;
  Value bits = t.asInt(values);
  Value sign = t.andI(t.shr(bits, 24), 0x80);
  Value isNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, values, values);
  // As integers, magnitudes are ordered like numbers, and NaN is the largest.
  Value largest = t.asInt(t.constant(format.largest));
  Value magnitude =
      arith::MinUIOp::create(b, t.andI(bits, 0x7fffffff), largest);

  // Normal: round the dropped mantissa bits to nearest even, then rebias.
  Value odd = t.andI(t.shr(magnitude, dropped), 1);
  Value rounded =
      t.addI(t.addI(magnitude, t.constant((1u << (dropped - 1)) - 1)), odd);
  uint32_t rebias = static_cast<uint32_t>(kFloatBias - format.bias)
                    << format.mantissa;
  Value normal = t.addI(t.shr(rounded, dropped), t.constant(0u - rebias));

  // Denormal: adding a number whose unit in the last place is the smallest
  // denormal rounds to a multiple of it; the low bits are the encoding.
  float magic = powerOfTwo(static_cast<int>(kFloatMantissa) + 1 - format.bias -
                           static_cast<int>(format.mantissa));
  Value shifted =
      arith::AddFOp::create(b, t.asFloat(magnitude), t.constant(magic));
  Value denormal =
      arith::SubIOp::create(b, t.asInt(shifted), t.asInt(t.constant(magic)));

  uint32_t smallest = static_cast<uint32_t>(kFloatBias + 1 - format.bias)
                      << kFloatMantissa;
  Value code =
      t.select(t.is(Predicate::ult, magnitude, smallest), denormal, normal);
  if (keepsInfinity && format.hasInfinity)
    code = t.select(t.is(Predicate::eq, t.andI(bits, 0x7fffffff), kInfinity),
                    t.constant(0x1fu << format.mantissa), code);
  if (format.isUnsignedZero)
    sign = t.select(t.is(Predicate::eq, code, 0), t.constant(0u), sign);
  code = t.orI(code, sign);
  code = t.select(isNaN, t.constant(format.nan), code);
  return arith::TruncIOp::create(
      b, Elements::withElement(values, b.getI8Type()), code);
}
