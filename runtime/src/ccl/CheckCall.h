// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of one collective call, and what can be wrong with them.
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

/// A call whose arguments make sense.
struct CheckedCall {
  Extent in, out;
  /// Bytes of a chunk; with counts, on average if the buffers are full.
  uint64_t chunkBytes = 0;
  /// The output is, or is a part of, the input, or the other way round, as the
  /// operation allows.
  bool inPlace = false;
};

/// Checks everything but whether buffers lie on the heap, for member `index` of
/// `groupSize`.
rt::Expected<CheckedCall> checkCall(const Call &call, uint32_t groupSize,
                                    uint32_t index);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_CHECKCALL_H
