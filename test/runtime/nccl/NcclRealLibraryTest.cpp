// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IRIS_NCCL_LIBRARY and IRIS_NCCL=off, with a stand-in for NCCL.
#include "nccl/NcclRanks.h"

#include <cstdlib>
#include <nccl_device.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static const auto useFake = [] {
  ::setenv("IRIS_NCCL_LIBRARY", IRIS_TEST_FAKE_NCCL, /*overwrite=*/1);
};

/// The environment is read once, so that every test needs a process.
static std::string alone(const std::function<void()> &setUp,
                         const std::function<std::string()> &body) {
  return failures(runProcesses(1, [&](const LaunchInfo &) {
    setUp();
    return body();
  }));
}

TEST(NcclRealLibrary, ServesAll) {
  EXPECT_EQ("", alone(
                    [] {
                      useFake();
                      ::setenv("IRIS_NCCL", "off", 1);
                    },
                    []() -> std::string {
                      int version = 0;
                      NCCL_TRY(ncclGetVersion(&version));
                      RANK_CHECK(version == 29999);
                      ncclUniqueId id = {};
                      ncclComm_t comm;
                      NCCL_TRY(ncclCommInitRank(&comm, 2, id, 0));
                      NCCL_TRY(pncclAllReduce(nullptr, nullptr, 1, ncclInt8,
                                              ncclSum, comm, nullptr));
                      NCCL_TRY(ncclDevCommCreate(comm, nullptr, nullptr));
                      (void)ncclTeamLsa(comm);
                      NCCL_TRY(ncclCommDestroy(comm));
                      RANK_CHECK(ncclGetLastError(nullptr) ==
                                 std::string("ncclGetVersion ncclGetVersion "
                                             "ncclCommInitRank "
                                             "ncclAllReduce ncclDevCommCreate "
                                             "ncclTeamLsa ncclCommDestroy "));
                      return "";
                    }));
}

/// Iris serves what it can; both are used in one group.
TEST(NcclRealLibrary, ServesWhatIrisDoesNot) {
  EXPECT_EQ("", alone(useFake, []() -> std::string {
              int version = 0;
              NCCL_TRY(ncclGetVersion(&version));
              RANK_CHECK(version == NCCL_VERSION_CODE);
              ncclUniqueId id;
              NCCL_TRY(ncclGetUniqueId(&id));
              ncclComm_t ours, theirs;
              NCCL_TRY(ncclCommInitRank(&ours, 1, id, 0));
              NCCL_TRY(ncclCommInitRank(&theirs, 17, id, 3));
              RANK_CHECK(theirs == reinterpret_cast<ncclComm_t>(0x1230));
              int32_t in = 7, out = 0;
              NCCL_TRY(ncclGroupStart());
              NCCL_TRY(ncclAllReduce(&in, &out, 1, ncclInt32, ncclSum, ours,
                                     nullptr));
              NCCL_TRY(ncclAllGather(&in, &out, 1, ncclInt32, theirs, nullptr));
              NCCL_TRY(ncclGroupEnd());
              RANK_CHECK(out == 7);
              NCCL_TRY(ncclCommDestroy(ours));
              NCCL_EXPECT(ncclSuccess, ncclCommDestroy(theirs));
              RANK_CHECK(ncclGetLastError(theirs) ==
                         std::string("ncclGetVersion ncclGetUniqueId "
                                     "ncclCommInitRankConfig ncclGroupStart "
                                     "ncclAllGather ncclGroupEnd "
                                     "ncclCommDestroy "));
              return "";
            }));
}

TEST(NcclRealLibrary, IsMissing) {
  EXPECT_EQ("", alone(
                    [] {
                      ::setenv("IRIS_NCCL", "off", 1);
                      ::setenv("IRIS_LOG", "off", 1);
                    },
                    []() -> std::string {
                      int version = 0;
                      NCCL_EXPECT(ncclInvalidUsage, ncclGetVersion(&version));
                      RANK_CHECK(std::string(ncclGetLastError(nullptr))
                                     .find("IRIS_NCCL_LIBRARY") !=
                                 std::string::npos);
                      return "";
                    }));
  EXPECT_EQ("",
            alone(
                [] {
                  ::setenv("IRIS_NCCL_LIBRARY", "/nonexistent.so", 1);
                  ::setenv("IRIS_LOG", "off", 1);
                },
                []() -> std::string {
                  ncclUniqueId id;
                  NCCL_EXPECT(ncclSystemError, ncclGetUniqueId(&id));
                  RANK_CHECK(std::string(ncclGetLastError(nullptr))
                                 .find("/nonexistent.so") != std::string::npos);
                  NCCL_EXPECT(ncclSystemError, ncclGroupStart());
                  return "";
                }));
}
