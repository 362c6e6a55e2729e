// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL's variables of the environment that replace options of ncclConfig_t, in
// processes, which read them at their first call.
#include "nccl/LaunchLog.h"
#include "nccl/NcclRanks.h"
#include "support/Shared.h"

#include <cstdlib>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class NcclEnvironment : public ::testing::TestWithParam<int> {
protected:
  /// Runs the body in a process for each rank, with a variable on one of them.
  std::string run(int rankWithVariable, const char *name, const char *value,
                  const std::function<std::string(ncclUniqueId, int)> &body) {
    SharedValue<ncclUniqueId> shared;
    return failures(
        runProcesses(static_cast<uint32_t>(GetParam()),
                     [&](const LaunchInfo &launch) -> std::string {
                       ::setenv("IRIS_NCCL_DEVICE", "host", 1);
                       ::setenv("IRIS_COMPILE", IRIS_TEST_COMPILER, 1);
                       ::setenv("IRIS_CACHE_DIR", IRIS_TEST_CACHE, 1);
                       ::setenv("IRIS_LOG", "debug", 1);
                       const auto rank = static_cast<int>(launch.rank);
                       if (rank == rankWithVariable)
                         ::setenv(name, value, 1);
                       StandardError log;
                       if (rank == 0) {
                         ncclUniqueId id;
                         NCCL_TRY(ncclGetUniqueId(&id));
                         shared.set(id);
                       }
                       TRY_TEXT(body(shared.get(), rank));
                       return checkLog_ ? checkLog_(log.text()) : "";
                     }));
  }

  std::function<std::string(const std::string &log)> checkLog_;
};

/// A sum of more elements than one program has in a tile.
std::string sumAll(ncclUniqueId id, int size, int rank,
                   const ncclConfig_t &config) {
  ncclConfig_t own = config;
  ncclComm_t comm = nullptr;
  NCCL_TRY(ncclCommInitRankConfig(&comm, size, id, rank, &own));
  std::vector<int32_t> data(1 << 18, rank + 1);
  NCCL_TRY(ncclAllReduce(data.data(), data.data(), data.size(), ncclInt32,
                         ncclSum, comm, nullptr));
  for (int32_t value : data)
    RANK_CHECK(value == size * (size + 1) / 2);
  NCCL_TRY(ncclCommDestroy(comm));
  return "";
}
} // namespace

INSTANTIATE_TEST_SUITE_P(, NcclEnvironment, ::testing::Values(2, 3));

/// One rank's is that of all, and comes before the config.
TEST_P(NcclEnvironment, MostProgramsOfKernels) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  auto body = [&](ncclUniqueId id, int rank) {
    return sumAll(id, GetParam(), rank, config);
  };
  checkLog_ = [](const std::string &log) -> std::string {
    return mostPrograms(log) > 1 ? "" : "one program:\n" + log;
  };
  EXPECT_EQ("", run(1, "NCCL_MAX_CTAS", "0", body));
  checkLog_ = [](const std::string &log) -> std::string {
    return mostPrograms(log) == 1 ? "" : "several programs:\n" + log;
  };
  EXPECT_EQ("", run(1, "NCCL_MAX_CTAS", "1", body));
  config.maxCTAs = 1;
  EXPECT_EQ("", run(1, "NCCL_MAX_CTAS", "64", body));
  config.maxCTAs = 64;
  EXPECT_EQ("", run(1, "NCCL_MAX_CTAS", "1", body));
}

/// The rank with the variable gets ncclInProgress, whatever its config says.
TEST_P(NcclEnvironment, Blocking) {
  for (int blocking : {0, 1}) {
    EXPECT_EQ("", run(0, "NCCL_COMM_BLOCKING", blocking ? "1" : "0",
                      [&](ncclUniqueId id, int rank) -> std::string {
                        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
                        config.blocking = rank == 0 ? 1 - blocking : 1;
                        ncclComm_t comm = nullptr;
                        NCCL_EXPECT(rank == 0 && !blocking ? ncclInProgress
                                                           : ncclSuccess,
                                    ncclCommInitRankConfig(&comm, GetParam(),
                                                           id, rank, &config));
                        ncclResult_t state = ncclInProgress;
                        while (state == ncclInProgress)
                          NCCL_TRY(ncclCommGetAsyncError(comm, &state));
                        NCCL_EXPECT(ncclSuccess, state);
                        NCCL_TRY(ncclCommDestroy(comm));
                        return "";
                      }));
  }
}
