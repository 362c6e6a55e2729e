// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Device.h - Devices of communicators ----------------------*- C++ -*-===//
#ifndef IRIS_NCCL_DEVICE_H
#define IRIS_NCCL_DEVICE_H

#include "iris/rt/Device.h"

namespace iris::nccl {

/// The kind of device of all communicators of this process: IRIS_NCCL_DEVICE,
/// else the first of cuda, hip and host that has a device.
const rt::DeviceSpec &deviceKind();

} // namespace iris::nccl

#endif // IRIS_NCCL_DEVICE_H
