// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FollowedEvents.h - Events that a stream waits for late ---*- C++ -*-===//
#ifndef IRIS_RT_CORE_FOLLOWEDEVENTS_H
#define IRIS_RT_CORE_FOLLOWEDEVENTS_H

#include "backends/Backend.h"

#include <atomic>
#include <map>
#include <mutex>

namespace iris::rt {

/// Events whose work one stream, the follower, is ordered behind. A wait costs
/// as much as a launch, so it is enqueued when the follower is used, and not
/// for every event: mostly an event was recorded again before.
class FollowedEvents {
public:
  /// Records the event on `stream`. Later work of the follower comes after it,
  /// if join() is called before that work is enqueued.
  Status follow(Backend &backend, StreamHandle follower, EventHandle event,
                StreamHandle stream);
  /// Makes the follower wait for all events. Costs nothing if there are none.
  void join(Backend &backend, StreamHandle follower);
  /// The same for one event, before it is destroyed or recorded elsewhere.
  void joinEvent(Backend &backend, StreamHandle follower, EventHandle event);
  /// The same for the events of a stream, before its handle may name another.
  void joinStream(Backend &backend, StreamHandle follower, StreamHandle stream);

private:
  template <typename Predicate>
  void joinIf(Backend &backend, StreamHandle follower, Predicate predicate);

  std::mutex mutex_; // guards pending_, and orders records and waits
  /// The stream of an event's last record, by event.
  std::map<uint64_t, uint64_t> pending_;
  /// Whether there are any, for calls that check it without the mutex.
  std::atomic<bool> hasPending_{false};
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_FOLLOWEDEVENTS_H
