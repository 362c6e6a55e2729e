// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointToPoint.h - Sends and receives of a group -----------*- C++ -*-===//
//
// The sends and receives of a group run at the same time: a ring or an
// all-to-all of them does not deadlock. One stream of the world runs this
// rank's sends, another one its receives. Both are in the order of the distance
// from sender to receiver (in ranks, modulo their number), which is an order of
// all transfers of the group that is equal on all ranks: of those that have not
// ended, one of the smallest distance is the first one on both of its streams.
#ifndef IRIS_NCCL_POINTTOPOINT_H
#define IRIS_NCCL_POINTTOPOINT_H

#include "iris/ccl/Communicator.h"
#include "iris/rt/World.h"

#include <vector>

namespace iris::nccl {

/// Sends and receives that start together. Sends run on the caller's stream,
/// receives on one of the communicator: neither waits for the other.
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
  rt::Status open(rt::World &world);
  rt::Status runBoth(rt::World &world, ccl::Communicator &collectives,
                     std::vector<ccl::Call> sends,
                     std::vector<ccl::Call> receives, rt::Stream stream);

  bool isOpen_ = false;
  rt::Stream receives_;
  rt::Event start_, end_;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_POINTTOPOINT_H
