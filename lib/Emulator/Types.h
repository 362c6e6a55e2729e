// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Types.h - Types of operands, lane by lane ----------------*- C++ -*-===//
//
// How the value of an operand is read from, and written to, registers. Handlers
// are loops over all lanes: what they compute for inactive lanes is dropped.
#ifndef IRIS_EMULATOR_TYPES_H
#define IRIS_EMULATOR_TYPES_H

#include "Numbers.h"
#include "Wave.h"
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

/// One word for each lane. Returns the register itself if it can.
const uint32_t *loadWords(Wave &wave, const Operand &operand, unsigned word,
                          Row &buffer);
/// As above, with |x| and -x of f32.
const uint32_t *loadFloatWords(Wave &wave, const Operand &operand, Row &buffer);
/// Two words for each lane, with |x| and -x of f64 if they are floats.
void loadPairs(Wave &wave, const Operand &operand, bool isFloat,
               uint64_t *values);
/// Half a word for each lane, with |x| and -x of f16 if they are floats.
void loadHalves(Wave &wave, const Operand &operand, bool isFloat,
                uint32_t *values);
/// Writes two registers in the active lanes.
void storePairs(Wave &wave, const Operand &result, const uint64_t *values);
/// Writes half a register in the active lanes.
void storeHalves(Wave &wave, const Instruction &instruction,
                 const Operand &result, uint32_t *values);
/// Multiplies float results, and clamps them to [0, 1].
void modifyResult(const Instruction &instruction, float *values);
void modifyResult(const Instruction &instruction, double *values);

/// Values of one register.
template <class T, bool isFloatType>
struct WordType {
  using Value = T;
  static constexpr OperandType type = {1, 32, isFloatType};

  struct Source {
    Row buffer;
    const T *values;

    void load(Wave &wave, const Operand &operand) {
      values = reinterpret_cast<const T *>(
          isFloatType ? loadFloatWords(wave, operand, buffer)
                      : loadWords(wave, operand, 0, buffer));
    }
    T operator[](unsigned lane) const { return values[lane]; }
  };

  static void store(Wave &wave, const Instruction &instruction,
                    const Operand &result, T *values) {
    if constexpr (std::is_same_v<T, float>)
      modifyResult(instruction, values);
    wave.writeRow(result.index, reinterpret_cast<uint32_t *>(values));
  }
};

/// Values of two registers.
template <class T, bool isFloatType>
struct PairType {
  using Value = T;
  static constexpr OperandType type = {2, 64, isFloatType};

  struct Source {
    alignas(64) T values[kLanes];

    void load(Wave &wave, const Operand &operand) {
      loadPairs(wave, operand, isFloatType,
                reinterpret_cast<uint64_t *>(values));
    }
    T operator[](unsigned lane) const { return values[lane]; }
  };

  static void store(Wave &wave, const Instruction &instruction,
                    const Operand &result, T *values) {
    if constexpr (isFloatType)
      modifyResult(instruction, values);
    storePairs(wave, result, reinterpret_cast<const uint64_t *>(values));
  }
};

/// Values of half a register. `Format` converts them.
template <class Format>
struct HalfType {
  using Value = typename Format::Value;
  static constexpr OperandType type = {1, 16, Format::isFloat, false,
                                       Format::isBrain};

  struct Source {
    Row halves;
    alignas(64) Value values[kLanes];

    void load(Wave &wave, const Operand &operand) {
      loadHalves(wave, operand, Format::isFloat, halves.lanes);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        values[lane] = Format::decode(halves.lanes[lane]);
    }
    Value operator[](unsigned lane) const { return values[lane]; }
  };

  static void store(Wave &wave, const Instruction &instruction,
                    const Operand &result, Value *values) {
    if constexpr (Format::isFloat)
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
using U16 = HalfType<IntegerFormat<uint16_t>>;
using I16 = HalfType<IntegerFormat<int16_t>>;

/// A bit for each lane.
struct Mask {
  using Value = uint8_t;
  static constexpr OperandType type = {0, 1, false};

  struct Source {
    uint8_t values[kLanes];

    void load(Wave &wave, const Operand &operand) {
      uint64_t mask = operand.kind == Operand::Constant
                          ? operand.constant
                          : wave.laneMask(operand.index);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        values[lane] = mask >> lane & 1;
    }
    uint8_t operator[](unsigned lane) const { return values[lane]; }
  };

  /// The bits of bytes that are 0 or 1.
  static uint64_t gather(const uint8_t *values) {
    uint64_t mask = 0;
    for (unsigned byte = 0; byte < kLanes / 8; ++byte) {
      uint64_t lanes;
      std::memcpy(&lanes, values + 8 * byte, 8);
      mask |= (lanes * 0x0102040810204080u >> 56) << (8 * byte);
    }
    return mask;
  }

  /// Inactive lanes have zeros.
  static void store(Wave &wave, const Instruction &, const Operand &result,
                    uint8_t *values) {
    wave.setLaneMask(result.index, gather(values) & wave.exec());
  }
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_TYPES_H
