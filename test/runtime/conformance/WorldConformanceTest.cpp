// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory contract of World.h, for every back end: two ranks, as processes,
// which share the first device if there is only one.
#include "conformance/DeviceUnderTest.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

#include <random>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class WorldConformance : public testing::TestWithParam<DeviceUnderTest> {
protected:
  /// Looks for the device in a separate process: a driver that was initialized
  /// before fork does not work after it.
  void SetUp() override {
    DeviceSpec device = GetParam().spec();
    auto ends = runProcesses(1, [&](const LaunchInfo &) -> std::string {
      Expected<int> count = deviceCount(device);
      if (!count.ok())
        return count.status().message();
      return *count > 0 ? "" : "no device";
    });
    if (!ends[0].text.empty())
      GTEST_SKIP() << ends[0].text;
  }
  WorldOptions options(const LaunchInfo &launch) const {
    WorldOptions result;
    result.launch = launch;
    result.device = GetParam().spec();
    result.forceTable = GetParam().table;
    result.heapBytes = 64 << 20;
    result.heapChunkBytes = 4 << 20;
    result.joinLimit = 30;
    result.collectiveLimit = 60;
    return result;
  }
};

std::string nameOf(const testing::TestParamInfo<DeviceUnderTest> &info) {
  return info.param.name;
}
} // namespace

TEST_P(WorldConformance, PeersSeeEachOthersMemory) {
  EXPECT_EQ(
      "",
      failures(runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto world, World::create(options(launch)));
        // The second allocation makes the heap grow.
        for (uint64_t bytes : {1u << 20, 8u << 20}) {
          RANK_ASSIGN(uint64_t own, world->allocate(bytes));
          uint32_t peer = 1 - launch.rank;
          RANK_ASSIGN(uint64_t remote, world->translate(own, peer));
          std::vector<uint32_t> mine(bytes / 4);
          for (size_t i = 0; i < mine.size(); ++i)
            mine[i] = static_cast<uint32_t>(i * 2654435761u + launch.rank);
          RANK_TRY(world->copyToDevice(remote, mine.data(), bytes));
          RANK_TRY(world->sync());
          std::vector<uint32_t> got(bytes / 4);
          RANK_TRY(world->copyToHost(got.data(), own, bytes));
          RANK_TRY(world->synchronize());
          for (size_t i = 0; i < got.size(); ++i)
            RANK_CHECK(got[i] == static_cast<uint32_t>(i * 2654435761u + peer));
        }
        RANK_TRY(world->destroy());
        return "";
      })));
}

TEST_P(WorldConformance, RecycledMemoryIsZero) {
  EXPECT_EQ(
      "",
      failures(runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto world, World::create(options(launch)));
        std::mt19937 random(7);
        std::vector<uint32_t> dirt(256 << 10, 0xeeeeeeee);
        for (int round = 0; round < 20; ++round) {
          std::vector<uint64_t> live;
          for (int i = 0; i < 8; ++i) {
            uint64_t bytes = 4 + random() % (1 << 20);
            bytes = bytes / 4 * 4;
            RANK_ASSIGN(uint64_t address, world->allocate(bytes));
            std::vector<uint32_t> got(bytes / 4, 1);
            RANK_TRY(world->copyToHost(got.data(), address, bytes));
            RANK_TRY(world->synchronize());
            for (uint32_t word : got)
              RANK_CHECK(word == 0);
            RANK_TRY(world->barrier());
            RANK_ASSIGN(uint64_t remote,
                        world->translate(address, 1 - launch.rank));
            RANK_TRY(world->copyToDevice(remote, dirt.data(), bytes));
            live.push_back(address);
          }
          for (uint64_t address : live)
            RANK_TRY(world->deallocate(address));
          RANK_TRY(world->sync());
        }
        RANK_CHECK(world->heapUsed() == 0);
        RANK_TRY(world->destroy());
        return "";
      })));
}

/// A kernel that does not end keeps its memory: the world is destroyed in time,
/// and memory that the kernel accesses afterwards is still mapped. On a GPU,
/// unmapping it would end the context with an error.
TEST_P(WorldConformance, OutlivedByItsKernel) {
  using std::chrono::seconds;
  if (GetParam().kind == DeviceKind::emulated)
    GTEST_SKIP() << "its kernels end with their stream (EmulatorTest.cpp)";
  auto body = [&](const LaunchInfo &launch) -> std::string {
    // Before the kernel runs: drivers wait for kernels in many calls.
    RANK_ASSIGN(std::unique_ptr<Backend> beside, GetParam().open());
    RANK_ASSIGN(StreamHandle stream, beside->createStream());
    WorldOptions shortly = options(launch);
    shortly.collectiveLimit = 4;
    RANK_ASSIGN(auto world, World::create(shortly));
    const std::string bytes = GetParam().spinPackage(world->target());
    RANK_ASSIGN(Package package,
                Package::fromBytes(bytes.data(), bytes.size()));
    RANK_ASSIGN(Module module, world->load(package));
    RANK_ASSIGN(Kernel kernel, module.kernel("spin_until_set"));
    RANK_ASSIGN(uint64_t a, world->allocate(4096));
    RANK_ASSIGN(uint64_t b, world->allocate(4096));
    RANK_TRY(world->sync());
    RANK_TRY(world->launch(kernel, {1, 1, 1},
                           {makeMemrefArg(IRISRT_ELT_I32, a, {1024}),
                            makeMemrefArg(IRISRT_ELT_I32, b, {1024})}));
    const auto begin = std::chrono::steady_clock::now();
    RANK_CHECK(world->destroy().code() == StatusCode::timeout);
    world.reset();
    RANK_CHECK(std::chrono::steady_clock::now() - begin < seconds(30));

    uint32_t word = 0;
    auto read = [&](uint64_t from) -> Status {
      IRISRT_RETURN_IF_ERROR(
          beside->copyToHost(stream, &word, from, sizeof(word)));
      return beside->synchronize(stream, seconds(20));
    };
    RANK_TRY(read(b));
    RANK_CHECK(word == 0);
    word = 1;
    RANK_TRY(beside->copyToDevice(stream, a, &word, sizeof(word)));
    RANK_TRY(beside->synchronize(stream, seconds(20)));
    for (word = 0;
         word == 0 && std::chrono::steady_clock::now() - begin < seconds(60);)
      RANK_TRY(read(b));
    RANK_CHECK(word == 1);
    RANK_TRY(beside->destroyStream(stream));
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(1, body)));
}

TEST_P(WorldConformance, ManyWorldsInOneProcess) {
  int rounds = GetParam().kind == DeviceKind::host ? 100 : 5;
  EXPECT_EQ("", failures(runProcesses(
                    2, [&](const LaunchInfo &launch) -> std::string {
                      for (int i = 0; i < rounds; ++i) {
                        RANK_ASSIGN(auto world, World::create(options(launch)));
                        RANK_ASSIGN(uint64_t address, world->allocate(4096));
                        RANK_TRY(world->zero(address, 4096));
                        RANK_TRY(world->sync());
                        RANK_TRY(world->destroy());
                      }
                      return "";
                    })));
}

INSTANTIATE_TEST_SUITE_P(Devices, WorldConformance,
                         testing::ValuesIn(devicesUnderTest()), nameOf);
