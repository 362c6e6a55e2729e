// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons of GpuTypes.h and GpuApiTable.inc with a driver's own header, at
// compile time.
#ifndef IRIS_TEST_RUNTIME_UNIT_DRIVERSIGNATURES_H
#define IRIS_TEST_RUNTIME_UNIT_DRIVERSIGNATURES_H

#include "backends/gpu/GpuTypes.h"

#include <type_traits>

#define SAME(ours, theirs)                                                     \
  static_assert(static_cast<long long>(ours) ==                                \
                    static_cast<long long>(theirs),                            \
                #ours " differs from " #theirs)

/// The parameters of a line of the table, and a function of the header.
#define CHECK(parameters, function)                                            \
  static_assert(SameShape<Result parameters, decltype(function)>::value,       \
                #function " has other parameters")

namespace iris::rt::gpu {

/// The type of a parameter in the calling convention: pointers, and integers
/// and enums by size. Handles may be declared as either.
template <typename T>
constexpr int abiClass() {
  using P = std::decay_t<T>;
  if constexpr (std::is_pointer_v<P>)
    return 8;
  else if constexpr (std::is_integral_v<P> || std::is_enum_v<P>)
    return static_cast<int>(sizeof(P));
  else
    return 1000 + static_cast<int>(sizeof(P)); // passed as a struct
}

template <typename Ours, typename Theirs>
struct SameShape : std::false_type {};
template <typename R, typename... A, typename... B>
struct SameShape<Result(A...), R(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) == sizeof...(B) &&
                  abiClass<R>() == abiClass<Result>())
      return ((abiClass<A>() == abiClass<B>()) && ...);
    else
      return false;
  }();
};

} // namespace iris::rt::gpu

#endif // IRIS_TEST_RUNTIME_UNIT_DRIVERSIGNATURES_H
