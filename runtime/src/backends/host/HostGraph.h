// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostGraph.h - Graphs of the host back end ----------------*- C++ -*-===//
//
// Capturing a stream collects its tasks. A stream that waits for an event of a
// captured stream joins the capture as a *branch*, which runs concurrently
// until a wait for its last event.
#ifndef IRIS_RT_BACKENDS_HOST_HOSTGRAPH_H
#define IRIS_RT_BACKENDS_HOST_HOSTGRAPH_H

#include "backends/host/HostMark.h"
#include "iris/rt/Status.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace iris::rt {

/// A unit of work of a stream.
using HostTask = std::function<Status()>;

/// A captured record of an event, which takes effect once in every replay.
struct HostPoint {
  std::shared_ptr<HostMark> mark; ///< of the current replay
  bool isAwaited = false;
};

/// A captured graph.
class HostGraph {
public:
  /// Runs all branches to their end and returns the first error. Concurrent
  /// replays of one graph are serialized.
  Status replay();

private:
  friend class HostCapture;
  struct Branch {
    std::vector<HostTask> tasks;
    std::vector<std::shared_ptr<HostPoint>> points;
    /// The point of the last task, if that is a record.
    std::shared_ptr<HostPoint> tail;
  };
  static Status run(const Branch &branch);
  static void release(const Branch &branch);

  /// Held during a replay, because the points belong to one replay.
  std::mutex replaying_;
  std::vector<Branch> branches_;
};

/// A capture, shared by its streams. Once it has ended, possibly by another
/// thread, nothing can be added.
class HostCapture {
public:
  HostCapture() : graph_(std::make_shared<HostGraph>()) {
    graph_->branches_.emplace_back();
  }

  /// Branch 0 is the stream on which the capture began.
  Expected<size_t> addBranch();
  Status append(size_t branch, HostTask task,
                const std::shared_ptr<HostPoint> &point = nullptr);
  /// A record that also runs `task`, and a wait for a record.
  Expected<std::shared_ptr<HostPoint>> record(size_t branch, HostTask task);
  Status wait(size_t branch, const std::shared_ptr<HostPoint> &point);

  bool hasEnded() const;
  /// Ends the capture. Fails if a branch has work that no other branch waits
  /// for.
  Expected<std::shared_ptr<HostGraph>> end();
  /// Ends the capture without a graph.
  void abandon();

private:
  mutable std::mutex mutex_;
  std::shared_ptr<HostGraph> graph_; // null: ended
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_HOSTGRAPH_H
