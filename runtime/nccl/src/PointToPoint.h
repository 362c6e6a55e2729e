// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointToPoint.h - Sends and receives of a group -----------*- C++ -*-===//
//
// The sends and receives of a group run at the same time: none waits for
// another one, except those with the same peer in the same direction, whose
// messages are in order. Each peer has a stream in each direction, a peer
// stream; the caller's stream is one of them. So a rank may have in one group
// what its peers call one after another, in any order.
//
// Kernels that wait occupy the device. A group has at most as many peer streams
// as the device runs of its kernels at once; with more peers, some share one.
// If each rank has all of its transfers in one group, as in an all-to-all, that
// is no deadlock. The transfers of all ranks have an order: first the first one
// of each pair, then the second ones, and so on; among these by the distance
// from sender to receiver (in ranks, modulo their number). Every peer stream of
// every rank is in that order. Of the transfers that have not ended, the first
// one is at the head of its stream on both ranks: it runs.
//
// The host enqueues the transfers in that order, too, a send before the receive
// of the same distance. So the same holds where a driver puts all streams into
// one queue, in which a launch that waits holds up what follows
// (CUDA_DEVICE_MAX_CONNECTIONS=1): all that is before the transfer in the queue
// has ended or, if it is the send of its distance, is running.
#ifndef IRIS_NCCL_POINTTOPOINT_H
#define IRIS_NCCL_POINTTOPOINT_H

#include "iris/ccl/Communicator.h"
#include "iris/rt/World.h"

#include <vector>

namespace iris::nccl {

/// Sends and receives that start together.
class PointToPoint {
public:
  /// Enqueues the calls, so that they start after the work of `streams` so far,
  /// and later work of all `streams` starts after them.
  /// \param calls sends and receives; their streams are unused
  /// \retval invalidArgument a send of this rank to itself has no receive, or
  ///   one of another length
  rt::Status run(rt::World &world, ccl::Communicator &collectives,
                 const std::vector<ccl::Call> &calls,
                 const std::vector<rt::Stream> &streams);

private:
  rt::Status openEvents(rt::World &world);
  rt::Status openPeerStreams(rt::World &world, size_t number);
  rt::Status runWithPeers(rt::World &world, ccl::Communicator &collectives,
                          const std::vector<ccl::Call> &calls,
                          rt::Stream stream);

  bool hasEvents_ = false;
  rt::Event start_, end_;
  /// Peer streams beside the caller's, created when they are first needed.
  std::vector<rt::Stream> peerStreams_;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_POINTTOPOINT_H
