// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Data.cpp - Inputs and outputs of collectives -----------------------===//
#include "Data.h"

#include <algorithm>
#include <cstring>

using namespace iris;
using namespace iris::bench;
using ccl::DType;
using ccl::Op;
using ccl::ReduceOp;

/// The period of the pattern in elements: a prime, so that tiles and chunks
/// differ.
static constexpr uint64_t period = 4093;

Data::Data(Op op, DType dtype, ReduceOp reduce, uint32_t numRanks,
           uint64_t count)
    : op(op), dtype(dtype), reduce(reduce), numRanks(numRanks), count(count),
      elementBytes(ccl::dtypeBytes(dtype)) {}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static bool isFloat8(DType dtype) {
  return dtype == DType::f8e4m3fn || dtype == DType::f8e5m2 ||
         dtype == DType::f8e4m3fnuz || dtype == DType::f8e5m2fnuz;
}

uint64_t Data::number(uint32_t rank, uint64_t index) const {
  uint32_t h = static_cast<uint32_t>(index % period) * 0x9e3779b1u +
               (rank + 1) * 0x85ebca6bu;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  if (ccl::reduces(op) && reduce == ReduceOp::prod)
    return 1 + (h >> 31); // products of 8 ranks reach 256 and wrap in i8
  // Sums of 8 ranks are exact: of 0 and 1 in the f8 types, of 0 to 7 in others.
  return isFloat8(dtype) ? h >> 31 : h >> 29;
}

uint64_t Data::combined(uint64_t index) const {
  uint64_t result = number(0, index);
  for (uint32_t rank = 1; rank < numRanks; ++rank) {
    uint64_t next = number(rank, index);
    switch (reduce) {
    case ReduceOp::prod:
      result *= next;
      break;
    case ReduceOp::min:
      result = std::min(result, next);
      break;
    case ReduceOp::max:
      result = std::max(result, next);
      break;
    default:
      result += next;
    }
  }
  return result;
}

/// The bits of an integer in a float format with that many mantissa bits.
static uint64_t floatBits(uint64_t number, unsigned mantissa, unsigned bias) {
  if (number == 0)
    return 0;
  unsigned exponent = 63 - static_cast<unsigned>(__builtin_clzll(number));
  uint64_t fraction = number - (uint64_t(1) << exponent);
  fraction = mantissa >= exponent ? fraction << (mantissa - exponent)
                                  : fraction >> (exponent - mantissa);
  return (uint64_t(exponent + bias) << mantissa) | fraction;
}

uint64_t iris::bench::encode(int64_t number, unsigned shift, DType dtype) {
  auto size = static_cast<uint64_t>(number < 0 ? -number : number);
  auto real = [&](unsigned mantissa, unsigned bias) {
    uint64_t sign =
        number < 0 ? uint64_t(1) << (8 * ccl::dtypeBytes(dtype) - 1) : 0;
    return sign | floatBits(size, mantissa, bias - shift);
  };
  switch (dtype) {
  case DType::f16:
    return real(10, 15);
  case DType::bf16:
    return real(7, 127);
  case DType::f32:
    return real(23, 127);
  case DType::f64:
    return real(52, 1023);
  case DType::f8e4m3fn:
    return real(3, 7);
  case DType::f8e5m2:
    return real(2, 15);
  case DType::f8e4m3fnuz:
    return real(3, 8);
  case DType::f8e5m2fnuz:
    return real(2, 16);
  default:
    return static_cast<uint64_t>(number) >> shift;
  }
}

void Data::store(uint64_t number, uint8_t *to) const {
  uint64_t bits = encode(static_cast<int64_t>(number), 0, dtype);
  std::memcpy(to, &bits, elementBytes); // little endian
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

uint64_t Data::bufferBytes(const ccl::plan::Buffer &buffer, bool isInput,
                           uint32_t rank) const {
  bool isUsed = buffer.chunks != ccl::plan::Chunks::none &&
                (rank == 0 || !buffer.isOnlyOnRoot);
  // Even ranks send to the next one.
  if (op == Op::send)
    isUsed = (rank % 2 == 0) == isInput;
  uint64_t chunks = buffer.chunks == ccl::plan::Chunks::all ? numRanks : 1;
  return isUsed ? count * elementBytes * chunks : 0;
}

uint64_t Data::inputBytes(uint32_t rank) const {
  return bufferBytes(ccl::getCollective(op).in, /*isInput=*/true, rank);
}

uint64_t Data::outputBytes(uint32_t rank) const {
  return bufferBytes(ccl::getCollective(op).out, /*isInput=*/false, rank);
}

uint64_t Data::inPlaceOffset(uint32_t rank) const {
  return ccl::getCollective(op).isChunkInPlace() ? rank * count * elementBytes
                                                 : 0;
}

std::vector<int64_t> Data::tables() const {
  if (!ccl::getCollective(op).hasCounts())
    return {};
  std::vector<int64_t> tables(numRanks, static_cast<int64_t>(count));
  for (uint32_t member = 0; member < numRanks; ++member)
    tables.push_back(static_cast<int64_t>((numRanks - 1 - member) * count));
  return tables;
}

std::vector<uint8_t> Data::input(uint32_t rank) const {
  uint64_t elements = inputBytes(rank) / elementBytes;
  std::vector<uint8_t> bytes(elements * elementBytes);
  for (uint64_t i = 0; i < std::min(elements, period); ++i)
    store(number(rank, i), &bytes[i * elementBytes]);
  for (uint64_t i = period; i < elements; i += period)
    std::memcpy(&bytes[i * elementBytes], bytes.data(),
                std::min(period, elements - i) * elementBytes);
  return bytes;
}

std::vector<uint8_t> Data::output(uint32_t rank) const {
  uint64_t elements = outputBytes(rank) / elementBytes;
  std::vector<uint8_t> bytes(elements * elementBytes);
  for (uint64_t chunk = 0; chunk * count < elements; ++chunk) {
    // Where the chunk comes from: (rank, first index) of its source.
    const ccl::plan::Collective &collective = ccl::getCollective(op);
    uint64_t first =
        collective.in.chunks == ccl::plan::Chunks::all ? rank * count : 0;
    uint32_t source = collective.out.chunks == ccl::plan::Chunks::all
                          ? static_cast<uint32_t>(chunk)
                          : 0;
    if (collective.hasCounts()) { // see tables()
      source = numRanks - 1 - source;
      if (collective.in.hasCounts)
        first = (numRanks - 1 - rank) * count;
    }
    if (op == Op::send)
      source = rank - 1;
    uint8_t *to = &bytes[chunk * count * elementBytes];
    for (uint64_t i = 0; i < std::min(count, period); ++i)
      store(ccl::reduces(op) ? combined(first + i) : number(source, first + i),
            to + i * elementBytes);
    for (uint64_t i = period; i < count; i += period)
      std::memcpy(to + i * elementBytes, to,
                  std::min(period, count - i) * elementBytes);
  }
  return bytes;
}
