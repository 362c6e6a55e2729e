// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank of a job whose nodes are declared on one machine, with its collectives
// between nodes: over UCX, or, with IRIS_TEST_NCCL=1, over NCCL's API.
#ifndef IRIS_TEST_RUNTIME_INTERNODE_JOBRANK_H
#define IRIS_TEST_RUNTIME_INTERNODE_JOBRANK_H

#include "iris/ccl/JobCommunicator.h"
#include "support/Ranks.h"
#include "support/SharedText.h"

#include <memory>
#include <string>

namespace iris::rt::test {

/// Whether NCCL's API is the engine.
bool usesNccl();

/// A rank of a job; `nodes` has a letter for the node of each rank.
struct JobRank {
  static Expected<JobRank> create(const LaunchInfo &launch,
                                  const std::string &nodes, SharedText &address,
                                  ccl::JobCommunicatorOptions options = {},
                                  double limit = 200);
  Status destroy();

  std::unique_ptr<World> world;
  std::unique_ptr<ccl::Communicator> node;
  std::unique_ptr<Job> job;
  std::unique_ptr<InterNode> engine;
  std::unique_ptr<ccl::JobCommunicator> all;
};

/// Slices of a few KiB in a small staging buffer, and as many steps as there
/// can be.
ccl::JobCommunicatorOptions smallSlices();

/// Runs the body on a process for each letter of `nodes`; the failures.
std::string failuresOn(const std::string &nodes, const RankBody &body);

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_INTERNODE_JOBRANK_H
