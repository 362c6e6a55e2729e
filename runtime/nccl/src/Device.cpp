// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Device.cpp - Devices of communicators ------------------------------===//
#include "Device.h"

#include "core/Log.h"

using namespace iris::nccl;
using namespace iris::rt;

static DeviceSpec findDevice() {
  if (std::optional<DeviceKind> requested = Env::get().ncclDevice())
    return *requested;
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::hip}) {
    Expected<int> count = deviceCount(kind);
    if (count.ok() && *count > 0)
      return kind;
  }
  return DeviceKind::host;
}

const DeviceSpec &iris::nccl::deviceKind() {
  static const DeviceSpec device = [] {
    DeviceSpec found = findDevice();
    Log().info("Iris serves NCCL's API on device '%s'",
               deviceName(found).c_str());
    return found;
  }();
  return device;
}
