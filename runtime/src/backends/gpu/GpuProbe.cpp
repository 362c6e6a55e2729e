// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds out, by trying, how a device's heap can be made: with placed mappings
// (then every rank's heap lies at a uniform stride) or with memory shared by
// IPC handles, and of which kind the memory is.  What drivers claim about this
// has not been reliable across versions; what they do is.
#include "backends/gpu/GpuBackend.h"

#include "core/Log.h"

#include <cstddef>
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
    askedKind_ = info_.memoryKind;
    return;
  }
  Log().info("%s device %d: heaps are shared by IPC handles, since mappings "
             "cannot be placed: %s",
             api_->name(), options_.index, placed.message().c_str());
  info_.canPlaceMappings = false;
  info_.memoryKind = IRISRT_MEMORY_COARSE;
  if (cuda)
    return;
  // Without links of its own between devices, HIP gives coarse memory where
  // fine-grained is asked for; uncached memory is uncached everywhere.
  for (IrisRtMemoryKind kind :
       {IRISRT_MEMORY_UNCACHED, IRISRT_MEMORY_FINE_GRAINED}) {
    Status probed = probeShareable(kind);
    if (probed.ok()) {
      sharingComplaint_.clear();
      return;
    }
    sharingComplaint_ +=
        (sharingComplaint_.empty() ? "" : "; ") + probed.message();
  }
  // allocateShareable refuses; the world then says why it cannot be made.
}

/// The kind of memory at an address, as the driver gave it.
Expected<IrisRtMemoryKind> GpuBackend::kindOf(Address address) const {
  if (options_.kind == DeviceKind::cuda)
    return IRISRT_MEMORY_COARSE;
  PointerInfo info = {};
  info.size = sizeof(info);
  constexpr size_t flagsEnd =
      offsetof(PointerInfo, globalFlags) + sizeof(info.globalFlags);
  if (!api_->pointerInfo ||
      api_->pointerInfo(toPointer(address), &info, nullptr, nullptr, nullptr) !=
          0 ||
      info.size < flagsEnd || info.type == pointerUnknown ||
      info.globalFlags == 0)
    return Status(StatusCode::unavailable,
                  "hsa_amd_pointer_info does not tell which kind of memory HIP "
                  "gave");
  if (info.globalFlags & (memoryFlagUncached | memoryFlagExtendedScope))
    return IRISRT_MEMORY_UNCACHED;
  return info.globalFlags & memoryFlagFineGrained ? IRISRT_MEMORY_FINE_GRAINED
                                                  : IRISRT_MEMORY_COARSE;
}

static const char *nameOf(IrisRtMemoryKind kind) {
  return kind == IRISRT_MEMORY_UNCACHED       ? "uncached"
         : kind == IRISRT_MEMORY_FINE_GRAINED ? "fine-grained"
                                              : "coarse";
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

/// Maps a granule of memory at an address of its own while `use` runs; `what`
/// is in the errors.
Status GpuBackend::mapWhile(MemoryHandle handle, const char *what,
                            const std::function<Status(Address)> &use) {
  Address address = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->addressReserve(&address, granularity_, granularity_, /*hint=*/0,
                           /*flags=*/0),
      "reserve address space"));
  Status status = checkDone(
      api_->memoryMap(address, granularity_, /*offset=*/0, handle, 0), what);
  if (status.ok()) {
    status = setAccess(address, granularity_);
    if (status.ok())
      status = use(address);
    (void)api_->memoryUnmap(address, granularity_);
  }
  (void)api_->addressFree(address, granularity_);
  return status;
}

Status GpuBackend::probeMapping(const AllocationProperties &properties) {
  MemoryHandle handle = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->memoryCreate(&handle, granularity_, &properties, /*flags=*/0),
      "create mappable memory"));
  Status status = mapWhile(handle, "map memory", [&](Address address) {
    IRISRT_RETURN_IF_ERROR(probeMappedKind(address));
    return probeImport(handle);
  });
  (void)api_->memoryRelease(handle);
  return status;
}

/// Exports the memory, imports it again and maps it, as a peer would: after the
/// descriptor is closed.
Status GpuBackend::probeImport(MemoryHandle handle) {
  MemoryHandle imported = 0;
  {
    int fd = -1;
    IRISRT_RETURN_IF_ERROR(
        checkDone(api_->memoryExport(&fd, handle, handlePosixFd, /*flags=*/0),
                  "export memory"));
    UniqueFd owned(fd);
    IRISRT_ASSIGN_OR_RETURN(imported, importFd(owned.get()));
  }
  Status status = mapWhile(imported, "map imported memory",
                           [](Address) { return Status::success(); });
  Status released =
      checkDone(api_->memoryRelease(imported), "release imported memory");
  return status.ok() ? released : status;
}

/// Devices without an uncached kind get coarse memory, and no error.
Status GpuBackend::probeMappedKind(Address address) {
  if (options_.kind == DeviceKind::cuda)
    return Status::success();
  Expected<IrisRtMemoryKind> given = kindOf(address);
  if (!given.ok()) {
    // Versions of ROCr say nothing of mappings.  Allocations of the kind come
    // from the same pool.
    IRISRT_ASSIGN_OR_RETURN(
        Address like, allocateOfKind(IRISRT_MEMORY_UNCACHED, granularity_));
    given = kindOf(like);
    (void)api_->free(like);
  }
  IRISRT_RETURN_IF_ERROR(given.status());
  if (*given == IRISRT_MEMORY_COARSE)
    return Status(StatusCode::unavailable,
                  "HIP maps coarse memory where uncached memory is asked for");
  return Status::success();
}

/// Whether heaps can be allocated with this kind asked for, and which they get.
Status GpuBackend::probeShareable(IrisRtMemoryKind kind) {
  IRISRT_ASSIGN_OR_RETURN(Address address, allocateOfKind(kind, granularity_));
  IpcBytes handle = {};
  Status status = checkDone(api_->ipcGet(&handle, address), "share memory");
  Expected<IrisRtMemoryKind> given = kindOf(address);
  (void)api_->free(address);
  IRISRT_RETURN_IF_ERROR(status);
  IRISRT_RETURN_IF_ERROR(given.status());
  if (*given == IRISRT_MEMORY_COARSE)
    return makeStatus(StatusCode::unavailable,
                      "HIP gives coarse memory where %s memory is asked for",
                      nameOf(kind));
  askedKind_ = kind;
  info_.memoryKind = *given;
  return Status::success();
}
