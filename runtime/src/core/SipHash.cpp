// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SipHash.cpp - A keyed hash -----------------------------------------===//
#include "core/SipHash.h"

using namespace iris::rt;

static uint64_t rotate(uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

namespace {
/// The state of SipHash.
struct State {
  uint64_t v0, v1, v2, v3;

  explicit State(const SipKey &key)
      : v0(key.low ^ 0x736f6d6570736575u), v1(key.high ^ 0x646f72616e646f6du),
        v2(key.low ^ 0x6c7967656e657261u), v3(key.high ^ 0x7465646279746573u) {}

  void mix(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      v0 += v1;
      v1 = rotate(v1, 13) ^ v0;
      v0 = rotate(v0, 32);
      v2 += v3;
      v3 = rotate(v3, 16) ^ v2;
      v0 += v3;
      v3 = rotate(v3, 21) ^ v0;
      v2 += v1;
      v1 = rotate(v1, 17) ^ v2;
      v2 = rotate(v2, 32);
    }
  }

  void add(uint64_t word) {
    v3 ^= word;
    mix(2);
    v0 ^= word;
  }
};
} // namespace

uint64_t iris::rt::sipHash(const SipKey &key, const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  State state(key);
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i) {
    word |= uint64_t(bytes[i]) << (8 * (i % 8));
    if (i % 8 == 7) {
      state.add(word);
      word = 0;
    }
  }
  state.add(word | uint64_t(size) << 56);
  state.v2 ^= 0xff;
  state.mix(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}
