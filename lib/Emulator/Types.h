// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Types.h - Types of operands, lane by lane ----------------*- C++ -*-===//
//
// How the value of an operand is read from, and written to, registers. Handlers
// are loops over all lanes: what they compute for inactive lanes is dropped.
#ifndef IRIS_EMULATOR_TYPES_H
#define IRIS_EMULATOR_TYPES_H

#include "Numbers.h"
#include "Wave.h"
#include "Wide.h"
#include <algorithm>

namespace mlir::iris::emulator {

/// What the decoder has to know about the type of an operand.
struct OperandType {
  /// Registers; 0 for a lane mask.
  unsigned words;
  /// Bits of the value: of packed ones, of each half.
  unsigned bits;
  bool isFloat;
  /// Both halves of a register, or both registers of a pair.
  bool isPacked = false;
  /// bf16, whose constants are the upper halves of those of f32.
  bool isBrain = false;
};

/// Applies |x| and -x to the top bits.
template <class Word>
IRIS_INLINE void modifySigns(const Operand &operand, Word *values, Word sign) {
  Word keep = operand.isAbsolute ? ~sign : ~Word(0);
  Word flip = operand.isNegated ? sign : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = (values[lane] & keep) ^ flip;
}

/// One word for each lane. Returns the register itself if it can.
IRIS_INLINE const uint32_t *loadWords(Wave &wave, const Operand &operand,
                                      unsigned word, uint32_t *buffer) {
  if (operand.kind == Operand::Vector)
    return wave.row(operand.index + word);
  if (operand.row && word == 0)
    return operand.row->lanes;
  uint32_t value = operand.kind == Operand::Constant
                       ? uint32_t(operand.constant >> (32 * word))
                   : operand.kind == Operand::Scc
                       ? wave.scc
                       : wave.scalars[operand.index + word];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    buffer[lane] = value;
  return buffer;
}

/// As above, with |x| and -x of f32.
IRIS_INLINE const uint32_t *loadFloatWords(Wave &wave, const Operand &operand,
                                           uint32_t *buffer) {
  const uint32_t *words = loadWords(wave, operand, 0, buffer);
  if (!operand.hasModifiers())
    return words;
  if (words != buffer)
    std::memcpy(buffer, words, sizeof(Row));
  modifySigns<uint32_t>(operand, buffer, 1u << 31);
  return buffer;
}

/// Two words for each lane, with |x| and -x of f64 if they are floats.
IRIS_INLINE void loadPairs(Wave &wave, const Operand &operand, bool isFloat,
                           uint64_t *values) {
  Row lowBuffer, highBuffer;
  const uint32_t *low = loadWords(wave, operand, 0, lowBuffer.lanes);
  const uint32_t *high = loadWords(wave, operand, 1, highBuffer.lanes);
  IRIS_EACH_LANE
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = low[lane] | uint64_t(high[lane]) << 32;
  if (isFloat && operand.hasModifiers())
    modifySigns<uint64_t>(operand, values, uint64_t(1) << 63);
}

/// Half a word for each lane, with |x| and -x of f16 if they are floats.
IRIS_INLINE void loadHalves(Wave &wave, const Operand &operand, bool isFloat,
                            uint32_t *values) {
  Row buffer;
  const uint32_t *words = loadWords(wave, operand, 0, buffer.lanes);
  unsigned shift = operand.isHigh ? 16 : 0;
  IRIS_EACH_LANE
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = words[lane] >> shift & 0xFFFF;
  if (isFloat && operand.hasModifiers())
    modifySigns<uint32_t>(operand, values, 0x8000);
}

/// Writes two registers in the active lanes.
IRIS_INLINE void storePairs(Wave &wave, const Operand &result,
                            const uint64_t *values) {
  Row low, high;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    low.lanes[lane] = uint32_t(values[lane]);
    high.lanes[lane] = uint32_t(values[lane] >> 32);
  }
  wave.writeRow(result.index, low.lanes);
  wave.writeRow(result.index + 1, high.lanes);
}

/// Writes half a register in the active lanes.
IRIS_INLINE void storeHalves(Wave &wave, const Instruction &instruction,
                             const Operand &result, uint32_t *values) {
  const uint32_t *old = wave.row(result.index);
  if (result.isHigh)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = values[lane] << 16 | (old[lane] & 0xFFFF);
  else if (instruction.keepsOtherHalf)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] |= old[lane] & 0xFFFF0000;
  wave.writeRow(result.index, values);
}

/// Multiplies float results, and clamps them to [0, 1].
void modifyResult(const Instruction &instruction, float *values);
void modifyResult(const Instruction &instruction, double *values);

/// Values of all lanes: of a register, or of a buffer. Buffers are elsewhere,
/// so that the compiler knows what a store to them does not change.
template <class T>
struct LaneValues {
  const T *values;

  IRIS_INLINE T operator[](unsigned lane) const { return values[lane]; }
};

/// Room for values of all lanes, not initialized.
template <class T>
struct LaneBuffer {
  alignas(64) T values[kLanes];

  LaneBuffer() {}
};

/// How results that a type's `store` writes to registers are computed: `begin`
/// returns where to, and `end` follows.
template <class Type, class T>
struct BufferedResults {
  IRIS_INLINE static T *begin(Wave &, const Operand &, LaneBuffer<T> &buffer) {
    return buffer.values;
  }
  IRIS_INLINE static void end(Wave &wave, const Instruction &instruction,
                              const Operand &result, T *values,
                              LaneBuffer<T> &) {
    Type::store(wave, instruction, result, values);
  }
};

/// Values of one register.
template <class T, bool isFloatType>
struct WordType {
  using Value = T;
  static constexpr OperandType type = {1, 32, isFloatType};

  IRIS_INLINE static LaneValues<T> load(Wave &wave, const Operand &operand,
                                        LaneBuffer<T> &buffer) {
    auto *words = reinterpret_cast<uint32_t *>(buffer.values);
    return {reinterpret_cast<const T *>(
        isFloatType ? loadFloatWords(wave, operand, words)
                    : loadWords(wave, operand, 0, words))};
  }

  /// The register itself if all lanes are active.
  IRIS_INLINE static T *begin(Wave &wave, const Operand &result,
                              LaneBuffer<T> &buffer) {
    return wave.isFull() ? reinterpret_cast<T *>(wave.row(result.index))
                         : buffer.values;
  }
  IRIS_INLINE static void end(Wave &wave, const Instruction &instruction,
                              const Operand &result, T *values,
                              LaneBuffer<T> &buffer) {
    if constexpr (std::is_same_v<T, float>)
      if (instruction.modifiesResult())
        modifyResult(instruction, values);
    if (values == buffer.values)
      wave.mergeRow(result.index, reinterpret_cast<uint32_t *>(values));
  }

  IRIS_INLINE static void store(Wave &wave, const Instruction &instruction,
                                const Operand &result, T *values) {
    if constexpr (std::is_same_v<T, float>)
      if (instruction.modifiesResult())
        modifyResult(instruction, values);
    wave.writeRow(result.index, reinterpret_cast<uint32_t *>(values));
  }
};

/// Values of two registers.
template <class T, bool isFloatType>
struct PairType : BufferedResults<PairType<T, isFloatType>, T> {
  using Value = T;
  static constexpr OperandType type = {2, 64, isFloatType};

  IRIS_INLINE static LaneValues<T> load(Wave &wave, const Operand &operand,
                                        LaneBuffer<T> &buffer) {
    loadPairs(wave, operand, isFloatType,
              reinterpret_cast<uint64_t *>(buffer.values));
    return {buffer.values};
  }

  IRIS_INLINE static void store(Wave &wave, const Instruction &instruction,
                                const Operand &result, T *values) {
    if constexpr (isFloatType)
      if (instruction.modifiesResult())
        modifyResult(instruction, values);
    storePairs(wave, result, reinterpret_cast<const uint64_t *>(values));
  }
};

/// Values of half a register. `Format` converts them.
template <class Format>
struct HalfType : BufferedResults<HalfType<Format>, typename Format::Value> {
  using Value = typename Format::Value;
  static constexpr OperandType type = {1, 16, Format::isFloat, false,
                                       Format::isBrain};

  IRIS_INLINE static LaneValues<Value> load(Wave &wave, const Operand &operand,
                                            LaneBuffer<Value> &buffer) {
    Row halves;
    loadHalves(wave, operand, Format::isFloat, halves.lanes);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      buffer.values[lane] = Format::decode(halves.lanes[lane]);
    return {buffer.values};
  }

  IRIS_INLINE static void store(Wave &wave, const Instruction &instruction,
                                const Operand &result, Value *values) {
    if constexpr (Format::isFloat)
      if (instruction.modifiesResult())
        modifyResult(instruction, values);
    Row bits;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      bits.lanes[lane] = Format::encode(values[lane]) & 0xFFFF;
    storeHalves(wave, instruction, result, bits.lanes);
  }
};

struct HalfFormat {
  using Value = float;
  static constexpr bool isFloat = true, isBrain = false;
  static float decode(uint32_t bits) { return fromHalf(bits); }
  static uint32_t encode(float value) { return toHalf(value); }
};
struct BrainFormat {
  using Value = float;
  static constexpr bool isFloat = true, isBrain = true;
  static float decode(uint32_t bits) { return fromBrain(bits); }
  static uint32_t encode(float value) { return toBrain(value); }
};
template <class T>
struct IntegerFormat {
  using Value = int32_t;
  static constexpr bool isFloat = false, isBrain = false;
  static int32_t decode(uint32_t bits) { return T(bits); }
  static uint32_t encode(int32_t value) { return uint32_t(value); }
};
/// Any bits, of a source that may be negated, or be a constant, as f16 is.
struct HalfBitsFormat : IntegerFormat<uint16_t> {
  static constexpr bool isFloat = true;
};

using U32 = WordType<uint32_t, false>;
using I32 = WordType<int32_t, false>;
using F32 = WordType<float, true>;
/// Any bits, which may be negated as floats are.
using B32 = WordType<uint32_t, true>;
using U64 = PairType<uint64_t, false>;
using I64 = PairType<int64_t, false>;
using F64 = PairType<double, true>;
using F16 = HalfType<HalfFormat>;
using BF16 = HalfType<BrainFormat>;
/// Of sources only.
using B16 = HalfType<HalfBitsFormat>;
using U16 = HalfType<IntegerFormat<uint16_t>>;
using I16 = HalfType<IntegerFormat<int16_t>>;

/// A bit for each lane.
struct Mask : BufferedResults<Mask, uint8_t> {
  using Value = uint8_t;
  static constexpr OperandType type = {0, 1, false};

  IRIS_INLINE static LaneValues<uint8_t>
  load(Wave &wave, const Operand &operand, LaneBuffer<uint8_t> &buffer) {
    scatter(operand.kind == Operand::Constant ? operand.constant
                                              : wave.laneMask(operand.index),
            buffer.values);
    return {buffer.values};
  }

  /// Bytes that are 0 or 1, from bits.
  IRIS_INLINE static void scatter(uint64_t mask, uint8_t *values) {
    for (unsigned byte = 0; byte < kLanes / 8; ++byte) {
      // Bit i in byte i; then any bit to the lowest one.
      uint64_t lanes = (mask >> (8 * byte) & 0xFF) * 0x0101010101010101u &
                       0x8040201008040201u;
      lanes = (lanes + 0x7F7F7F7F7F7F7F7Fu) >> 7 & 0x0101010101010101u;
      std::memcpy(values + 8 * byte, &lanes, 8);
    }
  }

  /// The bits of bytes that are 0 or 1.
  IRIS_INLINE static uint64_t gather(const uint8_t *values) {
    uint64_t mask = 0;
    for (unsigned byte = 0; byte < kLanes / 8; ++byte) {
      uint64_t lanes;
      std::memcpy(&lanes, values + 8 * byte, 8);
      mask |= (lanes * 0x0102040810204080u >> 56) << (8 * byte);
    }
    return mask;
  }

  /// Inactive lanes have zeros.
  IRIS_INLINE static void store(Wave &wave, const Instruction &,
                                const Operand &result, uint8_t *values) {
    wave.setLaneMask(result.index, gather(values) & wave.exec());
  }
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_TYPES_H
