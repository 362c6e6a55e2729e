// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of sends and receives on the fake driver, called and captured into a
// graph by the program: the streams beside the caller's fork from it and join
// it. CTest puts the fake first in the library path; without it, the tests are
// skipped.
#include "nccl/NcclRanks.h"
#include "support/Hash.h"
#include "support/Shared.h"
#include "support/fake_gpu/LoadedFake.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <thread>

using namespace iris::rt;
using namespace iris::rt::test;

/// More than fits between two ranks at once.
static constexpr size_t count = 100000;

/// The `turn`th message from `from` to `to` of a group.
static std::vector<int64_t> message(int from, int to, int turn) {
  std::vector<int64_t> data(count);
  for (size_t i = 0; i < count; ++i)
    data[i] = static_cast<int64_t>(hash(static_cast<uint64_t>(from * 8 + to), i,
                                        static_cast<uint64_t>(turn)));
  return data;
}

namespace {
/// A stream of the program.
struct GpuStream {
  explicit GpuStream(int device) {
    fake<decltype(fakeGpuBindDevice)>("fakeGpuBindDevice")(device);
    native = fake<decltype(fakeGpuCreateStream)>("fakeGpuCreateStream")();
  }
  ~GpuStream() {
    fake<decltype(fakeGpuDestroyStream)>("fakeGpuDestroyStream")(native);
  }
  GpuStream(const GpuStream &) = delete;

  bool synchronize() const {
    auto *isIdle = fake<decltype(fakeGpuIsIdle)>("fakeGpuIsIdle");
    return waitUntil([&] { return isIdle(native); });
  }
  cudaStream_t get() const { return static_cast<cudaStream_t>(native); }

  void *native;
};

/// Two messages in each direction with every rank.
class Exchange {
public:
  Exchange(const NcclRank &rank, const GpuStream &stream)
      : rank_(rank), stream_(stream) {
    for (int k = 0; k < 2 * rank.size; ++k) {
      in_.push_back(message(rank.rank, k % rank.size, k / rank.size));
      out_.emplace_back(count);
    }
  }
  std::string enqueue() {
    NCCL_TRY(ncclGroupStart());
    for (size_t k = 0; k < in_.size(); ++k) {
      const int peer = static_cast<int>(k) % rank_.size;
      NCCL_TRY(ncclSend(in_[k].data(), count, ncclInt64, peer, rank_.comm,
                        stream_.get()));
      NCCL_TRY(ncclRecv(out_[k].data(), count, ncclInt64, peer, rank_.comm,
                        stream_.get()));
    }
    NCCL_TRY(ncclGroupEnd());
    return "";
  }
  std::string check() {
    RANK_CHECK(stream_.synchronize());
    for (size_t k = 0; k < out_.size(); ++k) {
      const int peer = static_cast<int>(k) % rank_.size;
      RANK_CHECK(out_[k] ==
                 message(peer, rank_.rank, static_cast<int>(k) / rank_.size));
      std::fill(out_[k].begin(), out_[k].end(), 0);
    }
    return "";
  }

private:
  const NcclRank rank_;
  const GpuStream &stream_;
  std::vector<std::vector<int64_t>> in_, out_;
};

class NcclGpuGroups
    : public ::testing::TestWithParam<std::tuple<const char *, int>> {
protected:
  using Body = std::function<std::string(NcclRank &, GpuStream &)>;

  void SetUp() override {
    if (!fake<void>("fakeGpuControl"))
      GTEST_SKIP() << "the fake driver is not first in the library path";
  }
  bool isHip() const { return std::get<0>(GetParam()) == std::string("hip"); }

  /// Runs the body in processes, on two devices.
  std::string run(const Body &body) const {
    SharedValue<ncclUniqueId> shared;
    return failures(
        runProcesses(size(), [&](const LaunchInfo &launch) -> std::string {
          setEnvironment();
          return runRank(launch, launch.rank % 2, shared, body);
        }));
  }
  using SetUpFake = std::function<void(FakeGpuControl &)>;
  /// Runs the body in threads of one process, on two devices.
  std::string runInThreads(const Body &body) const {
    return runInOneProcess(/*devices=*/2, body, [this](FakeGpuControl &fake) {
      fake.unloadsWhenIdle = !isHip();
    });
  }
  /// Runs the body in threads of one process, on one device.
  std::string runOnOneDevice(const Body &body,
                             const SetUpFake &setUp = nullptr) const {
    return runInOneProcess(/*devices=*/1, body, [&](FakeGpuControl &fake) {
      fake.loadsWhenIdle = !isHip();
      if (setUp)
        setUp(fake);
    });
  }

private:
  uint32_t size() const {
    return static_cast<uint32_t>(std::get<1>(GetParam()));
  }

  std::string runInOneProcess(uint32_t devices, const Body &body,
                              const SetUpFake &setUp) const {
    return failures(runProcesses(1, [&](const LaunchInfo &) -> std::string {
      setEnvironment();
      setUp(*fake<FakeGpuControl *()>("fakeGpuControl")());
      SharedValue<ncclUniqueId> shared;
      return failures(runThreads(size(), [&](const LaunchInfo &launch) {
        return runRank(launch, launch.rank % devices, shared, body);
      }));
    }));
  }

  void setEnvironment() const {
    ::setenv("IRIS_NCCL_DEVICE", std::get<0>(GetParam()), 1);
    ::setenv("IRIS_COMPILE", IRIS_TEST_COMPILER, 1);
    ::setenv("IRIS_CACHE_DIR", IRIS_TEST_CACHE, 1);
    ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
    ::setenv("IRIS_WAIT_LIMIT", "60", 1);
    ::setenv("IRIS_COLLECTIVE_LIMIT", "60", 1);
  }

  static std::string runRank(const LaunchInfo &launch, uint32_t device,
                             SharedValue<ncclUniqueId> &shared,
                             const Body &body) {
    NcclRank rank;
    rank.rank = static_cast<int>(launch.rank);
    rank.size = static_cast<int>(launch.numRanks);
    GpuStream stream(static_cast<int>(device));
    ncclUniqueId id;
    if (rank.rank == 0) {
      NCCL_TRY(ncclGetUniqueId(&id));
      shared.set(id);
    }
    NCCL_TRY(ncclCommInitRank(&rank.comm, rank.size, shared.get(), rank.rank));
    TRY_TEXT(body(rank, stream));
    RANK_CHECK(fake<FakeGpuControl *()>("fakeGpuControl")()->misuses == 0);
    NCCL_TRY(ncclCommDestroy(rank.comm));
    return "";
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, NcclGpuGroups,
                         ::testing::Combine(::testing::Values("cuda", "hip"),
                                            ::testing::Values(2, 3, 4)),
                         [](const auto &info) {
                           return std::get<0>(info.param) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(NcclGpuGroups, AreCalledAndCaptured) {
  EXPECT_EQ("", run([](NcclRank &rank, GpuStream &stream) -> std::string {
              Exchange exchange(rank, stream);
              TRY_TEXT(exchange.enqueue());
              TRY_TEXT(exchange.check());
              fake<decltype(fakeGpuBeginCapture)>("fakeGpuBeginCapture")(
                  stream.native);
              TRY_TEXT(exchange.enqueue());
              RANK_CHECK(fake<decltype(fakeGpuReplayCapture)>(
                  "fakeGpuReplayCapture")(stream.native, 2));
              TRY_TEXT(exchange.check());
              return "";
            }));
}

/// Rank 0 has one group, the others call one function after another. HIP has
/// too few queues for that.
TEST_P(NcclGpuGroups, DoNotWaitForEachOther) {
  if (isHip())
    GTEST_SKIP() << "transfers share streams on AMD's GPUs";
  EXPECT_EQ("", run([](NcclRank &rank, GpuStream &stream) -> std::string {
              Exchange exchange(rank, stream);
              TRY_TEXT(exchange.enqueue()); // loads the kernels
              TRY_TEXT(exchange.check());
              if (rank.rank == 0) {
                TRY_TEXT(exchange.enqueue());
                return exchange.check();
              }
              for (bool isSend : {rank.rank % 2 == 0, rank.rank % 2 != 0})
                for (int turn : {0, 1}) {
                  std::vector<int64_t> data = message(rank.rank, 0, turn);
                  if (isSend)
                    NCCL_TRY(ncclSend(data.data(), count, ncclInt64, 0,
                                      rank.comm, stream.get()));
                  else
                    NCCL_TRY(ncclRecv(data.data(), count, ncclInt64, 0,
                                      rank.comm, stream.get()));
                  RANK_CHECK(stream.synchronize());
                  RANK_CHECK(isSend || data == message(0, rank.rank, turn));
                }
              return "";
            }));
}

/// A rank that loads waits for the kernels of the others, which wait for it.
TEST_P(NcclGpuGroups, AreLoadedBeforeTheyRun) {
  EXPECT_EQ(
      "", runOnOneDevice([](NcclRank &rank, GpuStream &stream) -> std::string {
        Exchange exchange(rank, stream);
        TRY_TEXT(exchange.enqueue());
        return exchange.check();
      }));
}

/// The device runs fewer programs of a receive at once than of a send, and than
/// their message is divided among.
TEST_P(NcclGpuGroups, HaveKernelsOfDifferentSizes) {
  EXPECT_EQ("",
            runOnOneDevice(
                [](NcclRank &rank, GpuStream &stream) -> std::string {
                  Exchange exchange(rank, stream);
                  TRY_TEXT(exchange.enqueue());
                  TRY_TEXT(exchange.check());
                  // Each in a launch of its own, from the even ranks on.
                  const int next = (rank.rank + 1) % rank.size;
                  const int last = (rank.rank + rank.size - 1) % rank.size;
                  const std::vector<int64_t> in = message(rank.rank, next, 0);
                  std::vector<int64_t> out(count);
                  for (bool isSend : {rank.rank % 2 == 0, rank.rank % 2 != 0})
                    if (isSend)
                      NCCL_TRY(ncclSend(in.data(), count, ncclInt64, next,
                                        rank.comm, stream.get()));
                    else
                      NCCL_TRY(ncclRecv(out.data(), count, ncclInt64, last,
                                        rank.comm, stream.get()));
                  RANK_CHECK(stream.synchronize());
                  RANK_CHECK(out == message(last, rank.rank, 0));
                  return "";
                },
                [](FakeGpuControl &control) {
                  control.processors = 8;
                  control.largeKernels = "iris.recv_";
                }));
}

/// The last rank of a process destroys what all had. A driver waits there for
/// kernels of the others, which have gone on and wait for this one's.
TEST_P(NcclGpuGroups, RanksGoOnAfterTheyDestroyed) {
  EXPECT_EQ(
      "", runInThreads([](NcclRank &rank, GpuStream &stream) -> std::string {
        const int32_t mine = rank.rank + 1;
        int32_t out = 0;
        auto sum = [&](ncclComm_t comm) -> std::string {
          NCCL_TRY(ncclAllReduce(&mine, &out, 1, ncclInt32, ncclSum, comm,
                                 stream.get()));
          return "";
        };
        TRY_TEXT(sum(rank.comm)); // loads the kernel
        RANK_CHECK(stream.synchronize());
        for (int round = 0; round < 3; ++round) {
          ncclComm_t child = nullptr;
          NCCL_TRY(ncclCommSplit(rank.comm, 0, rank.rank, &child, nullptr));
          TRY_TEXT(sum(child));
          RANK_CHECK(stream.synchronize());
          if (rank.rank == round % rank.size)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          NCCL_TRY(ncclCommDestroy(child));
          TRY_TEXT(sum(rank.comm));
          RANK_CHECK(stream.synchronize());
          RANK_CHECK(out == rank.size * (rank.size + 1) / 2);
        }
        return "";
      }));
}

/// A program may destroy its streams between calls; those without one do not
/// ask them, nor do calls with another stream.
TEST_P(NcclGpuGroups, StreamsEndBetweenCalls) {
  EXPECT_EQ("", run([](NcclRank &rank, GpuStream &stream) -> std::string {
              const int32_t mine = rank.rank + 1;
              const int32_t sum = rank.size * (rank.size + 1) / 2;
              void *memory = nullptr;
              ncclWindow_t window = nullptr;
              NCCL_TRY(ncclMemAlloc(&memory, 1 << 20));
              NCCL_TRY(ncclCommWindowRegister(rank.comm, memory, 1 << 20,
                                              &window,
                                              NCCL_WIN_COLL_SYMMETRIC));
              for (int round = 0; round < 2; ++round) {
                GpuStream other(rank.rank % 2);
                int32_t out = 0;
                NCCL_TRY(ncclAllReduce(&mine, &out, 1, ncclInt32, ncclSum,
                                       rank.comm, other.get()));
                RANK_CHECK(other.synchronize() && out == sum);
              }
              ncclResult_t state = ncclInProgress;
              NCCL_TRY(ncclCommGetAsyncError(rank.comm, &state));
              NCCL_EXPECT(ncclSuccess, state);
              ncclComm_t child = nullptr;
              NCCL_TRY(ncclCommSplit(rank.comm, 0, rank.rank, &child, nullptr));
              NCCL_TRY(ncclCommDestroy(child));
              // Its kernels are loaded first.
              Exchange exchange(rank, stream);
              TRY_TEXT(exchange.enqueue());
              TRY_TEXT(exchange.check());
              {
                GpuStream other(rank.rank % 2);
                int32_t out = 0;
                NCCL_TRY(ncclAllReduce(&mine, &out, 1, ncclInt32, ncclSum,
                                       rank.comm, other.get()));
                RANK_CHECK(other.synchronize() && out == sum);
              }
              NCCL_TRY(ncclCommWindowDeregister(rank.comm, window));
              NCCL_TRY(ncclMemFree(memory));
              return "";
            }));
}

/// A communicator's first sends are loaded before those of another one in the
/// group run: these may end only after the first ones, as on rank 0, where both
/// are on one stream.
TEST_P(NcclGpuGroups, AreLoadedBeforeOthersOfTheGroupRun) {
  EXPECT_EQ(
      "", run([&](NcclRank &rank, GpuStream &stream) -> std::string {
        Exchange exchange(rank, stream);
        TRY_TEXT(exchange.enqueue()); // loads the kernels
        TRY_TEXT(exchange.check());
        fake<FakeGpuControl *()>("fakeGpuControl")()->loadsWhenIdle = !isHip();
        ncclComm_t other = nullptr;
        NCCL_TRY(ncclCommSplit(rank.comm, 0, rank.rank, &other, nullptr));
        GpuStream second(rank.rank % 2);
        const GpuStream &of = rank.rank == 0 ? stream : second;
        const int next = (rank.rank + 1) % rank.size;
        const int last = (rank.rank + rank.size - 1) % rank.size;
        std::vector<int64_t> in[2], out[2];
        NCCL_TRY(ncclGroupStart());
        for (int i : {0, 1}) {
          in[i] = message(rank.rank, next, i);
          out[i].resize(count);
          const ncclComm_t comm = i == 0 ? other : rank.comm;
          const cudaStream_t on = i == 0 ? stream.get() : of.get();
          NCCL_TRY(ncclSend(in[i].data(), count, ncclInt64, next, comm, on));
          NCCL_TRY(ncclRecv(out[i].data(), count, ncclInt64, last, comm, on));
        }
        NCCL_TRY(ncclGroupEnd());
        RANK_CHECK(stream.synchronize() && second.synchronize());
        for (int i : {0, 1})
          RANK_CHECK(out[i] == message(last, rank.rank, i));
        NCCL_TRY(ncclCommDestroy(other));
        return "";
      }));
}
