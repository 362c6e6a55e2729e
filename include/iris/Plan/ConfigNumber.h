// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConfigNumber.h - Numbers of configs and their ranges -----*- C++ -*-===//

#ifndef IRIS_PLAN_CONFIGNUMBER_H
#define IRIS_PLAN_CONFIGNUMBER_H

#include "iris/Plan/Arithmetic.h"

#include <string>
#include <string_view>

namespace irisplan {

/// A number of a config: its key, the values that it may have, and the one that
/// it has if the config does not set it.
struct ConfigNumber {
  std::string_view key;
  int64_t least, most;
  bool isPowerOfTwo;
  int64_t defaultValue;

  constexpr bool accepts(int64_t value) const {
    return value >= least && value <= most &&
           (!isPowerOfTwo || irisplan::isPowerOfTwo(value));
  }
  /// "1 to 64", "a power of two from 1 to 16".
  std::string describe() const;
};

} // namespace irisplan

#endif // IRIS_PLAN_CONFIGNUMBER_H
