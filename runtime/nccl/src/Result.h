// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Result.h - NCCL's results and the last error -------------*- C++ -*-===//
#ifndef IRIS_NCCL_RESULT_H
#define IRIS_NCCL_RESULT_H

#include "iris-nccl/nccl.h"
#include "iris/rt/Status.h"

#include <string>

namespace iris::nccl {

/// NCCL's result for a status.
ncclResult_t resultOf(const rt::Status &status);

/// Makes a failure the last error of this thread and of the process.
/// \param function the name of the function that fails, for the message
/// \return NCCL's result
ncclResult_t finish(const char *function, const rt::Status &status);

/// The message of the last failure on this thread or, without one, in the
/// process; "" if there is none. Valid until this thread's next call.
const char *lastError();

/// "invalid argument" as NCCL words it.
const char *resultText(ncclResult_t result);

/// Fails if a pointer that the caller must pass is null.
/// \param name the name of the parameter
rt::Status checkPointer(const void *pointer, const char *name);

} // namespace iris::nccl

#endif // IRIS_NCCL_RESULT_H
