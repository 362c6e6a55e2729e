// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arithmetic.h - Integer arithmetic of plans ---------------*- C++ -*-===//
//
// Formulas that a host evaluates and a kernel computes are templates over an
// arithmetic. With `IntegerArithmetic` they give numbers; with the compiler's
// ScalarBuilder, which has the same methods, they generate ops.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_ARITHMETIC_H
#define IRIS_PLAN_ARITHMETIC_H

#include <algorithm>
#include <cstdint>

namespace irisplan {

/// a / b, rounded up; a >= 0, b > 0. Does not overflow.
template <typename Integer>
constexpr Integer ceilDiv(Integer a, Integer b) {
  return a / b + (a % b != 0);
}

constexpr bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

/// The least power of two that is at least `value`; value >= 1.
constexpr int64_t nextPowerOfTwo(int64_t value) {
  int64_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

/// Arithmetic on known numbers; all are >= 0.
struct IntegerArithmetic {
  using Number = int64_t;

  Number index(int64_t value) { return value; }
  Number add(Number a, Number b) { return a + b; }
  Number sub(Number a, Number b) { return a - b; }
  Number mul(Number a, Number b) { return a * b; }
  Number div(Number a, Number b) { return a / b; }
  Number rem(Number a, Number b) { return a % b; }
  Number ceilDiv(Number a, Number b) { return irisplan::ceilDiv(a, b); }
  Number min(Number a, Number b) { return std::min(a, b); }
  Number max(Number a, Number b) { return std::max(a, b); }
  /// a < b ? x : y.
  Number ifLess(Number a, Number b, Number x, Number y) {
    return a < b ? x : y;
  }
  template <typename BodyT>
  void loop(Number from, Number to, Number step, BodyT body) {
    for (Number i = from; i < to; i += step)
      body(i);
  }
};

/// Programs of a launch whose work is `items` tiles: one for each, but at least
/// one, since a launch without elements still has its barriers, and at most
/// `most`.
template <typename Arithmetic>
typename Arithmetic::Number countPrograms(Arithmetic &n,
                                          typename Arithmetic::Number items,
                                          typename Arithmetic::Number most) {
  return n.max(n.index(1), n.min(most, items));
}

/// Tiles of a full round, if there is room for `tiles`: as many for each of
/// `programs` programs, unless there are fewer tiles than programs.
template <typename Arithmetic>
typename Arithmetic::Number getFullRound(Arithmetic &n,
                                         typename Arithmetic::Number tiles,
                                         typename Arithmetic::Number programs) {
  auto even = n.sub(tiles, n.rem(tiles, programs));
  return n.ifLess(tiles, programs, tiles, even);
}

} // namespace irisplan

#endif // IRIS_PLAN_ARITHMETIC_H
