// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_RT_CCL_MAKECALL_H
#define IRIS_RT_CCL_MAKECALL_H

#include "iris/ccl/Communicator.h"

namespace iris::ccl {

/// A call with the fields that every operation with buffers has.
inline Call makeCall(Op op, const void *in, void *out, DType dtype,
                     rt::Stream stream, const Config *config = nullptr) {
  Call call;
  call.op = op;
  call.in = in;
  call.out = out;
  call.dtype = dtype;
  call.stream = stream;
  call.config = config;
  return call;
}

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MAKECALL_H
