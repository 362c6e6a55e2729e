// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FollowedEvents.cpp - Events that a stream waits for late -----------===//
#include "core/FollowedEvents.h"

using namespace iris::rt;

static constexpr const char *whyIgnored =
    "an error of the device is returned by the next work of the stream";

Status FollowedEvents::follow(Backend &backend, StreamHandle follower,
                              EventHandle event, StreamHandle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = pending_.find(event.value);
  // Work that the same stream was given before is behind the new record.
  if (found != pending_.end() && found->second != stream.value) {
    pending_.erase(found);
    backend.wait(follower, event).ignore(whyIgnored);
  }
  IRISRT_RETURN_IF_ERROR(backend.record(event, stream));
  pending_[event.value] = stream.value;
  hasPending_.store(true, std::memory_order_release);
  return Status::success();
}

template <typename Predicate>
void FollowedEvents::joinIf(Backend &backend, StreamHandle follower,
                            Predicate predicate) {
  if (!hasPending_.load(std::memory_order_acquire))
    return;
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = pending_.begin(); it != pending_.end();) {
    if (!predicate(*it)) {
      ++it;
      continue;
    }
    backend.wait(follower, EventHandle{it->first}).ignore(whyIgnored);
    it = pending_.erase(it);
  }
  hasPending_.store(!pending_.empty(), std::memory_order_release);
}

void FollowedEvents::join(Backend &backend, StreamHandle follower) {
  joinIf(backend, follower, [](const auto &) { return true; });
}

void FollowedEvents::joinEvent(Backend &backend, StreamHandle follower,
                               EventHandle event) {
  joinIf(backend, follower,
         [&](const auto &entry) { return entry.first == event.value; });
}

void FollowedEvents::joinStream(Backend &backend, StreamHandle follower,
                                StreamHandle stream) {
  joinIf(backend, follower,
         [&](const auto &entry) { return entry.second == stream.value; });
}
