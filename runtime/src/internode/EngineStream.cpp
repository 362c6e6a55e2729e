// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EngineStream.cpp - A stream for engines between nodes --------------===//
#include "internode/EngineStream.h"

#include "core/WorldAccess.h"
#include "iris/rt/HostStream.h"

#include <utility>

using namespace iris::rt;

EngineStream::~EngineStream() {
  close().ignore("a destructor cannot return an error");
}

Status EngineStream::open() {
  if (world_.deviceKind() == DeviceKind::host) {
    IRISRT_ASSIGN_OR_RETURN(host_, createHostStream());
    IRISRT_ASSIGN_OR_RETURN(stream_, world_.adoptStream(host_));
    return Status::success();
  }
  IRISRT_ASSIGN_OR_RETURN(stream_,
                          world_.createStream(/*isHighPriority=*/true));
  return Status::success();
}

Status EngineStream::close() {
  Status status;
  if (isOpen())
    status = world_.destroyStream(std::exchange(stream_, {}));
  if (host_) {
    Status destroyed = destroyHostStream(std::exchange(host_, nullptr));
    if (status.ok())
      status = std::move(destroyed);
  }
  return status;
}

Expected<void *> iris::rt::nativeStreamOf(World &world, Stream stream) {
  return WorldAccess::backend(world).nativeStream(
      WorldAccess::handleOf(world, stream));
}
