// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.cpp - Version, last error, groups --------------------------===//
#include "Api.h"
#include "Group.h"
#include "RealLibrary.h"

#include <algorithm>
#include <cstddef>

using namespace iris::nccl;
using namespace iris::rt;

ncclResult_t api::ncclGetVersion(int *version) {
  Status status = checkPointer(version, "version");
  if (status.ok())
    *version = NCCL_VERSION_CODE;
  return finish("ncclGetVersion", status);
}

/// A group may have calls of communicators of both libraries.
ncclResult_t api::ncclGroupStart() {
  Expected<const RealLibrary *> real = RealLibrary::find();
  if (!real.ok())
    return finish("ncclGroupStart", real.status());
  startGroup();
  return *real ? (*real)->ncclGroupStart() : ncclSuccess;
}

ncclResult_t api::ncclGroupEnd() {
  ncclResult_t ours = endGroup("ncclGroupEnd");
  Expected<const RealLibrary *> real = RealLibrary::find();
  ncclResult_t theirs =
      real.ok() && *real ? (*real)->ncclGroupEnd() : ncclSuccess;
  return ours == ncclSuccess ? theirs : ours;
}

/// The prefix of every version of ncclSimInfo_t.
static Status checkSimInfo(const ncclSimInfo_t *info) {
  if (!info || info->magic == NCCL_SIM_INFO_MAGIC)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "the argument's magic number is 0x%x; expected 0x%x, from "
                    "NCCL_SIM_INFO_INITIALIZER",
                    info->magic, NCCL_SIM_INFO_MAGIC);
}

/// Estimates the time of a group in place of running it. The groups of both
/// libraries run at the same time.
ncclResult_t api::ncclGroupSimulateEnd(ncclSimInfo_t *info) {
  const char *function = "ncclGroupSimulateEnd";
  Expected<double> us = simulateGroup();
  Expected<const RealLibrary *> real = RealLibrary::find();
  ncclSimInfo_t theirs = NCCL_SIM_INFO_INITIALIZER;
  if (real.ok() && *real && (*real)->ncclGroupSimulateEnd)
    if (ncclResult_t result = (*real)->ncclGroupSimulateEnd(&theirs))
      return result;
  if (!us.ok())
    return finish(function, us.status());
  Status status = checkSimInfo(info);
  if (status.ok() && info &&
      info->size >= offsetof(ncclSimInfo_t, estimatedTime) + sizeof(float))
    info->estimatedTime =
        std::max(static_cast<float>(*us), theirs.estimatedTime);
  return finish(function, status);
}
