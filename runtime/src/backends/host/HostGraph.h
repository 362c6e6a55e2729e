// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of the host back end.  Capturing a stream collects its tasks; a stream
// that waits for an event of a captured one is captured along, as a *branch*
// that runs beside it, until somebody waits for its last event.
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

/// A captured record of an event: it happens once in every replay.
struct HostPoint {
  std::shared_ptr<HostMark> mark; ///< of this replay
  bool isAwaited = false;
};

/// What was captured.
class HostGraph {
public:
  /// Runs all branches to their end; the first failure.  A replay that begins
  /// while another stream replays the graph waits for that one's end.
  Status replay();

private:
  friend class HostCapture;
  struct Branch {
    std::vector<HostTask> tasks;
    std::vector<std::shared_ptr<HostPoint>> points;
    /// The last task is a record of this.
    std::shared_ptr<HostPoint> tail;
  };
  static Status run(const Branch &branch);
  static void release(const Branch &branch);

  /// Held by a replay: the points are of one at a time.
  std::mutex replaying_;
  std::vector<Branch> branches_;
};

/// What is being captured; streams share it.  Once it has ended, which another
/// thread may do, nothing can be added.
class HostCapture {
public:
  HostCapture() : graph_(std::make_shared<HostGraph>()) {
    graph_->branches_.emplace_back();
  }

  /// Branch 0 is the stream whose capture was begun.
  Expected<size_t> addBranch();
  Status append(size_t branch, HostTask task,
                const std::shared_ptr<HostPoint> &point = nullptr);
  /// A record that does `task` as well, and a wait for one.
  Expected<std::shared_ptr<HostPoint>> record(size_t branch, HostTask task);
  Status wait(size_t branch, const std::shared_ptr<HostPoint> &point);

  bool hasEnded() const;
  /// An error if a branch has work that nobody waits for.  Nothing is captured
  /// any more in either case.
  Expected<std::shared_ptr<HostGraph>> end();
  /// Ends it without a graph.
  void abandon();

private:
  mutable std::mutex mutex_;
  std::shared_ptr<HostGraph> graph_; // null: ended
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_HOSTGRAPH_H
