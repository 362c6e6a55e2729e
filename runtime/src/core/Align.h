// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_RT_CORE_ALIGN_H
#define IRIS_RT_CORE_ALIGN_H

#include <cstdint>

namespace iris::rt {

/// The least multiple of `alignment`, which need not be a power of two, that is
/// at least `value`.
constexpr uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace iris::rt

#endif // IRIS_RT_CORE_ALIGN_H
