// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Ranks.h"
#include "support/ccl/CacheFolder.h"

#include <gtest/gtest.h>

using namespace iris::rt;
using namespace iris::rt::test;

extern "C" int irisTestCclCApi(const char *job, uint32_t rank,
                               uint32_t numRanks, const char *cacheDirectory,
                               const char *compiler);

TEST(CclCApi, EveryFunction) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    int line = irisTestCclCApi(launch.job.c_str(), launch.rank, launch.numRanks,
                               folder.path().c_str(), IRIS_TEST_COMPILER);
    return line == 0 ? "" : "CApiTest.c:" + std::to_string(line);
  };
  for (uint32_t n : {2u, 3u, 8u})
    EXPECT_EQ("", failures(runProcesses(n, body))) << n;
}
