// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Worker.h - Thread that runs the jobs of a communicator ---*- C++ -*-===//
#ifndef IRIS_NCCL_WORKER_H
#define IRIS_NCCL_WORKER_H

#include "core/OsThread.h"
#include "iris/rt/Status.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace iris::nccl {

/// A thread that starts with the first job and runs one at a time: for groups
/// whose communicators must make progress together, and for nonblocking
/// communicators.
class Worker {
public:
  using Job = std::function<rt::Status()>;

  Worker();
  /// Waits for the job, unless this is the worker's own thread.
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Starts a job; the last one must have ended.
  /// \retval unavailable the system starts no thread
  rt::Status start(Job job);
  /// Whether a job is running.
  bool isBusy() const;
  /// Waits until the job has ended.
  /// \return what the last job returned
  rt::Status wait() const;

private:
  /// Shared with the thread, which may end last.
  struct State {
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    Job job;
    bool isBusy = false;
    bool quits = false;
    rt::Status last;
  };
  static void loop(const std::shared_ptr<State> &state);

  const std::shared_ptr<State> state_;
  rt::OsThread thread_;
  bool isStarted_ = false;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_WORKER_H
