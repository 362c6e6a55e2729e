// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of more than 8 ranks: which ranks, and which kernels.
#include "support/Ranks.h"
#include "support/TestKernels.h"

#include "iris/rt/World.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace iris::rt;
using namespace iris::rt::test;

/// A package of the kernel `fill`, made for a version of the ABI.
/// \param config of the kernel's metadata, JSON
static std::string packageOf(const std::string &version,
                             const std::string &config = "{}") {
  std::string kernel = kernelMetadata("fill", false);
  kernel.insert(kernel.rfind('}'), ", \"config\": " + config);
  EntrySpec entry = kernelEntry("host", "{\"kernels\": [" + kernel + "]}",
                                readFile(IRIS_TEST_KERNELS));
  entry.strings[IRISRT_KEY_ABI] = version;
  return writeEntry(entry);
}

static std::vector<uint32_t> firstRanks(uint32_t count) {
  std::vector<uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

static WorldOptions optionsOf(const LaunchInfo &launch) {
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 1 << 20;
  options.heapChunkBytes = 1 << 20;
  return options;
}

TEST(Groups, RanksOfLargeOnesAreLessThanSixteen) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(optionsOf(launch)));
    auto message = [&](const std::vector<uint32_t> &ranks) {
      return world->makeGroup(ranks).status().message();
    };
    RANK_CHECK(message(firstRanks(17)) ==
               "a group of 17 ranks; expected 1 to 16");
    RANK_CHECK(message({0, 1, 2, 3, 4, 5, 6, 7, 16}) ==
               "rank 16 in a group of 9 ranks; expected less than 16");
    RANK_CHECK(message({0, 17}) ==
               "rank 17 in a group of 2 ranks; expected less than 17");
    RANK_ASSIGN(Group group, world->makeGroup(firstRanks(16)));
    RANK_CHECK(group.contains() == (launch.rank < 16));
    RANK_ASSIGN(group, world->makeGroup({16, 0, 1, 2, 3, 4, 5, 6}));
    return "";
  };
  EXPECT_EQ("", failures(runThreads(17, body)));
}

TEST(Groups, KernelsServeOnesOfTheirSizes) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(optionsOf(launch)));
    RANK_ASSIGN(uint64_t data, world->allocate(4096));
    RANK_ASSIGN(Group nine, world->makeGroup(firstRanks(9)));
    RANK_ASSIGN(Group eight, world->makeGroup(firstRanks(8)));
    // The text of the launch of a package's kernel; empty if it runs.
    auto launchOf = [&](const std::string &bytes, const Group *group) {
      auto run = [&]() -> Status {
        IRISRT_ASSIGN_OR_RETURN(Package package,
                                Package::fromBytes(bytes.data(), bytes.size()));
        IRISRT_ASSIGN_OR_RETURN(Module module, world->load(package));
        IRISRT_ASSIGN_OR_RETURN(Kernel kernel, module.kernel("fill"));
        return world->launch(kernel, {1, 1, 1}, testArgs(data, 8, data, 8), {},
                             group);
      };
      return group && !group->contains() ? std::string() : run().message();
    };
    const std::string own = abiVersion();
    const std::string any = R"({"collective": "all_gather", "group": 0})";
    const std::string ofNine = R"({"collective": "all_gather", "group": 9})";
    // A kernel that was not generated finds the members of any group, unless it
    // was compiled when there were no large ones.
    RANK_CHECK(launchOf(packageOf(own), &nine).empty());
    RANK_CHECK(launchOf(packageOf(own), nullptr).empty());
    RANK_CHECK(launchOf(packageOf("1.5"), &eight).empty());
    RANK_CHECK(launchOf(packageOf("1.5"), nullptr).empty());
    if (launch.rank < 9)
      RANK_CHECK(launchOf(packageOf("1.5"), &nine) ==
                 "kernels::fill is for groups of at most 8 ranks, not of 9; "
                 "compile it again");
    // Generated ones serve up to 8, or their size.
    RANK_CHECK(launchOf(packageOf(own, any), &eight).empty());
    RANK_CHECK(
        launchOf(packageOf(own, any), nullptr) ==
        "kernels::fill is a collective of at most 8 ranks, but the world "
        "has more; pass a group");
    if (launch.rank < 9)
      RANK_CHECK(launchOf(packageOf(own, any), &nine) ==
                 "kernels::fill is for groups of at most 8 ranks, not of 9; "
                 "compile it for a group of that size");
    RANK_CHECK(launchOf(packageOf(own, ofNine), &nine).empty());
    if (launch.rank < 8)
      RANK_CHECK(launchOf(packageOf(own, ofNine), &eight) ==
                 "kernels::fill was generated for a group of 9 ranks, not of "
                 "8");
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runThreads(10, body)));
}
