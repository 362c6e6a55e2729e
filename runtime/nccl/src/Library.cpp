// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.cpp - Version, last error, groups --------------------------===//
#include "Api.h"
#include "Group.h"
#include "RealLibrary.h"

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

ncclResult_t api::ncclGroupSimulateEnd(ncclSimInfo_t *) {
  const char *function = "ncclGroupSimulateEnd";
  Status status = dropGroup();
  if (status.ok())
    status = Status(StatusCode::failedPrecondition,
                    "Iris estimates no times of groups; the group was ended "
                    "and did not run");
  return finish(function, status);
}
