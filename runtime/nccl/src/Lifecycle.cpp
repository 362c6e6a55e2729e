// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lifecycle.cpp - State and end of communicators ---------------------===//
#include "Api.h"
#include "Group.h"

using namespace iris::nccl;
using namespace iris::rt;

/// Stores a property of a communicator.
template <typename Get>
static ncclResult_t query(const char *function, ncclComm_t handle, int *out,
                          Get get) {
  Expected<std::shared_ptr<ncclComm>> comm = ncclComm::find(handle);
  Status status = comm.ok() ? checkPointer(out, "result") : comm.status();
  if (!status.ok())
    return finish(function, status);
  *out = static_cast<int>(get((*comm)->options));
  return ncclSuccess;
}

ncclResult_t api::ncclCommCount(const ncclComm_t comm, int *count) {
  return query("ncclCommCount", comm, count,
               [](const CommOptions &options) { return options.numRanks; });
}

ncclResult_t api::ncclCommCuDevice(const ncclComm_t comm, int *device) {
  return query("ncclCommCuDevice", comm, device,
               [](const CommOptions &options) { return options.deviceIndex; });
}

ncclResult_t api::ncclCommUserRank(const ncclComm_t comm, int *rank) {
  return query("ncclCommUserRank", comm, rank,
               [](const CommOptions &options) { return options.rank; });
}

ncclResult_t api::ncclCommGetAsyncError(ncclComm_t handle,
                                        ncclResult_t *error) {
  const char *function = "ncclCommGetAsyncError";
  Expected<std::shared_ptr<ncclComm>> comm = ncclComm::find(handle);
  Status status = comm.ok() ? checkPointer(error, "asyncError") : comm.status();
  if (!status.ok())
    return finish(function, status);
  if ((*comm)->worker.isBusy()) {
    *error = ncclInProgress;
    return ncclSuccess;
  }
  // Its message becomes the last error.
  *error = finish(function, (*comm)->asyncError());
  // As with NCCL, a rank that leaves is no failure of those that need nothing
  // of it: frameworks end the process at one. ncclGetLastError names it.
  if (*error == ncclSuccess)
    finish(function, (*comm)->departures());
  return ncclSuccess;
}

ncclResult_t api::ncclCommFinalize(ncclComm_t handle) {
  const char *function = "ncclCommFinalize";
  Expected<std::shared_ptr<ncclComm>> comm = ncclComm::find(handle);
  Status status = comm.ok() ? (*comm)->checkUsable() : comm.status();
  if (comm.ok() && (*comm)->isFinalized())
    // The code of NCCL.
    status = Status(StatusCode::invalidArgument,
                    "the communicator is finalized; expected one call");
  if (!status.ok())
    return reject(function, status);
  Task task;
  task.comm = *comm;
  task.job = [comm = *comm] { return comm->finalize(); };
  return submit(function, std::move(task));
}

/// Ends a communicator.
static ncclResult_t end(const char *function, ncclComm_t handle, bool aborts) {
  if (!handle)
    return ncclSuccess; // as NCCL
  Expected<std::shared_ptr<ncclComm>> comm = ncclComm::take(handle);
  if (!comm.ok())
    return finish(function, comm.status());
  if (aborts)
    (*comm)->stop(Lifetime::aborted);
  return finish(function, (*comm)->destroy());
}

ncclResult_t api::ncclCommDestroy(ncclComm_t comm) {
  return end("ncclCommDestroy", comm, /*aborts=*/false);
}

ncclResult_t api::ncclCommAbort(ncclComm_t comm) {
  return end("ncclCommAbort", comm, /*aborts=*/true);
}

ncclResult_t api::ncclCommRevoke(ncclComm_t handle, int flags) {
  const char *function = "ncclCommRevoke";
  Expected<std::shared_ptr<ncclComm>> comm = ncclComm::find(handle);
  if (!comm.ok())
    return finish(function, comm.status());
  if (flags != NCCL_REVOKE_DEFAULT)
    return finish(function, makeStatus(StatusCode::invalidArgument,
                                       "flags of 0x%x; expected 0x%x", flags,
                                       NCCL_REVOKE_DEFAULT));
  (*comm)->stop(Lifetime::revoked);
  return ncclSuccess;
}
