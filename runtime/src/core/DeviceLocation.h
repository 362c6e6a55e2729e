// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceLocation.h - Where a rank's kernels run ------------*- C++ -*-===//
//
// Kernels of ranks that one process has on one device run side by side on its
// processors; those of several processes alternate.
//
//===----------------------------------------------------------------------===//
#ifndef IRIS_RT_CORE_DEVICELOCATION_H
#define IRIS_RT_CORE_DEVICELOCATION_H

#include <cstdint>
#include <tuple>
#include <unistd.h>

namespace iris::rt {

inline const char processMark = 0;

/// A device of a process. Processes of several containers may have one number
/// in common, and differ in their addresses.
struct DeviceLocation {
  int64_t pid = 0;
  uint64_t mark = 0;
  int64_t index = 0;

  /// The location of a device of this process.
  static DeviceLocation of(int index) {
    return {::getpid(), reinterpret_cast<uintptr_t>(&processMark), index};
  }
  bool operator<(const DeviceLocation &other) const {
    return std::tie(pid, mark, index) <
           std::tie(other.pid, other.mark, other.index);
  }
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_DEVICELOCATION_H
