// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorDots.cpp - Dots of parts of a lane -------------------===//
//
// Integers of 8 or 16 bits of two registers, and a sum of 32 bits, which wraps
// around.
#include "Decoder.h"

using namespace mlir::iris::emulator;
using u32 = uint32_t;

/// Parts of a lane, each extended to 32 bits.
template <unsigned bits, bool isSigned>
static IRIS_INLINE u32 partOf(u32 word, unsigned index) {
  u32 top = word << (32 - bits * (index + 1));
  return isSigned ? u32(int32_t(top) >> (32 - bits)) : top >> (32 - bits);
}

template <unsigned bits, bool isASigned, bool isBSigned>
static IRIS_INLINE u32 dot(u32 a, u32 b, u32 sum) {
  for (unsigned i = 0; i < 32 / bits; ++i)
    sum += partOf<bits, isASigned>(a, i) * partOf<bits, isBSigned>(b, i);
  return sum;
}

template <unsigned bits, bool isASigned, bool isBSigned>
static Semantics dotOf() {
  return lanes<U32(U32, U32, U32)>([](u32 a, u32 b, u32 sum) {
    return dot<bits, isASigned, isBSigned>(a, b, sum);
  });
}

/// The sum is the result's register.
template <unsigned bits>
static Semantics accumulatingDot() {
  return accumulating<U32(U32, U32, U32)>(
      [](u32 a, u32 b, u32 sum) { return dot<bits, true, true>(a, b, sum); });
}

/// Bytes, of which neg_lo says for each operand whether they are signed.
static void addMixedBytes(InstructionTable &table) {
  const Semantics bySigns[2][2] = {
      {dotOf<8, false, false>(), dotOf<8, false, true>()},
      {dotOf<8, true, false>(), dotOf<8, true, true>()}};
  table.add("v_dot4_i32_iu8", [=](InstructionBuilder &builder) -> llvm::Error {
    auto signs = builder.parsed.getList("neg_lo");
    signs.resize(2);
    return builder.operation(bySigns[signs[0] != 0][signs[1] != 0]);
  });
}

void mlir::iris::emulator::addVectorDots(InstructionTable &table) {
  table.add("v_dot4_i32_i8", dotOf<8, true, true>());
  table.add("v_dot4_u32_u8", dotOf<8, false, false>());
  table.add("v_dot4c_i32_i8", accumulatingDot<8>());
  addMixedBytes(table);
  table.add("v_dot2_i32_i16", dotOf<16, true, true>());
  table.add("v_dot2_u32_u16", dotOf<16, false, false>());
  table.add("v_dot2c_i32_i16", accumulatingDot<16>());
}
