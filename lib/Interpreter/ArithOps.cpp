// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArithOps.cpp - arith -----------------------------------------------===//
#include "Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris::interp;
using llvm::APFloat;
using llvm::APInt;
using Inputs = ArrayRef<Element>;

/// The value of an attribute of a constant.
static Step constant(Program &program, Operation *op) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  auto of = [](Attribute scalar) {
    if (auto number = dyn_cast<FloatAttr>(scalar))
      return fromInt(number.getValue().bitcastToAPInt());
    return fromInt(cast<IntegerAttr>(scalar).getValue());
  };
  if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
    SmallVector<Element, 1> all;
    if (elements.isSplat())
      all.assign(elements.getNumElements(),
                 of(elements.getSplatValue<Attribute>()));
    else
      for (Attribute element : elements.getValues<Attribute>())
        all.push_back(of(element));
    program.set(op->getResult(0), Datum(std::move(all)));
    return Step::Next;
  }
  if (!isa<FloatAttr, IntegerAttr>(value)) {
    program.error("has a value that the reference does not read");
    return Step::Next;
  }
  program.set(op->getResult(0), of(value));
  return Step::Next;
}

/// The condition, and of poison only the chosen operand counts.
static Step select(Program &program, Operation *op) {
  const Datum &condition = program.get(op->getOperand(0));
  const Datum &yes = program.get(op->getOperand(1));
  const Datum &no = program.get(op->getOperand(2));
  if (program.failed)
    return Step::Next;
  if (condition.elements.size() == 1 && (yes.buffer || no.buffer)) {
    program.set(op->getResult(0), program.flag(op->getOperand(0)) ? yes : no);
    return Step::Next;
  }
  SmallVector<Element, 1> result;
  bool uniform = condition.elements.size() == 1;
  for (size_t n = 0; n < yes.elements.size(); ++n) {
    Element which = condition.elements[uniform ? 0 : n];
    result.push_back(which.poison     ? which
                     : which.bits & 1 ? yes.elements[n]
                                      : no.elements[n]);
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static arith::IntegerOverflowFlags flagsOf(Operation *op) {
  return cast<arith::ArithIntegerOverflowFlagsInterface>(op)
      .getOverflowAttr()
      .getValue();
}

/// Poison if the op has a flag of an overflow that happened.
static Element wrapped(Operation *op, arith::IntegerOverflowFlags flags,
                       const APInt &value, bool signedOverflow,
                       bool unsignedOverflow) {
  auto has = [&](arith::IntegerOverflowFlags flag) {
    return bitEnumContainsAny(flags, flag);
  };
  if ((signedOverflow && has(arith::IntegerOverflowFlags::nsw)) ||
      (unsignedOverflow && has(arith::IntegerOverflowFlags::nuw)))
    return {0, op};
  return fromInt(value);
}

/// An op of two integers: `fn(a, b)` gives an element.
template <typename Fn>
static Step integers(Program &program, Operation *op, Fn fn) {
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return fn(toInt(type, in[0]), toInt(type, in[1]));
  });
}

/// An op of two integers that gives an integer and never poison.
template <APInt (*fn)(const APInt &, const APInt &)>
static Step simple(Program &program, Operation *op) {
  return integers(program, op, [](const APInt &a, const APInt &b) {
    return fromInt(fn(a, b));
  });
}

static APInt bitAnd(const APInt &a, const APInt &b) { return a & b; }
static APInt bitOr(const APInt &a, const APInt &b) { return a | b; }
static APInt bitXor(const APInt &a, const APInt &b) { return a ^ b; }
static APInt signedMax(const APInt &a, const APInt &b) {
  return llvm::APIntOps::smax(a, b);
}
static APInt signedMin(const APInt &a, const APInt &b) {
  return llvm::APIntOps::smin(a, b);
}
static APInt unsignedMax(const APInt &a, const APInt &b) {
  return llvm::APIntOps::umax(a, b);
}
static APInt unsignedMin(const APInt &a, const APInt &b) {
  return llvm::APIntOps::umin(a, b);
}

/// `signedFn` and `unsignedFn` set a flag if they overflow.
template <APInt (APInt::*signedFn)(const APInt &, bool &) const,
          APInt (APInt::*unsignedFn)(const APInt &, bool &) const>
static Step overflowing(Program &program, Operation *op) {
  arith::IntegerOverflowFlags flags = flagsOf(op);
  return integers(program, op, [&](const APInt &a, const APInt &b) {
    bool overS, overU;
    APInt value = (a.*signedFn)(b, overS);
    (void)(a.*unsignedFn)(b, overU);
    return wrapped(op, flags, value, overS, overU);
  });
}

static bool isExact(Operation *op) { return op->hasAttr("isExact"); }

/// Divisions by 0 and of the least number by -1 are undefined behaviour.
template <typename Fn>
static Step divide(Program &program, Operation *op, bool isSigned, Fn fn) {
  return integers(program, op, [&](const APInt &a, const APInt &b) -> Element {
    if (b.isZero()) {
      program.error("divides by 0");
      return {};
    }
    if (isSigned && a.isMinSignedValue() && b.isAllOnes()) {
      program.error("divides the least integer by -1, which overflows");
      return {};
    }
    return fn(a, b);
  });
}

static Step divSigned(Program &program, Operation *op) {
  return divide(program, op, true, [&](const APInt &a, const APInt &b) {
    return isExact(op) && !a.srem(b).isZero() ? Element{0, op}
                                              : fromInt(a.sdiv(b));
  });
}
static Step divUnsigned(Program &program, Operation *op) {
  return divide(program, op, false, [&](const APInt &a, const APInt &b) {
    return isExact(op) && !a.urem(b).isZero() ? Element{0, op}
                                              : fromInt(a.udiv(b));
  });
}
template <bool isSigned, APInt::Rounding rounding>
static Step divRounding(Program &program, Operation *op) {
  return divide(program, op, isSigned, [](const APInt &a, const APInt &b) {
    return fromInt(isSigned ? llvm::APIntOps::RoundingSDiv(a, b, rounding)
                            : llvm::APIntOps::RoundingUDiv(a, b, rounding));
  });
}
static Step remSigned(Program &program, Operation *op) {
  return divide(program, op, true, [](const APInt &a, const APInt &b) {
    return fromInt(a.srem(b));
  });
}
static Step remUnsigned(Program &program, Operation *op) {
  return divide(program, op, false, [](const APInt &a, const APInt &b) {
    return fromInt(a.urem(b));
  });
}

/// Shifts by the width or more give poison.
template <typename Fn>
static Step shift(Program &program, Operation *op, Fn fn) {
  return integers(program, op, [&](const APInt &a, const APInt &b) -> Element {
    if (b.uge(a.getBitWidth()))
      return {0, op};
    return fn(a, static_cast<unsigned>(b.getZExtValue()));
  });
}
static Step shiftLeft(Program &program, Operation *op) {
  arith::IntegerOverflowFlags flags = flagsOf(op);
  return shift(program, op, [&](const APInt &a, unsigned n) {
    APInt value = a.shl(n);
    return wrapped(op, flags, value, value.ashr(n) != a, value.lshr(n) != a);
  });
}
static Step shiftRightSigned(Program &program, Operation *op) {
  return shift(program, op, [&](const APInt &a, unsigned n) {
    return isExact(op) && a.countr_zero() < n && !a.isZero()
               ? Element{0, op}
               : fromInt(a.ashr(n));
  });
}
static Step shiftRightUnsigned(Program &program, Operation *op) {
  return shift(program, op, [&](const APInt &a, unsigned n) {
    return isExact(op) && a.countr_zero() < n && !a.isZero()
               ? Element{0, op}
               : fromInt(a.lshr(n));
  });
}

/// Ops with two results: `fn(a, b)` gives a number of twice the width, whose
/// lower half is the first result; the upper one, or its lowest bit, is the
/// second.
template <typename Fn>
static Step extended(Program &program, Operation *op, Fn fn) {
  Kind type = op->getOperand(0).getType();
  const Datum &a = program.get(op->getOperand(0));
  const Datum &b = program.get(op->getOperand(1));
  if (program.failed)
    return Step::Next;
  SmallVector<Element, 1> low, high;
  unsigned width = type.width,
           highWidth = Kind(op->getResult(1).getType()).width;
  for (size_t n = 0; n < a.elements.size(); ++n) {
    Element x = a.elements[n], y = b.elements[n];
    if (x.poison || y.poison) {
      low.push_back(x.poison ? x : y);
      high.push_back(low.back());
      continue;
    }
    APInt both = fn(toInt(type, x), toInt(type, y));
    low.push_back(fromInt(both.trunc(width)));
    high.push_back(fromInt(both.extractBits(highWidth, width)));
  }
  program.set(op->getResult(0), Datum(std::move(low)));
  program.set(op->getResult(1), Datum(std::move(high)));
  return Step::Next;
}
static Step addExtended(Program &program, Operation *op) {
  return extended(program, op, [](const APInt &a, const APInt &b) {
    unsigned twice = 2 * a.getBitWidth();
    return a.zext(twice) + b.zext(twice);
  });
}
static Step mulSignedExtended(Program &program, Operation *op) {
  return extended(program, op, [](const APInt &a, const APInt &b) {
    unsigned twice = 2 * a.getBitWidth();
    return a.sext(twice) * b.sext(twice);
  });
}
static Step mulUnsignedExtended(Program &program, Operation *op) {
  return extended(program, op, [](const APInt &a, const APInt &b) {
    unsigned twice = 2 * a.getBitWidth();
    return a.zext(twice) * b.zext(twice);
  });
}

static Step compareIntegers(Program &program, Operation *op) {
  arith::CmpIPredicate predicate = cast<arith::CmpIOp>(op).getPredicate();
  return integers(program, op, [&](const APInt &a, const APInt &b) {
    return fromIndex(arith::applyCmpPredicate(predicate, a, b));
  });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static arith::FastMathFlags fastMathOf(Operation *op) {
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
  return flags ? flags.getValue() : arith::FastMathFlags::none;
}

/// Poison if the op promises that there are no NaN or infinities, and there
/// are.
static Element checkFlags(Operation *op, arith::FastMathFlags flags, Kind type,
                          Inputs in, Element result) {
  if (flags == arith::FastMathFlags::none)
    return result;
  auto violates = [&](const APFloat &value) {
    return (value.isNaN() &&
            bitEnumContainsAny(flags, arith::FastMathFlags::nnan)) ||
           (value.isInfinity() &&
            bitEnumContainsAny(flags, arith::FastMathFlags::ninf));
  };
  for (Element e : in)
    if (violates(toFloat(type, e)))
      return {0, op};
  Kind kind = op->getResult(0).getType();
  if (kind.isFloat() && violates(toFloat(kind, result)))
    return {0, op};
  return result;
}

template <APFloat (*fn)(const APFloat &, const APFloat &)>
static Step floats(Program &program, Operation *op) {
  arith::FastMathFlags flags = fastMathOf(op);
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    APFloat value = fn(toFloat(type, in[0]), toFloat(type, in[1]));
    return checkFlags(op, flags, type, in, fromInt(value.bitcastToAPInt()));
  });
}
static APFloat add(const APFloat &a, const APFloat &b) { return a + b; }
static APFloat subtract(const APFloat &a, const APFloat &b) { return a - b; }
static APFloat multiply(const APFloat &a, const APFloat &b) { return a * b; }
static APFloat quotient(const APFloat &a, const APFloat &b) { return a / b; }
static APFloat maximum(const APFloat &a, const APFloat &b) {
  return llvm::maximum(a, b);
}
static APFloat minimum(const APFloat &a, const APFloat &b) {
  return llvm::minimum(a, b);
}
static APFloat maxNumber(const APFloat &a, const APFloat &b) {
  return a.isNaN() ? b : b.isNaN() ? a : llvm::maximum(a, b);
}
static APFloat minNumber(const APFloat &a, const APFloat &b) {
  return a.isNaN() ? b : b.isNaN() ? a : llvm::minimum(a, b);
}

static Step negate(Program &program, Operation *op) {
  arith::FastMathFlags flags = fastMathOf(op);
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    return checkFlags(op, flags, type, in,
                      fromInt(neg(toFloat(type, in[0])).bitcastToAPInt()));
  });
}

static Step compareFloats(Program &program, Operation *op) {
  arith::FastMathFlags flags = fastMathOf(op);
  arith::CmpFPredicate predicate = cast<arith::CmpFOp>(op).getPredicate();
  Kind type = op->getOperand(0).getType();
  return mapElements(program, op, [&](Inputs in) {
    bool holds = arith::applyCmpPredicate(predicate, toFloat(type, in[0]),
                                          toFloat(type, in[1]));
    return checkFlags(op, flags, type, in, fromIndex(holds));
  });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// `fn(operand's type, result's type, element)` gives an element.
template <typename Fn>
static Step convert(Program &program, Operation *op, Fn fn) {
  Kind from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  return mapElements(program, op,
                     [&](Inputs in) { return fn(from, to, in[0]); });
}
static Step extendSigned(Program &program, Operation *op) {
  return convert(program, op, [](Kind from, Kind to, Element e) {
    return fromInt(toInt(from, e).sextOrTrunc(to.width));
  });
}
static Step extendUnsigned(Program &program, Operation *op) {
  return convert(program, op, [op](Kind from, Kind to, Element e) -> Element {
    if (op->hasAttr("nonNeg") && toInt(from, e).isNegative())
      return {0, op};
    return fromInt(toInt(from, e).zextOrTrunc(to.width));
  });
}
static Step truncate(Program &program, Operation *op) {
  arith::IntegerOverflowFlags flags = flagsOf(op);
  return convert(program, op, [&](Kind from, Kind to, Element e) {
    APInt value = toInt(from, e), narrow = value.trunc(to.width);
    return wrapped(op, flags, narrow, narrow.sext(value.getBitWidth()) != value,
                   narrow.zext(value.getBitWidth()) != value);
  });
}
static Step convertFloat(Program &program, Operation *op) {
  return convert(program, op, [](Kind from, Kind to, Element e) {
    return fromFloat(to, toFloat(from, e));
  });
}
/// Numbers that the integer does not hold give poison.
template <bool isSigned>
static Step floatToInteger(Program &program, Operation *op) {
  return convert(program, op, [op](Kind from, Kind to, Element e) -> Element {
    llvm::APSInt value(to.width, !isSigned);
    bool exact;
    if (toFloat(from, e).convertToInteger(value, APFloat::rmTowardZero,
                                          &exact) == APFloat::opInvalidOp)
      return {0, op};
    return fromInt(value);
  });
}
template <bool isSigned>
static Step integerToFloat(Program &program, Operation *op) {
  return convert(program, op, [op](Kind from, Kind to, Element e) -> Element {
    if (op->hasAttr("nonNeg") && toInt(from, e).isNegative())
      return {0, op};
    APFloat value = APFloat::getZero(*to.semantics);
    value.convertFromAPInt(toInt(from, e), isSigned,
                           APFloat::rmNearestTiesToEven);
    return fromInt(value.bitcastToAPInt());
  });
}
static Step bitcast(Program &program, Operation *op) {
  return convert(program, op, [](Kind, Kind, Element e) { return e; });
}

void mlir::iris::interp::addArithOps(World &world) {
  world.add("arith.constant", constant);
  world.add("arith.select", select);
  world.add("arith.addi", overflowing<&APInt::sadd_ov, &APInt::uadd_ov>);
  world.add("arith.subi", overflowing<&APInt::ssub_ov, &APInt::usub_ov>);
  world.add("arith.muli", overflowing<&APInt::smul_ov, &APInt::umul_ov>);
  world.add("arith.andi", simple<bitAnd>);
  world.add("arith.ori", simple<bitOr>);
  world.add("arith.xori", simple<bitXor>);
  world.add("arith.maxsi", simple<signedMax>);
  world.add("arith.maxui", simple<unsignedMax>);
  world.add("arith.minsi", simple<signedMin>);
  world.add("arith.minui", simple<unsignedMin>);
  world.add("arith.divsi", divSigned);
  world.add("arith.divui", divUnsigned);
  world.add("arith.ceildivsi", divRounding<true, APInt::Rounding::UP>);
  world.add("arith.ceildivui", divRounding<false, APInt::Rounding::UP>);
  world.add("arith.floordivsi", divRounding<true, APInt::Rounding::DOWN>);
  world.add("arith.remsi", remSigned);
  world.add("arith.remui", remUnsigned);
  world.add("arith.shli", shiftLeft);
  world.add("arith.shrsi", shiftRightSigned);
  world.add("arith.shrui", shiftRightUnsigned);
  world.add("arith.addui_extended", addExtended);
  world.add("arith.mulsi_extended", mulSignedExtended);
  world.add("arith.mului_extended", mulUnsignedExtended);
  world.add("arith.cmpi", compareIntegers);
  world.add("arith.addf", floats<add>);
  world.add("arith.subf", floats<subtract>);
  world.add("arith.mulf", floats<multiply>);
  world.add("arith.divf", floats<quotient>);
  world.add("arith.maximumf", floats<maximum>);
  world.add("arith.minimumf", floats<minimum>);
  world.add("arith.maxnumf", floats<maxNumber>);
  world.add("arith.minnumf", floats<minNumber>);
  world.add("arith.negf", negate);
  world.add("arith.cmpf", compareFloats);
  world.add("arith.extsi", extendSigned);
  world.add("arith.extui", extendUnsigned);
  world.add("arith.trunci", truncate);
  world.add("arith.index_cast", extendSigned);
  world.add("arith.index_castui", extendUnsigned);
  world.add("arith.extf", convertFloat);
  world.add("arith.truncf", convertFloat);
  world.add("arith.fptosi", floatToInteger<true>);
  world.add("arith.fptoui", floatToInteger<false>);
  world.add("arith.sitofp", integerToFloat<true>);
  world.add("arith.uitofp", integerToFloat<false>);
  world.add("arith.bitcast", bitcast);
}
