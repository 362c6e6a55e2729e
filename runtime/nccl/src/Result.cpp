// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Result.cpp - NCCL's results and the last error ---------------------===//
#include "Result.h"

#include <mutex>

using namespace iris::nccl;
using namespace iris::rt;

ncclResult_t iris::nccl::resultOf(const Status &status) {
  switch (status.code()) {
  case StatusCode::ok:
    return ncclSuccess;
  case StatusCode::invalidArgument:
    return ncclInvalidArgument;
  case StatusCode::failedPrecondition:
    return ncclInvalidUsage;
  case StatusCode::unavailable:
    return ncclSystemError;
  case StatusCode::outOfMemory: // of the device, or the heap in it
  case StatusCode::deviceError:
    return ncclUnhandledCudaError;
  case StatusCode::timeout:
  case StatusCode::aborted:
    return ncclRemoteError;
  case StatusCode::internal:
    break;
  }
  return ncclInternalError;
}

namespace {
struct ProcessError {
  std::mutex mutex;
  std::string message;
};
} // namespace

/// Never destroyed: threads may fail while the process exits.
static ProcessError &processError() {
  static auto *error = new ProcessError();
  return *error;
}

static std::string &threadError() {
  static thread_local std::string message;
  return message;
}

ncclResult_t iris::nccl::finish(const char *function, const Status &status) {
  if (status.ok())
    return ncclSuccess;
  threadError() = std::string(function) + ": " + status.toString();
  ProcessError &error = processError();
  std::lock_guard<std::mutex> lock(error.mutex);
  error.message = threadError();
  return resultOf(status);
}

const char *iris::nccl::lastError() {
  if (const std::string &message = threadError(); !message.empty())
    return message.c_str();
  // A copy, as another thread may fail while the caller reads it.
  static thread_local std::string others;
  ProcessError &error = processError();
  std::lock_guard<std::mutex> lock(error.mutex);
  others = error.message;
  return others.c_str();
}

const char *iris::nccl::resultText(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclUnhandledCudaError:
    return "unhandled device error";
  case ncclSystemError:
    return "system error";
  case ncclInternalError:
    return "internal error";
  case ncclInvalidArgument:
    return "invalid argument";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclRemoteError:
    return "remote process exited, or a peer failed or is missing";
  case ncclInProgress:
    return "operation in progress";
  case ncclNumResults:
    break;
  }
  return "unknown result code";
}

Status iris::nccl::checkPointer(const void *pointer, const char *name) {
  if (pointer)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "'%s' is null; expected a pointer", name);
}
