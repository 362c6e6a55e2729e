// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatOps.h - Operations on floats ------------------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_FLOATOPS_H
#define IRIS_EMULATOR_FLOATOPS_H

#include "Numbers.h"
#include <limits>

namespace mlir::iris::emulator {

/// The larger number, or the one beside a NaN; +0 is larger than -0.
template <class T>
inline T largerNumber(T a, T b) {
  T larger = a > b ? a : b;
  larger = a == b ? (std::signbit(a) ? b : a) : larger;
  larger = a != a ? b : larger;
  return b != b ? a : larger;
}
template <class T>
inline T smallerNumber(T a, T b) {
  T smaller = a < b ? a : b;
  smaller = a == b ? (std::signbit(a) ? a : b) : smaller;
  smaller = a != a ? b : smaller;
  return b != b ? a : smaller;
}
/// As above, but NaN if there is one.
template <class T>
inline T largerOrNan(T a, T b) {
  return a != a ? a : b != b ? b : largerNumber(a, b);
}
template <class T>
inline T smallerOrNan(T a, T b) {
  return a != a ? a : b != b ? b : smallerNumber(a, b);
}

template <class T>
inline T medianNumber(T a, T b, T c) {
  if (a != a || b != b || c != c)
    return smallerNumber(smallerNumber(a, b), c);
  T largest = largerNumber(largerNumber(a, b), c);
  if (largest == a)
    return largerNumber(b, c);
  return largest == b ? largerNumber(a, c) : largerNumber(a, b);
}

/// The nearest integer toward zero; the limits beyond them, 0 for NaN.
template <class Integer, class Float>
inline Integer saturate(Float value) {
  constexpr double low = std::numeric_limits<Integer>::min();
  constexpr double high = std::numeric_limits<Integer>::max();
  double wide = value;
  wide = wide < low ? low : wide;
  wide = wide > high ? high : wide;
  wide = wide == wide ? wide : 0;
  return Integer(int64_t(wide));
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_FLOATOPS_H
