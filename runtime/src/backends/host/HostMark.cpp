// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostMark.cpp - Records of events -----------------------------------===//
#include "backends/host/HostMark.h"

using namespace iris::rt;

void HostMark::complete() {
  std::lock_guard<std::mutex> lock(mutex_);
  done_ = true;
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void HostMark::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
}

bool HostMark::done() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

std::chrono::steady_clock::time_point HostMark::time() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return time_;
}
