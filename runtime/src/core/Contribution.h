// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contribution.h - Values in contributions to collectives --*- C++ -*-===//
#ifndef IRIS_RT_CORE_CONTRIBUTION_H
#define IRIS_RT_CORE_CONTRIBUTION_H

#include "bootstrap/Bootstrap.h"

#include <cstring>
#include <type_traits>

namespace iris::rt {

/// The bytes of a value, for Bootstrap::allGather.
template <typename T>
Bootstrap::Bytes toContribution(const T &value) {
  static_assert(std::is_trivially_copyable_v<T>, "sent as bytes");
  Bootstrap::Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// The value of a rank's contribution.
template <typename T>
Expected<T> fromContribution(const Bootstrap::Bytes &bytes, uint32_t rank) {
  T value;
  if (bytes.size() != sizeof(T))
    return makeStatus(StatusCode::internal,
                      "rank %u sent %zu bytes; expected %zu", rank,
                      bytes.size(), sizeof(T));
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

} // namespace iris::rt

#endif // IRIS_RT_CORE_CONTRIBUTION_H
