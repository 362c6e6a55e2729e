// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorIntegers.cpp - Integers in vector registers ------------------===//
#include "Decoder.h"

using namespace mlir::iris::emulator;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

static u32 countBits(u32 bits) {
  bits = bits - (bits >> 1 & 0x55555555u);
  bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0Fu;
  return bits * 0x01010101u >> 24;
}

static u32 reverse(u32 bits) {
  bits = (bits >> 1 & 0x55555555u) | (bits & 0x55555555u) << 1;
  bits = (bits >> 2 & 0x33333333u) | (bits & 0x33333333u) << 2;
  bits = (bits >> 4 & 0x0F0F0F0Fu) | (bits & 0x0F0F0F0Fu) << 4;
  bits = (bits >> 8 & 0x00FF00FFu) | (bits & 0x00FF00FFu) << 8;
  return bits >> 16 | bits << 16;
}

static void addVectorSums(InstructionTable &table) {
  for (auto name : {"v_add_u32", "v_add_nc_u32"})
    table.add(name, lanes<U32(U32, U32)>([](u32 a, u32 b) { return a + b; }));
  for (auto name : {"v_sub_u32", "v_sub_nc_u32"})
    table.add(name, lanes<U32(U32, U32)>([](u32 a, u32 b) { return a - b; }));
  for (auto name : {"v_subrev_u32", "v_subrev_nc_u32"})
    table.add(name, lanes<U32(U32, U32)>([](u32 a, u32 b) { return b - a; }));
  table.add("v_add3_u32", lanes<U32(U32, U32, U32)>(
                              [](u32 a, u32 b, u32 c) { return a + b + c; }));
  table.add("v_sad_u32", lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return (a > b ? a - b : b - a) + c;
            }));
  table.add("v_lshl_add_u32",
            lanes<U32(U32, U32, U32)>(
                [](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }));
  table.add("v_add_lshl_u32",
            lanes<U32(U32, U32, U32)>(
                [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }));
  table.add("v_xad_u32", lanes<U32(U32, U32, U32)>(
                             [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }));
  table.add("v_lshl_add_u64",
            lanes<U64(U64, U32, U64)>(
                [](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }));

  table.add("v_add_co_u32",
            lanesWithMask<U32(U32, U32)>([](u32 a, u32 b, uint8_t &carry) {
              u32 sum = a + b;
              carry = sum < a;
              return sum;
            }));
  table.add("v_sub_co_u32",
            lanesWithMask<U32(U32, U32)>([](u32 a, u32 b, uint8_t &borrow) {
              borrow = a < b;
              return a - b;
            }));
  table.add("v_subrev_co_u32",
            lanesWithMask<U32(U32, U32)>([](u32 a, u32 b, uint8_t &borrow) {
              borrow = b < a;
              return b - a;
            }));
  for (auto name : {"v_addc_co_u32", "v_add_co_ci_u32"})
    table.add(name, lanesWithMask<U32(U32, U32, Mask)>(
                        [](u32 a, u32 b, uint8_t in, uint8_t &carry) {
                          u64 sum = u64(a) + b + in;
                          carry = uint8_t(sum >> 32);
                          return u32(sum);
                        }));
  for (auto name : {"v_subb_co_u32", "v_sub_co_ci_u32"})
    table.add(name, lanesWithMask<U32(U32, U32, Mask)>(
                        [](u32 a, u32 b, uint8_t in, uint8_t &borrow) {
                          u64 subtrahend = u64(b) + in;
                          borrow = a < subtrahend;
                          return u32(a - subtrahend);
                        }));
  for (auto name : {"v_subbrev_co_u32", "v_subrev_co_ci_u32"})
    table.add(name, lanesWithMask<U32(U32, U32, Mask)>(
                        [](u32 a, u32 b, uint8_t in, uint8_t &borrow) {
                          u64 subtrahend = u64(a) + in;
                          borrow = b < subtrahend;
                          return u32(b - subtrahend);
                        }));
}

static u32 low24(u32 a) { return a & 0xFFFFFF; }
static i32 signed24(u32 a) { return i32(a << 8) >> 8; }

static void addVectorMultiplications(InstructionTable &table) {
  table.add("v_mul_lo_u32",
            lanes<U32(U32, U32)>([](u32 a, u32 b) { return a * b; }));
  table.add("v_mul_hi_u32", lanes<U32(U32, U32)>([](u32 a, u32 b) {
              return u32(u64(a) * b >> 32);
            }));
  table.add("v_mul_hi_i32", lanes<U32(I32, I32)>([](i32 a, i32 b) {
              return u32(i64(a) * b >> 32);
            }));
  table.add("v_mul_u32_u24", lanes<U32(U32, U32)>([](u32 a, u32 b) {
              return low24(a) * low24(b);
            }));
  table.add("v_mul_hi_u32_u24", lanes<U32(U32, U32)>([](u32 a, u32 b) {
              return u32(u64(low24(a)) * low24(b) >> 32);
            }));
  table.add("v_mul_i32_i24", lanes<U32(U32, U32)>([](u32 a, u32 b) {
              return u32(i64(signed24(a)) * signed24(b));
            }));
  table.add("v_mul_hi_i32_i24", lanes<U32(U32, U32)>([](u32 a, u32 b) {
              return u32(i64(signed24(a)) * signed24(b) >> 32);
            }));
  table.add("v_mad_u32_u24", lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return low24(a) * low24(b) + c;
            }));
  table.add("v_mad_i32_i24", lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return u32(i64(signed24(a)) * signed24(b)) + c;
            }));
  for (auto name : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
    table.add(name, lanesWithMask<U64(U32, U32, U64)>(
                        [](u32 a, u32 b, u64 c, uint8_t &carry) {
                          u64 sum = u64(a) * b + c;
                          carry = sum < c;
                          return sum;
                        }));
  // The carry is that of the sum with 65 bits, both operands sign-extended.
  for (auto name : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
    table.add(name, lanesWithMask<U64(I32, I32, I64)>(
                        [](i32 a, i32 b, i64 c, uint8_t &carry) {
                          i64 factor = i64(a) * b;
                          u64 sum = u64(factor) + u64(c);
                          u64 overflow = (u64(factor) ^ sum) & (u64(c) ^ sum);
                          carry = uint8_t((sum ^ overflow) >> 63);
                          return sum;
                        }));
}

/// A byte of a (4 to 7) or b (0 to 3), the sign of a half of them (8 to 11), 0,
/// or all bits.
static IRIS_INLINE u32 selectByte(u32 a, u32 b, u32 index) {
  u32 word = index & 4 ? a : b;
  u32 byte = word >> (8 * (index & 3)) & 0xFF;
  u32 half = index & 2 ? a : b;
  u32 sign = (0 - (half >> (15 + 16 * (index & 1)) & 1)) & 0xFF;
  byte = index >= 8 ? sign : byte;
  byte = index == 12 ? 0 : byte;
  return index > 12 ? 0xFF : byte;
}

/// A selected byte for each byte of the result. Most selectors are the same in
/// all lanes.
static IRIS_INLINE void permuteBytes(Wave &wave,
                                     const Instruction &instruction) {
  LaneBuffer<u32> buffers[3];
  LaneValues<u32> a = U32::load(wave, instruction.sources[0], buffers[0]);
  LaneValues<u32> b = U32::load(wave, instruction.sources[1], buffers[1]);
  LaneValues<u32> selector =
      U32::load(wave, instruction.sources[2], buffers[2]);
  alignas(64) u32 results[kLanes] = {};
  bool isUniform = instruction.sources[2].kind != Operand::Vector;
  for (unsigned i = 0; i < 4; ++i) {
    u32 uniform = selector[0] >> (8 * i) & 0xFF;
    if (isUniform && uniform < 8) {
      const u32 *from = uniform < 4 ? b.values : a.values;
      unsigned shift = uniform % 4 * 8;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        results[lane] |= (from[lane] >> shift & 0xFF) << (8 * i);
    } else {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        results[lane] |=
            selectByte(a[lane], b[lane], selector[lane] >> (8 * i) & 0xFF)
            << (8 * i);
    }
  }
  U32::store(wave, instruction, instruction.result, results);
}

static void addVectorBits(InstructionTable &table) {
  table.add("v_and_b32",
            lanes<U32(U32, U32)>([](u32 a, u32 b) { return a & b; }));
  table.add("v_or_b32",
            lanes<U32(U32, U32)>([](u32 a, u32 b) { return a | b; }));
  table.add("v_xor_b32",
            lanes<U32(U32, U32)>([](u32 a, u32 b) { return a ^ b; }));
  table.add("v_xnor_b32",
            lanes<U32(U32, U32)>([](u32 a, u32 b) { return ~(a ^ b); }));
  table.add("v_not_b32", lanes<U32(U32)>([](u32 a) { return ~a; }));
  table.add("v_and_or_b32", lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return (a & b) | c;
            }));
  table.add("v_or3_b32", lanes<U32(U32, U32, U32)>(
                             [](u32 a, u32 b, u32 c) { return a | b | c; }));
  table.add("v_xor3_b32", lanes<U32(U32, U32, U32)>(
                              [](u32 a, u32 b, u32 c) { return a ^ b ^ c; }));
  table.add("v_lshl_or_b32", lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return (a << (b & 31)) | c;
            }));
  table.add("v_bfi_b32", lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return (a & b) | (~a & c);
            }));
  table.add("v_bfm_b32", lanes<U32(U32, U32)>([](u32 a, u32 b) {
              return ((u32(1) << (a & 31)) - 1) << (b & 31);
            }));
  table.add("v_bfe_u32", lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return a >> (b & 31) & ((u32(1) << (c & 31)) - 1);
            }));
  table.add("v_bfe_i32", lanes<I32(I32, U32, U32)>([](i32 a, u32 b, u32 c) {
              u32 width = c & 31, unused = (32 - width) & 31;
              // Fewer bits than `width` are left above a large offset.
              i32 bits = a >> (b & 31);
              bits = i32(u32(bits) << unused) >> unused;
              return width ? bits : 0;
            }));
  table.add("v_bfrev_b32", lanes<U32(U32)>([](u32 a) { return reverse(a); }));
  table.add("v_bcnt_u32_b32", lanes<U32(U32, U32)>([](u32 a, u32 b) {
              return countBits(a) + b;
            }));
  // The first bit from the left, and from the right; all ones without one.
  for (auto name : {"v_ffbh_u32", "v_clz_i32_u32"})
    table.add(name, lanes<U32(U32)>([](u32 a) {
                return a ? u32(__builtin_clz(a)) : ~u32(0);
              }));
  for (auto name : {"v_ffbl_b32", "v_ctz_i32_b32"})
    table.add(name, lanes<U32(U32)>([](u32 a) {
                return a ? u32(__builtin_ctz(a)) : ~u32(0);
              }));
  for (auto name : {"v_ffbh_i32", "v_cls_i32"})
    table.add(name, lanes<U32(I32)>([](i32 a) {
                u32 bits = u32(a < 0 ? ~a : a);
                return bits ? u32(__builtin_clz(bits)) : ~u32(0);
              }));
  table.add("v_perm_b32",
            Describe<U32(U32, U32, U32)>::semantics(widest<permuteBytes>()));
  table.add("v_alignbit_b32",
            lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return u32((u64(a) << 32 | b) >> (c & 31));
            }));
  table.add("v_alignbyte_b32",
            lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 c) {
              return u32((u64(a) << 32 | b) >> (8 * (c & 3)));
            }));
}

/// Any function of three bits: bit 4a + 2b + c of `detail` is the result.
template <class Type>
static IRIS_INLINE void combineBits(Wave &wave,
                                    const Instruction &instruction) {
  LaneBuffer<typename Type::Value> buffers[3];
  auto a = Type::load(wave, instruction.sources[0], buffers[0]);
  auto b = Type::load(wave, instruction.sources[1], buffers[1]);
  auto c = Type::load(wave, instruction.sources[2], buffers[2]);
  alignas(64) typename Type::Value results[kLanes] = {};
  for (unsigned i = 0; i < 8; ++i) {
    if (!(instruction.detail >> i & 1))
      continue;
    u32 notA = i & 4 ? 0 : ~u32(0), notB = i & 2 ? 0 : ~u32(0);
    u32 notC = i & 1 ? 0 : ~u32(0);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      results[lane] |=
          (u32(a[lane]) ^ notA) & (u32(b[lane]) ^ notB) & (u32(c[lane]) ^ notC);
  }
  Type::store(wave, instruction, instruction.result, results);
}

template <class Type>
static void addCombination(InstructionTable &table, llvm::StringRef name) {
  Semantics semantics =
      Describe<Type(Type, Type, Type)>::semantics(widest<combineBits<Type>>());
  table.add(name, [semantics](InstructionBuilder &builder) {
    builder.instruction.detail =
        uint32_t(builder.parsed.getNumber("bitop3", 0));
    builder.instruction.keepsOtherHalf = true;
    return builder.operation(semantics);
  });
}

static void addVectorShifts(InstructionTable &table) {
  table.add("v_lshlrev_b32",
            lanes<U32(U32, U32)>([](u32 a, u32 b) { return b << (a & 31); }));
  table.add("v_lshrrev_b32",
            lanes<U32(U32, U32)>([](u32 a, u32 b) { return b >> (a & 31); }));
  table.add("v_ashrrev_i32",
            lanes<I32(U32, I32)>([](u32 a, i32 b) { return b >> (a & 31); }));
  table.add("v_lshlrev_b64",
            lanes<U64(U32, U64)>([](u32 a, u64 b) { return b << (a & 63); }));
  table.add("v_lshrrev_b64",
            lanes<U64(U32, U64)>([](u32 a, u64 b) { return b >> (a & 63); }));
  table.add("v_ashrrev_i64",
            lanes<I64(U32, I64)>([](u32 a, i64 b) { return b >> (a & 63); }));
  table.add("v_lshlrev_b16",
            lanes<U16(U16, U16)>([](i32 a, i32 b) { return b << (a & 15); }));
  table.add("v_lshrrev_b16",
            lanes<U16(U16, U16)>([](i32 a, i32 b) { return b >> (a & 15); }));
  table.add("v_ashrrev_i16",
            lanes<I16(U16, I16)>([](i32 a, i32 b) { return b >> (a & 15); }));
}

template <class Type>
static void addVectorExtrema(InstructionTable &table, llvm::StringRef suffix) {
  using Value = typename Type::Value;
  auto name = [&](const char *operation) {
    return (llvm::Twine("v_") + operation + "_" + suffix).str();
  };
  table.add(name("min"), lanes<Type(Type, Type)>(
                             [](Value a, Value b) { return a < b ? a : b; }));
  table.add(name("max"), lanes<Type(Type, Type)>(
                             [](Value a, Value b) { return a > b ? a : b; }));
  auto ofThree = [&](const char *operation, auto function) {
    table.add(name(operation), lanes<Type(Type, Type, Type)>(function));
  };
  ofThree("min3", [](Value a, Value b, Value c) {
    return std::min(std::min(a, b), c);
  });
  ofThree("max3", [](Value a, Value b, Value c) {
    return std::max(std::max(a, b), c);
  });
  ofThree("maxmin", [](Value a, Value b, Value c) {
    return std::min(std::max(a, b), c);
  });
  ofThree("minmax", [](Value a, Value b, Value c) {
    return std::max(std::min(a, b), c);
  });
  ofThree("med3", [](Value a, Value b, Value c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
  });
}

/// Sums and differences with a clamp do not wrap.
template <class Type, class Number>
static void addClamped(InstructionTable &table, llvm::StringRef type) {
  using Value = typename Type::Value;
  auto add = [&](llvm::StringRef operation, auto function) {
    Semantics semantics = lanes<Type(Type, Type)>(function);
    semantics.isClamped = true;
    for (auto infix : {"_", "_nc_"})
      table.add(
          ("v_" + llvm::Twine(operation) + infix + type + kClampedIntegers)
              .str(),
          semantics);
  };
  add("add", [](Value a, Value b) {
    return Value(saturate<Number>(int64_t(a) + int64_t(b)));
  });
  add("sub", [](Value a, Value b) {
    return Value(saturate<Number>(int64_t(a) - int64_t(b)));
  });
  add("subrev", [](Value a, Value b) {
    return Value(saturate<Number>(int64_t(b) - int64_t(a)));
  });
}

static void addShortIntegers(InstructionTable &table) {
  for (auto name : {"v_add_u16", "v_add_nc_u16"})
    table.add(name, lanes<U16(U16, U16)>([](i32 a, i32 b) { return a + b; }));
  for (auto name : {"v_sub_u16", "v_sub_nc_u16"})
    table.add(name, lanes<U16(U16, U16)>([](i32 a, i32 b) { return a - b; }));
  table.add("v_subrev_u16",
            lanes<U16(U16, U16)>([](i32 a, i32 b) { return b - a; }));
  for (auto name : {"v_add_i16", "v_add_nc_i16"})
    table.add(name, lanes<I16(I16, I16)>([](i32 a, i32 b) { return a + b; }));
  for (auto name : {"v_sub_i16", "v_sub_nc_i16"})
    table.add(name, lanes<I16(I16, I16)>([](i32 a, i32 b) { return a - b; }));
  table.add("v_mul_lo_u16",
            lanes<U16(U16, U16)>([](i32 a, i32 b) { return i32(u32(a) * b); }));
  for (auto name : {"v_mad_u16", "v_mad_legacy_u16"})
    table.add(name, lanes<U16(U16, U16, U16)>([](i32 a, i32 b, i32 c) {
                return i32(u32(a) * b + c);
              }));
  table.add("v_mad_i16", lanes<I16(I16, I16, I16)>([](i32 a, i32 b, i32 c) {
              return i32(u32(a) * b + c);
            }));
}

void mlir::iris::emulator::addVectorIntegers(InstructionTable &table) {
  addVectorSums(table);
  addVectorMultiplications(table);
  addVectorBits(table);
  addCombination<U32>(table, "v_bitop3_b32");
  addCombination<U16>(table, "v_bitop3_b16");
  addVectorShifts(table);
  addVectorExtrema<U32>(table, "u32");
  addVectorExtrema<I32>(table, "i32");
  addVectorExtrema<U16>(table, "u16");
  addVectorExtrema<I16>(table, "i16");
  addShortIntegers(table);
  addClamped<U32, uint32_t>(table, "u32");
  addClamped<I32, int32_t>(table, "i32");
  addClamped<U16, uint16_t>(table, "u16");
  addClamped<I16, int16_t>(table, "i16");
}
