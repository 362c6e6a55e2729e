// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the fake driver (for tests only): every piece is a memfd, so that
// it can be mapped anywhere and by other processes.
#include "FakeDriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fakegpu;

namespace {

constexpr size_t granule = 2 << 20;

struct Piece {
  int fd;
  size_t bytes;
  /// As reported by hsa_amd_pointer_info.
  uint32_t kind = memoryFlagCoarseGrained;
  /// Whether it came from a descriptor that a peer sent; the caller closes it.
  bool isImported = false;
  ino_t inode = 0;
  /// As memoryProperties reports them; of an import, what its creator asked for
  /// is not known here.
  AllocationProperties properties = {};
  /// Handles that were not released, and mappings, which keep the memory.
  int handles = 1, mappings = 0;
};
struct Mapped {
  size_t bytes;
  bool accessible;
  uint32_t kind;
  MemoryHandle handle;
};

std::mutex mutex;
std::map<MemoryHandle, Piece> chunks;
std::map<Address, size_t> reservations;
std::map<Address, Mapped> mappings;
std::map<Address, Piece> allocations;
std::map<Address, size_t> opened;
MemoryHandle nextHandle = 1;

FakeGpuControl &control() { return *fakeGpuControl(); }

void *pointer(Address address) { return reinterpret_cast<void *>(address); }

/// Whether the descriptor of an allocation still belongs to it.
bool hasDescriptor(const Piece &piece) {
  struct stat info;
  return !piece.isImported ||
         (fstat(piece.fd, &info) == 0 && info.st_ino == piece.inode);
}

/// Forgets memory without handles and mappings. The caller holds the mutex.
void dropUnused(MemoryHandle handle) {
  auto found = chunks.find(handle);
  if (found->second.handles != 0 || found->second.mappings != 0)
    return;
  if (!found->second.isImported || !control().importNeedsDescriptor)
    close(found->second.fd);
  chunks.erase(found);
}

/// The last entry at or before an address, if it contains that.
template <typename Map>
typename Map::iterator findContaining(Map &map, Address address) {
  auto after = map.upper_bound(address);
  if (after == map.begin())
    return map.end();
  --after;
  return address - after->first < after->second.bytes ? after : map.end();
}

/// A suitable memfd, or -1.
int makeMemory(size_t bytes) {
  if (bytes > (size_t(1) << 36))
    return -1;
  int fd = memfd_create("fake-gpu", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, off_t(bytes)) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

Result allocateShared(Address *address, size_t bytes,
                      uint32_t kind = memoryFlagCoarseGrained) {
  if (bytes == 0)
    return misuse("allocation of 0 bytes");
  int fd = makeMemory(bytes);
  if (fd < 0)
    return errorOutOfMemory;
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    close(fd);
    return errorOutOfMemory;
  }
  // Drivers do not guarantee zeros.
  std::memset(at, 0xa5, std::min<size_t>(bytes, granule));
  std::lock_guard<std::mutex> lock(mutex);
  *address = reinterpret_cast<Address>(at);
  allocations[*address] = {fd, bytes, kind};
  ++control().allocations;
  return success;
}

Result importDescriptor(MemoryHandle *handle, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return errorInvalidHandle;
  std::lock_guard<std::mutex> lock(mutex);
  *handle = nextHandle++;
  int held = control().importNeedsDescriptor ? fd : dup(fd);
  chunks[*handle] = {held, size_t(info.st_size), memoryFlagExtendedScope, true,
                     info.st_ino};
  ++control().chunks;
  return success;
}

} // namespace

extern "C" {

Result fake_granularity(size_t *bytes, const AllocationProperties *, int) {
  *bytes = granule;
  return success;
}

Result fake_address_reserve(Address *address, size_t bytes, size_t alignment,
                            Address hint, unsigned long long flags) {
  FAKE_ENTER_BOUND("addressReserve");
  if (bytes % granule || (alignment & (alignment - 1)) || flags || hint)
    return misuse("addressReserve");
  size_t slack = control().ignoreAlignment ? granule : alignment;
  void *at = mmap(nullptr, bytes + slack, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return errorOutOfMemory;
  Address begin = reinterpret_cast<Address>(at);
  Address aligned = (begin + slack - 1) / slack * slack;
  if (control().ignoreAlignment && aligned % (2 * granule) == 0 &&
      aligned + granule + bytes <= begin + bytes + slack)
    aligned += granule;
  if (aligned != begin)
    munmap(at, aligned - begin);
  Address end = begin + bytes + slack;
  if (end != aligned + bytes)
    munmap(pointer(aligned + bytes), end - aligned - bytes);
  std::lock_guard<std::mutex> lock(mutex);
  *address = aligned;
  reservations[aligned] = bytes;
  ++control().reservations;
  return success;
}

Result fake_address_free(Address address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = reservations.find(address);
  if (found == reservations.end() || found->second != bytes)
    return misuse("addressFree of no reservation");
  auto mapping = mappings.lower_bound(address);
  if (mapping != mappings.end() && mapping->first < address + bytes)
    return misuse("addressFree of a range with mappings");
  munmap(pointer(address), bytes);
  reservations.erase(found);
  --control().reservations;
  return success;
}

static Result createMemory(MemoryHandle *handle, size_t bytes,
                           const AllocationProperties *properties,
                           bool typeKnown) {
  FAKE_ENTER_BOUND("memoryCreate");
  if (!mayDisturbCaptures("memoryCreate during a capture"))
    return errorCaptureUnsupported;
  if (!control().virtualMemory)
    return errorNotSupported;
  if (bytes % granule ||
      (properties->requestedHandleTypes & ~handlePosixFd) != 0 ||
      properties->location.type != locationDevice)
    return misuse("memoryCreate");
  if (!typeKnown)
    return errorInvalidValue;
  int fd = makeMemory(bytes);
  if (fd < 0)
    return errorOutOfMemory;
  std::lock_guard<std::mutex> lock(mutex);
  *handle = nextHandle++;
  bool isUncached = properties->type == allocationUncached &&
                    !control().uncachedMappingsAreCoarse;
  chunks[*handle] = {fd, bytes,
                     isUncached
                         ? memoryFlagFineGrained | memoryFlagExtendedScope
                         : memoryFlagCoarseGrained};
  chunks[*handle].properties = *properties;
  ++control().chunks;
  return success;
}

Result fake_cuda_create(MemoryHandle *handle, size_t bytes,
                        const AllocationProperties *properties,
                        unsigned long long) {
  return createMemory(handle, bytes, properties,
                      properties->type == allocationPinned);
}

Result fake_hip_create(MemoryHandle *handle, size_t bytes,
                       const AllocationProperties *properties,
                       unsigned long long) {
  return createMemory(handle, bytes, properties,
                      properties->type == allocationPinned ||
                          (properties->type == allocationUncached &&
                           control().hipUncachedMappings));
}

Result fake_memory_release(MemoryHandle handle) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = chunks.find(handle);
  if (found == chunks.end() || found->second.handles == 0)
    return misuse("memoryRelease of no memory");
  --found->second.handles;
  --control().chunks;
  dropUnused(handle);
  return success;
}

Result fake_memory_retain(MemoryHandle *handle, void *at) {
  FAKE_ENTER_BOUND("memoryRetain");
  std::lock_guard<std::mutex> lock(mutex);
  auto mapping = findContaining(mappings, reinterpret_cast<Address>(at));
  if (mapping == mappings.end())
    return errorInvalidValue; // as for memory of cudaMalloc
  *handle = mapping->second.handle;
  ++chunks[*handle].handles;
  ++control().chunks;
  return success;
}

Result fake_memory_properties(AllocationProperties *properties,
                              MemoryHandle handle) {
  FAKE_ENTER_BOUND("memoryProperties");
  std::lock_guard<std::mutex> lock(mutex);
  auto found = chunks.find(handle);
  if (found == chunks.end() || found->second.handles == 0)
    return misuse("memoryProperties of no memory");
  *properties = found->second.properties;
  return success;
}

Result fake_address_range(Address *base, size_t *bytes, Address address) {
  FAKE_ENTER_BOUND("addressRange");
  std::lock_guard<std::mutex> lock(mutex);
  auto mapping = findContaining(mappings, address);
  auto allocation = findContaining(allocations, address);
  if (mapping == mappings.end() && allocation == allocations.end())
    return errorNotFound;
  *base = mapping != mappings.end() ? mapping->first : allocation->first;
  *bytes = mapping != mappings.end() ? mapping->second.bytes
                                     : allocation->second.bytes;
  return success;
}

Result fake_memory_export(void *out, MemoryHandle handle, int type,
                          unsigned long long) {
  FAKE_ENTER_BOUND("memoryExport");
  std::lock_guard<std::mutex> lock(mutex);
  auto found = chunks.find(handle);
  if (found == chunks.end() || type != handlePosixFd ||
      (!found->second.isImported &&
       found->second.properties.requestedHandleTypes != handlePosixFd))
    return misuse("memoryExport");
  int fd = fcntl(found->second.fd, F_DUPFD_CLOEXEC, 3);
  std::memcpy(out, &fd, sizeof(fd));
  return success;
}

Result fake_cuda_import(MemoryHandle *handle, void *osHandle, int) {
  FAKE_ENTER_BOUND("memoryImport");
  return importDescriptor(handle, int(reinterpret_cast<uintptr_t>(osHandle)));
}

Result fake_hip_import(MemoryHandle *handle, void *osHandle, int) {
  FAKE_ENTER_BOUND("memoryImport");
  if (control().hipVersion >= 70100000)
    return importDescriptor(handle, int(reinterpret_cast<uintptr_t>(osHandle)));
  return importDescriptor(handle, *static_cast<int *>(osHandle));
}

Result fake_memory_map(Address address, size_t bytes, size_t offset,
                       MemoryHandle handle, unsigned long long) {
  FAKE_ENTER_BOUND("memoryMap");
  std::lock_guard<std::mutex> lock(mutex);
  auto chunk = chunks.find(handle);
  auto space = reservations.upper_bound(address);
  if (chunk == chunks.end() || chunk->second.handles == 0 ||
      space == reservations.begin() || address % granule || offset)
    return misuse("memoryMap");
  --space;
  if (address + bytes > space->first + space->second)
    return misuse("memoryMap outside of a reservation");
  if (bytes > chunk->second.bytes || !hasDescriptor(chunk->second) ||
      (chunk->second.isImported && !control().canMapImported))
    return errorInvalidValue;
  auto next = mappings.lower_bound(address);
  if (next != mappings.end() && next->first < address + bytes)
    return errorInvalidValue;
  if (mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
           chunk->second.fd, 0) == MAP_FAILED)
    return errorOutOfMemory;
  mappings[address] = {bytes, false, chunk->second.kind, handle};
  ++chunk->second.mappings;
  ++control().mappings;
  return success;
}

Result fake_memory_unmap(Address address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = mappings.find(address);
  if (found == mappings.end() || found->second.bytes != bytes)
    return misuse("memoryUnmap of no mapping");
  (void)takesFromKernels(); // as in drivers: a kernel that reads it fails
  mmap(pointer(address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  const MemoryHandle handle = found->second.handle;
  mappings.erase(found);
  --control().mappings;
  --chunks[handle].mappings;
  dropUnused(handle);
  return success;
}

static Result setAccess(Address address, size_t bytes,
                        const AccessDescription *access, size_t count,
                        bool bug) {
  FAKE_ENTER_BOUND("memorySetAccess");
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < count; ++i)
    if (access[i].flags != accessReadWrite ||
        access[i].location.type != locationDevice)
      return misuse("memorySetAccess");
  control().accessingDevices = static_cast<int>(count);
  auto first = mappings.find(address);
  if (first == mappings.end())
    return errorInvalidValue;
  if (bug) {
    auto space = --reservations.upper_bound(address);
    if (mappings.lower_bound(space->first)->first != address)
      return errorInvalidValue;
  }
  Address at = address;
  for (auto it = first; it != mappings.end() && at < address + bytes; ++it) {
    if (it->first != at)
      return errorInvalidValue;
    at += it->second.bytes;
  }
  if (at != address + bytes)
    return errorInvalidValue;
  for (auto it = first; it != mappings.end() && it->first < at; ++it)
    it->second.accessible = true;
  mprotect(pointer(address), bytes, PROT_READ | PROT_WRITE);
  return success;
}

Result fake_cuda_access(Address address, size_t bytes,
                        const AccessDescription *access, size_t count) {
  return setAccess(address, bytes, access, count, false);
}

Result fake_hip_access(Address address, size_t bytes,
                       const AccessDescription *access, size_t count) {
  return setAccess(address, bytes, access, count, control().hipAccessBug);
}

Result fake_memory_info(size_t *free, size_t *total) {
  FAKE_ENTER_BOUND("memoryInfo");
  *free = *total = size_t(1) << 34;
  return success;
}

Result fake_allocate(Address *address, size_t bytes) {
  FAKE_ENTER_BOUND("allocate");
  if (!mayDisturbCaptures("allocate during a capture"))
    return errorCaptureUnsupported;
  return allocateShared(address, bytes);
}

Result fake_allocate_flags(Address *address, size_t bytes, unsigned flags) {
  FAKE_ENTER_BOUND("allocateWithFlags");
  if (!mayDisturbCaptures("allocateWithFlags during a capture"))
    return errorCaptureUnsupported;
  if (flags == hipMallocFineGrained && !control().fineGrained)
    return errorNotSupported;
  if (flags != hipMallocFineGrained && flags != hipMallocUncached)
    return misuse("hipExtMallocWithFlags with unexpected flags");
  uint32_t kind = memoryFlagCoarseGrained;
  if (flags == hipMallocUncached && !control().uncachedIsCoarse)
    kind = memoryFlagFineGrained | memoryFlagExtendedScope;
  if (flags == hipMallocFineGrained && !control().fineGrainedIsCoarse)
    kind = memoryFlagFineGrained;
  return allocateShared(address, bytes, kind);
}

Result fake_free(Address address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = allocations.find(address);
  if (found == allocations.end())
    return misuse("free of no allocation");
  if (takesFromKernels())
    return success;
  munmap(pointer(address), found->second.bytes);
  close(found->second.fd);
  allocations.erase(found);
  --control().allocations;
  return success;
}

static Result hostAllocate(void **host, size_t bytes, bool flagsRight) {
  FAKE_ENTER_BOUND("hostAllocate");
  if (!mayDisturbCaptures("hostAllocate during a capture"))
    return errorCaptureUnsupported;
  if (!flagsRight)
    return misuse("host allocation with unexpected flags");
  *host = std::malloc(bytes);
  std::memset(*host, 0xa5, bytes);
  ++control().allocations;
  return success;
}

Result fake_cuda_host_allocate(void **host, size_t bytes, unsigned flags) {
  return hostAllocate(host, bytes, flags == 3);
}

Result fake_hip_host_allocate(void **host, size_t bytes, unsigned flags) {
  return hostAllocate(host, bytes, flags == 0x40000003);
}

Result fake_host_free(void *host) {
  if (takesFromKernels())
    return success;
  std::free(host);
  --control().allocations;
  return success;
}

Result fake_host_device_address(Address *address, void *host, unsigned) {
  FAKE_ENTER_BOUND("hostDeviceAddress");
  *address = reinterpret_cast<Address>(host);
  return success;
}

Result fake_ipc_get(IpcBytes *handle, Address address) {
  FAKE_ENTER_BOUND("ipcGet");
  std::lock_guard<std::mutex> lock(mutex);
  auto found = allocations.find(address);
  if (found == allocations.end())
    return errorInvalidValue;
  std::snprintf(handle->bytes, sizeof(handle->bytes), "%d %d %zu", getpid(),
                found->second.fd, found->second.bytes);
  return success;
}

Result fake_ipc_open(Address *address, IpcBytes handle, unsigned flags) {
  FAKE_ENTER_BOUND("ipcOpen");
  if (flags != ipcLazyPeerAccess)
    return misuse("ipcOpen without lazy peer access");
  int pid = 0, fd = 0;
  size_t bytes = 0;
  handle.bytes[sizeof(handle.bytes) - 1] = '\0';
  if (std::sscanf(handle.bytes, "%d %d %zu", &pid, &fd, &bytes) != 3)
    return errorInvalidHandle;
  if (pid == getpid())
    return errorInvalidContext; // as in the real drivers
  std::string path =
      "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  int mine = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (mine < 0)
    return errorInvalidHandle;
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
  close(mine);
  if (at == MAP_FAILED)
    return errorOutOfMemory;
  std::lock_guard<std::mutex> lock(mutex);
  *address = reinterpret_cast<Address>(at);
  opened[*address] = bytes;
  ++control().opened;
  return success;
}

Result fake_ipc_close(Address address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = opened.find(address);
  if (found == opened.end())
    return misuse("ipcClose of nothing opened");
  if (takesFromKernels())
    return success;
  munmap(pointer(address), found->second);
  opened.erase(found);
  --control().opened;
  return success;
}

/// ROCr's function, which HIP is built on. As in ROCr, unknown memory is not an
/// error.
__attribute__((visibility("default"))) int
hsa_amd_pointer_info(const void *at, PointerInfo *info, void *(*)(size_t),
                     uint32_t *, void **) {
  if (info->size != sizeof(PointerInfo))
    return misuse("hsa_amd_pointer_info");
  std::lock_guard<std::mutex> lock(mutex);
  auto address = reinterpret_cast<Address>(at);
  auto mapping = mappings.find(address);
  auto allocation = allocations.find(address);
  *info = {};
  info->size = sizeof(*info);
  if (!control().tellsKind)
    return 0;
  if (mapping != mappings.end()) {
    info->type = 6;
    info->globalFlags =
        control().tellsKindOfMappings ? mapping->second.kind : 0;
  } else if (allocation != allocations.end()) {
    info->type = 1;
    info->globalFlags = allocation->second.kind;
  }
  return 0;
}

} // extern "C"

FAKE_EXPORT(fake_granularity, cuMemGetAllocationGranularity)
FAKE_EXPORT(fake_granularity, hipMemGetAllocationGranularity)
FAKE_EXPORT(fake_address_reserve, cuMemAddressReserve)
FAKE_EXPORT(fake_address_reserve, hipMemAddressReserve)
FAKE_EXPORT(fake_address_free, cuMemAddressFree)
FAKE_EXPORT(fake_address_free, hipMemAddressFree)
FAKE_EXPORT(fake_cuda_create, cuMemCreate)
FAKE_EXPORT(fake_hip_create, hipMemCreate)
FAKE_EXPORT(fake_memory_release, cuMemRelease)
FAKE_EXPORT(fake_memory_release, hipMemRelease)
FAKE_EXPORT(fake_memory_retain, cuMemRetainAllocationHandle)
FAKE_EXPORT(fake_memory_retain, hipMemRetainAllocationHandle)
FAKE_EXPORT(fake_memory_properties, cuMemGetAllocationPropertiesFromHandle)
FAKE_EXPORT(fake_memory_properties, hipMemGetAllocationPropertiesFromHandle)
FAKE_EXPORT(fake_address_range, cuMemGetAddressRange_v2)
FAKE_EXPORT(fake_address_range, hipMemGetAddressRange)
FAKE_EXPORT(fake_memory_export, cuMemExportToShareableHandle)
FAKE_EXPORT(fake_memory_export, hipMemExportToShareableHandle)
FAKE_EXPORT(fake_cuda_import, cuMemImportFromShareableHandle)
FAKE_EXPORT(fake_hip_import, hipMemImportFromShareableHandle)
FAKE_EXPORT(fake_memory_map, cuMemMap)
FAKE_EXPORT(fake_memory_map, hipMemMap)
FAKE_EXPORT(fake_memory_unmap, cuMemUnmap)
FAKE_EXPORT(fake_memory_unmap, hipMemUnmap)
FAKE_EXPORT(fake_cuda_access, cuMemSetAccess)
FAKE_EXPORT(fake_hip_access, hipMemSetAccess)
FAKE_EXPORT(fake_memory_info, cuMemGetInfo_v2)
FAKE_EXPORT(fake_memory_info, hipMemGetInfo)
FAKE_EXPORT(fake_allocate, cuMemAlloc_v2)
FAKE_EXPORT(fake_allocate, hipMalloc)
FAKE_EXPORT(fake_allocate_flags, hipExtMallocWithFlags)
FAKE_EXPORT(fake_free, cuMemFree_v2)
FAKE_EXPORT(fake_free, hipFree)
FAKE_EXPORT(fake_cuda_host_allocate, cuMemHostAlloc)
FAKE_EXPORT(fake_hip_host_allocate, hipHostMalloc)
FAKE_EXPORT(fake_host_free, cuMemFreeHost)
FAKE_EXPORT(fake_host_free, hipHostFree)
FAKE_EXPORT(fake_host_device_address, cuMemHostGetDevicePointer_v2)
FAKE_EXPORT(fake_host_device_address, hipHostGetDevicePointer)
FAKE_EXPORT(fake_ipc_get, cuIpcGetMemHandle)
FAKE_EXPORT(fake_ipc_get, hipIpcGetMemHandle)
FAKE_EXPORT(fake_ipc_open, cuIpcOpenMemHandle_v2)
FAKE_EXPORT(fake_ipc_open, hipIpcOpenMemHandle)
FAKE_EXPORT(fake_ipc_close, cuIpcCloseMemHandle)
FAKE_EXPORT(fake_ipc_close, hipIpcCloseMemHandle)
