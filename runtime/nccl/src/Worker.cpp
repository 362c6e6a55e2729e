// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Worker.cpp - Thread that runs the jobs of a communicator -----------===//
#include "Worker.h"

#include <utility>

using namespace iris::nccl;
using namespace iris::rt;

/// The state of the worker whose thread this is; null on other threads.
static thread_local const void *currentState = nullptr;

Worker::Worker() : state_(std::make_shared<State>()) {}

Worker::~Worker() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->quits = true;
    state_->changed.notify_all();
  }
  // The last reference to a communicator may be that of its job.
  if (currentState == state_.get())
    thread_.detach();
  else
    thread_.join();
}

void Worker::loop(const std::shared_ptr<State> &state) {
  currentState = state.get();
  std::unique_lock<std::mutex> lock(state->mutex);
  while (true) {
    state->changed.wait(lock, [&] { return state->quits || state->isBusy; });
    if (!state->isBusy)
      return;
    Job job = std::exchange(state->job, nullptr);
    lock.unlock();
    Status status = job();
    job = nullptr;
    lock.lock();
    state->last = status;
    state->isBusy = false;
    state->changed.notify_all();
  }
}

Status Worker::start(Job job) {
  if (!isStarted_) {
    IRISRT_ASSIGN_OR_RETURN(thread_,
                            OsThread::start([state = state_] { loop(state); }));
    isStarted_ = true;
  }
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->isBusy)
    return Status(StatusCode::failedPrecondition,
                  "the communicator's last call has not ended");
  state_->job = std::move(job);
  state_->isBusy = true;
  state_->last = Status::success();
  state_->changed.notify_all();
  return Status::success();
}

bool Worker::isBusy() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->isBusy;
}

Status Worker::wait() const {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->isBusy; });
  return state_->last;
}
