// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SideStream.cpp - A stream beside the caller's ----------------------===//
#include "ccl/SideStream.h"

#include <utility>

using namespace iris::ccl;
using namespace iris::rt;

Status SideStream::open() {
  if (isOpen())
    return Status::success();
  // Work on the caller's stream may wait for the copies on this one.
  IRISRT_ASSIGN_OR_RETURN(stream_,
                          world_.createStream(/*isHighPriority=*/true));
  IRISRT_ASSIGN_OR_RETURN(begin_, world_.createEvent(/*isTimed=*/false));
  IRISRT_ASSIGN_OR_RETURN(end_, world_.createEvent(/*isTimed=*/false));
  return Status::success();
}

Status SideStream::close() {
  Status status;
  auto keep = [&status](Status next) {
    if (status.ok())
      status = std::move(next);
  };
  if (stream_.id != 0)
    keep(world_.destroyStream(std::exchange(stream_, {})));
  for (Event *event : {&begin_, &end_})
    if (event->id != 0)
      keep(world_.destroyEvent(std::exchange(*event, {})));
  return status;
}

Status SideStream::fork(Stream from) {
  IRISRT_RETURN_IF_ERROR(world_.record(begin_, from));
  return world_.waitFor(begin_, stream_);
}

Status SideStream::join(Stream to) {
  IRISRT_RETURN_IF_ERROR(world_.record(end_, stream_));
  return world_.waitFor(end_, to);
}
