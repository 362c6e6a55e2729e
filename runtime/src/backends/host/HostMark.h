// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostMark.h - Records of events ---------------------------*- C++ -*-===//
//
// One `record` of an event, which completes when its stream reaches it.
#ifndef IRIS_RT_BACKENDS_HOST_HOSTMARK_H
#define IRIS_RT_BACKENDS_HOST_HOSTMARK_H

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace iris::rt {

class HostMark {
public:
  void complete();
  void wait();
  bool done() const;
  std::chrono::steady_clock::time_point time() const;

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::chrono::steady_clock::time_point time_;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_HOSTMARK_H
