// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorPacked.cpp - Two operations in a lane ------------------------===//
//
// The assembly's op_sel and op_sel_hi say which half of each source the lower,
// and the upper, operation read; neg_lo and neg_hi negate it.
#include "Decoder.h"
#include "FloatOps.h"

using namespace mlir::iris::emulator;

namespace {

/// Both 16-bit halves of a register.
template <class Format>
struct PackedHalves {
  using Value = typename Format::Value;
  static constexpr OperandType type = {1, 16, Format::isFloat, true,
                                       Format::isBrain};

  IRIS_INLINE static void load(Wave &wave, const Operand &operand, bool isUpper,
                               Value *values) {
    Row buffer;
    const uint32_t *words = loadWords(wave, operand, 0, buffer.lanes);
    bool isHigh = isUpper ? operand.isHighForHigh : operand.isHigh;
    bool isNegated = isUpper ? operand.isNegatedForHigh : operand.isNegated;
    unsigned shift = isHigh ? 16 : 0;
    uint32_t flip = Format::isFloat && isNegated ? 0x8000 : 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = Format::decode((words[lane] >> shift & 0xFFFF) ^ flip);
  }

  IRIS_INLINE static void store(Wave &wave, const Instruction &instruction,
                                Value *low, Value *high) {
    if constexpr (Format::isFloat)
      if (instruction.modifiesResult()) {
        modifyResult(instruction, low);
        modifyResult(instruction, high);
      }
    Row bits;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      bits.lanes[lane] = (Format::encode(low[lane]) & 0xFFFF) |
                         Format::encode(high[lane]) << 16;
    wave.writeRow(instruction.result.index, bits.lanes);
  }
};

/// Two registers. A constant is the same for both.
template <class T, bool isFloatType>
struct PackedWords {
  using Value = T;
  static constexpr OperandType type = {2, 32, isFloatType, true};

  IRIS_INLINE static void load(Wave &wave, const Operand &operand, bool isUpper,
                               Value *values) {
    Row buffer;
    bool isHigh = isUpper ? operand.isHighForHigh : operand.isHigh;
    bool isNegated = isUpper ? operand.isNegatedForHigh : operand.isNegated;
    unsigned word = isHigh && operand.kind != Operand::Constant ? 1 : 0;
    const uint32_t *words = loadWords(wave, operand, word, buffer.lanes);
    uint32_t flip = isFloatType && isNegated ? 1u << 31 : 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = bitCast<T>(words[lane] ^ flip);
  }

  IRIS_INLINE static void store(Wave &wave, const Instruction &instruction,
                                Value *low, Value *high) {
    if constexpr (isFloatType)
      if (instruction.modifiesResult()) {
        modifyResult(instruction, low);
        modifyResult(instruction, high);
      }
    unsigned index = instruction.result.index;
    wave.writeRow(index, reinterpret_cast<uint32_t *>(low));
    wave.writeRow(index + 1, reinterpret_cast<uint32_t *>(high));
  }
};

using PF16 = PackedHalves<HalfFormat>;
using PBF16 = PackedHalves<BrainFormat>;
using PU16 = PackedHalves<IntegerFormat<uint16_t>>;
using PI16 = PackedHalves<IntegerFormat<int16_t>>;
using PF32 = PackedWords<float, true>;
using PU32 = PackedWords<uint32_t, false>;

template <class Result, class... Sources>
struct PackedFunction;
template <class Result, class... Sources>
struct PackedFunction<Result(Sources...)> {
  template <class Function, size_t... indices>
  IRIS_INLINE static void run(Wave &wave, const Instruction &instruction,
                              const Function &function,
                              std::index_sequence<indices...>) {
    alignas(64) typename Result::Value results[2][kLanes];
    for (bool isUpper : {false, true}) {
      std::tuple<LaneBuffer<typename Sources::Value>...> sources;
      (Sources::load(wave, instruction.sources[indices], isUpper,
                     std::get<indices>(sources).values),
       ...);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        results[isUpper][lane] =
            function(std::get<indices>(sources).values[lane]...);
    }
    Result::store(wave, instruction, results[0], results[1]);
  }
};

} // namespace

/// As `lanes`.
template <class Signature, class Function, class Plain>
static Semantics packed(Function function, Plain plain) {
  static Function stateless = function;
  static Plain statelessPlain = plain;
  struct Body {
    IRIS_INLINE static void run(Wave &wave, const Instruction &instruction) {
      PackedFunction<Signature>::run(wave, instruction, stateless,
                                     Describe<Signature>::indices);
    }
  };
  struct PlainBody {
    IRIS_INLINE static void run(Wave &wave, const Instruction &instruction) {
      PackedFunction<Signature>::run(wave, instruction, statelessPlain,
                                     Describe<Signature>::indices);
    }
  };
  return Describe<Signature>::semantics(widestOf<Body, PlainBody>());
}
template <class Signature, class Function>
static Semantics packed(Function function) {
  return packed<Signature>(function, function);
}

template <class Type>
static void addPackedFloats(InstructionTable &table, llvm::StringRef type) {
  auto add = [&](const char *operation, Semantics semantics) {
    table.add((llvm::Twine("v_pk_") + operation + "_" + type).str(), semantics);
  };
  add("add", packed<Type(Type, Type)>([](float a, float b) { return a + b; }));
  add("mul", packed<Type(Type, Type)>([](float a, float b) { return a * b; }));
  for (auto name : {"max", "max_num"})
    add(name, packed<Type(Type, Type)>(
                  [](float a, float b) { return largerNumber(a, b); }));
  for (auto name : {"min", "min_num"})
    add(name, packed<Type(Type, Type)>(
                  [](float a, float b) { return smallerNumber(a, b); }));
  add("maximum", packed<Type(Type, Type)>(
                     [](float a, float b) { return largerOrNan(a, b); }));
  add("minimum", packed<Type(Type, Type)>(
                     [](float a, float b) { return smallerOrNan(a, b); }));
  add("maximum3", packed<Type(Type, Type, Type)>([](float a, float b, float c) {
        return largerOrNan(largerOrNan(a, b), c);
      }));
  add("minimum3", packed<Type(Type, Type, Type)>([](float a, float b, float c) {
        return smallerOrNan(smallerOrNan(a, b), c);
      }));
}

/// `Number` is the integer of a half.
template <class Type, class Number>
static void addPackedIntegers(InstructionTable &table, llvm::StringRef type) {
  auto add = [&](const char *operation, const Semantics &semantics,
                 llvm::StringRef modifier = "") {
    table.add((llvm::Twine("v_pk_") + operation + "_" + type + modifier).str(),
              semantics);
  };
  auto addClamped = [&](const char *operation, auto function) {
    Semantics semantics = packed<Type(Type, Type)>(function);
    semantics.isClamped = true;
    add(operation, semantics, kClampedIntegers);
  };
  addClamped("add", [](int32_t a, int32_t b) {
    return int32_t(saturate<Number>(int64_t(a) + b));
  });
  addClamped("sub", [](int32_t a, int32_t b) {
    return int32_t(saturate<Number>(int64_t(a) - b));
  });
  using i32 = int32_t;
  add("add", packed<Type(Type, Type)>([](i32 a, i32 b) { return a + b; }));
  add("sub", packed<Type(Type, Type)>([](i32 a, i32 b) { return a - b; }));
  add("mul_lo", packed<Type(Type, Type)>(
                    [](i32 a, i32 b) { return i32(uint32_t(a) * b); }));
  add("mad", packed<Type(Type, Type, Type)>(
                 [](i32 a, i32 b, i32 c) { return i32(uint32_t(a) * b + c); }));
  add("max",
      packed<Type(Type, Type)>([](i32 a, i32 b) { return a > b ? a : b; }));
  add("min",
      packed<Type(Type, Type)>([](i32 a, i32 b) { return a < b ? a : b; }));
}

void mlir::iris::emulator::addVectorPacked(InstructionTable &table) {
  addPackedFloats<PF16>(table, "f16");
  addPackedFloats<PBF16>(table, "bf16");
  addPackedFloats<PF32>(table, "f32");
  table.add("v_pk_fma_f16",
            packed<PF16(PF16, PF16, PF16)>([](float a, float b, float c) {
              return roundToOdd(fuseToOdd(a, b, c));
            }));
  table.add("v_pk_fma_f32",
            packed<PF32(PF32, PF32, PF32)>(
                [](float a, float b, float c) { return fuse(a, b, c); },
                [](float a, float b, float c) { return fuseSlowly(a, b, c); }));
  addPackedIntegers<PU16, uint16_t>(table, "u16");
  addPackedIntegers<PI16, int16_t>(table, "i16");
  using i32 = int32_t;
  table.add("v_pk_lshlrev_b16", packed<PU16(PU16, PU16)>([](i32 a, i32 b) {
              return b << (a & 15);
            }));
  table.add("v_pk_lshrrev_b16", packed<PU16(PU16, PU16)>([](i32 a, i32 b) {
              return b >> (a & 15);
            }));
  table.add("v_pk_ashrrev_i16", packed<PI16(PU16, PI16)>([](i32 a, i32 b) {
              return b >> (a & 15);
            }));
  // The lower result is of the first source, the upper one of the second;
  // op_sel selects a half of each.
  Semantics move = Describe<PU32(PU32, PU32)>::semantics(
      [](Wave &wave, const Instruction &instruction) {
        alignas(64) uint32_t low[kLanes], high[kLanes];
        PU32::load(wave, instruction.sources[0], false, low);
        PU32::load(wave, instruction.sources[1], false, high);
        PU32::store(wave, instruction, low, high);
      });
  table.add("v_pk_mov_b32", move);
}
