// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SipHash.h - A keyed hash ---------------------------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_SIPHASH_H
#define IRIS_RT_CORE_SIPHASH_H

#include <cstddef>
#include <cstdint>

namespace iris::rt {

struct SipKey {
  uint64_t low = 0, high = 0;
};

/// SipHash-2-4 (Aumasson and Bernstein, 2012): without the key, the value of a
/// text cannot be predicted, so that it proves knowledge of the key.
uint64_t sipHash(const SipKey &key, const void *data, size_t size);

} // namespace iris::rt

#endif // IRIS_RT_CORE_SIPHASH_H
