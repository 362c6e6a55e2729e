// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LocalRanks.h - Ranks of a communicator in one process ----*- C++ -*-===//
#ifndef IRIS_NCCL_LOCALRANKS_H
#define IRIS_NCCL_LOCALRANKS_H

#include "Session.h"

#include <string>
#include <vector>

namespace iris::nccl {

/// The ranks of one job in this process. A thread may drive several of
/// them and destroy one after the other, but a world ends only together with
/// those of its peers: the last one ends them all.
class LocalRanks {
public:
  /// Adds a rank on a device, before it joins.
  static void add(const std::string &job, int device);
  /// The devices of the ranks. After one has joined, all have been added.
  static std::vector<int> devices(const std::string &job);
  /// Ends a rank's session, now or with the last one of this process.
  /// \return the first error of the sessions that end
  static rt::Status end(const std::string &job, Session session);
  /// Removes a rank whose session has ended by itself.
  static void remove(const std::string &job);
};

} // namespace iris::nccl

#endif // IRIS_NCCL_LOCALRANKS_H
