// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarArithmetic.cpp - Arithmetic on scalar registers --------------===//
#include "Scalars.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::iris::emulator;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

static void addScalarSums(InstructionTable &table) {
  auto addCarry = scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
    u64 sum = u64(a) + b;
    scc = u32(sum >> 32);
    return u32(sum);
  });
  auto addCarryIn = scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
    u64 sum = u64(a) + b + scc;
    scc = u32(sum >> 32);
    return u32(sum);
  });
  auto subtractBorrow = scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
    scc = a < b;
    return a - b;
  });
  auto subtractBorrowIn = scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
    u64 subtrahend = u64(b) + scc;
    scc = a < subtrahend;
    return u32(a - subtrahend);
  });
  auto addSigned = scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
    u32 sum = a + b;
    scc = ((a ^ sum) & (b ^ sum)) >> 31;
    return sum;
  });
  auto subtractSigned = scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
    u32 difference = a - b;
    scc = ((a ^ b) & (a ^ difference)) >> 31;
    return difference;
  });
  for (auto name : {"s_add_u32", "s_add_co_u32"})
    table.add(name, addCarry);
  for (auto name : {"s_addc_u32", "s_add_co_ci_u32"})
    table.add(name, addCarryIn);
  for (auto name : {"s_sub_u32", "s_sub_co_u32"})
    table.add(name, subtractBorrow);
  for (auto name : {"s_subb_u32", "s_sub_co_ci_u32"})
    table.add(name, subtractBorrowIn);
  for (auto name : {"s_add_i32", "s_add_co_i32"})
    table.add(name, addSigned);
  for (auto name : {"s_sub_i32", "s_sub_co_i32"})
    table.add(name, subtractSigned);
  for (auto name : {"s_add_u64", "s_add_nc_u64"})
    table.add(name,
              scalar<u64(u64, u64)>([](u64 a, u64 b, u32 &) { return a + b; }));
  for (auto name : {"s_sub_u64", "s_sub_nc_u64"})
    table.add(name,
              scalar<u64(u64, u64)>([](u64 a, u64 b, u32 &) { return a - b; }));
  table.add("s_absdiff_i32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
              u32 difference = i32(a) > i32(b) ? a - b : b - a;
              scc = difference != 0;
              return difference;
            }));
  table.add("s_abs_i32", scalar<u32(u32)>([](u32 a, u32 &scc) {
              u32 magnitude = i32(a) < 0 ? 0 - a : a;
              scc = magnitude != 0;
              return magnitude;
            }));
}

static void addScalarMultiplications(InstructionTable &table) {
  table.add("s_mul_i32",
            scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &) { return a * b; }));
  table.add("s_mul_hi_u32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &) {
              return u32(u64(a) * b >> 32);
            }));
  table.add("s_mul_hi_i32", scalar<u32(i32, i32)>([](i32 a, i32 b, u32 &) {
              return u32(i64(a) * b >> 32);
            }));
  table.add("s_mul_u64",
            scalar<u64(u64, u64)>([](u64 a, u64 b, u32 &) { return a * b; }));
}

static void addScalarExtrema(InstructionTable &table) {
  table.add("s_min_u32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
              scc = a < b;
              return scc ? a : b;
            }));
  table.add("s_max_u32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
              scc = a >= b;
              return scc ? a : b;
            }));
  table.add("s_min_i32", scalar<i32(i32, i32)>([](i32 a, i32 b, u32 &scc) {
              scc = a < b;
              return scc ? a : b;
            }));
  table.add("s_max_i32", scalar<i32(i32, i32)>([](i32 a, i32 b, u32 &scc) {
              scc = a >= b;
              return scc ? a : b;
            }));
}

/// An operation on bits, for both widths; SCC is whether the result is not 0.
template <class Function>
static void addBitwise(InstructionTable &table,
                       std::initializer_list<const char *> names,
                       Function function) {
  static Function stateless = function;
  for (const char *name : names) {
    table.add(std::string(name) + "_b32",
              scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
                u32 bits = u32(stateless(a, b));
                scc = bits != 0;
                return bits;
              }));
    table.add(std::string(name) + "_b64",
              scalar<u64(u64, u64)>([](u64 a, u64 b, u32 &scc) {
                u64 bits = stateless(a, b);
                scc = bits != 0;
                return bits;
              }));
  }
}

/// Operations on the bits of a T, whose names end with `bits`, or `number`
/// where the ISA takes it for an unsigned number.
template <class T>
static void addBitsOf(InstructionTable &table, const char *bits,
                      const char *number) {
  auto add = [&](const char *name, const char *type, BuildFunction build) {
    table.add(std::string(name) + type, std::move(build));
  };
  add("s_not_", bits, scalar<T(T)>([](T a, u32 &scc) {
        scc = ~a != 0;
        return T(~a);
      }));
  add("s_brev_", bits,
      scalar<T(T)>([](T a, u32 &) { return llvm::reverseBits(a); }));
  add("s_bcnt1_i32_", bits, scalar<u32(T)>([](T a, u32 &scc) {
        scc = a != 0;
        return u32(llvm::popcount(a));
      }));
  add("s_bcnt0_i32_", bits, scalar<u32(T)>([](T a, u32 &scc) {
        scc = ~a != 0;
        return u32(llvm::popcount(T(~a)));
      }));
  // The position of the first bit; all ones if there is none.
  for (auto name : {"s_ff1_i32_", "s_ctz_i32_"})
    add(name, bits, scalar<u32(T)>([](T a, u32 &) {
          return a ? u32(llvm::countr_zero(a)) : ~u32(0);
        }));
  for (auto [name, type] :
       {std::pair("s_flbit_i32_", bits), std::pair("s_clz_i32_", number)})
    add(name, type, scalar<u32(T)>([](T a, u32 &) {
          return a ? u32(llvm::countl_zero(a)) : ~u32(0);
        }));
  constexpr u32 last = sizeof(T) * 8 - 1;
  add("s_bitcmp0_", bits, scalar<void(T, u32)>([](T a, u32 b, u32 &scc) {
        scc = !(a >> (b & last) & 1);
      }));
  add("s_bitcmp1_", bits, scalar<void(T, u32)>([](T a, u32 b, u32 &scc) {
        scc = a >> (b & last) & 1;
      }));
}

static void addScalarBits(InstructionTable &table) {
  addBitwise(table, {"s_and"}, [](u64 a, u64 b) { return a & b; });
  addBitwise(table, {"s_or"}, [](u64 a, u64 b) { return a | b; });
  addBitwise(table, {"s_xor"}, [](u64 a, u64 b) { return a ^ b; });
  addBitwise(table, {"s_nand"}, [](u64 a, u64 b) { return ~(a & b); });
  addBitwise(table, {"s_nor"}, [](u64 a, u64 b) { return ~(a | b); });
  addBitwise(table, {"s_xnor"}, [](u64 a, u64 b) { return ~(a ^ b); });
  addBitwise(table, {"s_andn2", "s_and_not1"},
             [](u64 a, u64 b) { return a & ~b; });
  addBitwise(table, {"s_orn2", "s_or_not1"},
             [](u64 a, u64 b) { return a | ~b; });
  addBitsOf<u32>(table, "b32", "u32");
  addBitsOf<u64>(table, "b64", "u64");
  // The first bit that differs from the sign.
  for (auto name : {"s_flbit_i32", "s_cls_i32"})
    table.add(name, scalar<u32(u32)>([](u32 a, u32 &) {
                u32 bits = i32(a) < 0 ? ~a : a;
                return bits ? u32(llvm::countl_zero(bits)) : ~u32(0);
              }));
}

/// A shift by the low bits of the second source.
template <class T, class Function>
static void addShift(InstructionTable &table, const char *name,
                     Function function) {
  static Function stateless = function;
  table.add(name, scalar<T(T, u32)>([](T a, u32 b, u32 &scc) {
              T bits = stateless(a, b & (sizeof(T) * 8 - 1));
              scc = bits != 0;
              return bits;
            }));
}

template <unsigned kShift>
static void addShiftedSum(InstructionTable &table) {
  table.add(("s_lshl" + llvm::Twine(kShift) + "_add_u32").str(),
            scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
              u64 sum = (u64(a) << kShift) + b;
              scc = (sum >> 32) != 0;
              return u32(sum);
            }));
}

static void addScalarShifts(InstructionTable &table) {
  addShift<u32>(table, "s_lshl_b32", [](u32 a, u32 b) { return a << b; });
  addShift<u64>(table, "s_lshl_b64", [](u64 a, u32 b) { return a << b; });
  addShift<u32>(table, "s_lshr_b32", [](u32 a, u32 b) { return a >> b; });
  addShift<u64>(table, "s_lshr_b64", [](u64 a, u32 b) { return a >> b; });
  addShift<i32>(table, "s_ashr_i32", [](i32 a, u32 b) { return a >> b; });
  addShift<i64>(table, "s_ashr_i64", [](i64 a, u32 b) { return a >> b; });
  table.add("s_bfm_b32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &) {
              return ((u32(1) << (a & 31)) - 1) << (b & 31);
            }));
  table.add("s_bfm_b64", scalar<u64(u32, u32)>([](u32 a, u32 b, u32 &) {
              return ((u64(1) << (a & 63)) - 1) << (b & 63);
            }));
  // The offset is in the low bits of b, the width in bits 16 to 22.
  table.add("s_bfe_u32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
              unsigned width = std::min<u32>(b >> 16 & 0x7F, 32);
              u64 bits = u64(a >> (b & 31)) & ((u64(1) << width) - 1);
              scc = bits != 0;
              return u32(bits);
            }));
  table.add("s_bfe_i32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
              unsigned width = std::min<u32>(b >> 16 & 0x7F, 32);
              i32 bits = i32(a) >> (b & 31);
              if (width == 0)
                bits = 0;
              else
                bits = i32(u32(bits) << (32 - width)) >> (32 - width);
              scc = bits != 0;
              return u32(bits);
            }));
  table.add("s_bfe_u64", scalar<u64(u64, u32)>([](u64 a, u32 b, u32 &scc) {
              unsigned width = std::min<u32>(b >> 16 & 0x7F, 64);
              u64 bits = width == 0 ? 0 : a >> (b & 63);
              if (width && width < 64)
                bits &= (u64(1) << width) - 1;
              scc = bits != 0;
              return bits;
            }));
  table.add("s_bfe_i64", scalar<u64(u64, u32)>([](u64 a, u32 b, u32 &scc) {
              unsigned width = std::min<u32>(b >> 16 & 0x7F, 64);
              i64 bits = i64(a) >> (b & 63);
              bits = width == 0
                         ? 0
                         : i64(u64(bits) << (64 - width)) >> (64 - width);
              scc = bits != 0;
              return u64(bits);
            }));
  addShiftedSum<1>(table);
  addShiftedSum<2>(table);
  addShiftedSum<3>(table);
  addShiftedSum<4>(table);
}

static void addScalarMoves(InstructionTable &table) {
  table.add("s_mov_b32", scalar<u32(u32)>([](u32 a, u32 &) { return a; }));
  table.add("s_mov_b64", scalar<u64(u64)>([](u64 a, u32 &) { return a; }));
  table.add("s_cselect_b32", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &scc) {
              return scc ? a : b;
            }));
  table.add("s_cselect_b64", scalar<u64(u64, u64)>([](u64 a, u64 b, u32 &scc) {
              return scc ? a : b;
            }));
  table.add("s_sext_i32_i8",
            scalar<u32(u32)>([](u32 a, u32 &) { return u32(i32(int8_t(a))); }));
  table.add("s_sext_i32_i16", scalar<u32(u32)>([](u32 a, u32 &) {
              return u32(i32(int16_t(a)));
            }));
  table.add("s_pack_ll_b32_b16", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &) {
              return (a & 0xFFFF) | b << 16;
            }));
  table.add("s_pack_lh_b32_b16", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &) {
              return (a & 0xFFFF) | (b & 0xFFFF0000);
            }));
  table.add("s_pack_hl_b32_b16", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &) {
              return a >> 16 | b << 16;
            }));
  table.add("s_pack_hh_b32_b16", scalar<u32(u32, u32)>([](u32 a, u32 b, u32 &) {
              return a >> 16 | (b & 0xFFFF0000);
            }));
}

/// Operations whose result is also a source: `function` reads it, and the other
/// source, which in short encodings is an integer of 16 bits.
template <class T, class Source, class Function>
static void addUpdate(InstructionTable &table, const char *name,
                      bool isImmediate, Function function) {
  static Function stateless = function;
  Handler handler = [](Wave &wave, const Instruction &instruction) {
    writeScalar<T>(wave, instruction.result,
                   stateless(readScalar<T>(wave, instruction.result),
                             readScalar<Source>(wave, instruction.sources[0]),
                             wave.scc));
  };
  table.add(
      name, [handler, isImmediate](InstructionBuilder &builder) -> llvm::Error {
        if (llvm::Error error = builder.expectOperands(2))
          return error;
        Instruction &instruction = builder.instruction;
        instruction.run = handler;
        if (llvm::Error error =
                builder.result(0, instruction.result, scalarType<T>()))
          return error;
        if (llvm::Error error =
                builder.source(1, instruction.sources[0], scalarType<Source>()))
          return error;
        if (isImmediate)
          instruction.sources[0].constant =
              uint64_t(int16_t(instruction.sources[0].constant));
        return llvm::Error::success();
      });
}

static void addUpdates(InstructionTable &table) {
  addUpdate<u32, u32>(table, "s_movk_i32", true,
                      [](u32, u32 b, u32 &) { return b; });
  addUpdate<u32, u32>(table, "s_cmovk_i32", true,
                      [](u32 a, u32 b, u32 &scc) { return scc ? b : a; });
  addUpdate<u32, u32>(table, "s_cmov_b32", false,
                      [](u32 a, u32 b, u32 &scc) { return scc ? b : a; });
  addUpdate<u64, u64>(table, "s_cmov_b64", false,
                      [](u64 a, u64 b, u32 &scc) { return scc ? b : a; });
  auto add = [](u32 a, u32 b, u32 &scc) {
    u32 sum = a + b;
    scc = ((a ^ sum) & (b ^ sum)) >> 31;
    return sum;
  };
  addUpdate<u32, u32>(table, "s_addk_i32", true, add);
  addUpdate<u32, u32>(table, "s_addk_co_i32", true, add);
  addUpdate<u32, u32>(table, "s_mulk_i32", true,
                      [](u32 a, u32 b, u32 &) { return a * b; });
  addUpdate<u32, u32>(table, "s_bitset0_b32", false, [](u32 a, u32 b, u32 &) {
    return a & ~(u32(1) << (b & 31));
  });
  addUpdate<u32, u32>(table, "s_bitset1_b32", false, [](u32 a, u32 b, u32 &) {
    return a | u32(1) << (b & 31);
  });
  addUpdate<u64, u32>(table, "s_bitset0_b64", false, [](u64 a, u32 b, u32 &) {
    return a & ~(u64(1) << (b & 63));
  });
  addUpdate<u64, u32>(table, "s_bitset1_b64", false, [](u64 a, u32 b, u32 &) {
    return a | u64(1) << (b & 63);
  });
}

/// s_cmp_OPERATION_TYPE, and s_cmpk_ with an integer of 16 bits.
template <class T, class Function>
static void addComparison(InstructionTable &table, llvm::StringRef operation,
                          llvm::StringRef type, Function function) {
  static Function stateless = function;
  auto compare =
      scalar<void(T, T)>([](T a, T b, u32 &scc) { scc = stateless(a, b); });
  table.add(("s_cmp_" + operation + "_" + type).str(), compare);
  bool isSigned = std::is_signed_v<T>;
  table.add(("s_cmpk_" + operation + "_" + type).str(),
            [compare, isSigned](InstructionBuilder &builder) {
              llvm::Error error = compare(builder);
              uint64_t &constant = builder.instruction.sources[1].constant;
              constant = isSigned ? uint64_t(int16_t(constant))
                                  : uint64_t(uint16_t(constant));
              return error;
            });
}

template <class T>
static void addComparisons(InstructionTable &table, llvm::StringRef type) {
  addComparison<T>(table, "eq", type, [](T a, T b) { return a == b; });
  addComparison<T>(table, "lg", type, [](T a, T b) { return a != b; });
  addComparison<T>(table, "lt", type, [](T a, T b) { return a < b; });
  addComparison<T>(table, "le", type, [](T a, T b) { return a <= b; });
  addComparison<T>(table, "gt", type, [](T a, T b) { return a > b; });
  addComparison<T>(table, "ge", type, [](T a, T b) { return a >= b; });
}

void mlir::iris::emulator::addScalarArithmetic(InstructionTable &table) {
  addScalarSums(table);
  addScalarMultiplications(table);
  addScalarExtrema(table);
  addScalarBits(table);
  addScalarShifts(table);
  addScalarMoves(table);
  addUpdates(table);
  addComparisons<i32>(table, "i32");
  addComparisons<u32>(table, "u32");
  addComparison<u64>(table, "eq", "u64", [](u64 a, u64 b) { return a == b; });
  addComparison<u64>(table, "lg", "u64", [](u64 a, u64 b) { return a != b; });
}
