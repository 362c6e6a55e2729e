// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams and events of the host back end: a stream is a thread that executes
// tasks in order.
#ifndef IRIS_RT_BACKENDS_HOST_HOSTSTREAM_H
#define IRIS_RT_BACKENDS_HOST_HOSTSTREAM_H

#include "core/Deadline.h"
#include "core/OsThread.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace iris::rt {

/// A unit of work of a stream.
using HostTask = std::function<Status()>;

/// One `record` of an event: complete once its stream got there.
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

  bool capturing() const;
  Status beginCapture();
  Expected<std::vector<HostTask>> endCapture();

private:
  HostStream() = default;
  static void loop(const std::shared_ptr<HostStream> &self);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostTask> queue_;
  std::vector<HostTask> captured_;
  bool capturing_ = false;
  bool running_ = false;
  bool quit_ = false;
  Status failure_;
  OsThread thread_;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_HOSTSTREAM_H
