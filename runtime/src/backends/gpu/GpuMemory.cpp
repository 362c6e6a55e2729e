// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuMemory.cpp - Memory of GPU back ends ----------------------------===//
#include "backends/gpu/GpuBackend.h"

#include "core/Align.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <thread>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::gpu;

/// The memory that this process shares by IPC handles, on all its devices. A
/// rank in the same process must not open such a handle, which drivers refuse.
/// The process id is not sufficient to detect that, because processes in other
/// containers may have the same id.
namespace {
struct SharedInProcess {
  std::mutex mutex;
  std::set<uint64_t> addresses;
};
} // namespace

static SharedInProcess &sharedInProcess() {
  static SharedInProcess *shared = new SharedInProcess; // never destroyed
  return *shared;
}

//===----------------------------------------------------------------------===//
// Address space and chunks
//===----------------------------------------------------------------------===//

Expected<uint64_t> GpuBackend::reserve(uint64_t bytes, uint64_t alignment) {
  if (!info_.canPlaceMappings)
    return Status(StatusCode::unavailable,
                  "this device cannot reserve address space");
  if (bytes == 0 || bytes % granularity_ != 0 ||
      (alignment & (alignment - 1)) != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "cannot reserve %" PRIu64 " bytes aligned to %" PRIu64,
                      bytes, alignment);
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  alignment = std::max(alignment, granularity_);
  Reservation held = {bytes, 0, bytes};
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->addressReserve(&held.driverAddress, bytes, alignment,
                                     /*hint=*/0, /*flags=*/0),
                "reserve address space"));
  if (held.driverAddress % alignment != 0) {
    // Some versions of HIP ignore the alignment: reserve more and use an
    // aligned range of it.
    (void)api_->addressFree(held.driverAddress, bytes);
    held.driverBytes = bytes + alignment;
    IRISRT_RETURN_IF_ERROR(
        checkDone(api_->addressReserve(&held.driverAddress, held.driverBytes,
                                       granularity_, /*hint=*/0, /*flags=*/0),
                  "reserve address space"));
  }
  uint64_t address = alignTo(held.driverAddress, alignment);
  std::lock_guard<std::mutex> lock(mutex_);
  reservations_[address] = held;
  return address;
}

Status GpuBackend::unreserve(uint64_t address, uint64_t bytes) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (mayKernelRun())
    return Status::success(); // leaked until the process ends
  Reservation held;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = reservations_.find(address);
    if (found == reservations_.end() || found->second.bytes != bytes)
      return makeStatus(StatusCode::invalidArgument,
                        "0x%" PRIx64 " is not a reservation of %" PRIu64
                        " bytes",
                        address, bytes);
    auto mapping = mappings_.lower_bound(address);
    if (mapping != mappings_.end() && mapping->first - address < bytes)
      return makeStatus(StatusCode::failedPrecondition,
                        "the reservation at 0x%" PRIx64 " still has mappings",
                        address);
    held = found->second;
    reservations_.erase(found);
  }
  return checkDone(api_->addressFree(held.driverAddress, held.driverBytes),
                   "free address space");
}

Expected<ChunkHandle> GpuBackend::createChunk(uint64_t bytes) {
  if (!info_.canPlaceMappings)
    return Status(StatusCode::unavailable, "this device cannot map memory");
  if (bytes == 0 || bytes % granularity_ != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "%" PRIu64 " bytes; expected a multiple of %" PRIu64,
                      bytes, granularity_);
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  AllocationProperties properties = allocationProperties();
  MemoryHandle handle = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->memoryCreate(&handle, bytes, &properties, /*flags=*/0),
      formatString("create %" PRIu64 " bytes of memory", bytes).c_str()));
  std::lock_guard<std::mutex> lock(mutex_);
  chunks_[handle] = bytes;
  return ChunkHandle{handle};
}

Expected<UniqueFd> GpuBackend::exportChunk(ChunkHandle chunk) {
  IRISRT_RETURN_IF_ERROR(checkHandle(chunks_, chunk.value, "chunk"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  int fd = -1;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->memoryExport(&fd, chunk.value, handlePosixFd, /*flags=*/0),
      "export memory"));
  return UniqueFd(fd);
}

Expected<MemoryHandle> GpuBackend::importFd(int fd) const {
  void *osHandle = api_->importByPointer ? static_cast<void *>(&fd)
                                         : toPointer(static_cast<uint64_t>(fd));
  MemoryHandle handle = 0;
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->memoryImport(&handle, osHandle, handlePosixFd),
                "import a peer's memory"));
  return handle;
}

Expected<ChunkHandle> GpuBackend::importChunk(UniqueFd fd, uint64_t bytes) {
  if (!info_.canPlaceMappings)
    return Status(StatusCode::unavailable, "this device cannot map memory");
  if (!fd.valid() || bytes == 0 || bytes % granularity_ != 0)
    return Status(StatusCode::invalidArgument,
                  "invalid descriptor or size of a peer's memory");
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  IRISRT_ASSIGN_OR_RETURN(MemoryHandle handle, importFd(fd.get()));
  // The driver keeps the memory without the descriptor. It knows the size and
  // refuses to map more.
  std::lock_guard<std::mutex> lock(mutex_);
  chunks_[handle] = bytes;
  return ChunkHandle{handle};
}

Status GpuBackend::map(ChunkHandle chunk, uint64_t address, uint64_t bytes) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto known = chunks_.find(chunk.value);
    auto space = reservations_.upper_bound(address);
    bool inside = space != reservations_.begin();
    if (inside) {
      --space;
      uint64_t offset = address - space->first;
      inside = offset <= space->second.bytes &&
               bytes <= space->second.bytes - offset;
    }
    if (known == chunks_.end() || known->second != bytes || !inside ||
        address % granularity_ != 0)
      return makeStatus(StatusCode::invalidArgument,
                        "cannot map %" PRIu64 " bytes at 0x%" PRIx64
                        ": unknown chunk, or not within a reservation",
                        bytes, address);
  }
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->memoryMap(address, bytes, /*offset=*/0, chunk.value, /*flags=*/0),
      "map memory"));
  Status status = setAccess(address, bytes);
  if (!status.ok()) {
    (void)api_->memoryUnmap(address, bytes);
    return status;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  mappings_[address] = {bytes, chunk.value};
  return Status::success();
}

/// Makes a new mapping readable and writable by this device, and by those that
/// letPeersAccess added.
///
/// The range check of hipMemSetAccess is wrong in many versions
/// (ROCm/rocm-systems issues 2516 and 2667): if the range is not the first
/// mapping of its reservation, HIP may require a range that starts at the first
/// mapping, and it may fail temporarily after the mapping was made.  So a
/// rejected range is retried from the start of its run of adjacent mappings,
/// and then with increasing delays.  Setting the same access again is harmless.
Status GpuBackend::setAccess(uint64_t address, uint64_t bytes) {
  std::vector<AccessDescription> accesses = {
      {{locationDevice, device_}, accessReadWrite}};
  for (Device peer : accessingPeers_)
    accesses.push_back({{locationDevice, peer}, accessReadWrite});
  auto set = [&](uint64_t from) {
    return api_->memorySetAccess(from, address + bytes - from, accesses.data(),
                                 accesses.size());
  };
  Result result = set(address);
  if (options_.kind == DeviceKind::cuda)
    return checkDone(result, "make mapped memory accessible");

  uint64_t begin = address;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto before = mappings_.lower_bound(address);
    while (before != mappings_.begin()) {
      --before;
      if (before->first + before->second.bytes != begin)
        break;
      begin = before->first;
    }
  }
  for (int attempt = 0; result == errorInvalidValue && attempt < 8; ++attempt) {
    if (begin != address)
      result = set(begin);
    if (result != errorInvalidValue)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1 << attempt));
    result = set(address);
  }
  return checkDone(result, "make mapped memory accessible");
}

Status GpuBackend::unmap(uint64_t address, uint64_t bytes) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (mayKernelRun())
    return Status::success(); // leaked until the process ends
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = mappings_.find(address);
    if (found == mappings_.end() || found->second.bytes != bytes)
      return makeStatus(StatusCode::invalidArgument,
                        "0x%" PRIx64 " is not a mapping of %" PRIu64 " bytes",
                        address, bytes);
    mappings_.erase(found);
  }
  return checkDone(api_->memoryUnmap(address, bytes), "unmap memory");
}

Status GpuBackend::releaseChunk(ChunkHandle chunk) {
  IRISRT_RETURN_IF_ERROR(checkHandle(chunks_, chunk.value, "chunk"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    chunks_.erase(chunk.value);
  }
  return checkDone(api_->memoryRelease(chunk.value), "release memory");
}

//===----------------------------------------------------------------------===//
// Memory shared by IPC handles
//===----------------------------------------------------------------------===//

Expected<uint64_t> GpuBackend::allocateOfKind(IrisRtMemoryKind kind,
                                              uint64_t bytes) {
  Address address = 0;
  std::string what = formatString("allocate %" PRIu64 " bytes", bytes);
  if (options_.kind == DeviceKind::cuda) {
    IRISRT_RETURN_IF_ERROR(
        checkDone(api_->allocate(&address, bytes), what.c_str()));
    return address;
  }
  if (!api_->allocateWithFlags || kind == IRISRT_MEMORY_COARSE)
    return makeStatus(StatusCode::unavailable,
                      "this device has neither uncached nor fine-grained "
                      "memory that could be shared with peers%s%s",
                      sharingComplaint_.empty() ? "" : ": ",
                      sharingComplaint_.c_str());
  unsigned flags =
      kind == IRISRT_MEMORY_UNCACHED ? hipMallocUncached : hipMallocFineGrained;
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->allocateWithFlags(&address, bytes, flags), what.c_str()));
  return address;
}

Expected<uint64_t> GpuBackend::allocateShareable(uint64_t bytes) {
  if (bytes == 0 || bytes > UINT64_MAX - granularity_)
    return makeStatus(StatusCode::invalidArgument,
                      "cannot allocate %" PRIu64 " bytes", bytes);
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  // The driver places small allocations in shared blocks, and a handle exports
  // the whole block; allocations of whole granules have separate blocks.
  bytes = alignTo(bytes, granularity_);
  IRISRT_ASSIGN_OR_RETURN(uint64_t address, allocateOfKind(askedKind_, bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  shareable_[address] = bytes;
  return address;
}

Status GpuBackend::freeShareable(uint64_t address) {
  IRISRT_RETURN_IF_ERROR(checkHandle(shareable_, address, "shareable memory"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (mayKernelRun())
    return Status::success(); // leaked until the process ends
  {
    std::lock_guard<std::mutex> lock(sharedInProcess().mutex);
    sharedInProcess().addresses.erase(address);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    shareable_.erase(address);
  }
  return checkDone(api_->free(address), "free memory");
}

Expected<IpcHandle> GpuBackend::shareMemory(uint64_t address) {
  IRISRT_RETURN_IF_ERROR(checkHandle(shareable_, address, "shareable memory"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  IpcBytes bytes = {};
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->ipcGet(&bytes, address), "share memory"));
  IpcHandle handle;
  static_assert(sizeof(handle.bytes) == sizeof(bytes), "same size");
  std::memcpy(handle.bytes.data(), &bytes, sizeof(bytes));
  handle.pid = ::getpid();
  handle.device = static_cast<uint32_t>(options_.index);
  handle.address = address;
  std::lock_guard<std::mutex> lock(sharedInProcess().mutex);
  sharedInProcess().addresses.insert(address);
  return handle;
}

Expected<uint64_t> GpuBackend::openMemory(const IpcHandle &handle) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (handle.pid == ::getpid()) {
    std::unique_lock<std::mutex> here(sharedInProcess().mutex);
    if (sharedInProcess().addresses.count(handle.address)) {
      here.unlock();
      IRISRT_RETURN_IF_ERROR(enablePeer(static_cast<int>(handle.device)));
      std::lock_guard<std::mutex> lock(mutex_);
      borrowed_.insert(handle.address);
      return handle.address;
    }
  }
  IpcBytes bytes;
  std::memcpy(&bytes, handle.bytes.data(), sizeof(bytes));
  Address address = 0;
  Result result = api_->ipcOpen(&address, bytes, ipcLazyPeerAccess);
  // Some old versions of HIP define the only flag as 0.
  if (result == errorInvalidValue && options_.kind == DeviceKind::hip)
    result = api_->ipcOpen(&address, bytes, /*flags=*/0);
  IRISRT_RETURN_IF_ERROR(checkDone(result, "open a peer's memory"));
  std::lock_guard<std::mutex> lock(mutex_);
  opened_.insert(address);
  return address;
}

Status GpuBackend::closeMemory(uint64_t address) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (mayKernelRun())
    return Status::success(); // leaked until the process ends
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto borrowed = borrowed_.find(address);
    if (borrowed != borrowed_.end()) {
      borrowed_.erase(borrowed);
      return Status::success();
    }
    if (!opened_.erase(address))
      return makeStatus(StatusCode::invalidArgument,
                        "0x%" PRIx64 " is not opened memory", address);
  }
  return checkDone(api_->ipcClose(address), "close a peer's memory");
}

//===----------------------------------------------------------------------===//
// Other memory
//===----------------------------------------------------------------------===//

Expected<HostVisibleMemory> GpuBackend::allocateHostVisible(uint64_t bytes) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  HostVisibleMemory memory;
  memory.bytes = bytes;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->hostAllocate(&memory.host, bytes, api_->dialect.hostAllocFlags),
      "allocate pinned memory"));
  Status status = checkDone(
      api_->hostDeviceAddress(&memory.device, memory.host, /*flags=*/0),
      "map pinned memory to the device");
  if (!status.ok()) {
    (void)api_->hostFree(memory.host);
    return status;
  }
  std::memset(memory.host, 0, bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  hostVisible_[fromPointer(memory.host)] = memory.host;
  return memory;
}

Expected<uint64_t> GpuBackend::freeBytes() {
  if (!api_->memoryInfo)
    return makeStatus(StatusCode::unavailable,
                      "%s does not tell how much memory is free",
                      api_->library.c_str());
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  size_t free = 0, total = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(api_->memoryInfo(&free, &total),
                                   "ask how much memory is free"));
  return free;
}

Status GpuBackend::freeHostVisible(const HostVisibleMemory &memory) {
  uint64_t key = fromPointer(memory.host);
  IRISRT_RETURN_IF_ERROR(checkHandle(hostVisible_, key, "pinned memory"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (mayKernelRun())
    return Status::success(); // leaked until the process ends
  {
    std::lock_guard<std::mutex> lock(mutex_);
    hostVisible_.erase(key);
  }
  return checkDone(api_->hostFree(memory.host), "free pinned memory");
}

Expected<uint64_t> GpuBackend::allocate(uint64_t bytes) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Address address = 0;
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->allocate(&address, std::max<uint64_t>(bytes, 1)),
                "allocate device memory"));
  std::lock_guard<std::mutex> lock(mutex_);
  allocations_.insert(address);
  return address;
}

Status GpuBackend::free(uint64_t address) {
  IRISRT_RETURN_IF_ERROR(checkHandle(allocations_, address, "device memory"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (mayKernelRun())
    return Status::success(); // leaked until the process ends
  {
    std::lock_guard<std::mutex> lock(mutex_);
    allocations_.erase(address);
  }
  return checkDone(api_->free(address), "free device memory");
}

Status GpuBackend::zero(StreamHandle stream, uint64_t address, uint64_t bytes) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (bytes == 0)
    return Status::success();
  // Use the caller's stream: a memset on the default stream would not be
  // ordered with the other streams, which do not synchronize with it.
  return checkDone(api_->setBytes(address, 0, bytes, driverStream(stream)),
                   "zero memory");
}

Status GpuBackend::copyToDevice(StreamHandle stream, uint64_t to,
                                const void *from, uint64_t bytes) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (bytes == 0)
    return Status::success();
  return checkDone(api_->copyToDevice(to, from, bytes, driverStream(stream)),
                   "copy to the device");
}

Status GpuBackend::copyToHost(StreamHandle stream, void *to, uint64_t from,
                              uint64_t bytes) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (bytes == 0)
    return Status::success();
  return checkDone(api_->copyToHost(to, from, bytes, driverStream(stream)),
                   "copy to the host");
}

Status GpuBackend::copyOnDevice(StreamHandle stream, uint64_t to, uint64_t from,
                                uint64_t bytes) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (bytes == 0)
    return Status::success();
  return checkDone(api_->copyOnDevice(to, from, bytes, driverStream(stream)),
                   "copy on the device");
}
