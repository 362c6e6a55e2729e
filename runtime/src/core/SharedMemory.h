// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedMemory.h - Memory that ranks map by a descriptor ---*- C++ -*-===//
#ifndef IRIS_RT_CORE_SHAREDMEMORY_H
#define IRIS_RT_CORE_SHAREDMEMORY_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>

namespace iris::rt {

/// Creates a sealed memfd of zeros, so that no process can shrink mapped
/// memory.
Expected<UniqueFd> createSharedMemory(const char *name, uint64_t bytes);

/// Checks a peer's memory before it is mapped: touching a file that is shorter
/// than its mapping kills the process.
Status checkSharedMemory(int fd, uint64_t bytes);

} // namespace iris::rt

#endif // IRIS_RT_CORE_SHAREDMEMORY_H
