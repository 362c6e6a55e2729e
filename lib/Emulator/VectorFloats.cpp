// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorFloats.cpp - Floats in vector registers ----------------------===//
#include "Decoder.h"
#include "FloatOps.h"

using namespace mlir::iris::emulator;

/// The largest number below 1.
template <class Type>
static constexpr auto
    kBelowOne = 1 - std::numeric_limits<typename Type::Value>::epsilon() / 2;
template <>
constexpr float kBelowOne<F16> = 0x1.ffcp-1f;

/// What all widths have. f16 is computed in f32, whose precision is more than
/// twice as large: rounding the rounded result again is exact.
template <class Type>
static void addBasics(InstructionTable &table, llvm::StringRef type) {
  using T = typename Type::Value;
  auto add = [&](const char *operation, Semantics semantics) {
    table.add((llvm::Twine("v_") + operation + "_" + type).str(), semantics);
  };
  add("add", lanes<Type(Type, Type)>([](T a, T b) { return a + b; }));
  add("sub", lanes<Type(Type, Type)>([](T a, T b) { return a - b; }));
  add("subrev", lanes<Type(Type, Type)>([](T a, T b) { return b - a; }));
  add("mul", lanes<Type(Type, Type)>([](T a, T b) { return a * b; }));
  for (auto name : {"max", "max_num"})
    add(name,
        lanes<Type(Type, Type)>([](T a, T b) { return largerNumber(a, b); }));
  for (auto name : {"min", "min_num"})
    add(name,
        lanes<Type(Type, Type)>([](T a, T b) { return smallerNumber(a, b); }));
  add("maximum",
      lanes<Type(Type, Type)>([](T a, T b) { return largerOrNan(a, b); }));
  add("minimum",
      lanes<Type(Type, Type)>([](T a, T b) { return smallerOrNan(a, b); }));
  auto ofThree = [&](std::initializer_list<const char *> names, auto function) {
    for (const char *name : names)
      add(name, lanes<Type(Type, Type, Type)>(function));
  };
  ofThree({"max3", "max3_num"},
          [](T a, T b, T c) { return largerNumber(largerNumber(a, b), c); });
  ofThree({"min3", "min3_num"},
          [](T a, T b, T c) { return smallerNumber(smallerNumber(a, b), c); });
  ofThree({"minmax", "minmax_num"},
          [](T a, T b, T c) { return largerNumber(smallerNumber(a, b), c); });
  ofThree({"maxmin", "maxmin_num"},
          [](T a, T b, T c) { return smallerNumber(largerNumber(a, b), c); });
  ofThree({"maximum3"},
          [](T a, T b, T c) { return largerOrNan(largerOrNan(a, b), c); });
  ofThree({"minimum3"},
          [](T a, T b, T c) { return smallerOrNan(smallerOrNan(a, b), c); });
  ofThree({"minimummaximum"},
          [](T a, T b, T c) { return largerOrNan(smallerOrNan(a, b), c); });
  ofThree({"maximumminimum"},
          [](T a, T b, T c) { return smallerOrNan(largerOrNan(a, b), c); });
  ofThree({"med3", "med3_num"},
          [](T a, T b, T c) { return medianNumber(a, b, c); });
  add("trunc", lanes<Type(Type)>([](T a) { return T(std::trunc(a)); }));
  add("ceil", lanes<Type(Type)>([](T a) { return T(std::ceil(a)); }));
  add("floor", lanes<Type(Type)>([](T a) { return T(std::floor(a)); }));
  add("rndne", lanes<Type(Type)>([](T a) { return T(std::nearbyint(a)); }));
  add("fract", lanes<Type(Type)>([](T a) {
        // Less than 1, also when the difference rounds to it; NaN of
        // infinities.
        T difference = a - std::floor(a);
        return difference > kBelowOne<Type> ? kBelowOne<Type> : difference;
      }));
  add("rcp", lanes<Type(Type)>([](T a) { return T(1) / a; }));
  add("rsq", lanes<Type(Type)>([](T a) {
        return T(a == 0 ? T(1) / a : T(1) / std::sqrt(a));
      }));
  add("sqrt", lanes<Type(Type)>([](T a) { return T(std::sqrt(a)); }));
  add("ldexp", lanes<Type(Type, I32)>([](T a, int32_t exponent) {
        return T(std::ldexp(a, exponent));
      }));
  // The significand in [0.5, 1), and its exponent; infinities and NaN as they
  // are, with 0.
  add("frexp_mant", lanes<Type(Type)>([](T a) {
        int exponent;
        return std::isfinite(a) ? T(std::frexp(a, &exponent)) : a;
      }));
}

template <class T>
static int32_t exponentOf(T a) {
  int exponent = 0;
  if (std::isfinite(a))
    std::frexp(a, &exponent);
  return exponent;
}

static float withoutSubnormal(float a) {
  return std::fabs(a) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, a)
             : a;
}

/// Two operations, which both round, and take subnormal numbers for zeros
/// whatever the mode says.
static float multiplyThenAdd(float a, float b, float c) {
  float product = withoutSubnormal(withoutSubnormal(a) * withoutSubnormal(b));
  return withoutSubnormal(product + withoutSubnormal(c));
}

static void addSingle(InstructionTable &table) {
  for (auto name : {"v_mad_f32", "v_madmk_f32", "v_madak_f32"})
    table.add(name, lanes<F32(F32, F32, F32)>([](float a, float b, float c) {
                return multiplyThenAdd(a, b, c);
              }));
  table.add("v_mac_f32",
            accumulating<F32(F32, F32, F32)>([](float a, float b, float c) {
              return multiplyThenAdd(a, b, c);
            }));
  // The constant of v_fmamk and v_fmaak is the second source, or the last one.
  auto fused = [](float a, float b, float c) { return fuse(a, b, c); };
  auto fusedSlowly = [](float a, float b, float c) {
    return fuseSlowly(a, b, c);
  };
  for (auto name : {"v_fma_f32", "v_fmamk_f32", "v_fmaak_f32"})
    table.add(name, lanes<F32(F32, F32, F32)>(fused, fusedSlowly));
  table.add("v_fmac_f32", accumulating<F32(F32, F32, F32)>(fused, fusedSlowly));
  for (auto name : {"v_mul_legacy_f32", "v_mul_dx9_zero_f32"})
    table.add(name, lanes<F32(F32, F32)>([](float a, float b) {
                return a == 0 || b == 0 ? 0.0f : a * b;
              }));
  table.add("v_rcp_iflag_f32",
            lanes<F32(F32)>([](float a) { return 1.0f / a; }));
  table.add("v_exp_f32", lanes<F32(F32)>([](float a) { return std::exp2(a); }));
  table.add("v_log_f32", lanes<F32(F32)>([](float a) { return std::log2(a); }));
  // Of turns.
  table.add("v_sin_f32", lanes<F32(F32)>([](float a) {
              return float(std::sin(double(a) * 6.283185307179586));
            }));
  table.add("v_cos_f32", lanes<F32(F32)>([](float a) {
              return float(std::cos(double(a) * 6.283185307179586));
            }));
  table.add("v_frexp_exp_i32_f32",
            lanes<I32(F32)>([](float a) { return exponentOf(a); }));
}

static void addDouble(InstructionTable &table) {
  table.add("v_fma_f64",
            lanes<F64(F64, F64, F64)>([](double a, double b, double c) {
              return std::fma(a, b, c);
            }));
  table.add("v_fmac_f64",
            accumulating<F64(F64, F64, F64)>([](double a, double b, double c) {
              return std::fma(a, b, c);
            }));
  table.add("v_frexp_exp_i32_f64",
            lanes<I32(F64)>([](double a) { return exponentOf(a); }));
}

static float fuseHalf(float a, float b, float c) {
  return roundToOdd(fuseToOdd(a, b, c));
}

static void addHalf(InstructionTable &table) {
  auto fuse = lanes<F16(F16, F16, F16)>(
      [](float a, float b, float c) { return fuseHalf(a, b, c); });
  Semantics update = fuse;
  update.accumulates = true;
  // On chips with 16-bit results that clear the rest of their register, fused
  // operations keep it.
  auto keeping = [&table](const char *name, Semantics semantics) {
    table.add(name, [semantics](InstructionBuilder &builder) {
      builder.instruction.keepsOtherHalf = true;
      return builder.operation(semantics);
    });
  };
  keeping("v_fma_f16", fuse);
  keeping("v_fmac_f16", update);
  keeping("v_fmamk_f16", fuse);
  keeping("v_fmaak_f16", fuse);
  table.add("v_ldexp_f16", lanes<F16(F16, I16)>([](float a, int32_t exponent) {
              return std::ldexp(a, exponent);
            }));
  table.add("v_exp_f16", lanes<F16(F16)>([](float a) {
              return roundToOdd(std::exp2(double(a)));
            }));
  table.add("v_log_f16", lanes<F16(F16)>([](float a) {
              return roundToOdd(std::log2(double(a)));
            }));
  table.add("v_frexp_exp_i16_f16",
            lanes<I16(F16)>([](float a) { return exponentOf(a); }));
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

/// The numerator or the denominator (the first source), scaled such that the
/// steps of a division neither overflow nor lose bits; the mask says where the
/// quotient is to be scaled back.
template <class T>
static T scaleForDivision(T value, T denominator, T numerator,
                          uint8_t &scalesBack) {
  constexpr int mantissa = std::numeric_limits<T>::digits;
  constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
  constexpr int scale = mantissa == 24 ? 64 : 128;
  scalesBack = 0;
  if (numerator == 0 || denominator == 0)
    return std::numeric_limits<T>::quiet_NaN();
  if (!std::isfinite(numerator) || !std::isfinite(denominator))
    return value;
  auto isSubnormal = [](T number) {
    return number != 0 && std::fabs(number) < std::numeric_limits<T>::min();
  };
  int difference = std::ilogb(numerator) - std::ilogb(denominator);
  bool isDenominator = value == denominator;
  if (difference >= bias - (mantissa == 24 ? 31 : 255)) {
    // The quotient is very large.
    scalesBack = 1;
    return isDenominator ? std::ldexp(value, scale) : value;
  }
  if (isSubnormal(denominator))
    return std::ldexp(value, scale);
  if (isSubnormal(T(1) / denominator) && isSubnormal(numerator / denominator)) {
    scalesBack = 1;
    return isDenominator ? std::ldexp(value, scale) : value;
  }
  if (isSubnormal(T(1) / denominator))
    return std::ldexp(value, -scale);
  if (isSubnormal(numerator / denominator)) {
    scalesBack = 1;
    return value == numerator ? std::ldexp(value, scale) : value;
  }
  if (std::ilogb(numerator) <= mantissa - bias - 1)
    return std::ldexp(value, scale);
  return value;
}

/// The quotient of the last two sources, where the first is what the steps of
/// the division computed: these give the rounded quotient, which is computed
/// here, so that the exactness of the steps' reciprocals does not matter.
template <class T>
static T fixDivision(T, T denominator, T numerator) {
  return numerator / denominator;
}

template <class Type>
static void addDivisions(InstructionTable &table, llvm::StringRef type) {
  using T = typename Type::Value;
  table.add(("v_div_scale_" + type).str(),
            lanesWithMask<Type(Type, Type, Type)>(
                [](T a, T b, T c, uint8_t &scalesBack) {
                  return scaleForDivision(a, b, c, scalesBack);
                }));
  // VCC, which is not an operand of the assembly, says where to scale.
  Semantics steps =
      lanes<Type(Type, Type, Type, Mask)>([](T a, T b, T c, uint8_t scales) {
        T sum = T(std::fma(a, b, c));
        return scales ? T(std::ldexp(sum, sizeof(T) == 4 ? 32 : 64)) : sum;
      });
  Semantics visible = steps;
  visible.sources.pop_back();
  table.add(("v_div_fmas_" + type).str(),
            [visible](InstructionBuilder &builder) {
              Operand &mask = builder.instruction.sources[3];
              mask.kind = Operand::Scalar;
              mask.index = kVcc;
              return builder.operation(visible);
            });
  table.add(("v_div_fixup_" + type).str(),
            lanes<Type(Type, Type, Type)>(
                [](T a, T b, T c) { return fixDivision(a, b, c); }));
}

/// The steps of an f16 division are in f32: what they computed is used where
/// the quotient is finite.
static float fixHalfDivision(float quotient, float denominator,
                             float numerator) {
  bool isNegative = std::signbit(denominator) != std::signbit(numerator);
  float sign = isNegative ? -1.0f : 1.0f;
  if (numerator != numerator)
    return numerator;
  if (denominator != denominator)
    return denominator;
  bool isNan = (numerator == 0 && denominator == 0) ||
               (std::isinf(numerator) && std::isinf(denominator));
  if (isNan)
    return std::numeric_limits<float>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator))
    return sign * std::numeric_limits<float>::infinity();
  if (std::isinf(denominator) || numerator == 0)
    return sign * 0.0f;
  return sign * std::fabs(quotient);
}

void mlir::iris::emulator::addVectorFloats(InstructionTable &table) {
  addBasics<F16>(table, "f16");
  addBasics<F32>(table, "f32");
  addBasics<F64>(table, "f64");
  addSingle(table);
  addDouble(table);
  addHalf(table);
  addDivisions<F32>(table, "f32");
  addDivisions<F64>(table, "f64");
  table.add("v_div_fixup_f16",
            lanes<F16(F16, F16, F16)>([](float a, float b, float c) {
              return fixHalfDivision(a, b, c);
            }));
}
