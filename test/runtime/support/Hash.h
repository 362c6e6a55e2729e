// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TEST_RUNTIME_SUPPORT_HASH_H
#define IRIS_TEST_RUNTIME_SUPPORT_HASH_H

#include <cstdint>

namespace iris::rt::test {

/// A hash of three numbers, from which tests draw sizes and contents.
inline uint64_t hash(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = (a + 1) * 0x9e3779b97f4a7c15ull ^
               (b + 1) * 0xbf58476d1ce4e5b9ull ^
               (c + 1) * 0xd6e8feb86659fd93ull;
  x = (x ^ x >> 31) * 0x94d049bb133111ebull;
  return x ^ x >> 29;
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_HASH_H
