// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceBinding.h - Current device of a thread -------------*- C++ -*-===//
//
// The current device or context of a thread belongs to the host program, so
// every function of the back end restores it.
#ifndef IRIS_RT_BACKENDS_GPU_DEVICEBINDING_H
#define IRIS_RT_BACKENDS_GPU_DEVICEBINDING_H

#include "backends/gpu/RelaxedCapture.h"

namespace iris::rt::gpu {

/// Makes a device (CUDA: its context) current on the calling thread for the
/// lifetime of the object, then restores the previous one. Costs one query if
/// the device is already current.
class DeviceBinding {
public:
  /// \param isRelaxed see RelaxedCapture
  DeviceBinding(const GpuApi &api, Context context, int device, bool isRelaxed)
      : api_(api), relaxed_(api, isRelaxed), previousDevice_(device) {
    Result result = api.setContext ? bindContext(context) : bindDevice(device);
    if (result != success)
      status_ = api.check(result, "make the device current on this thread");
  }
  ~DeviceBinding() {
    if (!isChanged_)
      return;
    if (api_.setContext)
      (void)api_.setContext(previousContext_); // null: no context
    else
      (void)api_.setDevice(previousDevice_);
  }
  DeviceBinding(const DeviceBinding &) = delete;
  DeviceBinding &operator=(const DeviceBinding &) = delete;

  /// Whether the device is current.
  const Status &status() const { return status_; }

private:
  Result bindContext(Context context) {
    Result result = api_.contextCurrent(&previousContext_);
    if (result != success || previousContext_ == context)
      return result;
    result = api_.setContext(context);
    isChanged_ = result == success;
    return result;
  }
  Result bindDevice(int device) {
    Result result = api_.deviceCurrent(&previousDevice_);
    if (result != success || previousDevice_ == device)
      return result;
    result = api_.setDevice(device);
    isChanged_ = result == success;
    return result;
  }

  const GpuApi &api_;
  const RelaxedCapture relaxed_;
  Context previousContext_ = nullptr;
  int previousDevice_;
  bool isChanged_ = false;
  Status status_;
};

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_DEVICEBINDING_H
