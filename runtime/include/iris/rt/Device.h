// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which family of devices a world runs on.
#ifndef IRIS_RT_DEVICE_H
#define IRIS_RT_DEVICE_H

#include "iris/rt/Status.h"

#include <string_view>

namespace iris::rt {

/// A family of devices.
enum class DeviceKind : int32_t { host = 0, hip = 1, cuda = 2 };

/// "host", "hip" or "cuda".
std::string_view deviceKindName(DeviceKind kind);

/// The kind with that name.
Expected<DeviceKind> parseDeviceKind(std::string_view name);

} // namespace iris::rt

#endif // IRIS_RT_DEVICE_H
