// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPool.h - Device memory that worlds can import ------*- C++ -*-===//
//
// Memory of a device that belongs to no world. Worlds of this process whose
// rank is on the device take it by World::import; so does libiris_nccl with
// windows of ncclMemAlloc's memory. On the host it is the only memory that they
// take.
//
// A pool belongs to the process that created it.
#ifndef IRIS_RT_MEMORYPOOL_H
#define IRIS_RT_MEMORYPOOL_H

#include "iris/rt/Device.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)
namespace iris::rt {

/// Memory of a device.
class MemoryPool {
public:
  /// Opens a device.
  /// \param device the kind of the device
  /// \param index the number of the device in this process
  /// \param letPeersAccess whether all devices that have a link to this one can
  ///   access the memory at its own addresses, as WorldOptions::letPeersAccess
  /// \return the pool
  /// \retval unavailable there is no usable device
  static Expected<std::unique_ptr<MemoryPool>>
  create(const DeviceSpec &device, int index, bool letPeersAccess = false);
  /// Frees all of its memory. Worlds that have imported some keep that alive.
  ~MemoryPool();
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;

  /// Allocates memory, whose contents are undefined. Each call gets memory of
  /// its own, in the granularity of the device's mappings (2 MiB on most GPUs,
  /// 64 KiB on the host).
  /// \param bytes the number of bytes, at least 1
  /// \return the address
  /// \retval outOfMemory the device's memory is full
  /// \retval failedPrecondition in a forked child
  Expected<uint64_t> allocate(uint64_t bytes);
  /// Frees memory. Work that uses it must have ended. Release imports of it
  /// before.
  /// \param address what allocate returned
  /// \retval invalidArgument there is no allocation at the address
  /// \retval failedPrecondition in a forked child
  Status free(uint64_t address);
  /// \param address any address
  /// \return whether allocate returned the address, and it was not freed
  bool owns(uint64_t address) const;

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit MemoryPool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_MEMORYPOOL_H
