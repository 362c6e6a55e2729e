// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "internode/JobRank.h"

#include "support/JoinNodes.h"
#include "support/ccl/Kernels.h"
#include "support/ccl/Solve.h"

#include <cstdlib>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

bool iris::rt::test::usesNccl() {
  return std::getenv("IRIS_TEST_NCCL") != nullptr;
}

namespace {
/// The environment is read at the first call.
struct SetUpEngines {
  SetUpEngines() {
    // The ranks are on one machine, where UCX would prefer shared memory.
    ::setenv("UCX_TLS", "tcp,self", /*overwrite=*/1);
    ::setenv("IRIS_NCCL_DEVICE", "host", 1);
    ::setenv("IRIS_COMPILE", IRIS_TEST_COMPILER, 1);
    ::setenv("IRIS_CACHE_DIR", IRIS_TEST_CACHE, 1);
    // With an address, its communicators would have nodes of their own.
    if (usesNccl())
      ::setenv("IRIS_NODE_ADDRESS", "127.0.0.1", 1);
  }
} setUpEngines;
} // namespace

Expected<JobRank> JobRank::create(const LaunchInfo &launch,
                                  const std::string &nodes, SharedText &address,
                                  JobCommunicatorOptions options,
                                  double limit) {
  JobRank rank;
  IRISRT_ASSIGN_OR_RETURN(rank.job,
                          joinNodes(launch, nodes.substr(launch.rank, 1),
                                    address, "127.0.0.1", limit));
  WorldOptions world = worldOptions(DeviceKind::host, rank.job->nodeLaunch());
  // The limit of the engine expires first.
  world.waitLimit = world.collectiveLimit = limit + 20;
  IRISRT_ASSIGN_OR_RETURN(rank.world, World::create(world));
  CommunicatorOptions node = communicatorOptions();
  IRISRT_ASSIGN_OR_RETURN(rank.node, Communicator::create(*rank.world, node));
  InterNodeOptions engine;
  engine.library = usesNccl() ? IRIS_TEST_NCCL : IRIS_TEST_UCX;
  engine.limit = limit;
  IRISRT_ASSIGN_OR_RETURN(rank.engine,
                          InterNode::connect(*rank.job, *rank.world, engine));
  if (rank.engine->isOnStreams() != usesNccl())
    return makeStatus(StatusCode::internal, "the engine is %s",
                      rank.engine->name().c_str());
  options.cache = node.cache;
  IRISRT_ASSIGN_OR_RETURN(
      rank.all, JobCommunicator::create(*rank.job, *rank.world, *rank.node,
                                        *rank.engine, options));
  return std::move(rank);
}

Status JobRank::destroy() {
  IRISRT_RETURN_IF_ERROR(all->destroy());
  IRISRT_RETURN_IF_ERROR(node->destroy());
  IRISRT_RETURN_IF_ERROR(engine->destroy());
  IRISRT_RETURN_IF_ERROR(world->destroy());
  return job->destroy();
}

JobCommunicatorOptions iris::rt::test::smallSlices() {
  JobCommunicatorOptions options;
  options.stagingBytes = 64 << 10;
  options.model.emplace();
  options.model->minSliceBytes = 1024;
  options.model->latencyUs = options.model->sliceUs = 0.01;
  return options;
}

std::string iris::rt::test::failuresOn(const std::string &nodes,
                                       const RankBody &body) {
  return failures(runProcesses(static_cast<uint32_t>(nodes.size()), body, 250));
}
