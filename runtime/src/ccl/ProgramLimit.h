// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramLimit.h - Limits of the programs of a launch ------*- C++ -*-===//
#ifndef IRIS_RT_CCL_PROGRAMLIMIT_H
#define IRIS_RT_CCL_PROGRAMLIMIT_H

#include <algorithm>
#include <cstdint>

namespace iris::ccl {

/// The smaller one of two limits, of which 0 is none.
inline int64_t smallerLimit(int64_t a, int64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

} // namespace iris::ccl

#endif // IRIS_RT_CCL_PROGRAMLIMIT_H
