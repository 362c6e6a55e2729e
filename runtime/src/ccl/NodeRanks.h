// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NodeRanks.h - Errors of a node's ranks -------------------*- C++ -*-===//
#ifndef IRIS_CCL_NODERANKS_H
#define IRIS_CCL_NODERANKS_H

#include "iris/rt/Job.h"
#include "iris/rt/Status.h"

#include <string>

namespace iris::ccl {

/// Adds to an error of a node's world, which names ranks by their numbers in
/// the node, what these are in the job.
inline rt::Status namedInNode(const rt::Job &job, const rt::Status &status) {
  std::string ranks;
  for (uint32_t rank : job.ranksOf(job.node()))
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return status.withContext(
      rt::formatString("by the numbers in node %u, which has ranks %s of the "
                       "communicator",
                       job.node(), ranks.c_str()));
}

} // namespace iris::ccl

#endif // IRIS_CCL_NODERANKS_H
