// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expected results of collectives: every rank's data is a function of (rank,
// index), and so is every result, exactly.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CCL_REFERENCE_H
#define IRIS_TEST_RUNTIME_SUPPORT_CCL_REFERENCE_H

#include "iris/ccl/Types.h"

#include <cstdint>
#include <vector>

namespace iris::rt::test {

/// One operation on some ranks' data.
struct Problem {
  ccl::Op op = ccl::Op::allReduce;
  ccl::DType dtype = ccl::DType::f32;
  ccl::ReduceOp reduce = ccl::ReduceOp::sum;
  uint64_t count = 1;
  /// Rank in the group.
  uint32_t root = 0;
  /// World ranks of the group.
  std::vector<uint32_t> ranks;
  /// Seed of the data.
  uint64_t seed = 0;

  /// Number of elements that rank `me` of the group reads and writes.
  uint64_t inCount(uint32_t me) const;
  uint64_t outCount(uint32_t me) const;
  /// The bits of element `i` of the input of rank `me` of the group, and of its
  /// output.
  uint64_t inBits(uint32_t me, uint64_t i) const;
  uint64_t outBits(uint32_t me, uint64_t i) const;

private:
  int64_t value(uint32_t member, uint64_t i) const;
  uint64_t reduced(uint64_t i) const;
};

/// The bits of a small number as an element; exact, if it can be represented.
uint64_t encode(ccl::DType dtype, int64_t value);

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_CCL_REFERENCE_H
