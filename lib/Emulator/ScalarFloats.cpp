// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarFloats.cpp - Floats in scalar registers ----------------------===//
//
// f16 results clear the upper half of their register.
#include "FloatOps.h"
#include "Scalars.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;
using u32 = uint32_t;
using i32 = int32_t;

static float fuse16(float a, float b, float c) {
  return roundToOdd(fuseToOdd(a, b, c));
}

/// What both widths have. `T` holds a float.
template <class T>
static void addArithmetic(InstructionTable &table, StringRef type) {
  auto binary = [&](std::initializer_list<const char *> names, auto function) {
    static auto stateless = function;
    for (const char *name : names)
      table.add((llvm::Twine("s_") + name + "_" + type).str(),
                scalar<T(T, T)>([](T a, T b, u32 &) {
                  return T{stateless(float(a), float(b))};
                }));
  };
  binary({"add"}, [](float a, float b) { return a + b; });
  binary({"sub"}, [](float a, float b) { return a - b; });
  binary({"mul"}, [](float a, float b) { return a * b; });
  binary({"min_num", "min"},
         [](float a, float b) { return smallerNumber(a, b); });
  binary({"max_num", "max"},
         [](float a, float b) { return largerNumber(a, b); });
  binary({"minimum"}, [](float a, float b) { return smallerOrNan(a, b); });
  binary({"maximum"}, [](float a, float b) { return largerOrNan(a, b); });
  auto unary = [&](const char *name, auto function) {
    static auto stateless = function;
    table.add((llvm::Twine("s_") + name + "_" + type).str(),
              scalar<T(T)>([](T a, u32 &) { return T{stateless(float(a))}; }));
  };
  unary("ceil", [](float a) { return std::ceil(a); });
  unary("floor", [](float a) { return std::floor(a); });
  unary("trunc", [](float a) { return std::trunc(a); });
  unary("rndne", [](float a) { return std::nearbyint(a); });

  auto compare = [&](const char *name, auto function) {
    static auto stateless = function;
    table.add((llvm::Twine("s_cmp_") + name + "_" + type).str(),
              scalar<void(T, T)>([](T a, T b, u32 &scc) {
                scc = stateless(float(a), float(b));
              }));
  };
  compare("lt", [](float a, float b) { return a < b; });
  compare("eq", [](float a, float b) { return a == b; });
  compare("le", [](float a, float b) { return a <= b; });
  compare("gt", [](float a, float b) { return a > b; });
  compare("lg", [](float a, float b) { return a < b || a > b; });
  compare("ge", [](float a, float b) { return a >= b; });
  compare("o", [](float a, float b) { return a == a && b == b; });
  compare("u", [](float a, float b) { return a != a || b != b; });
  compare("nge", [](float a, float b) { return !(a >= b); });
  compare("nlg", [](float a, float b) { return !(a < b || a > b); });
  compare("ngt", [](float a, float b) { return !(a > b); });
  compare("nle", [](float a, float b) { return !(a <= b); });
  compare("neq", [](float a, float b) { return a != b; });
  compare("nlt", [](float a, float b) { return !(a < b); });
}

/// a * b + the result's old value.
template <class T, float (*fused)(float, float, float)>
static void addAccumulation(InstructionTable &table, const char *name) {
  Handler run = [](Wave &wave, const Instruction &instruction) {
    auto read = [&](const Operand &operand) {
      return float(readScalar<T>(wave, operand));
    };
    writeScalar<T>(
        wave, instruction.result,
        T{fused(read(instruction.sources[0]), read(instruction.sources[1]),
                read(instruction.result))});
  };
  table.add(name, [run](InstructionBuilder &builder) {
    return ScalarFunction<T(T, T)>::build(builder, run);
  });
}

static void addConversions(InstructionTable &table) {
  table.add("s_cvt_f32_i32",
            scalar<float(i32)>([](i32 a, u32 &) { return float(a); }));
  table.add("s_cvt_f32_u32",
            scalar<float(u32)>([](u32 a, u32 &) { return float(a); }));
  table.add("s_cvt_i32_f32", scalar<i32(float)>([](float a, u32 &) {
              return saturate<i32>(a);
            }));
  table.add("s_cvt_u32_f32", scalar<u32(float)>([](float a, u32 &) {
              return saturate<u32>(a);
            }));
  table.add("s_cvt_f16_f32",
            scalar<Half(float)>([](float a, u32 &) { return Half{a}; }));
  table.add("s_cvt_f32_f16",
            scalar<float(Half)>([](Half a, u32 &) { return float(a); }));
  table.add("s_cvt_hi_f32_f16",
            scalar<float(u32)>([](u32 a, u32 &) { return fromHalf(a >> 16); }));
}

/// Such that rounding to the type of the result is right.
template <class T>
static float narrow(double value) {
  return std::is_same_v<T, Half> ? roundToOdd(value) : float(value);
}

/// Operations of the vector unit on scalar registers.
template <class T>
static void addTranscendentals(InstructionTable &table, StringRef type) {
  auto add = [&](const char *name, auto function) {
    static auto stateless = function;
    table.add((llvm::Twine("v_s_") + name + "_" + type).str(),
              scalar<T(T)>([](T a, u32 &) { return T{stateless(float(a))}; }));
  };
  add("rcp", [](float a) { return narrow<T>(1 / double(a)); });
  add("sqrt", [](float a) { return narrow<T>(std::sqrt(double(a))); });
  add("rsq", [](float a) {
    return narrow<T>(1 / (a == 0 ? double(a) : std::sqrt(double(a))));
  });
  add("exp", [](float a) { return narrow<T>(std::exp2(double(a))); });
  add("log", [](float a) { return narrow<T>(std::log2(double(a))); });
}

void mlir::iris::emulator::addScalarFloats(InstructionTable &table) {
  addArithmetic<float>(table, "f32");
  addArithmetic<Half>(table, "f16");
  addAccumulation<float, fuse>(table, "s_fmac_f32");
  addAccumulation<Half, fuse16>(table, "s_fmac_f16");
  // The constant is the second source, or the last one.
  for (auto name : {"s_fmamk_f32", "s_fmaak_f32"})
    table.add(name, scalar<float(float, float, float)>(
                        [](float a, float b, float c, u32 &) {
                          return fuse(a, b, c);
                        }));
  addConversions(table);
  addTranscendentals<float>(table, "f32");
  addTranscendentals<Half>(table, "f16");
}
