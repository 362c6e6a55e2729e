// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostMemory.cpp - Memory of the host back end -----------------------===//
#include "backends/host/HostBackend.h"

#include "core/Align.h"
#include "core/SharedMemory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace iris::rt;

/// A compromise between huge pages and unused memory. Pages are only allocated
/// when they are touched.
static constexpr uint64_t hostGranularity = 64 << 10;

static void *pointer(uint64_t address) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

static uint64_t addressOf(const void *memory) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory));
}

uint64_t HostBackend::granularity() const { return hostGranularity; }

//===----------------------------------------------------------------------===//
// Reservations and chunks
//===----------------------------------------------------------------------===//

/// Calls `attempt`, which takes a range of addresses, until `accept` returns
/// true for one, and releases the others with `release`. They stay taken until
/// then, so that every attempt gets another range.
///
/// The argument of `attempt` is the preferred address; 0: any. The system
/// places ranges side by side, so small ones would all overlap the same large
/// mapping of the other process; the distance doubles to get past it.
template <typename Attempt, typename Accept, typename Release>
static Expected<uint64_t> placeWhereAccepted(Attempt attempt, Accept accept,
                                             Release release) {
  constexpr size_t maxAttempts = 64;
  std::vector<uint64_t> rejected;
  Expected<uint64_t> result = makeStatus(
      StatusCode::outOfMemory,
      "no addresses are free in two processes after %zu attempts", maxAttempts);
  uint64_t hint = 0, distance = hostGranularity;
  for (bool isDone = false; !isDone && rejected.size() < maxAttempts;) {
    Expected<uint64_t> address = attempt(hint);
    Expected<bool> accepted =
        address.ok() ? accept(*address) : address.status();
    if (address.ok() && !(accepted.ok() && *accepted)) {
      rejected.push_back(*address);
      hint = distance < *address / 2 ? *address - distance : 0;
      distance = hint == 0 ? hostGranularity : 2 * distance;
    }
    isDone = !accepted.ok() || *accepted;
    if (isDone)
      result = accepted.ok() ? address : accepted.status();
  }
  for (uint64_t address : rejected)
    release(address);
  return result;
}

static Expected<uint64_t> reserveAnywhere(uint64_t hint, uint64_t bytes,
                                          uint64_t alignment) {
  uint64_t padded = bytes + alignment;
  if (padded < bytes)
    return makeStatus(StatusCode::invalidArgument,
                      "the reservation exceeds the address space");
  void *raw = ::mmap(pointer(hint), padded, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED)
    return makeErrnoStatus(StatusCode::outOfMemory, errno,
                           "cannot reserve %llu bytes of address space",
                           static_cast<unsigned long long>(padded));
  uint64_t start = addressOf(raw);
  uint64_t aligned = alignTo(start, alignment);
  if (aligned != start)
    ::munmap(raw, aligned - start);
  if (start + padded != aligned + bytes)
    ::munmap(pointer(aligned + bytes), start + padded - aligned - bytes);
  return aligned;
}

Expected<uint64_t> HostBackend::reserve(uint64_t bytes, uint64_t alignment) {
  IRISRT_ASSIGN_OR_RETURN(
      uint64_t address,
      placeWhereAccepted(
          [&](uint64_t hint) {
            return reserveAnywhere(hint, bytes, alignment);
          },
          [&](uint64_t at) { return reserved(at, bytes); },
          [&](uint64_t at) { ::munmap(pointer(at), bytes); }));
  std::lock_guard<std::mutex> lock(mutex_);
  reservations_[address] = bytes;
  return address;
}

Status HostBackend::unreserve(uint64_t address, uint64_t bytes) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = reservations_.find(address);
    if (found == reservations_.end() || found->second != bytes)
      return makeStatus(StatusCode::invalidArgument,
                        "there is no reservation of that size at that address");
    reservations_.erase(found);
  }
  if (stuck_)
    return Status::success(); // leaked until the process ends
  unreserving(address, bytes);
  if (::munmap(pointer(address), bytes) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot unmap address space");
  return Status::success();
}

Expected<ChunkHandle> HostBackend::createChunk(uint64_t bytes) {
  IRISRT_ASSIGN_OR_RETURN(UniqueFd fd, createSharedMemory("iris-heap", bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  return ChunkHandle{chunks_.add(std::move(fd))};
}

Expected<UniqueFd> HostBackend::exportChunk(ChunkHandle chunk) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = chunks_.entries.find(chunk.value);
  if (found == chunks_.entries.end())
    return makeStatus(StatusCode::invalidArgument, "unknown chunk");
  UniqueFd copy(::fcntl(found->second.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot export a chunk");
  return copy;
}

Expected<ChunkHandle> HostBackend::importChunk(UniqueFd fd, uint64_t bytes) {
  IRISRT_RETURN_IF_ERROR(checkSharedMemory(fd.get(), bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  return ChunkHandle{chunks_.add(std::move(fd))};
}

Status HostBackend::map(ChunkHandle chunk, uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = chunks_.entries.find(chunk.value);
  if (found == chunks_.entries.end())
    return makeStatus(StatusCode::invalidArgument, "unknown chunk");
  IRISRT_RETURN_IF_ERROR(checkSharedMemory(found->second.get(), bytes));
  // MAP_FIXED replaces existing mappings, so the range must be reserved.
  auto after = reservations_.upper_bound(address);
  bool inside = after != reservations_.begin();
  if (inside) {
    const auto &[start, size] = *std::prev(after);
    inside = address - start <= size && bytes <= size - (address - start);
  }
  if (!inside)
    return makeStatus(StatusCode::invalidArgument,
                      "the mapping is not within a reservation");
  void *memory = ::mmap(pointer(address), bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, found->second.get(), 0);
  if (memory == MAP_FAILED)
    return makeErrnoStatus(StatusCode::outOfMemory, errno,
                           "cannot map %llu bytes",
                           static_cast<unsigned long long>(bytes));
  // The range is reserved in both processes, but the other one may need more
  // addresses than it.
  IRISRT_ASSIGN_OR_RETURN(bool accepted,
                          mapped(found->second.get(), address, bytes));
  if (!accepted)
    return makeStatus(StatusCode::unavailable,
                      "the device's process already uses addresses that a "
                      "mapping of %llu bytes in a reservation needs; start "
                      "the program again",
                      static_cast<unsigned long long>(bytes));
  return Status::success();
}

Status HostBackend::unmap(uint64_t address, uint64_t bytes) {
  if (stuck_)
    return Status::success(); // a running kernel may use it
  unmapping(address, bytes);
  void *memory =
      ::mmap(pointer(address), bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (memory == MAP_FAILED)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot unmap");
  return Status::success();
}

Status HostBackend::releaseChunk(ChunkHandle chunk) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (chunks_.entries.erase(chunk.value) == 0)
    return makeStatus(StatusCode::invalidArgument, "unknown chunk");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Shared memory without placement
//===----------------------------------------------------------------------===//

/// The contents of IpcHandle::bytes on the host.
namespace {
struct HostIpc {
  int32_t fd;
  uint32_t reserved;
  uint64_t bytes;
};
} // namespace

Expected<uint64_t> HostBackend::mapAnywhere(int fd, uint64_t bytes) {
  auto mapHere = [&](uint64_t hint) -> Expected<uint64_t> {
    void *memory =
        ::mmap(pointer(hint), bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
      return makeErrnoStatus(StatusCode::outOfMemory, errno,
                             "cannot map %llu bytes",
                             static_cast<unsigned long long>(bytes));
    return addressOf(memory);
  };
  return placeWhereAccepted(
      mapHere, [&](uint64_t at) { return mapped(fd, at, bytes); },
      [&](uint64_t at) { ::munmap(pointer(at), bytes); });
}

Expected<uint64_t> HostBackend::allocateShareable(uint64_t bytes) {
  IRISRT_ASSIGN_OR_RETURN(UniqueFd fd, createSharedMemory("iris-heap", bytes));
  IRISRT_ASSIGN_OR_RETURN(uint64_t address, mapAnywhere(fd.get(), bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  mappings_[address] = Mapping{bytes, std::move(fd)};
  return address;
}

Status HostBackend::freeShareable(uint64_t address) {
  return closeMemory(address);
}

Expected<IpcHandle> HostBackend::shareMemory(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = mappings_.find(address);
  if (found == mappings_.end() || !found->second.fd.valid())
    return makeStatus(StatusCode::invalidArgument,
                      "no shareable memory at that address");
  IpcHandle handle;
  HostIpc ipc = {found->second.fd.get(), 0, found->second.bytes};
  std::memcpy(handle.bytes.data(), &ipc, sizeof(ipc));
  handle.pid = ::getpid();
  handle.address = address;
  return handle;
}

Expected<uint64_t> HostBackend::openMemory(const IpcHandle &handle) {
  HostIpc ipc;
  std::memcpy(&ipc, handle.bytes.data(), sizeof(ipc));
  if (handle.pid <= 0 || ipc.fd < 0)
    return makeStatus(StatusCode::invalidArgument, "malformed memory handle");
  // Ranks of one process share one mapping, because a second one would hide
  // their data races from sanitizers.
  if (handle.pid == ::getpid() && runsKernelsHere()) {
    std::lock_guard<std::mutex> lock(mutex_);
    borrowed_.insert(handle.address);
    return handle.address;
  }
  std::string path = formatString("/proc/%d/fd/%d", handle.pid, ipc.fd);
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid())
    return makeErrnoStatus(StatusCode::unavailable, errno,
                           "cannot open the memory of process %d", handle.pid);
  IRISRT_RETURN_IF_ERROR(checkSharedMemory(fd.get(), ipc.bytes));
  IRISRT_ASSIGN_OR_RETURN(uint64_t address, mapAnywhere(fd.get(), ipc.bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  mappings_[address] = Mapping{ipc.bytes, UniqueFd()};
  return address;
}

Status HostBackend::closeMemory(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto borrowed = borrowed_.find(address);
  if (borrowed != borrowed_.end()) {
    borrowed_.erase(borrowed);
    return Status::success();
  }
  auto found = mappings_.find(address);
  if (found == mappings_.end())
    return makeStatus(StatusCode::invalidArgument,
                      "no shared memory at that address");
  if (!stuck_) {
    unmapping(address, found->second.bytes);
    ::munmap(pointer(address), found->second.bytes);
  }
  mappings_.erase(found);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Importable memory
//===----------------------------------------------------------------------===//

/// The memory of allocateImportable in this process, whichever object made it.
/// Only its descriptors tell what a mapping maps.
namespace {
struct ImportableMemory {
  struct Block {
    uint64_t bytes = 0;
    UniqueFd fd;
  };
  std::mutex mutex;
  std::map<uint64_t, Block> blocks;
};
} // namespace

static ImportableMemory &importableMemory() {
  static auto *memory = new ImportableMemory; // never destroyed
  return *memory;
}

static Expected<UniqueFd> duplicate(const UniqueFd &fd) {
  UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid())
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot duplicate the descriptor of memory");
  return copy;
}

Expected<uint64_t> HostBackend::allocateImportable(uint64_t bytes) {
  if (bytes == 0 || bytes > UINT64_MAX - hostGranularity)
    return makeStatus(StatusCode::invalidArgument, "cannot allocate %llu bytes",
                      static_cast<unsigned long long>(bytes));
  bytes = alignTo(bytes, hostGranularity);
  IRISRT_ASSIGN_OR_RETURN(UniqueFd fd, createSharedMemory("iris-heap", bytes));
  IRISRT_ASSIGN_OR_RETURN(uint64_t address, mapAnywhere(fd.get(), bytes));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    mappings_[address] = Mapping{bytes, UniqueFd()};
  }
  ImportableMemory &memory = importableMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  memory.blocks[address] = {bytes, std::move(fd)};
  return address;
}

Status HostBackend::freeImportable(uint64_t address) {
  {
    ImportableMemory &memory = importableMemory();
    std::lock_guard<std::mutex> lock(memory.mutex);
    if (memory.blocks.erase(address) == 0)
      return makeStatus(StatusCode::invalidArgument,
                        "no importable memory at that address");
  }
  return closeMemory(address);
}

Expected<RetainedChunk> HostBackend::retainChunk(uint64_t address) {
  ImportableMemory &memory = importableMemory();
  RetainedChunk retained;
  UniqueFd fd;
  {
    std::lock_guard<std::mutex> lock(memory.mutex);
    auto after = memory.blocks.upper_bound(address);
    if (after == memory.blocks.begin() ||
        address - std::prev(after)->first >= std::prev(after)->second.bytes)
      return makeStatus(
          StatusCode::unavailable,
          "other processes cannot map ordinary memory of the host (0x%llx); "
          "expected memory of MemoryPool or ncclMemAlloc that was not freed, "
          "or allocate with World::allocate",
          static_cast<unsigned long long>(address));
    const auto &[start, block] = *std::prev(after);
    retained.address = start;
    retained.bytes = block.bytes;
    IRISRT_ASSIGN_OR_RETURN(fd, duplicate(block.fd));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  retained.chunk = {chunks_.add(std::move(fd))};
  return retained;
}

//===----------------------------------------------------------------------===//
// Other memory
//===----------------------------------------------------------------------===//

Expected<uint64_t> HostBackend::allocate(uint64_t bytes) {
  uint64_t rounded = (bytes + 127) / 128 * 128;
  void *memory = nullptr;
  if (rounded < bytes || ::posix_memalign(&memory, 128, rounded) != 0)
    return makeStatus(StatusCode::outOfMemory, "cannot allocate %llu bytes",
                      static_cast<unsigned long long>(bytes));
  std::memset(memory, 0, rounded);
  return addressOf(memory);
}

Status HostBackend::free(uint64_t address) {
  if (!stuck_)
    std::free(pointer(address));
  return Status::success();
}

Expected<HostVisibleMemory> HostBackend::allocateHostVisible(uint64_t bytes) {
  IRISRT_ASSIGN_OR_RETURN(uint64_t address, allocate(bytes));
  return HostVisibleMemory{pointer(address), address, bytes};
}

Status HostBackend::freeHostVisible(const HostVisibleMemory &memory) {
  return free(memory.device);
}

Expected<uint64_t> HostBackend::freeBytes() {
  long pages = ::sysconf(_SC_AVPHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages < 0 || page < 0)
    return makeStatus(StatusCode::unavailable,
                      "the system does not tell how much memory is free");
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
}

Status HostBackend::zero(StreamHandle stream, uint64_t address,
                         uint64_t bytes) {
  return enqueue(stream, [=] {
    std::memset(pointer(address), 0, bytes);
    return Status::success();
  });
}

Status HostBackend::copyToDevice(StreamHandle stream, uint64_t to,
                                 const void *from, uint64_t bytes) {
  return copyOnDevice(stream, to, addressOf(from), bytes);
}

Status HostBackend::copyToHost(StreamHandle stream, void *to, uint64_t from,
                               uint64_t bytes) {
  return copyOnDevice(stream, addressOf(to), from, bytes);
}

Status HostBackend::copyOnDevice(StreamHandle stream, uint64_t to,
                                 uint64_t from, uint64_t bytes) {
  return enqueue(stream, unlessAborted(stream, [=] {
                   std::memmove(pointer(to), pointer(from), bytes);
                   return Status::success();
                 }));
}
