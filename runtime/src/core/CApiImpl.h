// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CApiImpl.h - Handles and helpers of the C API ------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_CAPIIMPL_H
#define IRIS_RT_CORE_CAPIIMPL_H

#include "iris/iris.h"
#include "iris/rt/World.h"

#include <deque>
#include <mutex>

struct IrisRtKernel {
  iris::rt::Kernel kernel;
};

struct IrisRtPackage {
  iris::rt::Package package;
};

struct IrisRtWorld {
  std::unique_ptr<iris::rt::World> world;
  std::mutex mutex;
  /// A deque, because handles are addresses of its elements.
  std::deque<IrisRtKernel> kernels;
};

namespace iris::rt::capi {

/// Returns the code of a status, and stores a failure's message as the thread's
/// last error.
IrisRtStatusCode finish(const Status &status);

/// Stores the value of `result` in `*to`, or fails.
template <typename T, typename U>
IrisRtStatusCode finish(Expected<T> result, U *to) {
  if (!result.ok())
    return finish(result.status());
  *to = static_cast<U>(*result);
  return IRISRT_OK;
}

/// The error for a caller that was compiled with another version of a struct.
inline Status wrongSize(const char *name, uint64_t bytes, size_t expected) {
  return makeStatus(StatusCode::invalidArgument,
                    "%s.structBytes is %llu; expected %zu", name,
                    static_cast<unsigned long long>(bytes), expected);
}

inline IrisRtStatusCode nullArgument(const char *name) {
  return finish(makeStatus(StatusCode::invalidArgument, "'%s' is NULL", name));
}

} // namespace iris::rt::capi

#define IRISRT_REQUIRE(pointer)                                                \
  if (!(pointer))                                                              \
  return iris::rt::capi::nullArgument(#pointer)

#endif // IRIS_RT_CORE_CAPIIMPL_H
