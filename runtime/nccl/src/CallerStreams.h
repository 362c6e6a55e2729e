// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CallerStreams.h - A communicator on the caller's streams -*- C++ -*-===//
#ifndef IRIS_NCCL_CALLERSTREAMS_H
#define IRIS_NCCL_CALLERSTREAMS_H

#include "iris/rt/World.h"

#include <optional>
#include <utility>
#include <vector>

namespace iris::nccl {

/// Orders the operations of a communicator, which run one after another, on the
/// streams that the caller passes. Used by one thread at a time.
class CallerStreams {
public:
  /// A stream of the caller while a call uses it. Between calls the caller may
  /// destroy it.
  class InUse {
  public:
    InUse(iris::rt::World &world, iris::rt::Stream stream);
    InUse(InUse &&other) noexcept;
    ~InUse();
    iris::rt::Stream stream() const { return stream_; }

  private:
    iris::rt::World *world_;
    iris::rt::Stream stream_;
  };
  /// A stream that operations can be enqueued on.
  struct Entered {
    explicit Entered(InUse &&used) : used(std::move(used)) {}
    iris::rt::Stream stream() const { return used.stream(); }

    InUse used;
    /// Whether other streams are ordered against it: not if it is captured.
    bool isOrdered = false;
    /// Its World::streamId().
    std::optional<uint64_t> id;
  };

  iris::rt::Status open(iris::rt::World &world);
  /// Whether a call returns when its results are there: the host has no default
  /// stream that the caller could wait for.
  static bool isSynchronous(iris::rt::DeviceKind device, const void *native) {
    return native == nullptr && device == iris::rt::DeviceKind::host;
  }
  /// Whether work on one stream of a device may wait for earlier work on
  /// another one: on a GPU, the default stream (0, or 1 by its name) and the
  /// program's others wait for each other.
  static bool mayWait(iris::rt::DeviceKind device, const void *one,
                      const void *other);
  /// Takes a stream of the caller, before operations are prepared for it.
  iris::rt::Expected<InUse> use(iris::rt::World &world, void *native);
  /// Takes a stream of the caller and orders it behind the operations on
  /// others.
  iris::rt::Expected<Entered> enter(iris::rt::World &world, void *native);
  /// Orders what follows behind the operations on a stream.
  iris::rt::Status leave(iris::rt::World &world, const Entered &entered);
  /// Ends the use of the streams but those of `kept`: they may not exist any
  /// more.
  iris::rt::Status forget(iris::rt::World &world,
                          const std::vector<void *> &kept);

private:
  /// The streams of the last group, and what they are in the world.
  std::vector<std::pair<void *, iris::rt::Stream>> adopted_;
  /// Recorded behind the last operation. The world follows it, because the
  /// caller may destroy the stream any time.
  iris::rt::Event last_;
  bool hasLast_ = false;
  /// The Entered::id of that operation's stream.
  std::optional<uint64_t> lastId_;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_CALLERSTREAMS_H
