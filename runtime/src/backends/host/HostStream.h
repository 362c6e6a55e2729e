// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostStream.h - Streams of the host back end --------------*- C++ -*-===//
//
// A stream is a thread that runs tasks in order.
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

  /// Appends a task, or captures it during a capture.
  Status enqueue(HostTask task);
  /// Whether nothing is queued or running, or the first error of a task.
  Expected<bool> idle() const;
  Status synchronize(std::chrono::nanoseconds limit);
  /// synchronize(), which returns `aborted` only once: later work of the stream
  /// may be that of others.
  Status takeResult(std::chrono::nanoseconds limit);
  /// Ends the thread once the queue is empty; `timeout` if that takes longer
  /// than the limit. The thread then continues on its own.
  Status stop(std::chrono::nanoseconds limit);

  /// The capture that the stream is part of and its branch; null if none.
  struct Capturing {
    std::shared_ptr<HostCapture> capture;
    size_t branch = 0;
    explicit operator bool() const { return capture != nullptr; }
  };
  Capturing capturing() const;
  Status beginCapture();
  /// Joins the capture of another stream, until that stream ends it.
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
