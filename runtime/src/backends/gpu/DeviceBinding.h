// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which device a thread works with belongs to the thread's owner: a program
// that calls us may have bound another device, or none.
#ifndef IRIS_RT_BACKENDS_GPU_DEVICEBINDING_H
#define IRIS_RT_BACKENDS_GPU_DEVICEBINDING_H

#include "backends/gpu/GpuApi.h"

namespace iris::rt::gpu {

/// Binds the calling thread to a device (CUDA: to its context) while it lives,
/// and then to what the thread was bound to before.  Costs one query where the
/// thread is bound to the device already.
class DeviceBinding {
public:
  DeviceBinding(const GpuApi &api, Context context, int device)
      : api_(api), previousDevice_(device) {
    Result result = api.setContext ? bindContext(context) : bindDevice(device);
    if (result != success)
      status_ = api.check(result, "bind the thread to the device");
  }
  ~DeviceBinding() {
    if (!isChanged_)
      return;
    if (api_.setContext)
      (void)api_.setContext(previousContext_); // null: to none
    else
      (void)api_.setDevice(previousDevice_);
  }
  DeviceBinding(const DeviceBinding &) = delete;
  DeviceBinding &operator=(const DeviceBinding &) = delete;

  /// Whether the thread is bound.
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
  Context previousContext_ = nullptr;
  int previousDevice_;
  bool isChanged_ = false;
  Status status_;
};

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_DEVICEBINDING_H
