// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PointToPoint.h - Sends and receives of a group -----------*- C++ -*-===//
//
// Those with peers are a group of ccl::Communicator; what a rank sends to
// itself is copied. The caller's streams wait for all.
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

  bool hasEvents_ = false;
  rt::Event start_, end_;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_POINTTOPOINT_H
