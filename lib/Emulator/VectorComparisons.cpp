// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorComparisons.cpp - Comparisons of lanes -----------------------===//
#include "Decoder.h"

using namespace mlir::iris::emulator;
using llvm::Twine;

/// v_cmp_, whose result is a lane mask, and v_cmpx_, which also makes it EXEC.
static void addBoth(InstructionTable &table, const Twine &suffix,
                    Semantics semantics) {
  table.add(("v_cmp_" + suffix).str(), semantics);
  table.add(
      ("v_cmpx_" + suffix).str(),
      [semantics](InstructionBuilder &builder) -> llvm::Error {
        Instruction &instruction = builder.instruction;
        if (!builder.execution.comparesIntoExecAlone) {
          if (llvm::Error error = builder.operation(semantics))
            return error;
          instruction.inner = instruction.run;
          instruction.run = [](Wave &wave, const Instruction &instruction) {
            instruction.inner(wave, instruction);
            wave.setLaneMask(kExec, wave.laneMask(instruction.result.index));
          };
          return llvm::Error::success();
        }
        Semantics sources = semantics;
        sources.results.clear();
        if (llvm::Error error = builder.operation(sources))
          return error;
        instruction.result.kind = Operand::Scalar;
        instruction.result.index = kExec;
        return llvm::Error::success();
      });
}

/// The comparisons of all types.
template <class Type, class Add>
static void addRelations(Add add) {
  using T = typename Type::Value;
  add("lt", lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(a < b); }));
  add("eq", lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(a == b); }));
  add("le", lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(a <= b); }));
  add("gt", lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(a > b); }));
  add("ge", lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(a >= b); }));
  add("f", lanes<Mask(Type, Type)>([](T, T) { return uint8_t(0); }));
  add("t", lanes<Mask(Type, Type)>([](T, T) { return uint8_t(1); }));
}

template <class Type>
static void addIntegerComparisons(InstructionTable &table, const Twine &type) {
  using T = typename Type::Value;
  auto add = [&](const char *operation, Semantics semantics) {
    addBoth(table, Twine(operation) + "_" + type, std::move(semantics));
  };
  addRelations<Type>(add);
  add("ne", lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(a != b); }));
}

template <class Type>
static void addFloatComparisons(InstructionTable &table, const Twine &type) {
  using T = typename Type::Value;
  auto add = [&](const char *operation, Semantics semantics) {
    addBoth(table, Twine(operation) + "_" + type, std::move(semantics));
  };
  addRelations<Type>(add);
  add("lg", lanes<Mask(Type, Type)>(
                [](T a, T b) { return uint8_t((a < b) | (a > b)); }));
  add("o", lanes<Mask(Type, Type)>(
               [](T a, T b) { return uint8_t((a == a) & (b == b)); }));
  add("u", lanes<Mask(Type, Type)>(
               [](T a, T b) { return uint8_t((a != a) | (b != b)); }));
  add("nlt",
      lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(!(a < b)); }));
  add("neq", lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(a != b); }));
  add("nle",
      lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(!(a <= b)); }));
  add("ngt",
      lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(!(a > b)); }));
  add("nge",
      lanes<Mask(Type, Type)>([](T a, T b) { return uint8_t(!(a >= b)); }));
  add("nlg", lanes<Mask(Type, Type)>(
                 [](T a, T b) { return uint8_t(!((a < b) | (a > b))); }));
  add("tru", lanes<Mask(Type, Type)>([](T, T) { return uint8_t(1); }));
}

/// The class of a float whose sign, exponent and mantissa are given: one of ten
/// bits.
static unsigned classOf(bool isNegative, bool isMaximal, bool isMinimal,
                        bool hasMantissa, bool isQuiet) {
  if (isMaximal && hasMantissa)
    return isQuiet ? 1u << 1 : 1u << 0;
  if (isMaximal)
    return isNegative ? 1u << 2 : 1u << 9;
  if (!isMinimal)
    return isNegative ? 1u << 3 : 1u << 8;
  if (hasMantissa)
    return isNegative ? 1u << 4 : 1u << 7;
  return isNegative ? 1u << 5 : 1u << 6;
}

/// An f16 by its bits: the class of its value as f32 is another one.
struct HalfBits {
  using Value = uint16_t;
  static constexpr bool isFloat = true, isBrain = false;
  static uint16_t decode(uint32_t bits) { return uint16_t(bits); }
  static uint32_t encode(uint16_t bits) { return bits; }
};

template <class Type, class Bits, unsigned kMantissa>
static void addClass(InstructionTable &table, const Twine &type) {
  using T = typename Type::Value;
  addBoth(table, "class_" + type,
          lanes<Mask(Type, U32)>([](T value, uint32_t classes) {
            Bits bits = bitCast<Bits>(value);
            unsigned width = sizeof(Bits) * 8;
            Bits mantissa = bits & ((Bits(1) << kMantissa) - 1);
            Bits largest = (Bits(1) << (width - 1 - kMantissa)) - 1;
            Bits exponent = bits >> kMantissa & largest;
            unsigned is =
                classOf(bits >> (width - 1), exponent == largest, exponent == 0,
                        mantissa != 0, mantissa >> (kMantissa - 1));
            return uint8_t((classes & is) != 0);
          }));
}

void mlir::iris::emulator::addVectorComparisons(InstructionTable &table) {
  addIntegerComparisons<U16>(table, "u16");
  addIntegerComparisons<I16>(table, "i16");
  addIntegerComparisons<U32>(table, "u32");
  addIntegerComparisons<I32>(table, "i32");
  addIntegerComparisons<U64>(table, "u64");
  addIntegerComparisons<I64>(table, "i64");
  addFloatComparisons<F16>(table, "f16");
  addFloatComparisons<F32>(table, "f32");
  addFloatComparisons<F64>(table, "f64");
  addClass<HalfType<HalfBits>, uint16_t, 10>(table, "f16");
  addClass<F32, uint32_t, 23>(table, "f32");
  addClass<F64, uint64_t, 52>(table, "f64");
}
