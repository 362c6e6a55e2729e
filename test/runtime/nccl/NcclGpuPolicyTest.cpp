// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels leave of a GPU to other kernels, by ncclConfig_t::CTAPolicy, on
// the fake driver. CTest puts it first in the library path; without it, the
// tests are skipped.
#include "nccl/LaunchLog.h"
#include "nccl/NcclRanks.h"
#include "support/Hash.h"
#include "support/Shared.h"
#include "support/fake_gpu/LoadedFake.h"

#include <cstdlib>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class NcclGpuPolicy : public ::testing::TestWithParam<const char *> {
protected:
  static constexpr int size = 2, processors = 32;
  /// Elements that all programs share.
  static constexpr size_t count = 1 << 18;

  void SetUp() override {
    if (!fake<void>("fakeGpuControl"))
      GTEST_SKIP() << "the fake driver is not first in the library path";
  }

  /// Runs the body in a process for each rank.
  /// \param policy of rank 1; the other rank has the default
  /// \param check of the log of each rank
  static std::string
  run(int policy, const std::function<std::string(ncclComm_t, int)> &body,
      const std::function<bool(const std::string &)> &check,
      int maxCTAs = NCCL_CONFIG_UNDEF_INT) {
    SharedValue<ncclUniqueId> shared;
    return failures(
        runProcesses(size, [&](const LaunchInfo &launch) -> std::string {
          const auto rank = static_cast<int>(launch.rank);
          setEnvironment();
          StandardError log;
          fake<decltype(fakeGpuBindDevice)>("fakeGpuBindDevice")(rank);
          if (rank == 0) {
            ncclUniqueId id;
            NCCL_TRY(ncclGetUniqueId(&id));
            shared.set(id);
          }
          ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
          if (rank == 1)
            config.CTAPolicy = policy;
          config.maxCTAs = maxCTAs;
          ncclComm_t comm = nullptr;
          NCCL_TRY(
              ncclCommInitRankConfig(&comm, size, shared.get(), rank, &config));
          TRY_TEXT(body(comm, rank));
          NCCL_TRY(ncclCommDestroy(comm));
          return check(log.text()) ? "" : "the log is:\n" + log.text();
        }));
  }

  static std::string sumAll(ncclComm_t comm, int rank) {
    std::vector<int32_t> in(count, rank + 1), out(count);
    return onStream(
        rank,
        [&](cudaStream_t stream) -> std::string {
          NCCL_TRY(ncclAllReduce(in.data(), out.data(), count, ncclInt32,
                                 ncclSum, comm, stream));
          return "";
        },
        [&] { return out == std::vector<int32_t>(count, 3); });
  }

  /// Windows, in which every rank's chunk is at the same offset.
  static std::string gatherInWindows(ncclComm_t comm, int rank) {
    auto valueOf = [](int of, size_t i) {
      return static_cast<int32_t>(hash(static_cast<uint64_t>(of), i, 7));
    };
    void *memory = nullptr;
    constexpr size_t bytes = (size + 1) * count * sizeof(int32_t);
    NCCL_TRY(ncclMemAlloc(&memory, bytes));
    ncclWindow_t window = nullptr;
    NCCL_TRY(ncclCommWindowRegister(comm, memory, bytes, &window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    auto *in = static_cast<int32_t *>(memory), *out = in + count;
    for (size_t i = 0; i < count; ++i)
      in[i] = valueOf(rank, i);
    TRY_TEXT(onStream(
        rank,
        [&](cudaStream_t stream) -> std::string {
          NCCL_TRY(ncclAllGather(in, out, count, ncclInt32, comm, stream));
          return "";
        },
        [&] {
          for (int of = 0; of < size; ++of)
            for (size_t i = 0; i < count; ++i)
              if (out[static_cast<size_t>(of) * count + i] != valueOf(of, i))
                return false;
          return true;
        }));
    NCCL_TRY(ncclCommWindowDeregister(comm, window));
    NCCL_TRY(ncclMemFree(memory));
    return "";
  }

private:
  static std::string
  onStream(int device, const std::function<std::string(cudaStream_t)> &enqueue,
           const std::function<bool()> &check) {
    void *stream = fake<decltype(fakeGpuCreateStream)>("fakeGpuCreateStream")();
    TRY_TEXT(enqueue(static_cast<cudaStream_t>(stream)));
    auto *isIdle = fake<decltype(fakeGpuIsIdle)>("fakeGpuIsIdle");
    RANK_CHECK(waitUntil([&] { return isIdle(stream); }));
    fake<decltype(fakeGpuDestroyStream)>("fakeGpuDestroyStream")(stream);
    return check() ? "" : "wrong elements on device " + std::to_string(device);
  }

  static void setEnvironment() {
    ::setenv("IRIS_NCCL_DEVICE", GetParam(), 1);
    ::setenv("IRIS_COMPILE", IRIS_TEST_COMPILER, 1);
    ::setenv("IRIS_CACHE_DIR", IRIS_TEST_CACHE, 1);
    ::setenv("IRIS_LOG", "debug", 1);
    fake<FakeGpuControl *()>("fakeGpuControl")()->processors = processors;
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, NcclGpuPolicy, ::testing::Values("cuda", "hip"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

/// Half of the processors; a quarter, if one rank wants it.
TEST_P(NcclGpuPolicy, LeavesProcessors) {
  auto isBetween = [](int least, int most) {
    return [least, most](const std::string &log) {
      const int programs = mostPrograms(log);
      return programs > least && programs <= most;
    };
  };
  EXPECT_EQ("", run(NCCL_CTA_POLICY_DEFAULT, sumAll,
                    isBetween(processors / 4, processors / 2)));
  for (int policy : {NCCL_CTA_POLICY_EFFICIENCY, NCCL_CTA_POLICY_ZERO})
    EXPECT_EQ("", run(policy, sumAll, isBetween(0, processors / 4)));
}

/// A limit of the program's own is that of all operations.
TEST_P(NcclGpuPolicy, LeavesWhatTheProgramSays) {
  EXPECT_EQ("", run(
                    NCCL_CTA_POLICY_DEFAULT, sumAll,
                    [](const std::string &log) {
                      return mostPrograms(log) > processors / 2;
                    },
                    /*maxCTAs=*/1024));
}

/// Copy engines gather from windows, between two barriers of one program.
TEST_P(NcclGpuPolicy, LeavesAllProcessors) {
  EXPECT_EQ("",
            run(NCCL_CTA_POLICY_ZERO, gatherInWindows,
                [](const std::string &log) { return mostPrograms(log) == 1; }));
  EXPECT_EQ("",
            run(NCCL_CTA_POLICY_EFFICIENCY, gatherInWindows,
                [](const std::string &log) { return mostPrograms(log) > 1; }));
}
