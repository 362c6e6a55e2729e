// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointToPoint.cpp - Sends and receives of a group -------------------===//
#include "PointToPoint.h"

#include <cinttypes>
#include <cstdint>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

Status PointToPoint::openEvents(World &world) {
  if (hasEvents_)
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(start_, world.createEvent(/*isTimed=*/false));
  IRISRT_ASSIGN_OR_RETURN(end_, world.createEvent(/*isTimed=*/false));
  hasEvents_ = true;
  return Status::success();
}

/// Copies what this rank sends to itself: its sends match its receives in
/// order.
static Status copyToSelf(World &world, const std::vector<Call> &sends,
                         const std::vector<Call> &receives, Stream stream) {
  if (sends.size() != receives.size())
    return makeStatus(StatusCode::failedPrecondition,
                      "%zu sends of rank %u to itself and %zu receives; "
                      "expected the same number in one group",
                      sends.size(), world.rank(), receives.size());
  for (size_t i = 0; i < sends.size(); ++i) {
    const uint64_t bytes = sends[i].count * dtypeBytes(sends[i].dtype);
    const uint64_t room = receives[i].count * dtypeBytes(receives[i].dtype);
    if (bytes != room)
      return makeStatus(StatusCode::invalidArgument,
                        "rank %u sends %" PRIu64 " bytes to itself and "
                        "receives %" PRIu64 "; expected the same",
                        world.rank(), bytes, room);
    if (bytes == 0 || sends[i].in == receives[i].out)
      continue;
    if (!sends[i].in || !receives[i].out)
      return Status(StatusCode::invalidArgument,
                    "the buffer of a send or receive is null");
    IRISRT_RETURN_IF_ERROR(world.copyOnDevice(
        reinterpret_cast<uint64_t>(receives[i].out),
        reinterpret_cast<uint64_t>(sends[i].in), bytes, stream));
  }
  return Status::success();
}

Status PointToPoint::run(World &world, Communicator &collectives,
                         const std::vector<Call> &calls,
                         const std::vector<Stream> &streams) {
  std::vector<Call> withPeers, sendsToSelf, receivesFromSelf;
  for (const Call &call : calls) {
    if (call.root == static_cast<uint32_t>(collectives.index()))
      (call.op == Op::send ? sendsToSelf : receivesFromSelf).push_back(call);
    else
      withPeers.push_back(call);
  }
  // The first stream waits for all others, and they wait for it.
  const Stream first = streams[0];
  if (streams.size() > 1)
    IRISRT_RETURN_IF_ERROR(openEvents(world));
  for (size_t i = 1; i < streams.size(); ++i) {
    IRISRT_RETURN_IF_ERROR(world.record(start_, streams[i]));
    IRISRT_RETURN_IF_ERROR(world.waitFor(start_, first));
  }
  IRISRT_RETURN_IF_ERROR(
      copyToSelf(world, sendsToSelf, receivesFromSelf, first));
  IRISRT_RETURN_IF_ERROR(collectives.runGroup(withPeers, first));
  if (streams.size() > 1)
    IRISRT_RETURN_IF_ERROR(world.record(end_, first));
  for (size_t i = 1; i < streams.size(); ++i)
    IRISRT_RETURN_IF_ERROR(world.waitFor(end_, streams[i]));
  return Status::success();
}
