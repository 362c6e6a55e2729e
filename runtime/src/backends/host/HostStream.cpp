// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostStream.cpp - Streams of the host back end ----------------------===//
#include "backends/host/HostStream.h"

using namespace iris::rt;

Expected<std::shared_ptr<HostStream>> HostStream::create() {
  std::shared_ptr<HostStream> stream(new HostStream());
  // The thread shares ownership, so that the stream outlives a task that never
  // ends.
  IRISRT_ASSIGN_OR_RETURN(stream->thread_,
                          OsThread::start([stream] { loop(stream); }));
  return stream;
}

void HostStream::loop(const std::shared_ptr<HostStream> &self) {
  std::unique_lock<std::mutex> lock(self->mutex_);
  while (true) {
    self->changed_.wait(lock,
                        [&] { return self->quit_ || !self->queue_.empty(); });
    if (self->queue_.empty())
      return;
    HostTask task = std::move(self->queue_.front());
    self->queue_.pop_front();
    self->running_ = true;
    lock.unlock();
    Status status = task();
    task = nullptr;
    lock.lock();
    self->running_ = false;
    if (!status.ok() && self->failure_.ok())
      self->failure_ = status;
    self->changed_.notify_all();
  }
}

Status HostStream::enqueue(HostTask task) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (isCaptured())
    return capture_->append(branch_, std::move(task));
  if (quit_)
    return makeStatus(StatusCode::failedPrecondition,
                      "the stream was destroyed");
  queue_.push_back(std::move(task));
  changed_.notify_all();
  return Status::success();
}

Expected<bool> HostStream::idle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_.ok())
    return failure_;
  return queue_.empty() && !running_;
}

Status HostStream::synchronize(std::chrono::nanoseconds limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (isCaptured())
    return makeStatus(StatusCode::failedPrecondition,
                      "the stream is being captured");
  if (!changed_.wait_until(lock, Deadline(limit).time(),
                           [&] { return queue_.empty() && !running_; }))
    return makeStatus(StatusCode::timeout,
                      "the stream is still busy after %.3g s",
                      std::chrono::duration<double>(limit).count());
  return failure_;
}

Status HostStream::takeResult(std::chrono::nanoseconds limit) {
  Status status = synchronize(limit);
  if (status.code() == StatusCode::aborted) {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = Status::success();
  }
  return status;
}

Status HostStream::stop(std::chrono::nanoseconds limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  // End the capture: it and its events refer to each other.
  if (isCaptured() && branch_ == 0)
    capture_->abandon();
  quit_ = true;
  changed_.notify_all();
  bool idle = changed_.wait_until(lock, Deadline(limit).time(),
                                  [&] { return queue_.empty() && !running_; });
  lock.unlock();
  if (idle) {
    thread_.join();
    return Status::success();
  }
  thread_.detach();
  return makeStatus(StatusCode::timeout,
                    "a kernel still runs %.3g s after its stream was destroyed",
                    std::chrono::duration<double>(limit).count());
}

HostStream::Capturing HostStream::capturing() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return isCaptured() ? Capturing{capture_, branch_} : Capturing{};
}

Status HostStream::beginCapture() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (isCaptured())
    return makeStatus(StatusCode::failedPrecondition,
                      "the stream is already being captured");
  capture_ = std::make_shared<HostCapture>();
  branch_ = 0;
  return Status::success();
}

Status HostStream::joinCapture(const std::shared_ptr<HostCapture> &capture) {
  std::lock_guard<std::mutex> lock(mutex_);
  IRISRT_ASSIGN_OR_RETURN(branch_, capture->addBranch());
  capture_ = capture;
  return Status::success();
}

Expected<std::shared_ptr<HostGraph>> HostStream::endCapture() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!isCaptured())
    return makeStatus(StatusCode::failedPrecondition,
                      "the stream is not being captured");
  if (branch_ != 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "the stream has joined the capture of another one, which "
                      "must end the capture");
  return std::exchange(capture_, nullptr)->end();
}
