// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What World.h promises about memory, for every back end: two ranks, as
// processes, which share the first device where there is only one.
#include "conformance/DeviceUnderTest.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

#include <random>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class WorldConformance : public testing::TestWithParam<DeviceUnderTest> {
protected:
  /// Looks for the device in a process of its own: a driver that was
  /// initialised before fork does not work after it.
  void SetUp() override {
    DeviceKind kind = GetParam().kind;
    auto ends = runProcesses(1, [&](const LaunchInfo &) -> std::string {
      Expected<int> count = deviceCount(kind);
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
    result.device = GetParam().kind;
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
      complaints(runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
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
      complaints(runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
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

TEST_P(WorldConformance, ManyWorldsInOneProcess) {
  int rounds = GetParam().kind == DeviceKind::host ? 100 : 5;
  EXPECT_EQ("", complaints(runProcesses(
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
