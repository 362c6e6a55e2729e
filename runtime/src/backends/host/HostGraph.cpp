// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostGraph.cpp - Graphs of the host back end ------------------------===//
#include "backends/host/HostGraph.h"

#include "core/OsThread.h"

using namespace iris::rt;

//===----------------------------------------------------------------------===//
// HostGraph
//===----------------------------------------------------------------------===//

/// Completes the remaining points, so that after a failure no branch waits.
void HostGraph::release(const Branch &branch) {
  for (const std::shared_ptr<HostPoint> &point : branch.points)
    if (!point->mark->done())
      point->mark->complete();
}

Status HostGraph::run(const Branch &branch) {
  Status status;
  for (const HostTask &task : branch.tasks)
    if (status.ok())
      status = task();
  release(branch);
  return status;
}

Status HostGraph::replay() {
  std::lock_guard<std::mutex> lock(replaying_);
  for (Branch &branch : branches_)
    for (std::shared_ptr<HostPoint> &point : branch.points)
      point->mark = std::make_shared<HostMark>();
  std::vector<Status> ends(branches_.size());
  std::vector<OsThread> threads;
  for (size_t i = 1; i < branches_.size(); ++i) {
    Expected<OsThread> thread =
        OsThread::start([&, i] { ends[i] = run(branches_[i]); });
    if (thread.ok()) {
      threads.push_back(thread.take());
      continue;
    }
    ends[i] = thread.status();
    release(branches_[i]);
  }
  ends[0] = run(branches_[0]);
  threads.clear(); // joins them
  Status status;
  for (Status &end : ends)
    if (status.ok())
      status = end;
  return status;
}

//===----------------------------------------------------------------------===//
// HostCapture
//===----------------------------------------------------------------------===//

static Status captureEnded() {
  return makeStatus(StatusCode::failedPrecondition, "the capture has ended");
}

Expected<size_t> HostCapture::addBranch() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!graph_)
    return captureEnded();
  graph_->branches_.emplace_back();
  return graph_->branches_.size() - 1;
}

Status HostCapture::append(size_t branch, HostTask task,
                           const std::shared_ptr<HostPoint> &point) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!graph_)
    return captureEnded();
  HostGraph::Branch &to = graph_->branches_[branch];
  to.tasks.push_back(std::move(task));
  if (point)
    to.points.push_back(point);
  to.tail = point;
  return Status::success();
}

Expected<std::shared_ptr<HostPoint>> HostCapture::record(size_t branch,
                                                         HostTask task) {
  auto point = std::make_shared<HostPoint>();
  auto recordedTask = [task = std::move(task), point] {
    Status status = task();
    point->mark->complete();
    return status;
  };
  IRISRT_RETURN_IF_ERROR(append(branch, std::move(recordedTask), point));
  return point;
}

Status HostCapture::wait(size_t branch,
                         const std::shared_ptr<HostPoint> &point) {
  IRISRT_RETURN_IF_ERROR(append(branch, [point] {
    point->mark->wait();
    return Status::success();
  }));
  std::lock_guard<std::mutex> lock(mutex_);
  point->isAwaited = true;
  return Status::success();
}

void HostCapture::abandon() {
  std::shared_ptr<HostGraph> graph;
  std::lock_guard<std::mutex> lock(mutex_);
  graph.swap(graph_); // destroyed when the lock is released
}

bool HostCapture::hasEnded() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !graph_;
}

Expected<std::shared_ptr<HostGraph>> HostCapture::end() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!graph_)
    return captureEnded();
  std::shared_ptr<HostGraph> graph = std::move(graph_);
  for (size_t i = 1; i < graph->branches_.size(); ++i) {
    const std::shared_ptr<HostPoint> &tail = graph->branches_[i].tail;
    if (!tail || !tail->isAwaited)
      return makeStatus(
          StatusCode::failedPrecondition,
          "the capture includes work on another stream that this one "
          "does not wait for; record an event at its end and wait "
          "for it");
  }
  return graph;
}
