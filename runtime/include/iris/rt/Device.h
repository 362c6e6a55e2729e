// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Device.h - Kinds of devices ------------------------------*- C++ -*-===//
//
// \param device the device; `chip` only of an emulated one
// \param kind the family of the device
// \param index the number of the device among those of its kind, from 0
#ifndef IRIS_RT_DEVICE_H
#define IRIS_RT_DEVICE_H

#include "iris/rt/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)
namespace iris::rt {

/// A family of devices.
enum class DeviceKind : int32_t {
  /// CPU threads.
  host = 0,
  /// AMD GPUs, through HIP.
  hip = 1,
  /// NVIDIA GPUs, through the CUDA driver.
  cuda = 2,
  /// AMD GPUs that an emulator executes.
  emulated = 3,
};

/// A device as options name it.
struct DeviceSpec {
  /// The family of the device.
  DeviceKind kind = DeviceKind::host;
  /// Of an emulated device: the AMD chip whose code it executes, "gfx942".
  std::string chip;

  /// The host.
  DeviceSpec() = default;
  /// A device of this kind. Implicit: only an emulated device needs more than
  /// its kind.
  /// \param chip of an emulated device: the AMD chip, "gfx942"
  DeviceSpec(DeviceKind kind, std::string chip = "")
      : kind(kind), chip(std::move(chip)) {}
};

/// What a device says of itself.
struct DeviceAttributes {
  /// "host", "gfx942", "sm_90a".
  std::string target;
  /// Marketing name: "NVIDIA H200".
  std::string name;
  /// SMs, compute units, or threads; 0: not known.
  uint32_t processors = 0;
  /// Threads that execute in step (32, 64), and the processors' maximum clock
  /// in MHz; 0: not known.
  uint32_t warpSize = 0, clockMHz = 0;
  /// The peak rate of the memory in bytes per microsecond; 0: not known.
  uint64_t memoryBytesPerUs = 0;
  /// The driver's version: CUDA 13000, HIP 70200000; 0: none.
  int driverVersion = 0;
  /// Describes the links to the devices of its kind that this process sees:
  /// "7 peers, 7 with native atomics, performance rank 0"; "" if none are
  /// known.
  std::string link;
  /// The same for all processes that see the device, and of no other device of
  /// the machine; "" if the driver does not tell its devices apart.
  std::string identity;
};

/// What kernels for a device are compiled for, in the words of iris-compile's
/// options.
struct DeviceTarget {
  /// "host", "gfx942", "sm_90a".
  std::string name;
  /// How kernels compute addresses on peers: "stride", or "table" on devices
  /// that cannot map every rank's heap at a uniform stride.
  std::string translation;
};

/// \return the name of a family: "host", "hip", "cuda" or "emulated"
std::string_view deviceKindName(DeviceKind kind);

/// \return the name of a device: "host", "hip", "cuda" or "emulated:gfx942"
std::string deviceName(const DeviceSpec &device);

/// Finds a device by its name.
/// \param name "host", "hip", "cuda" or "emulated:gfx942"
/// \return the device
/// \retval invalidArgument there is no device of that name
Expected<DeviceSpec> parseDevice(std::string_view name);

/// Counts the devices of a kind.
/// \return the number of devices that this process sees
/// \retval unavailable the kind cannot be used at all (no library, no driver,
///   no emulator)
Expected<int> deviceCount(const DeviceSpec &device);

/// Finds the device that the calling thread has made current by the API of the
/// kind (cudaSetDevice, hipSetDevice).
/// \return its index; 0 on the host and for an emulator
/// \retval unavailable the kind cannot be used at all
Expected<int> currentDevice(const DeviceSpec &device);

/// Asks a device for its attributes.
/// \return the attributes
/// \retval unavailable there is no such device
Expected<DeviceAttributes> deviceAttributes(const DeviceSpec &device,
                                            int index);

/// Finds out what kernels for a device are compiled for. A world on several
/// devices of a machine has the same translation as each of them, else it
/// cannot
/// be created.
/// \return the target and the translation
/// \retval unavailable there is no such device
Expected<DeviceTarget> deviceTarget(const DeviceSpec &device, int index);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_DEVICE_H
