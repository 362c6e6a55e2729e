// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The devices that tests find on this machine.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_DEVICES_H
#define IRIS_TEST_RUNTIME_SUPPORT_DEVICES_H

#include "iris/rt/Device.h"

#include <cstdint>

namespace iris::rt::test {

/// IRIS_TEST_ONE_GPU=1: all ranks use the first GPU, which time-slices them.
/// Results are those of several GPUs, times are not.
bool sharesOneGpu();

/// The device of `rank` when all ranks are on this machine.
int deviceIndexOf(DeviceKind kind, uint32_t rank);

/// The number of ranks that can have a device; the host and a shared GPU serve
/// any number. Queries once, in a separate process: a driver that was
/// initialized before fork does not work after it.
uint32_t devicesOf(DeviceKind kind);

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_DEVICES_H
