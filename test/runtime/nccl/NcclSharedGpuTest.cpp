// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several ranks of a communicator on one GPU, on the fake driver, which CTest
// puts first in the library path: without it, the tests are skipped.
#include "nccl/NcclRanks.h"
#include "support/Shared.h"
#include "support/fake_gpu/LoadedFake.h"

#include <array>
#include <cstdlib>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class NcclSharedGpu : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!fake<void>("fakeGpuControl"))
      GTEST_SKIP() << "the fake driver is not first in the library path";
  }

  /// Creates a communicator in a process for each device.
  /// \param allowed of NCCL_MULTI_RANK_GPU_ENABLE; null: not set
  /// \param lookAlike whether the driver tells no device from another one
  /// \return what the ranks got, "" for success
  std::vector<std::string> create(const std::vector<int> &devices,
                                  const char *allowed = nullptr,
                                  bool lookAlike = false) const {
    SharedValue<ncclUniqueId> shared;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      prepare(allowed, lookAlike);
      const auto rank = static_cast<int>(launch.rank);
      if (rank == 0) {
        ncclUniqueId id;
        NCCL_TRY(ncclGetUniqueId(&id));
        shared.set(id);
      }
      fake<decltype(fakeGpuBindDevice)>("fakeGpuBindDevice")(devices[rank]);
      ncclComm_t comm = nullptr;
      ncclResult_t result = ncclCommInitRank(
          &comm, static_cast<int>(devices.size()), shared.get(), rank);
      if (result != ncclSuccess) {
        RANK_CHECK(result == ncclInvalidUsage && comm == nullptr);
        return ncclGetLastError(nullptr);
      }
      NCCL_TRY(ncclCommDestroy(comm));
      return "";
    };
    std::vector<std::string> texts;
    for (const RankEnd &end :
         runProcesses(static_cast<uint32_t>(devices.size()), body))
      texts.push_back(end.exited ? end.text : "killed");
    return texts;
  }

  /// Creates the communicators of two devices in one process.
  std::string createAll(std::array<int, 2> devices, ncclResult_t expected,
                        bool lookAlike) const {
    return failures(runProcesses(1, [&](const LaunchInfo &) -> std::string {
      prepare(nullptr, lookAlike);
      std::array<ncclComm_t, 2> comms{};
      NCCL_EXPECT(expected, ncclCommInitAll(comms.data(), 2, devices.data()));
      for (ncclComm_t comm : comms) {
        RANK_CHECK((comm != nullptr) == (expected == ncclSuccess));
        if (comm)
          NCCL_TRY(ncclCommDestroy(comm));
      }
      return "";
    }));
  }

private:
  /// The environment is read at the first call.
  static void prepare(const char *allowed, bool lookAlike) {
    ::setenv("IRIS_NCCL_DEVICE", GetParam(), 1);
    ::setenv("IRIS_JOIN_LIMIT", "60", 1);
    if (allowed)
      ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", allowed, 1);
    fake<FakeGpuControl *()>("fakeGpuControl")()->devicesLookAlike = lookAlike;
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, NcclSharedGpu, ::testing::Values("cuda", "hip"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST_P(NcclSharedGpu, IsRefusedOnAllRanks) {
  for (const std::string &text : create({0, 1, 1}))
    EXPECT_NE(text.find("ranks 1 and 2 are on one GPU (0202"),
              std::string::npos)
        << text;
  for (const std::string &text : create({0, 0}, "0"))
    EXPECT_NE(text.find("expected a GPU for each rank, or "
                        "NCCL_MULTI_RANK_GPU_ENABLE=1"),
              std::string::npos)
        << text;
  EXPECT_EQ("", createAll({1, 1}, ncclInvalidUsage, /*lookAlike=*/false));
}

TEST_P(NcclSharedGpu, IsAllowedOnRequest) {
  for (const std::string &text : create({0, 1, 1, 0}, "1"))
    EXPECT_EQ("", text);
}

TEST_P(NcclSharedGpu, DiffersFromGpusOfTheirOwn) {
  for (const std::string &text : create({1, 0}))
    EXPECT_EQ("", text);
  EXPECT_EQ("", createAll({0, 1}, ncclSuccess, /*lookAlike=*/false));
}

/// Virtual devices may have the same UUID: ranks of several processes cannot be
/// told apart then, and those of one process can.
TEST_P(NcclSharedGpu, DiffersFromGpusThatLookAlike) {
  for (const std::string &text : create({0, 1}, nullptr, /*lookAlike=*/true))
    EXPECT_EQ("", text);
  EXPECT_EQ("", createAll({0, 1}, ncclSuccess, /*lookAlike=*/true));
  EXPECT_EQ("", createAll({1, 1}, ncclInvalidUsage, /*lookAlike=*/true));
}
