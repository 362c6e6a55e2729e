// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OsThread.h - Threads without exceptions ------------------*- C++ -*-===//
//
// A thread whose creation returns an error; std::thread throws.
#ifndef IRIS_RT_CORE_OSTHREAD_H
#define IRIS_RT_CORE_OSTHREAD_H

#include "iris/rt/Status.h"

#include <functional>
#include <pthread.h>

namespace iris::rt {

class OsThread {
public:
  OsThread() = default;
  OsThread(OsThread &&other) noexcept
      : thread_(other.thread_),
        joinable_(std::exchange(other.joinable_, false)) {}
  OsThread &operator=(OsThread &&other) noexcept {
    join();
    thread_ = other.thread_;
    joinable_ = std::exchange(other.joinable_, false);
    return *this;
  }
  ~OsThread() { join(); }

  /// Starts a thread that runs `body`.
  static Expected<OsThread> start(std::function<void()> body);

  bool joinable() const { return joinable_; }
  void join();
  /// Lets the thread continue on its own.
  void detach();

private:
  pthread_t thread_{};
  bool joinable_ = false;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_OSTHREAD_H
