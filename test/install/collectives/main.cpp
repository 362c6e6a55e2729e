// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   collectives <package>
//
// Three ranks, as threads, gather and reduce with the kernels of the package;
// no compiler is available.
#include "iris/ccl/Communicator.h"

#include <cstdio>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;

static constexpr uint32_t numRanks = 3;
static constexpr int64_t count = 1000;

static Status runRank(uint32_t rank, const std::string &package) {
  LaunchInfo launch;
  launch.rank = launch.localRank = rank;
  launch.numRanks = numRanks;
  launch.job = "collectives:" + std::to_string(::getpid());
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 64 << 20;
  IRISRT_ASSIGN_OR_RETURN(auto world, World::create(options));

  KernelCacheOptions noCompiler;
  noCompiler.compiler = "/nowhere";
  noCompiler.maxBytes = 0;
  CommunicatorOptions communicator;
  communicator.cache = std::make_shared<KernelCache>(noCompiler);
  IRISRT_ASSIGN_OR_RETURN(auto comm,
                          Communicator::create(*world, communicator));
  IRISRT_RETURN_IF_ERROR(comm->addPackage(package));

  IRISRT_ASSIGN_OR_RETURN(auto in, world->allocate<float>(count));
  IRISRT_ASSIGN_OR_RETURN(auto out, world->allocate<float>(count));
  IRISRT_ASSIGN_OR_RETURN(auto all, world->allocate<float>(3 * count));
  std::vector<float> values(count), sums(count), gathered(3 * count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(1000 * rank + i);
  IRISRT_RETURN_IF_ERROR(world->copyToDevice(in, values.data(), in.bytes()));
  IRISRT_RETURN_IF_ERROR(
      comm->allReduce(in, out, in.size(), dtypeOf<float>, ReduceOp::sum));
  IRISRT_RETURN_IF_ERROR(comm->allGather(out, all, out.size(), dtypeOf<float>));
  IRISRT_RETURN_IF_ERROR(comm->barrier());
  IRISRT_RETURN_IF_ERROR(world->copyToHost(gathered.data(), all, all.bytes()));
  IRISRT_RETURN_IF_ERROR(world->sync());
  for (int64_t i = 0; i < 3 * count; ++i)
    if (gathered[i] != static_cast<float>(3000 + 3 * (i % count)))
      return makeStatus(StatusCode::internal, "element %lld is %g",
                        static_cast<long long>(i), gathered[i]);
  IRISRT_RETURN_IF_ERROR(comm->destroy());
  return world->destroy();
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  bool failed[numRanks] = {};
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < numRanks; ++rank)
    threads.emplace_back([&, rank] {
      Status status = runRank(rank, argv[1]);
      failed[rank] = !status.ok();
      if (!status.ok())
        std::fprintf(stderr, "rank %u: %s\n", rank, status.message().c_str());
    });
  for (std::thread &thread : threads)
    thread.join();
  return failed[0] || failed[1] || failed[2];
}
