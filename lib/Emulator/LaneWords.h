// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaneWords.h - Words of lanes, in memory and in rows ------*- C++ -*-===//
//
// Memory has the words of a lane one after the other, registers have a row for
// each word. Four lanes at a time are transposed.
#ifndef IRIS_EMULATOR_LANEWORDS_H
#define IRIS_EMULATOR_LANEWORDS_H

#include "Wide.h"
#include <cstring>

namespace mlir::iris::emulator {

/// A vector of the compiler's.
typedef uint32_t Words4 __attribute__((vector_size(16)));

/// Four rows of four words, from four columns; their own inverse.
IRIS_INLINE void transpose(Words4 (&words)[4]) {
  Words4 low0 = __builtin_shufflevector(words[0], words[1], 0, 4, 1, 5);
  Words4 low1 = __builtin_shufflevector(words[2], words[3], 0, 4, 1, 5);
  Words4 high0 = __builtin_shufflevector(words[0], words[1], 2, 6, 3, 7);
  Words4 high1 = __builtin_shufflevector(words[2], words[3], 2, 6, 3, 7);
  words[0] = __builtin_shufflevector(low0, low1, 0, 1, 4, 5);
  words[1] = __builtin_shufflevector(low0, low1, 2, 3, 6, 7);
  words[2] = __builtin_shufflevector(high0, high1, 0, 1, 4, 5);
  words[3] = __builtin_shufflevector(high0, high1, 2, 3, 6, 7);
}

/// Loads kWords words of each of the first lanes from at(lane). The rows of the
/// result may be those of the addresses.
template <unsigned kWords, class At>
IRIS_INLINE void loadAllLanes(uint32_t *rows, unsigned numLanes, At at) {
  for (unsigned lane = 0; lane < numLanes; lane += 4) {
    Words4 words[4] = {};
    for (unsigned i = 0; i < 4; ++i)
      std::memcpy(&words[i], at(lane + i), 4 * kWords);
    transpose(words);
    for (unsigned i = 0; i < kWords; ++i)
      std::memcpy(rows + i * kLanes + lane, &words[i], sizeof(Words4));
  }
}

/// Stores the words of the first lanes, one lane after the other.
template <unsigned kWords, class At>
IRIS_INLINE void storeAllLanes(const uint32_t *rows, unsigned numLanes, At at) {
  for (unsigned lane = 0; lane < numLanes; lane += 4) {
    Words4 words[4] = {};
    for (unsigned i = 0; i < kWords; ++i)
      std::memcpy(&words[i], rows + i * kLanes + lane, sizeof(Words4));
    transpose(words);
    for (unsigned i = 0; i < 4; ++i)
      std::memcpy(at(lane + i), &words[i], 4 * kWords);
  }
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_LANEWORDS_H
