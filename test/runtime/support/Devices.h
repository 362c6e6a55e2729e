// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The devices that tests find on this machine.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_DEVICES_H
#define IRIS_TEST_RUNTIME_SUPPORT_DEVICES_H

#include "iris/rt/Device.h"

#include <cstdint>

namespace iris::rt::test {

/// How many ranks have a device of their own; the host is one for any number.
/// Asks, once, in a process of its own: a driver that was initialised before
/// fork does not work after it.
uint32_t devicesOf(DeviceKind kind);

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_DEVICES_H
