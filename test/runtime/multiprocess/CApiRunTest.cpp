// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Ranks.h"
#include "support/TestKernels.h"

#include "iris/rt/MemoryPool.h"

#include <gtest/gtest.h>

using namespace iris::rt;
using namespace iris::rt::test;

extern "C" int irisTestCApi(const char *job, uint32_t rank, uint32_t numRanks,
                            const void *packageBytes, uint64_t packageSize,
                            uint64_t memory);

TEST(CApi, GathersOnEveryNumberOfRanks) {
  std::string bytes = testPackageBytes();
  for (uint32_t n : {1u, 2u, 4u})
    EXPECT_EQ(
        "",
        failures(runProcesses(n, [&](const LaunchInfo &launch) -> std::string {
          RANK_ASSIGN(auto pool, MemoryPool::create(DeviceKind::host, 0));
          RANK_ASSIGN(uint64_t memory, pool->allocate(8192));
          int line =
              irisTestCApi(launch.job.c_str(), launch.rank, launch.numRanks,
                           bytes.data(), bytes.size(), memory);
          return line == 0 ? "" : "CApiTest.c:" + std::to_string(line);
        })));
}
