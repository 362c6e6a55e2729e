// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Device.h - Kinds of devices ------------------------------*- C++ -*-===//
#ifndef IRIS_RT_DEVICE_H
#define IRIS_RT_DEVICE_H

#include "iris/rt/Status.h"

#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace iris::rt {

/// A family of devices.
enum class DeviceKind : int32_t { host = 0, hip = 1, cuda = 2 };

/// "host", "hip" or "cuda".
std::string_view deviceKindName(DeviceKind kind);

/// The kind with that name.
Expected<DeviceKind> parseDeviceKind(std::string_view name);

/// The number of devices of a kind; `unavailable` if the kind cannot be used at
/// all (no library, no driver).
Expected<int> deviceCount(DeviceKind kind);

/// The target name of a device: "host", "gfx942", "sm_90a".
Expected<std::string> deviceTarget(DeviceKind kind, int index);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_DEVICE_H
