// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds out, by trying, how a device's heap can be made: with placed mappings
// (then every rank's heap lies at a uniform stride) or with memory shared by
// IPC handles, and of which kind the memory is.  What drivers claim about this
// has not been reliable across versions; what they do is.
#include "backends/gpu/GpuBackend.h"

#include "core/Log.h"

#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::gpu;

AllocationProperties GpuBackend::allocationProperties() const {
  AllocationProperties properties = {};
  properties.type = allocationType_;
  properties.requestedHandleTypes = handlePosixFd;
  properties.location = {locationDevice, device_};
  return properties;
}

void GpuBackend::probeMemory() {
  bool cuda = options_.kind == DeviceKind::cuda;
  // CUDA's memory is coherent at system scope for peers, whatever its kind.  On
  // AMD only uncached and fine-grained memory may be read and written by peers
  // while kernels run, and HIP's mapped memory has had the uncached kind since
  // 7.2; ordinary mapped memory must not become a heap.
  int32_t type = cuda ? allocationPinned : allocationUncached;
  Status placed(StatusCode::unavailable, "not asked for");
  if (options_.allowPlacedMappings)
    placed = probePlacedMappings(type);
  if (placed.ok()) {
    info_.canPlaceMappings = true;
    info_.memoryKind = cuda ? IRISRT_MEMORY_COARSE : IRISRT_MEMORY_UNCACHED;
    return;
  }
  Log().info("%s device %d: heaps are shared by IPC handles, since mappings "
             "cannot be placed: %s",
             api_->name(), options_.index, placed.message().c_str());
  info_.canPlaceMappings = false;
  info_.memoryKind = IRISRT_MEMORY_COARSE;
  if (cuda)
    return;
  for (IrisRtMemoryKind kind :
       {IRISRT_MEMORY_FINE_GRAINED, IRISRT_MEMORY_UNCACHED}) {
    if (probeShareable(kind)) {
      info_.memoryKind = kind;
      return;
    }
  }
  // allocateShareable refuses; the world then says why it cannot be made.
}

/// Does with one granule all that a heap does.
Status GpuBackend::probePlacedMappings(int32_t allocationType) {
  if (!api_->hasVirtualMemory())
    return makeStatus(StatusCode::unavailable,
                      "%s has no functions for virtual memory",
                      api_->library.c_str());
  // HIP 5 has these functions with another layout of their arguments.
  if (options_.kind == DeviceKind::hip && api_->version < 60000000)
    return makeStatus(StatusCode::unavailable,
                      "HIP %d is too old to map uncached memory",
                      api_->version / 10000000);
  if (options_.kind == DeviceKind::cuda) {
    for (int attribute :
         {cudaAttributeVirtualMemory, cudaAttributePosixFdHandles}) {
      int yes = 0;
      IRISRT_RETURN_IF_ERROR(
          checkDone(api_->deviceAttribute(&yes, attribute, device_),
                    "ask for virtual memory"));
      if (!yes)
        return Status(StatusCode::unavailable,
                      "the device lacks virtual memory with descriptors");
    }
  }
  allocationType_ = allocationType;
  AllocationProperties properties = allocationProperties();
  size_t bytes = 0;
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->granularity(&bytes, &properties, granularityRecommended),
                "ask for the mapping granularity"));
  // At least 2 MiB: large pages everywhere.
  while (granularity_ < bytes)
    granularity_ *= 2;
  return probeMapping(properties);
}

Status GpuBackend::probeMapping(const AllocationProperties &properties) {
  MemoryHandle handle = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->memoryCreate(&handle, granularity_, &properties, /*flags=*/0),
      "create mappable memory"));
  Address address = 0;
  Status status = checkDone(api_->addressReserve(&address, granularity_,
                                                 granularity_, /*hint=*/0,
                                                 /*flags=*/0),
                            "reserve address space");
  if (status.ok()) {
    status = checkDone(
        api_->memoryMap(address, granularity_, /*offset=*/0, handle, 0),
        "map memory");
    if (status.ok()) {
      AccessDescription access = {{locationDevice, device_}, accessReadWrite};
      status =
          checkDone(api_->memorySetAccess(address, granularity_, &access, 1),
                    "make mapped memory accessible");
      if (status.ok())
        status = probeImport(handle);
      (void)api_->memoryUnmap(address, granularity_);
    }
    (void)api_->addressFree(address, granularity_);
  }
  (void)api_->memoryRelease(handle);
  return status;
}

/// Exports the memory and imports it again, as a peer would.
Status GpuBackend::probeImport(MemoryHandle handle) {
  int fd = -1;
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->memoryExport(&fd, handle, handlePosixFd, /*flags=*/0),
                "export memory"));
  UniqueFd owned(fd);
  IRISRT_ASSIGN_OR_RETURN(MemoryHandle imported, importFd(owned.get()));
  return checkDone(api_->memoryRelease(imported), "release imported memory");
}

bool GpuBackend::probeShareable(IrisRtMemoryKind kind) {
  Expected<uint64_t> address = allocateOfKind(kind, granularity_);
  if (!address.ok())
    return false;
  IpcBytes handle = {};
  Result result = api_->ipcGet(&handle, *address);
  (void)api_->free(*address);
  return result == success;
}
