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

Expected<CallerStreams::Entered> CallerStreams::enter(World &world,
                                                      void *native) {
  Entered entered;
  // What is synchronous runs on the world's own stream.
  if (!isSynchronous(world.deviceKind(), native)) {
    auto found = std::find_if(
        adopted_.begin(), adopted_.end(),
        [native](const auto &adopted) { return adopted.first == native; });
    if (found == adopted_.end()) {
      IRISRT_ASSIGN_OR_RETURN(Stream stream, world.adoptStream(native));
      found = adopted_.insert(found, {native, stream});
    }
    entered.stream = found->second;
  }
  // A graph cannot wait for work outside of it.
  if (world.isCaptured(entered.stream))
    return entered;
  entered.isOrdered = true;
  // The work of one stream is in order. A handle does not tell whether it is
  // the same: it may have been that of a stream that was destroyed.
  entered.id = world.streamId(entered.stream);
  const bool isSame = entered.id && entered.id == lastId_;
  if (hasLast_ && !isSame)
    IRISRT_RETURN_IF_ERROR(world.waitFor(last_, entered.stream));
  return entered;
}

Status CallerStreams::leave(World &world, const Entered &entered) {
  if (!entered.isOrdered)
    return Status::success();
  hasLast_ = true;
  lastId_ = entered.id;
  return world.follow(last_, entered.stream);
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
