// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures of the device, injected into the fake driver: the rank whose device
// fails gets ncclUnhandledCudaError, the other ranks ncclRemoteError. CTest
// puts the fake first in the library path; without it, the tests are skipped.
#include "nccl/NcclRanks.h"
#include "support/Shared.h"
#include "support/fake_gpu/LoadedFake.h"

#include <cstdlib>
#include <thread>

using namespace iris::rt;
using namespace iris::rt::test;

/// Errors of the driver, of CUDA and HIP.
static constexpr int outOfMemory = 2, launchFailed = 719;

static FakeGpuControl &control() {
  return *fake<FakeGpuControl *()>("fakeGpuControl")();
}

/// From now on, a function of the driver fails in this process.
static void inject(const char *function, int result) {
  control().failResult = result;
  control().failFunction = function;
}

static void endInjection() { control().failFunction = nullptr; }

/// Waits until the communicator tells an error.
static std::string waitForAsyncError(ncclComm_t comm, ncclResult_t expected) {
  ncclResult_t error = ncclSuccess;
  while (error == ncclSuccess) {
    std::this_thread::yield();
    NCCL_TRY(ncclCommGetAsyncError(comm, &error));
  }
  NCCL_EXPECT(expected, error);
  return "";
}

namespace {
/// Rank 0 of two fails only after the other one has joined.
using Joined = SharedValue<bool>;

class NcclDeviceErrors : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!fake<void>("fakeGpuControl"))
      GTEST_SKIP() << "the fake driver is not first in the library path";
  }

  /// Runs processes, each with the id of a communicator of all of them.
  std::string
  run(int size,
      const std::function<std::string(ncclUniqueId, int rank)> &body) const {
    SharedValue<ncclUniqueId> shared;
    return failures(
        runProcesses(static_cast<uint32_t>(size),
                     [&](const LaunchInfo &launch) -> std::string {
                       // The environment is read at the first call.
                       ::setenv("IRIS_NCCL_DEVICE", GetParam(), 1);
                       ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
                       ::setenv("IRIS_JOIN_LIMIT", "60", 1);
                       ::setenv("IRIS_COLLECTIVE_LIMIT", "60", 1);
                       if (launch.rank == 0) {
                         ncclUniqueId id;
                         NCCL_TRY(ncclGetUniqueId(&id));
                         shared.set(id);
                       }
                       return body(shared.get(), static_cast<int>(launch.rank));
                     }));
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, NcclDeviceErrors, ::testing::Values("cuda", "hip"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST_P(NcclDeviceErrors, OfACreation) {
  for (auto [function, result] :
       {std::pair("streamCreate", launchFailed), {"hostAllocate", outOfMemory}})
    EXPECT_EQ("", run(3,
                      [function = function, result = result](
                          ncclUniqueId id, int rank) -> std::string {
                        if (rank == 1)
                          inject(function, result);
                        ncclComm_t comm = nullptr;
                        NCCL_EXPECT(rank == 1 ? ncclUnhandledCudaError
                                              : ncclRemoteError,
                                    ncclCommInitRank(&comm, 3, id, rank));
                        RANK_CHECK(comm == nullptr);
                        return "";
                      }))
        << function;
}

/// The device is usable afterwards.
TEST_P(NcclDeviceErrors, OfAnAllocation) {
  EXPECT_EQ("", run(1, [](ncclUniqueId, int) -> std::string {
              void *memory = nullptr;
              NCCL_TRY(ncclMemAlloc(&memory, 64));
              NCCL_TRY(ncclMemFree(memory));
              inject("memoryCreate", outOfMemory);
              NCCL_EXPECT(ncclUnhandledCudaError,
                          ncclMemAlloc(&memory, 80 << 20));
              RANK_CHECK(memory == nullptr);
              endInjection();
              NCCL_TRY(ncclMemAlloc(&memory, 80 << 20));
              NCCL_TRY(ncclMemFree(memory));
              return "";
            }));
}

/// A call of the driver fails in a call of one rank: the communicator fails on
/// all ranks, and can be destroyed.
TEST_P(NcclDeviceErrors, OfAnOperation) {
  Joined joined;
  EXPECT_EQ(
      "", run(2, [&](ncclUniqueId id, int rank) -> std::string {
        ncclComm_t comm;
        NCCL_TRY(ncclCommInitRank(&comm, 2, id, rank));
        if (rank == 1)
          joined.set(true);
        RANK_CHECK(joined.get());
        fake<void(int)>("fakeGpuBindDevice")(0);
        auto *stream =
            static_cast<cudaStream_t>(fake<void *()>("fakeGpuCreateStream")());
        float data[4] = {};
        if (rank == 0) {
          inject("streamDevice", launchFailed);
          NCCL_EXPECT(
              ncclUnhandledCudaError,
              ncclAllReduce(data, data, 4, ncclFloat32, ncclSum, comm, stream));
          RANK_CHECK(std::string(ncclGetLastError(comm)).find("device error") !=
                     std::string::npos);
          endInjection();
        }
        const ncclResult_t expected =
            rank == 0 ? ncclUnhandledCudaError : ncclRemoteError;
        TRY_TEXT(waitForAsyncError(comm, expected));
        NCCL_EXPECT(expected, ncclAllReduce(data, data, 4, ncclFloat32, ncclSum,
                                            comm, stream));
        RANK_CHECK(std::string(ncclGetLastError(comm)).find("719") !=
                   std::string::npos);
        NCCL_TRY(ncclCommDestroy(comm));
        return "";
      }));
}

/// A kernel of the program has ended with a fault, which every later call of
/// the driver tells.
TEST_P(NcclDeviceErrors, OfAKernelAtTheEnd) {
  Joined joined;
  EXPECT_EQ("", run(2, [&](ncclUniqueId id, int rank) -> std::string {
              ncclComm_t comm;
              NCCL_TRY(ncclCommInitRank(&comm, 2, id, rank));
              if (rank == 1)
                joined.set(true);
              RANK_CHECK(joined.get());
              if (rank == 0) {
                inject("streamQuery", launchFailed);
                NCCL_EXPECT(ncclUnhandledCudaError, ncclCommFinalize(comm));
                endInjection();
              } else {
                TRY_TEXT(waitForAsyncError(comm, ncclRemoteError));
              }
              NCCL_TRY(ncclCommDestroy(comm));
              return "";
            }));
}

/// The same, and no rank makes another call.
TEST_P(NcclDeviceErrors, OfAKernelWithoutACall) {
  Joined joined;
  EXPECT_EQ("", run(2, [&](ncclUniqueId id, int rank) -> std::string {
              ncclComm_t comm;
              NCCL_TRY(ncclCommInitRank(&comm, 2, id, rank));
              if (rank == 1)
                joined.set(true);
              RANK_CHECK(joined.get());
              if (rank == 0)
                inject("streamQuery", launchFailed);
              TRY_TEXT(waitForAsyncError(
                  comm, rank == 0 ? ncclUnhandledCudaError : ncclRemoteError));
              endInjection();
              NCCL_TRY(ncclCommDestroy(comm));
              return "";
            }));
}
