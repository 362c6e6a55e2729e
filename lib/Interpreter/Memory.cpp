// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - Values and buffers of the interpreter -----------------===//
#include "Memory.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace mlir::iris::interp;
using llvm::APFloat;

mlir::iris::interp::Kind::Kind(Type type) {
  Type element = elementOf(type);
  width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (auto number = dyn_cast<FloatType>(element))
    semantics = &number.getFloatSemantics();
}

int64_t mlir::iris::interp::countOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.getNumElements() : 1;
}

double mlir::iris::interp::toDouble(Kind kind, Element e) {
  APFloat value = toFloat(kind, e);
  bool inexact; // every type of the language fits
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

Element mlir::iris::interp::fromFloat(Kind kind, APFloat value) {
  const llvm::fltSemantics &semantics = *kind.semantics;
  bool inexact, isNaN = value.isNaN(), negative = value.isNegative();
  if (kind.width == 8 && !isNaN) {
    // Conversions to f8 saturate, also from an infinity.
    APFloat largest = APFloat::getLargest(semantics, negative);
    APFloat bound = largest;
    bound.convert(value.getSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    APFloat::cmpResult order =
        negative ? bound.compare(value) : value.compare(bound);
    if (order == APFloat::cmpGreaterThan)
      return fromInt(largest.bitcastToAPInt());
  }
  value.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
  return fromInt(value.bitcastToAPInt());
}

Element mlir::iris::interp::fromDouble(Kind kind, double value) {
  return fromFloat(kind, APFloat(value));
}

bool mlir::iris::interp::isEqual(Kind kind, Element a, Element b) {
  return a.bits == b.bits || (kind.isFloat() && toFloat(kind, a).isNaN() &&
                              toFloat(kind, b).isNaN());
}

std::string mlir::iris::interp::toText(Kind kind, Element e) {
  if (e.poison)
    return "poison";
  if (kind.width == 1)
    return e.bits & 1 ? "true" : "false";
  if (!kind.isFloat())
    return std::to_string(toSigned(kind, e));
  llvm::SmallString<32> text, digits;
  toFloat(kind, e).toString(text);
  toInt(kind, e).toString(digits, 16, /*Signed=*/false,
                          /*formatAsCLiteral=*/false, /*UpperCase=*/false);
  return std::string(text) + " (0x" +
         std::string(kind.width / 4 - digits.size(), '0') +
         std::string(digits) + ")";
}
