// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuImport.cpp - Memory of the program ------------------------------===//
//
// Memory that the program mapped by the driver's functions for virtual memory
// (cuMemMap, hipMemMap) has a handle, by which this device and its peers map it
// at further addresses.  Memory of cudaMalloc has none.
#include "backends/gpu/GpuBackend.h"

#include "core/Align.h"

#include <cinttypes>

using namespace iris::rt;
using namespace iris::rt::gpu;

/// What a program can do about memory that peers cannot map.
static constexpr char howToAllocate[] =
    "allocate it with ncclMemAlloc, World::allocate, or cuMemCreate or "
    "hipMemCreate with handles that are POSIX file descriptors";

/// Whether peers can map the memory, and read and write it while kernels run.
Status GpuBackend::checkImportable(MemoryHandle handle, Address address) const {
  AllocationProperties properties = {};
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->memoryProperties(&properties, handle),
                "ask for the properties of memory of the program"));
  if (properties.location.type != locationDevice ||
      properties.location.id != device_)
    return makeStatus(StatusCode::invalidArgument,
                      "the memory at 0x%" PRIx64 " is not of device %d, which "
                      "is the rank's (it is of location type %d, number %d)",
                      address, options_.index, properties.location.type,
                      properties.location.id);
  if ((properties.requestedHandleTypes & handlePosixFd) == 0)
    return makeStatus(StatusCode::unavailable,
                      "the memory at 0x%" PRIx64 " was created without a "
                      "handle that is a POSIX file descriptor, so that peers "
                      "cannot map it; %s",
                      address, howToAllocate);
  if (options_.kind == DeviceKind::cuda)
    return Status::success();
  // ROCr does not tell the kind of every mapping; HIP then tells what was
  // asked for.
  Expected<IrisRtMemoryKind> kind = kindOf(address);
  const bool isCoarse = kind.ok() ? *kind == IRISRT_MEMORY_COARSE
                                  : properties.type != allocationUncached;
  if (isCoarse)
    return makeStatus(StatusCode::unavailable,
                      "the memory at 0x%" PRIx64 " is coarse-grained: caches "
                      "do not keep it coherent with peers while kernels run; "
                      "allocate it with ncclMemAlloc, World::allocate, or "
                      "hipMemCreate and hipMemAllocationTypeUncached",
                      address);
  return Status::success();
}

Expected<RetainedChunk> GpuBackend::retainChunk(uint64_t address) {
  if (!info_.canPlaceMappings || !api_->memoryRetain ||
      !api_->memoryProperties || !api_->addressRange)
    return makeStatus(StatusCode::unavailable,
                      "%s device %d cannot map memory at a second address",
                      api_->name(), options_.index);
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Address base = 0;
  size_t bytes = 0;
  const Result found = api_->addressRange(&base, &bytes, address);
  if (found != success)
    return makeStatus(StatusCode::invalidArgument,
                      "there is no memory of a device at 0x%" PRIx64
                      ", or it was freed: %s",
                      address, api_->describe(found).c_str());
  MemoryHandle handle = 0;
  const Result retained = api_->memoryRetain(&handle, toPointer(base));
  if (retained != success)
    return makeStatus(
        StatusCode::unavailable,
        "the memory at 0x%" PRIx64 " was not mapped by %s "
        "(%s), as that of %s is not, so that peers cannot map "
        "it at the address that they need; %s",
        address, options_.kind == DeviceKind::cuda ? "cuMemMap" : "hipMemMap",
        api_->describe(retained).c_str(),
        options_.kind == DeviceKind::cuda ? "cudaMalloc" : "hipMalloc",
        howToAllocate);
  Status status = checkImportable(handle, base);
  if (status.ok()) {
    // The driver returns the handle with which the memory was mapped.
    std::lock_guard<std::mutex> lock(mutex_);
    if (chunks_.emplace(handle, bytes).second)
      return RetainedChunk{ChunkHandle{handle}, base, bytes};
    status = makeStatus(StatusCode::invalidArgument,
                        "the memory at 0x%" PRIx64 " is mapped at two "
                        "addresses of the range",
                        address);
  }
  (void)api_->memoryRelease(handle);
  return status;
}

Expected<uint64_t> GpuBackend::allocateImportable(uint64_t bytes) {
  if (!info_.canPlaceMappings)
    return allocateShareable(bytes);
  if (bytes == 0 || bytes > UINT64_MAX - granularity_)
    return makeStatus(StatusCode::invalidArgument,
                      "cannot allocate %" PRIu64 " bytes", bytes);
  bytes = alignTo(bytes, granularity_);
  IRISRT_ASSIGN_OR_RETURN(ChunkHandle chunk, createChunk(bytes));
  Expected<uint64_t> address = reserve(bytes, granularity_);
  Status status = address.status();
  if (status.ok()) {
    status = map(chunk, *address, bytes);
    if (!status.ok())
      unreserve(*address, bytes).ignore("the first error is reported");
  }
  // The mapping keeps the memory alive without the handle.
  Status released = releaseChunk(chunk);
  IRISRT_RETURN_IF_ERROR(status);
  IRISRT_RETURN_IF_ERROR(released);
  return *address;
}

Status GpuBackend::freeImportable(uint64_t address) {
  if (!info_.canPlaceMappings)
    return freeShareable(address);
  uint64_t bytes = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = mappings_.find(address);
    if (found == mappings_.end())
      return makeStatus(StatusCode::invalidArgument,
                        "0x%" PRIx64 " is not importable memory", address);
    bytes = found->second.bytes;
  }
  IRISRT_RETURN_IF_ERROR(unmap(address, bytes));
  return unreserve(address, bytes);
}
