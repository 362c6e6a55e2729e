// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CallerStreams.cpp - A communicator on the caller's streams ---------===//
#include "CallerStreams.h"

#include <algorithm>

using namespace iris::nccl;
using namespace iris::rt;

Status CallerStreams::open(World &world) {
  IRISRT_ASSIGN_OR_RETURN(last_, world.createEvent(/*isTimed=*/false));
  return Status::success();
}

bool CallerStreams::mayWait(DeviceKind device, const void *one,
                            const void *other) {
  if (isSynchronous(device, one) || isSynchronous(device, other))
    return false;
  auto isDefault = [device](const void *native) {
    return device != DeviceKind::host &&
           (!native || native == reinterpret_cast<const void *>(1));
  };
  return one == other || isDefault(one) || isDefault(other);
}

CallerStreams::InUse::InUse(World &world, Stream stream)
    : world_(&world), stream_(stream) {
  world.setInUse(stream, true);
}

CallerStreams::InUse::InUse(InUse &&other) noexcept
    : world_(std::exchange(other.world_, nullptr)), stream_(other.stream_) {}

CallerStreams::InUse::~InUse() {
  if (world_)
    world_->setInUse(stream_, false);
}

Expected<CallerStreams::InUse> CallerStreams::use(World &world, void *native) {
  // What is synchronous runs on the world's own stream.
  if (isSynchronous(world.deviceKind(), native))
    return InUse(world, Stream());
  auto found = std::find_if(
      adopted_.begin(), adopted_.end(),
      [native](const auto &adopted) { return adopted.first == native; });
  if (found == adopted_.end()) {
    IRISRT_ASSIGN_OR_RETURN(Stream stream, world.adoptStream(native));
    found = adopted_.insert(found, {native, stream});
  }
  return InUse(world, found->second);
}

Expected<CallerStreams::Entered> CallerStreams::enter(World &world,
                                                      void *native) {
  IRISRT_ASSIGN_OR_RETURN(InUse used, use(world, native));
  Entered entered(std::move(used));
  // A graph cannot wait for work outside of it.
  if (world.isCaptured(entered.stream()))
    return entered;
  entered.isOrdered = true;
  // The work of one stream is in order. A handle does not tell whether it is
  // the same: it may have been that of a stream that was destroyed.
  entered.id = world.streamId(entered.stream());
  const bool isSame = entered.id && entered.id == lastId_;
  if (hasLast_ && !isSame)
    IRISRT_RETURN_IF_ERROR(world.waitFor(last_, entered.stream()));
  return entered;
}

Status CallerStreams::leave(World &world, const Entered &entered) {
  if (!entered.isOrdered)
    return Status::success();
  hasLast_ = true;
  lastId_ = entered.id;
  return world.follow(last_, entered.stream());
}

Status CallerStreams::forget(World &world, const std::vector<void *> &kept) {
  for (size_t i = adopted_.size(); i-- > 0;) {
    auto [native, stream] = adopted_[i];
    if (std::find(kept.begin(), kept.end(), native) != kept.end())
      continue;
    adopted_.erase(adopted_.begin() + static_cast<ptrdiff_t>(i));
    IRISRT_RETURN_IF_ERROR(world.forgetStream(stream));
  }
  return Status::success();
}
