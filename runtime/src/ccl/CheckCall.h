// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckCall.h - Arguments of a collective call -------------*- C++ -*-===//
#ifndef IRIS_RT_CCL_CHECKCALL_H
#define IRIS_RT_CCL_CHECKCALL_H

#include "iris/ccl/Communicator.h"

#include <cstdint>
#include <string>

namespace iris::ccl {

/// A buffer of a call as this rank uses it; of 0 bytes where it does not.
struct Extent {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// A call with valid arguments.
struct CheckedCall {
  Extent in, out;
  /// Bytes of a chunk; with counts, on average if the buffers are full.
  uint64_t chunkBytes = 0;
  /// One buffer is the other, or a chunk of it, as the operation allows.
  bool inPlace = false;
};

/// Checks everything except whether the buffers are on the symmetric heap.
/// `index` is this rank's index in the group of `groupSize` ranks.
rt::Expected<CheckedCall> checkCall(const Call &call, uint32_t groupSize,
                                    uint32_t index);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_CHECKCALL_H
