// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The back ends under the conformance suite. To add one: a row in
// devicesUnderTest(), and an image with the kernel below.
#ifndef IRIS_TEST_RUNTIME_CONFORMANCE_DEVICEUNDERTEST_H
#define IRIS_TEST_RUNTIME_CONFORMANCE_DEVICEUNDERTEST_H

#include "backends/Backend.h"
#include "iris/rt/World.h"

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace iris::rt::test {

struct DeviceUnderTest {
  std::string name;
  DeviceKind kind = DeviceKind::host;
  bool table = false;

  /// As options name it.
  DeviceSpec spec() const;
  /// A new back end; `unavailable` without such a device.
  Expected<std::unique_ptr<Backend>> open() const;
  /// An image that exports `store_ids` and `spin_until_set`; empty if there is
  /// none.
  std::string image() const;
  /// A package of `spin_until_set` for `target`:
  ///   (memref<?xi32, symmetric> a, memref<?xi32, symmetric> b)
  /// It waits until a[0] is not 0, ignoring aborts, and sets b[0].
  std::string spinPackage(const std::string &target) const;
  /// The calling thread's device, as the driver reports it; "" if the driver
  /// has no such state.
  std::string boundTo() const;
};

std::vector<DeviceUnderTest> devicesUnderTest();

/// gtest's printer.
inline void PrintTo(const DeviceUnderTest &device, std::ostream *stream) {
  *stream << device.name;
}

/// Arguments of `store_ids`: program p of each workgroup's first thread does
/// to[p] = value + p.
struct StoreIdsArgs {
  uint64_t to;
  uint32_t value;
  uint32_t reserved;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_CONFORMANCE_DEVICEUNDERTEST_H
