// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Data.h - Inputs and outputs of collectives ---------------*- C++ -*-===//
//
// Inputs are a periodic hash of (rank, index), in integers that are small
// enough for exact results in every type.
#ifndef IRIS_TOOLS_IRIS_BENCH_DATA_H
#define IRIS_TOOLS_IRIS_BENCH_DATA_H

#include "iris/ccl/Types.h"

#include <cstdint>
#include <vector>

namespace iris::bench {

/// The bits of number / 2^shift in a type that represents it exactly.
uint64_t encode(int64_t number, unsigned shift, ccl::DType dtype);

class Data {
public:
  Data(ccl::Op op, ccl::DType dtype, ccl::ReduceOp reduce, uint32_t numRanks,
       uint64_t count);

  /// Bytes of the input and of the output; 0 if the rank has none.
  uint64_t inputBytes(uint32_t rank) const;
  uint64_t outputBytes(uint32_t rank) const;
  /// The byte offset of the smaller buffer in the larger one for calls in
  /// place.
  uint64_t inPlaceOffset(uint32_t rank) const;

  /// Counts and offsets of the chunks of a buffer, where the operation has
  /// them: all of the same length, the last member's first.
  std::vector<int64_t> tables() const;

  std::vector<uint8_t> input(uint32_t rank) const;
  std::vector<uint8_t> output(uint32_t rank) const;

private:
  uint64_t bufferBytes(const ccl::plan::Buffer &buffer, bool isInput,
                       uint32_t rank) const;
  uint64_t number(uint32_t rank, uint64_t index) const;
  uint64_t combined(uint64_t index) const;
  void store(uint64_t number, uint8_t *to) const;

  ccl::Op op;
  ccl::DType dtype;
  ccl::ReduceOp reduce;
  uint32_t numRanks;
  uint64_t count;
  uint32_t elementBytes;
};

} // namespace iris::bench

#endif // IRIS_TOOLS_IRIS_BENCH_DATA_H
