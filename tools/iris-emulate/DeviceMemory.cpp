// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceMemory.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace iristools;
using llvm::Error;

static Error fail(const char *what, uint64_t address, uint64_t bytes,
                  llvm::StringRef why) {
  return llvm::createStringError(
      llvm::formatv("cannot {0} {1} bytes at {2:x}: {3}", what, bytes, address,
                    why)
          .str());
}

/// Maps a file or, without one, addresses without memory.
static llvm::Expected<bool> mapAt(uint64_t address, uint64_t bytes, int file,
                                  bool replaces) {
  int access = file >= 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  int flags =
      file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  flags |= replaces ? MAP_FIXED : MAP_FIXED_NOREPLACE;
  void *wanted = reinterpret_cast<void *>(uintptr_t(address));
  void *got = ::mmap(wanted, bytes, access, flags, file, 0);
  if (got == wanted)
    return true;
  if (got == MAP_FAILED && errno != EEXIST)
    return fail("map", address, bytes, std::strerror(errno));
  if (got != MAP_FAILED) // a kernel that does not know the flag
    ::munmap(got, bytes);
  return false;
}

bool DeviceMemory::isReserved(uint64_t address, uint64_t bytes) const {
  auto next = reservations.upper_bound(address);
  if (next == reservations.begin())
    return false;
  auto [begin, size] = *std::prev(next);
  return address - begin < size && bytes <= size - (address - begin);
}

llvm::Expected<bool> DeviceMemory::reserve(uint64_t address, uint64_t bytes) {
  auto mapped = mapAt(address, bytes, -1, /*replaces=*/false);
  if (mapped && *mapped)
    reservations[address] = bytes;
  return mapped;
}

Error DeviceMemory::release(uint64_t address, uint64_t bytes) {
  auto found = reservations.find(address);
  if (found == reservations.end() || found->second != bytes)
    return fail("release", address, bytes, "they are not reserved");
  reservations.erase(found);
  ::munmap(reinterpret_cast<void *>(uintptr_t(address)), bytes);
  return Error::success();
}

llvm::Expected<bool> DeviceMemory::map(uint64_t address, uint64_t bytes,
                                       int file) {
  if (file < 0)
    return fail("map", address, bytes, "there is no file");
  auto mapped = mapAt(address, bytes, file, isReserved(address, bytes));
  if (mapped && *mapped) {
    mappings[address] = bytes;
    memory.add(reinterpret_cast<void *>(uintptr_t(address)), bytes,
               /*isWritable=*/true,
               llvm::formatv("{0} bytes of device memory", bytes).str());
  }
  return mapped;
}

Error DeviceMemory::unmap(uint64_t address, uint64_t bytes) {
  auto found = mappings.find(address);
  if (found == mappings.end() || found->second != bytes)
    return fail("unmap", address, bytes, "they are not mapped");
  mappings.erase(found);
  void *start = reinterpret_cast<void *>(uintptr_t(address));
  memory.remove(start);
  if (!isReserved(address, bytes)) {
    ::munmap(start, bytes);
    return Error::success();
  }
  return mapAt(address, bytes, -1, /*replaces=*/true).takeError();
}
