// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckCall.h - Arguments of a collective call -------------*- C++ -*-===//
#ifndef IRIS_RT_CCL_CHECKCALL_H
#define IRIS_RT_CCL_CHECKCALL_H

#include "iris/ccl/Types.h"
#include "iris/rt/World.h"

#include <cstdint>
#include <string>

namespace iris::ccl {

/// The arguments of a call, as passed by the user.
struct Call {
  Op op = Op::barrier;
  const void *in = nullptr;
  void *out = nullptr;
  uint64_t count = 0;
  DType dtype = DType::i8;
  ReduceOp reduce = ReduceOp::sum;
  /// The root, or the peer of send and recv.
  uint32_t root = 0;
  rt::Stream stream;
  const Config *config = nullptr;
};

/// The bytes of a buffer that this rank reads or writes; 0 bytes if it uses
/// none.
struct Extent {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// A call with valid arguments.
struct CheckedCall {
  Extent in, out;
  /// The output is the input, or one buffer is the chunk of the other that the
  /// operation allows in place.
  bool inPlace = false;
};

/// Checks everything except whether the buffers are on the symmetric heap.
/// `index` is this rank's index in the group of `groupSize` ranks.
rt::Expected<CheckedCall> checkCall(const Call &call, uint32_t groupSize,
                                    uint32_t index);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_CHECKCALL_H
