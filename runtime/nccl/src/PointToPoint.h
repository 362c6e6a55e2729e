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

/// The streams of a communicator for sends and receives.
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
  /// A stream, and the event of its last work.
  struct Lane {
    rt::Stream stream;
    rt::Event done;
  };

  rt::Status open(rt::World &world);
  rt::Status runLane(rt::World &world, ccl::Communicator &collectives,
                     const Lane &lane, std::vector<ccl::Call> calls,
                     const std::vector<rt::Stream> &streams);

  bool isOpen_ = false;
  Lane sends_, receives_;
  rt::Event start_;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_POINTTOPOINT_H
