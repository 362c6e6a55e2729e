// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams of the host back end: a stream is a thread that executes tasks in
// order.
#ifndef IRIS_RT_BACKENDS_HOST_HOSTSTREAM_H
#define IRIS_RT_BACKENDS_HOST_HOSTSTREAM_H

#include "backends/host/HostGraph.h"
#include "core/Deadline.h"
#include "core/OsThread.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace iris::rt {

class HostStream {
public:
  static Expected<std::shared_ptr<HostStream>> create();
  ~HostStream() = default;

  /// Appends a task, or records it while a capture is on.
  Status enqueue(HostTask task);
  /// Nothing is queued or running; the first failure of a task, if any.
  Expected<bool> idle() const;
  Status synchronize(std::chrono::nanoseconds limit);
  /// Ends the thread once the queue is empty; `timeout` when it does not get
  /// there in time, and then the thread goes on by itself.
  Status stop(std::chrono::nanoseconds limit);

  /// The capture that the stream is in, and as what; null if there is none.
  struct Capturing {
    std::shared_ptr<HostCapture> capture;
    size_t branch = 0;
    explicit operator bool() const { return capture != nullptr; }
  };
  Capturing capturing() const;
  Status beginCapture();
  /// Captures the stream along with another one, until that ends it.
  Status joinCapture(const std::shared_ptr<HostCapture> &capture);
  Expected<std::shared_ptr<HostGraph>> endCapture();

private:
  HostStream() = default;
  bool isCaptured() const { return capture_ && !capture_->hasEnded(); }
  static void loop(const std::shared_ptr<HostStream> &self);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostTask> queue_;
  std::shared_ptr<HostCapture> capture_;
  size_t branch_ = 0;
  bool running_ = false;
  bool quit_ = false;
  Status failure_;
  OsThread thread_;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_HOSTSTREAM_H
