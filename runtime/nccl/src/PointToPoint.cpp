// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointToPoint.cpp - Sends and receives of a group -------------------===//
#include "PointToPoint.h"

#include <algorithm>
#include <cinttypes>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

Status PointToPoint::open(World &world) {
  if (isOpen_)
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(receives_, world.createStream());
  IRISRT_ASSIGN_OR_RETURN(start_, world.createEvent(/*isTimed=*/false));
  IRISRT_ASSIGN_OR_RETURN(end_, world.createEvent(/*isTimed=*/false));
  isOpen_ = true;
  return Status::success();
}

/// Ranks from the sender to the receiver.
static uint32_t distance(const Call &call, const Communicator &collectives) {
  const uint32_t size = collectives.size();
  const auto me = static_cast<uint32_t>(collectives.index());
  const uint32_t from = call.op == Op::send ? me : call.root;
  const uint32_t to = call.op == Op::send ? call.root : me;
  return (to + size - from) % size;
}

/// Copies what this rank sends to itself: its sends match its receives in
/// order.
static Status copyToSelf(World &world, const std::vector<Call> &sends,
                         const std::vector<Call> &receives, Stream stream) {
  if (sends.size() != receives.size())
    return makeStatus(StatusCode::invalidArgument,
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

/// Runs the calls on `stream`, those of near ranks first: all ranks of a ring
/// or of an exchange between all then have the same pair at the same time.
static Status runAll(Communicator &collectives, std::vector<Call> calls,
                     Stream stream) {
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const Call &a, const Call &b) {
                     return distance(a, collectives) < distance(b, collectives);
                   });
  for (Call &call : calls) {
    call.stream = stream;
    IRISRT_RETURN_IF_ERROR(collectives.run(call));
  }
  return Status::success();
}

Status PointToPoint::runBoth(World &world, Communicator &collectives,
                             std::vector<Call> sends,
                             std::vector<Call> receives, Stream stream) {
  if (sends.empty() || receives.empty()) {
    IRISRT_RETURN_IF_ERROR(runAll(collectives, std::move(sends), stream));
    return runAll(collectives, std::move(receives), stream);
  }
  IRISRT_RETURN_IF_ERROR(open(world));
  IRISRT_RETURN_IF_ERROR(world.record(start_, stream));
  IRISRT_RETURN_IF_ERROR(world.waitFor(start_, receives_));
  IRISRT_RETURN_IF_ERROR(runAll(collectives, std::move(sends), stream));
  IRISRT_RETURN_IF_ERROR(runAll(collectives, std::move(receives), receives_));
  IRISRT_RETURN_IF_ERROR(world.record(end_, receives_));
  return world.waitFor(end_, stream);
}

Status PointToPoint::run(World &world, Communicator &collectives,
                         const std::vector<Call> &calls,
                         const std::vector<Stream> &streams) {
  std::vector<Call> sends, receives, sendsToSelf, receivesFromSelf;
  for (const Call &call : calls) {
    bool isOwn = call.root == static_cast<uint32_t>(collectives.index());
    if (call.op == Op::send)
      (isOwn ? sendsToSelf : sends).push_back(call);
    else
      (isOwn ? receivesFromSelf : receives).push_back(call);
  }
  // The first stream waits for all others, and they wait for it.
  const Stream first = streams[0];
  if (streams.size() > 1)
    IRISRT_RETURN_IF_ERROR(open(world));
  for (size_t i = 1; i < streams.size(); ++i) {
    IRISRT_RETURN_IF_ERROR(world.record(start_, streams[i]));
    IRISRT_RETURN_IF_ERROR(world.waitFor(start_, first));
  }
  IRISRT_RETURN_IF_ERROR(
      copyToSelf(world, sendsToSelf, receivesFromSelf, first));
  IRISRT_RETURN_IF_ERROR(runBoth(world, collectives, std::move(sends),
                                 std::move(receives), first));
  if (streams.size() > 1)
    IRISRT_RETURN_IF_ERROR(world.record(end_, first));
  for (size_t i = 1; i < streams.size(); ++i)
    IRISRT_RETURN_IF_ERROR(world.waitFor(end_, streams[i]));
  return Status::success();
}
