// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/ccl/Reference.h"

#include "support/Hash.h"

#include "iris/rt/Buffer.h"

#include <cstdlib>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static bool isInteger(DType dtype) {
  return (dtype >= DType::i8 && dtype <= DType::u8) || dtype >= DType::u32;
}
static bool isFp8(DType dtype) {
  return dtype >= DType::f8e4m3fn && dtype <= DType::f8e5m2fnuz;
}
static bool isUnsigned(DType dtype) {
  return dtype == DType::u8 || dtype >= DType::u32;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// An fp8 number with `mantissa` mantissa bits and the exponent bias `bias`.
static uint64_t encodeFp8(int64_t value, int mantissa, int bias) {
  if (value == 0)
    return 0;
  auto magnitude = static_cast<uint64_t>(std::llabs(value));
  int exponent = 63 - __builtin_clzll(magnitude);
  uint64_t fraction = magnitude - (uint64_t(1) << exponent);
  fraction = exponent > mantissa ? fraction >> (exponent - mantissa)
                                 : fraction << (mantissa - exponent);
  return static_cast<uint64_t>(exponent + bias) << mantissa | fraction |
         (value < 0 ? 0x80 : 0);
}

uint64_t iris::rt::test::encode(DType dtype, int64_t value) {
  auto bits = static_cast<uint64_t>(value);
  switch (dtype) {
  case DType::f16:
    return encodeElement(IRISRT_ELT_F16, static_cast<double>(value));
  case DType::bf16:
    return encodeElement(IRISRT_ELT_BF16, static_cast<double>(value));
  case DType::f32:
    return encodeElement(IRISRT_ELT_F32, static_cast<double>(value));
  case DType::f64:
    return encodeElement(IRISRT_ELT_F64, static_cast<double>(value));
  case DType::i8:
  case DType::u8:
    return bits & 0xff;
  case DType::i16:
    return bits & 0xffff;
  case DType::i32:
  case DType::u32:
    return bits & 0xffffffff;
  case DType::i64:
  case DType::u64:
    return bits;
  case DType::f8e4m3fn:
    return encodeFp8(value, 3, 7);
  case DType::f8e5m2:
    return encodeFp8(value, 2, 15);
  case DType::f8e4m3fnuz:
    return encodeFp8(value, 3, 8);
  case DType::f8e5m2fnuz:
    return encodeFp8(value, 2, 16);
  }
  return 0;
}

/// The value after wrapping to an integer type.
static int64_t wrap(DType dtype, uint64_t bits) {
  switch (dtype) {
  case DType::i8:
    return static_cast<int8_t>(bits);
  case DType::u8:
    return static_cast<uint8_t>(bits);
  case DType::i16:
    return static_cast<int16_t>(bits);
  case DType::i32:
    return static_cast<int32_t>(bits);
  case DType::u32:
    return static_cast<uint32_t>(bits);
  default:
    return static_cast<int64_t>(bits);
  }
}

//===----------------------------------------------------------------------===//
// Problem
//===----------------------------------------------------------------------===//

/// Inputs whose reduction is exact in the element type, in any order.
int64_t Problem::value(uint32_t member, uint64_t i) const {
  uint64_t h = hash(ranks[member], i, seed);
  auto sign = [h](int64_t value) { return h >> 40 & 1 ? -value : value; };
  bool narrow = isFp8(dtype),
       half = dtype == DType::f16 || dtype == DType::bf16;
  switch (reduce) {
  case ReduceOp::sum:
    if (isInteger(dtype))
      return wrap(dtype, h);
    return sign(static_cast<int64_t>(h % (narrow ? 2 : half ? 16 : 1000)));
  case ReduceOp::prod:
    if (isInteger(dtype))
      return wrap(dtype, h);
    return sign(dtype == DType::f8e4m3fnuz ? 1
                                           : 1 + static_cast<int64_t>(h % 2));
  case ReduceOp::min:
  case ReduceOp::max:
    if (isInteger(dtype))
      return wrap(dtype, h);
    return sign(int64_t(1) << h % 5);
  case ReduceOp::avg:
    if (isInteger(dtype)) // no overflow of the sum, also in 8 bits
      return isUnsigned(dtype) ? h % 31 : sign(static_cast<int64_t>(h % 15));
    return sign(static_cast<int64_t>(ranks.size() * (h % 2)));
  }
  return 0;
}

uint64_t Problem::reduced(uint64_t i) const {
  int64_t result = value(0, i);
  for (uint32_t member = 1; member < ranks.size(); ++member) {
    int64_t other = value(member, i);
    auto a = static_cast<uint64_t>(result), b = static_cast<uint64_t>(other);
    switch (reduce) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      result = static_cast<int64_t>(a + b);
      break;
    case ReduceOp::prod:
      result = static_cast<int64_t>(a * b);
      break;
    case ReduceOp::min:
      if (dtype == DType::u64 ? b < a : other < result)
        result = other;
      break;
    case ReduceOp::max:
      if (dtype == DType::u64 ? b > a : other > result)
        result = other;
      break;
    }
    if (isInteger(dtype))
      result = wrap(dtype, static_cast<uint64_t>(result));
  }
  if (reduce == ReduceOp::avg)
    result /= static_cast<int64_t>(ranks.size());
  return encode(dtype, result);
}

static uint64_t countOf(const Problem &p, const plan::Buffer &buffer,
                        uint32_t me) {
  if (buffer.isOnlyOnRoot && me != p.root)
    return 0;
  return buffer.chunks == plan::Chunks::all ? p.count * p.ranks.size()
                                            : p.count;
}

uint64_t Problem::inCount(uint32_t me) const {
  return countOf(*this, getCollective(op).in, me);
}

uint64_t Problem::outCount(uint32_t me) const {
  return countOf(*this, getCollective(op).out, me);
}

uint64_t Problem::inBits(uint32_t me, uint64_t i) const {
  if (reduces(op))
    return encode(dtype, value(me, i));
  // Any bits can be moved.
  uint64_t bits = hash(ranks[me], i, seed);
  uint32_t bytes = dtypeBytes(dtype);
  return bytes == 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1);
}

uint64_t Problem::outBits(uint32_t me, uint64_t i) const {
  auto member = static_cast<uint32_t>(i / count);
  switch (op) {
  case Op::allGather:
  case Op::gather:
    return inBits(member, i % count);
  case Op::allToAll:
    return inBits(member, me * count + i % count);
  case Op::broadcast:
    return inBits(root, i);
  case Op::scatter:
    return inBits(root, me * count + i);
  case Op::reduceScatter:
    return reduced(me * count + i);
  case Op::allReduce:
  case Op::reduce:
    return reduced(i);
  default:
    return 0;
  }
}
