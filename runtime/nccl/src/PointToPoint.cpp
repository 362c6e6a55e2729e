// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointToPoint.cpp - Sends and receives of a group -------------------===//
#include "PointToPoint.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

namespace {
/// A send or a receive of a group.
struct Transfer {
  Call call;
  /// Calls of the group with the same peer in the same direction before it that
  /// launch something.
  size_t turn = 0;
  /// Ranks from the sender to the receiver.
  uint32_t distance = 0;
  /// The index of its peer stream.
  size_t peerStream = 0;

  bool isSend() const { return call.op == Op::send; }
  /// Whether nothing is launched.
  bool isEmpty() const { return call.count == 0; }
  bool isOfSamePair(const Transfer &other) const {
    return isSend() == other.isSend() && distance == other.distance;
  }
};

/// Peers that this rank sends to, and peers that it receives from.
struct Peers {
  size_t sends = 0, receives = 0;
};
} // namespace

static uint32_t distance(const Call &call, const Communicator &collectives) {
  const uint32_t size = collectives.size();
  const auto me = static_cast<uint32_t>(collectives.index());
  const uint32_t from = call.op == Op::send ? me : call.root;
  const uint32_t to = call.op == Op::send ? call.root : me;
  return (to + size - from) % size;
}

/// The calls in the order of all ranks' transfers.
static std::vector<Transfer> inOrder(const std::vector<Call> &calls,
                                     const Communicator &collectives) {
  std::vector<Transfer> transfers;
  std::map<std::pair<Op, uint32_t>, size_t> turns;
  for (const Call &call : calls) {
    Transfer next;
    next.call = call;
    next.distance = distance(call, collectives);
    size_t &turn = turns[{call.op, next.distance}];
    next.turn = next.isEmpty() ? turn : turn++;
    transfers.push_back(next);
  }
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const Transfer &a, const Transfer &b) {
                     return std::tuple(a.turn, a.distance, !a.isSend()) <
                            std::tuple(b.turn, b.distance, !b.isSend());
                   });
  return transfers;
}

static Peers countPeers(const std::vector<Transfer> &transfers) {
  Peers peers;
  for (const Transfer &each : transfers)
    if (each.turn == 0 && !each.isEmpty())
      ++(each.isSend() ? peers.sends : peers.receives);
  return peers;
}

/// The number of transfers that the device runs at once, whichever these are:
/// a processor has room for as many programs as of the largest kernel alone.
static Expected<size_t> mostAtOnce(Communicator &collectives,
                                   const std::vector<Transfer> &transfers) {
  Occupancy largest = {1, UINT64_MAX};
  for (const Transfer &each : transfers) {
    IRISRT_ASSIGN_OR_RETURN(Occupancy mine, collectives.occupancy(each.call));
    if (mine.programs == 0)
      continue;
    largest.programs = std::max(largest.programs, mine.programs);
    largest.most = std::min(largest.most, mine.most);
  }
  return largest.most / largest.programs;
}

/// The peer streams of each direction: one for each peer, or fewer.
static Expected<Peers> countStreams(const World &world,
                                    Communicator &collectives,
                                    const std::vector<Transfer> &transfers) {
  Peers streams = countPeers(transfers);
  if (streams.sends <= 1 && streams.receives <= 1)
    return streams;
  size_t most = 1;
  // HIP has few queues for all streams of a device, and a kernel waits for
  // those before it in its queue, whatever their streams are.
  if (world.deviceKind() != DeviceKind::hip) {
    IRISRT_ASSIGN_OR_RETURN(size_t atOnce, mostAtOnce(collectives, transfers));
    if (streams.sends + streams.receives <= atOnce)
      return streams;
    const bool isBoth = streams.sends != 0 && streams.receives != 0;
    most = std::max<size_t>(isBoth ? atOnce / 2 : atOnce, 1);
  }
  return Peers{std::min(streams.sends, most), std::min(streams.receives, most)};
}

/// Assigns the peer streams: those of sends first.
static void assignStreams(std::vector<Transfer> &transfers,
                          const Peers &streams) {
  Peers seen;
  for (Transfer &each : transfers) {
    if (each.isEmpty())
      continue;
    if (each.turn == 0)
      each.peerStream =
          each.isSend() ? seen.sends++ % streams.sends
                        : streams.sends + seen.receives++ % streams.receives;
    else
      each.peerStream =
          std::find_if(transfers.begin(), transfers.end(),
                       [&](const Transfer &first) {
                         return !first.isEmpty() && each.isOfSamePair(first);
                       })
              ->peerStream;
  }
}

Status PointToPoint::openEvents(World &world) {
  if (hasEvents_)
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(start_, world.createEvent(/*isTimed=*/false));
  IRISRT_ASSIGN_OR_RETURN(end_, world.createEvent(/*isTimed=*/false));
  hasEvents_ = true;
  return Status::success();
}

Status PointToPoint::openPeerStreams(World &world, size_t number) {
  while (peerStreams_.size() < number) {
    IRISRT_ASSIGN_OR_RETURN(Stream stream, world.createStream());
    peerStreams_.push_back(stream);
  }
  return Status::success();
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

/// Peer stream 0 is `stream`; the others fork from it and join it.
Status PointToPoint::runWithPeers(World &world, Communicator &collectives,
                                  const std::vector<Call> &calls,
                                  Stream stream) {
  std::vector<Transfer> transfers = inOrder(calls, collectives);
  IRISRT_ASSIGN_OR_RETURN(Peers number,
                          countStreams(world, collectives, transfers));
  assignStreams(transfers, number);
  std::vector<Stream> streams = {stream};
  if (number.sends + number.receives > 1) {
    const size_t others = number.sends + number.receives - 1;
    IRISRT_RETURN_IF_ERROR(openEvents(world));
    IRISRT_RETURN_IF_ERROR(openPeerStreams(world, others));
    streams.insert(streams.end(), peerStreams_.begin(),
                   peerStreams_.begin() + static_cast<ptrdiff_t>(others));
    IRISRT_RETURN_IF_ERROR(world.record(start_, stream));
  }
  for (size_t i = 1; i < streams.size(); ++i)
    IRISRT_RETURN_IF_ERROR(world.waitFor(start_, streams[i]));
  for (Transfer &each : transfers) {
    each.call.stream = streams[each.peerStream];
    IRISRT_RETURN_IF_ERROR(collectives.run(each.call));
  }
  for (size_t i = 1; i < streams.size(); ++i) {
    IRISRT_RETURN_IF_ERROR(world.record(end_, streams[i]));
    IRISRT_RETURN_IF_ERROR(world.waitFor(end_, stream));
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
  IRISRT_RETURN_IF_ERROR(runWithPeers(world, collectives, withPeers, first));
  if (streams.size() > 1)
    IRISRT_RETURN_IF_ERROR(world.record(end_, first));
  for (size_t i = 1; i < streams.size(); ++i)
    IRISRT_RETURN_IF_ERROR(world.waitFor(end_, streams[i]));
  return Status::success();
}
