// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - Memory of the library and of the caller ---------------===//
#include "Api.h"
#include "Comm.h"
#include "Device.h"

#include <algorithm>
#include <map>

using namespace iris::nccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

namespace {
/// A world of one rank for each device, whose heap is the memory of
/// ncclMemAlloc: it belongs to no communicator.
struct Pools {
  std::mutex mutex;
  std::map<int, std::unique_ptr<World>> byDevice;
};
} // namespace

/// Never destroyed: the caller's memory exists until the process ends.
static Pools &allPools() {
  static auto *pools = new Pools();
  return *pools;
}

/// The pool of the calling thread's device. The caller holds the mutex.
static Expected<World *> currentPool(Pools &pools) {
  IRISRT_ASSIGN_OR_RETURN(int index, currentDevice(deviceKind()));
  std::unique_ptr<World> &pool = pools.byDevice[index];
  if (pool)
    return pool.get();
  WorldOptions options;
  options.launch = LaunchInfo();
  options.launch->job = "nccl-memory";
  options.name = std::to_string(index);
  options.device = deviceKind();
  options.deviceIndex = index;
  options.letPeersAccess = true; // programs copy among their devices
  IRISRT_ASSIGN_OR_RETURN(pool, World::create(options));
  return pool.get();
}

static Status allocate(void **address, size_t bytes) {
  IRISRT_RETURN_IF_ERROR(checkPointer(address, "ptr"));
  *address = nullptr;
  Pools &pools = allPools();
  std::lock_guard<std::mutex> lock(pools.mutex);
  IRISRT_ASSIGN_OR_RETURN(World * pool, currentPool(pools));
  IRISRT_ASSIGN_OR_RETURN(
      uint64_t memory,
      pool->allocate(std::max<size_t>(bytes, 1), NCCL_WIN_REQUIRED_ALIGNMENT));
  *address = reinterpret_cast<void *>(memory);
  return Status::success();
}

static Status release(void *address) {
  if (!address)
    return Status::success();
  Pools &pools = allPools();
  std::lock_guard<std::mutex> lock(pools.mutex);
  for (auto &[index, pool] : pools.byDevice) {
    const auto memory = reinterpret_cast<uint64_t>(address);
    if (!pool || !pool->isSymmetric(memory))
      continue;
    IRISRT_RETURN_IF_ERROR(pool->deallocate(memory));
    return pool->sync(); // only then the memory is reused
  }
  return makeStatus(StatusCode::invalidArgument,
                    "%p is no memory of ncclMemAlloc", address);
}

ncclResult_t api::ncclMemAlloc(void **address, size_t bytes) {
  return finish("ncclMemAlloc", allocate(address, bytes));
}

ncclResult_t api::ncclMemFree(void *address) {
  return finish("ncclMemFree", release(address));
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// Registers memory of the caller. Collectives use any memory as it is, so the
/// handle has no effect but to be deregistered.
static Status add(ncclComm_t handle, const void *address, size_t bytes,
                  Registration::Kind kind, void **registration) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> comm,
                          ncclComm::find(handle));
  IRISRT_RETURN_IF_ERROR(checkPointer(registration, "handle"));
  IRISRT_RETURN_IF_ERROR(checkPointer(address, "buff"));
  if (bytes == 0)
    return Status(StatusCode::invalidArgument,
                  "0 bytes; expected at least one to register");
  *registration = comm->addRegistration(kind);
  return Status::success();
}

static Status removeFrom(ncclComm_t handle, Registration::Kind kind,
                         const void *registration) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> comm,
                          ncclComm::find(handle));
  // NCCL has no handle where it registers nothing.
  return registration ? comm->removeRegistration(kind, registration)
                      : Status::success();
}

ncclResult_t api::ncclCommRegister(const ncclComm_t comm, void *address,
                                   size_t bytes, void **handle) {
  return finish("ncclCommRegister",
                add(comm, address, bytes, Registration::Kind::buffer, handle));
}

ncclResult_t api::ncclCommDeregister(const ncclComm_t comm, void *handle) {
  return finish("ncclCommDeregister",
                removeFrom(comm, Registration::Kind::buffer, handle));
}

ncclResult_t api::ncclCommWindowRegister(ncclComm_t comm, void *address,
                                         size_t bytes, ncclWindow_t *window,
                                         int flags) {
  Status status;
  if ((flags & ~NCCL_WIN_COLL_SYMMETRIC) != 0)
    status = makeStatus(StatusCode::invalidArgument,
                        "flags of 0x%x; expected NCCL_WIN_DEFAULT or "
                        "NCCL_WIN_COLL_SYMMETRIC",
                        flags);
  void *handle = nullptr;
  if (status.ok())
    status = checkPointer(window, "win");
  if (status.ok())
    status = add(comm, address, bytes, Registration::Kind::window, &handle);
  if (status.ok())
    *window = static_cast<ncclWindow_t>(handle);
  return finish("ncclCommWindowRegister", status);
}

ncclResult_t api::ncclCommWindowDeregister(ncclComm_t comm,
                                           ncclWindow_t window) {
  return finish("ncclCommWindowDeregister",
                removeFrom(comm, Registration::Kind::window, window));
}
