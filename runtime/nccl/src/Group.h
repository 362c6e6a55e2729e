// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Group.h - Group calls ------------------------------------*- C++ -*-===//
//
// Between ncclGroupStart and ncclGroupEnd, a thread's calls are collected, and
// run together at the end: those of each communicator in order, those of
// different ones at the same time. A call outside of a group is a group of one.
#ifndef IRIS_NCCL_GROUP_H
#define IRIS_NCCL_GROUP_H

#include "Comm.h"

#include <functional>
#include <memory>

namespace iris::nccl {

/// A call on a communicator.
struct Task {
  std::shared_ptr<ncclComm> comm;
  /// A job on the communicator; empty: `operation`.
  Worker::Job job;
  Operation operation = {};
  /// Called instead of `job` if the group fails before; may be empty.
  std::function<void()> drop = {};
};

/// Collects a call, or runs it outside of a group.
/// \return success inside of a group; inProgress of a nonblocking communicator
ncclResult_t submit(const char *function, Task task);

/// Returns the result of a call that cannot run. Inside of a group, the group
/// fails too.
ncclResult_t reject(const char *function, const rt::Status &status);

void startGroup();
/// Runs the outermost group.
ncclResult_t endGroup(const char *function);
/// Ends the outermost group without running it.
/// \return the estimated time of its operations in microseconds; 0 for a group
///   inside of another
rt::Expected<double> simulateGroup();

} // namespace iris::nccl

#endif // IRIS_NCCL_GROUP_H
