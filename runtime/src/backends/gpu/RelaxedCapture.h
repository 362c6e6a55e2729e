// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RelaxedCapture.h - Calls that captures must not forbid ---*- C++ -*-===//
#ifndef IRISRT_BACKENDS_GPU_RELAXEDCAPTURE_H
#define IRISRT_BACKENDS_GPU_RELAXEDCAPTURE_H

#include "backends/gpu/GpuApi.h"

namespace iris::rt::gpu {

/// While streams are captured, the driver refuses calls that may depend on
/// their work, such as an allocation, and invalidates the capture of a thread
/// that makes one. During the life of this object it does not, on this thread.
/// A driver that lacks the function behaves as before.
class RelaxedCapture {
public:
  RelaxedCapture(const GpuApi &api, bool isWanted) : api_(api) {
    isExchanged_ = isWanted && api_.threadCaptureMode &&
                   api_.threadCaptureMode(&mode_) == success;
  }
  ~RelaxedCapture() {
    if (isExchanged_)
      (void)api_.threadCaptureMode(&mode_); // the mode before
  }
  RelaxedCapture(const RelaxedCapture &) = delete;

private:
  const GpuApi &api_;
  int mode_ = captureRelaxed;
  bool isExchanged_ = false;
};

} // namespace iris::rt::gpu

#endif // IRISRT_BACKENDS_GPU_RELAXEDCAPTURE_H
