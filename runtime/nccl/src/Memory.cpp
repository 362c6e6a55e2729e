// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - Memory of the library and of the caller ---------------===//
#include "Api.h"
#include "Comm.h"
#include "Device.h"
#include "Group.h"

#include "iris/rt/MemoryPool.h"

#include <algorithm>
#include <cinttypes>
#include <map>

using namespace iris::nccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

namespace {
/// The memory of ncclMemAlloc, by device: it belongs to no communicator, and
/// those with windows import it.
struct Pools {
  std::mutex mutex;
  std::map<int, std::unique_ptr<MemoryPool>> byDevice;
  /// The bytes of each allocation.
  std::map<uint64_t, uint64_t> sizes;
};
} // namespace

/// Never destroyed: the caller's memory exists until the process ends.
static Pools &allPools() {
  static auto *pools = new Pools();
  return *pools;
}

/// The pool of the calling thread's device. The caller holds the mutex.
static Expected<MemoryPool *> currentPool(Pools &pools) {
  IRISRT_ASSIGN_OR_RETURN(int index, currentDevice(deviceKind()));
  std::unique_ptr<MemoryPool> &pool = pools.byDevice[index];
  if (pool)
    return pool.get();
  // Programs copy among their devices.
  IRISRT_ASSIGN_OR_RETURN(pool, MemoryPool::create(deviceKind(), index,
                                                   /*letPeersAccess=*/true));
  return pool.get();
}

static Status allocate(void **address, size_t bytes) {
  IRISRT_RETURN_IF_ERROR(checkPointer(address, "ptr"));
  *address = nullptr;
  Pools &pools = allPools();
  std::lock_guard<std::mutex> lock(pools.mutex);
  IRISRT_ASSIGN_OR_RETURN(MemoryPool * pool, currentPool(pools));
  // In whole granules of mappings, which are multiples of
  // NCCL_WIN_REQUIRED_ALIGNMENT.
  IRISRT_ASSIGN_OR_RETURN(uint64_t memory,
                          pool->allocate(std::max<size_t>(bytes, 1)));
  pools.sizes[memory] = std::max<size_t>(bytes, 1);
  *address = reinterpret_cast<void *>(memory);
  return Status::success();
}

/// Frees memory of a pool, unless collectives use it where it is: they would
/// find memory there that another call allocates.
static Status releaseFrom(Pools &pools, MemoryPool &pool, uint64_t memory) {
  if (ncclComm::usesWindowIn(memory, pools.sizes[memory]))
    return makeStatus(StatusCode::failedPrecondition,
                      "0x%" PRIx64 " has a window of a communicator; "
                      "call ncclCommWindowDeregister before",
                      memory);
  pools.sizes.erase(memory);
  return pool.free(memory);
}

static Status release(void *address) {
  if (!address)
    return Status::success();
  Pools &pools = allPools();
  std::lock_guard<std::mutex> lock(pools.mutex);
  const auto memory = reinterpret_cast<uint64_t>(address);
  for (auto &[index, pool] : pools.byDevice)
    if (pool && pool->owns(memory))
      return releaseFrom(pools, *pool, memory);
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

static Expected<std::shared_ptr<ncclComm>>
checkMemory(ncclComm_t handle, const void *address, size_t bytes,
            const void *registration, const char *name) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> comm,
                          ncclComm::find(handle));
  IRISRT_RETURN_IF_ERROR(checkPointer(registration, name));
  IRISRT_RETURN_IF_ERROR(checkPointer(address, "buff"));
  if (bytes == 0)
    return Status(StatusCode::invalidArgument,
                  "0 bytes; expected at least one to register");
  return comm;
}

/// Registers memory of this rank alone. Peers do not learn of it, so that the
/// handle has no effect but to be deregistered.
static Status add(ncclComm_t handle, const void *address, size_t bytes,
                  void **registration) {
  IRISRT_ASSIGN_OR_RETURN(
      std::shared_ptr<ncclComm> comm,
      checkMemory(handle, address, bytes, registration, "handle"));
  *registration = comm->addRegistration(Registration());
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
  return finish("ncclCommRegister", add(comm, address, bytes, handle));
}

ncclResult_t api::ncclCommDeregister(const ncclComm_t comm, void *handle) {
  return finish("ncclCommDeregister",
                removeFrom(comm, Registration::Kind::buffer, handle));
}

static Expected<std::shared_ptr<ncclComm>>
checkWindow(ncclComm_t handle, const void *address, size_t bytes,
            const void *window, int flags) {
  if ((flags & ~NCCL_WIN_COLL_SYMMETRIC) != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "flags of 0x%x; expected NCCL_WIN_DEFAULT or "
                      "NCCL_WIN_COLL_SYMMETRIC",
                      flags);
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> comm,
                          checkMemory(handle, address, bytes, window, "win"));
  IRISRT_RETURN_IF_ERROR(comm->checkUsable());
  return comm;
}

/// Collective. In a group it runs at the end of the group, so that one thread
/// can register windows of several communicators.
ncclResult_t api::ncclCommWindowRegister(ncclComm_t handle, void *address,
                                         size_t bytes, ncclWindow_t *window,
                                         int flags) {
  constexpr char function[] = "ncclCommWindowRegister";
  Expected<std::shared_ptr<ncclComm>> comm =
      checkWindow(handle, address, bytes, window, flags);
  if (!comm.ok())
    return reject(function, comm.status());
  Task task;
  task.comm = *comm;
  task.job = [comm = comm->get(), address, bytes, window, flags] {
    return comm->registerWindow(address, bytes, flags, window);
  };
  return submit(function, std::move(task));
}

ncclResult_t api::ncclCommWindowDeregister(ncclComm_t comm,
                                           ncclWindow_t window) {
  return finish("ncclCommWindowDeregister",
                removeFrom(comm, Registration::Kind::window, window));
}
