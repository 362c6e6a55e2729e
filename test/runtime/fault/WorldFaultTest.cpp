// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures in a world end in a clear error on every rank, in time.
#include "support/Ranks.h"
#include "support/TestKernels.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class WorldFault : public testing::Test {
protected:
  void SetUp() override { start = std::chrono::steady_clock::now(); }
  void TearDown() override {
    auto took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(std::chrono::duration<double>(took).count(), 20);
    EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
  }
  std::chrono::steady_clock::time_point start;
  std::string bytes = testPackageBytes();
};
} // namespace

static WorldOptions faultOptions(const LaunchInfo &launch) {
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 4 << 20;
  options.heapChunkBytes = 1 << 20;
  options.waitLimit = 1;
  options.joinLimit = 10;
  options.collectiveLimit = 15;
  return options;
}

#define EXPECT_CONTAINS(text, part)                                            \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(WorldFault, WaitWhoseSignalNeverComes) {
  auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Package package,
                Package::fromBytes(bytes.data(), bytes.size()));
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    RANK_ASSIGN(Module module, world->load(package));
    RANK_ASSIGN(Kernel wait, module.kernel("wait_flag"));
    RANK_ASSIGN(uint64_t unused, world->allocate(1024));
    (void)unused;
    RANK_ASSIGN(uint64_t flags, world->allocate(1024));
    if (launch.rank == 2)
      for (int i = 0; i < 1000; ++i) // queued launches must not add up
        RANK_TRY(world->launch(wait, {1, 1, 1},
                               testArgs(flags, 256, flags, 256, 1, 7)));
    Status status = world->sync();
    RANK_CHECK(!status.ok());
    // Later calls return the same error, at once.
    RANK_CHECK(world->sync().message() == status.message());
    RANK_CHECK(world->allocate(1).status().message() == status.message());
    RANK_CHECK(world->launch(wait, {1, 1, 1}, {}).message() ==
               status.message());
    RANK_CHECK(world->destroy().message() == status.message());
    return status.toString();
  });
  EXPECT_CONTAINS(ends[2].text, "timeout: test.wait_flag at test.mlir:12:5 in "
                                "kernels::wait_flag, program (0, 0, 0) timed "
                                "out after 1 s");
  EXPECT_CONTAINS(ends[2].text, "byte 0 of the allocation at heap offset 1024");
  EXPECT_CONTAINS(ends[2].text, "should become >= 7, was last seen as 0; rank "
                                "1, which owed the signal, has not launched a "
                                "kernel");
  for (int rank : {0, 1, 3})
    EXPECT_CONTAINS(ends[rank].text,
                    "aborted: rank 2 failed: test.wait_flag at test.mlir:12:5");
}

TEST_F(WorldFault, RankKilledWhileOthersWaitInKernels) {
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Package package,
                Package::fromBytes(bytes.data(), bytes.size()));
    WorldOptions options = faultOptions(launch);
    options.waitLimit = 0; // no limit: only the notice ends the wait
    RANK_ASSIGN(auto world, World::create(options));
    RANK_ASSIGN(Module module, world->load(package));
    RANK_ASSIGN(Kernel wait, module.kernel("wait_flag"));
    RANK_ASSIGN(uint64_t flags, world->allocate(1024));
    RANK_TRY(world->barrier());
    if (launch.rank == 1)
      ::raise(SIGKILL);
    RANK_TRY(
        world->launch(wait, {1, 1, 1}, testArgs(flags, 256, flags, 256, 1, 7)));
    return world->sync().toString();
  });
  EXPECT_EQ(ends[1].signal, SIGKILL);
  for (int rank : {0, 2})
    EXPECT_CONTAINS(ends[rank].text, "aborted: rank 1 failed: process");
}

TEST_F(WorldFault, RankExitsWithoutAMessage) {
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    if (launch.rank == 2)
      ::_exit(3);
    return world->sync().toString();
  });
  for (int rank : {0, 1})
    EXPECT_CONTAINS(ends[rank].text, "exited or was killed");
}

/// Work that had what it needs succeeds; calls that need the rank do not.
TEST_F(WorldFault, RankExitsAfterItsPart) {
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    if (launch.rank == 2)
      ::_exit(0);
    while (world->failure().ok())
      ::usleep(1000);
    // The other one may have ended, too.
    RANK_CHECK((world->ranksThatLeft() & 4) != 0);
    RANK_TRY(world->synchronize());
    {
      WorldOperation goesOn(*world, /*peers=*/1);
      RANK_TRY(world->failure());
      RANK_TRY(world->createStream().status());
    }
    RANK_CHECK(!world->createStream().ok());
    return world->sync().toString();
  });
  for (int rank : {0, 1})
    EXPECT_CONTAINS(ends[rank].text, "aborted: rank 2 failed: process");
}

/// A rank learns of all that leave, and of failures afterwards, also if it was
/// rank 0 that left.
TEST_F(WorldFault, RanksLeaveAndThenOneFails) {
  for (uint32_t first : {0, 1, 2, 3}) {
    auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
      const uint32_t second = (first + 1) % 4, third = (first + 2) % 4;
      auto waitFor = [&](uint64_t left) {
        while ((world->ranksThatLeft() & left) != left)
          ::usleep(1000);
      };
      const uint64_t bit = 1;
      if (launch.rank == first) {
        world->leave(Status(StatusCode::aborted, "it wants to"));
        return "";
      }
      if (launch.rank == second) {
        waitFor(bit << first);
        ::_exit(0);
      }
      if (launch.rank == third) {
        waitFor(bit << first | bit << second);
        world->fail(Status(StatusCode::internal, "it broke"));
        return "";
      }
      while (world->failure().message().find("broke") == std::string::npos)
        ::usleep(1000);
      return world->sync().toString();
    });
    EXPECT_CONTAINS(ends[(first + 3) % 4].text,
                    "aborted: rank " + std::to_string((first + 2) % 4) +
                        " failed: it broke");
  }
}

/// A rank whose kernel waits for one that left fails with it: all ranks name
/// the one that left, also if rank 0 is that one.
TEST_F(WorldFault, RankLeavesWithoutItsPart) {
  for (uint32_t leaver : {0, 1, 3}) {
    auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(Package package,
                  Package::fromBytes(bytes.data(), bytes.size()));
      WorldOptions options = faultOptions(launch);
      options.waitLimit = 8;
      RANK_ASSIGN(auto world, World::create(options));
      RANK_ASSIGN(Module module, world->load(package));
      RANK_ASSIGN(Kernel wait, module.kernel("wait_flag"));
      RANK_ASSIGN(uint64_t flags, world->allocate(1024));
      if (launch.rank == 2)
        RANK_TRY(world->launch(wait, {1, 1, 1},
                               testArgs(flags, 256, flags, 256, 1, 7)));
      RANK_TRY(world->barrier());
      if (launch.rank == leaver)
        ::_exit(0);
      while (world->failure().ok() || world->ranksThatLeft() != 0)
        ::usleep(1000);
      return world->sync().toString();
    });
    for (uint32_t rank = 0; rank < ends.size(); ++rank)
      if (rank != leaver)
        EXPECT_CONTAINS(ends[rank].text, "aborted: rank " +
                                             std::to_string(leaver) +
                                             " failed: ");
  }
}

/// Runs a collective on 8 ranks, after which one leaves and the others fail.
static void
leaveAfterACollective(uint32_t leaver,
                      const std::function<Status(World &)> &collective,
                      const std::function<void(World &)> &leave) {
  auto ends = runProcesses(8, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    WorldOperation goesOn(*world, WorldOperation::allRanks);
    RANK_TRY(collective(*world));
    if (launch.rank == leaver) {
      leave(*world);
      return "";
    }
    return world->barrier().toString();
  });
  const std::string expected =
      "aborted: rank " + std::to_string(leaver) + " failed: ";
  for (uint32_t rank = 0; rank < ends.size(); ++rank)
    if (rank != leaver)
      ASSERT_NE(ends[rank].text.find(expected), std::string::npos)
          << "rank " << rank << ": " << ends[rank].text;
}

/// The last collective of a rank that leaves, here the creation or a barrier,
/// succeeds on all ranks, and the next one on none.
TEST_F(WorldFault, RanksLeaveAfterACollective) {
  auto creation = [](World &) { return Status::success(); };
  auto barrier = [](World &world) { return world.barrier(); };
  auto exit = [](World &) { ::_exit(0); };
  auto leave = [](World &world) {
    world.leave(Status(StatusCode::aborted, "it wants to"));
  };
  for (int repetition = 0; repetition < 8; ++repetition)
    for (uint32_t leaver : {0, 1, 7}) {
      leaveAfterACollective(leaver, creation, leave);
      leaveAfterACollective(leaver, creation, exit);
      leaveAfterACollective(leaver, barrier, leave);
      leaveAfterACollective(leaver, barrier, exit);
      if (HasFatalFailure())
        return;
    }
}

TEST_F(WorldFault, RankLeavesEarly) {
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    if (launch.rank == 1)
      return world->destroy().toString(); // the others sync
    return world->sync().toString();
  });
  for (const RankEnd &end : ends)
    EXPECT_CONTAINS(end.text, "rank 1 is in world destruction");
}

TEST_F(WorldFault, RankDiesBeforeItJoins) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 1)
      ::raise(SIGKILL);
    WorldOptions options = faultOptions(launch);
    options.joinLimit = 0.5;
    return World::create(options).status().toString();
  });
  EXPECT_CONTAINS(ends[0].text, "rank 1 did not join within 0.5 s");
}

TEST_F(WorldFault, HeapIsFull) {
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    RANK_ASSIGN(uint64_t address, world->allocate(1 << 20));
    std::string text = world->allocate(4 << 20).status().toString();
    // The world is still usable.
    RANK_TRY(world->deallocate(address));
    RANK_TRY(world->sync());
    RANK_ASSIGN(address, world->allocate(4 << 20));
    RANK_TRY(world->destroy());
    return text;
  });
  for (const RankEnd &end : ends)
    EXPECT_CONTAINS(end.text,
                    "out of memory: the symmetric heap is full: 4194304 bytes "
                    "requested, but of its 4194304 bytes 1048576 are in use");
}

TEST_F(WorldFault, RanksAllocateDifferently) {
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    RANK_ASSIGN(uint64_t a, world->allocate(1000));
    RANK_ASSIGN(uint64_t b, world->allocate(launch.rank == 1 ? 200 : 100));
    (void)a, (void)b;
    return world->sync().toString();
  });
  for (const RankEnd &end : ends) {
    EXPECT_CONTAINS(end.text, "the ranks used the symmetric heap differently; "
                              "heap call 2:");
    EXPECT_CONTAINS(end.text, "rank 0, 2 allocated 100 bytes");
    EXPECT_CONTAINS(end.text, "rank 1 allocated 200 bytes");
  }
}

TEST_F(WorldFault, RanksGrowDifferently) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    return world->allocate((2 << 20) + launch.rank * 4096).status().toString();
  });
  for (const RankEnd &end : ends) {
    EXPECT_CONTAINS(end.text, "rank 0 allocated 2097152 bytes");
    EXPECT_CONTAINS(end.text, "rank 1 allocated 2101248 bytes");
  }
}

TEST_F(WorldFault, OneRankGrowsAndTheOtherSyncs) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    if (launch.rank == 0)
      return world->allocate(2 << 20).status().toString();
    return world->sync().toString();
  });
  for (const RankEnd &end : ends)
    EXPECT_CONTAINS(end.text, "rank 1 is in sync (its collective 4), rank 0 in "
                              "heap growth");
}

TEST_F(WorldFault, DifferentHeapSizes) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    WorldOptions options = faultOptions(launch);
    options.heapBytes += launch.rank << 20;
    return World::create(options).status().toString();
  });
  for (const RankEnd &end : ends)
    EXPECT_CONTAINS(end.text, "requests a heap of");
}

TEST_F(WorldFault, WrongLaunches) {
  auto ends = runProcesses(1, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Package package,
                Package::fromBytes(bytes.data(), bytes.size()));
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    RANK_ASSIGN(Module module, world->load(package));
    RANK_ASSIGN(Kernel barrier, module.kernel("program_barrier"));
    RANK_ASSIGN(uint64_t a, world->allocate(1024));
    auto args = testArgs(a, 256, a, 256, 1);
    auto refused = [&](const Status &status, const char *part) {
      return !status.ok() && status.message().find(part) != std::string::npos;
    };
    RANK_CHECK(refused(world->launch(barrier, {1025, 1, 1}, args),
                       "1025 programs wait for each other"));
    RANK_CHECK(refused(world->launch(barrier, {1025, 1, 1}, args),
                       "launch at most 1024"));
    RANK_CHECK(refused(world->launch(barrier, {0, 1, 1}, args), "0 x 1 x 1"));
    RANK_CHECK(refused(world->launch(barrier, {1ull << 40, 1, 1}, args),
                       "expected 1 to"));
    auto few = args;
    few.pop_back();
    RANK_CHECK(!world->launch(barrier, {1, 1, 1}, few).ok());
    auto many = args;
    many.push_back(args.back());
    RANK_CHECK(!world->launch(barrier, {1, 1, 1}, many).ok());
    auto outside = args;
    int32_t local[256] = {};
    outside[1].value = reinterpret_cast<uint64_t>(local);
    RANK_CHECK(!world->launch(barrier, {1, 1, 1}, outside).ok());
    RANK_CHECK(refused(module.kernel("nothing").status(), "nothing"));
    RANK_CHECK(refused(world->findKernel("nothing").status(), "nothing"));
    RANK_CHECK(
        refused(world->import(reinterpret_cast<uint64_t>(local), 4).status(),
                "cannot map ordinary memory"));
    // The maximum number, which all run at once.
    RANK_TRY(world->launch(barrier, {1024, 1, 1}, args));
    RANK_TRY(world->sync());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST_F(WorldFault, PackageOfAnotherTarget) {
  std::string other = testPackageBytes("", "gfx942");
  auto ends = runProcesses(1, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Package package,
                Package::fromBytes(other.data(), other.size()));
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    return world->load(package).status().toString();
  });
  EXPECT_CONTAINS(ends[0].text, "gfx942");
  EXPECT_CONTAINS(ends[0].text, "host");
}

TEST_F(WorldFault, FailedChecksAreReportedOnEveryRank) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Package package,
                Package::fromBytes(bytes.data(), bytes.size()));
    RANK_ASSIGN(auto world, World::create(faultOptions(launch)));
    RANK_ASSIGN(Module module, world->load(package));
    RANK_ASSIGN(Kernel check, module.kernel("check_equal"));
    RANK_ASSIGN(uint64_t a, world->allocate(1024));
    RANK_TRY(world->launch(
        check, {1, 1, 1},
        testArgs(a, 256, a, 256, static_cast<int32_t>(launch.rank))));
    return world->verify().toString();
  });
  EXPECT_CONTAINS(ends[1].text,
                  "256 of 256 checks failed; the first: test.check_equal at "
                  "test.mlir:12:5 in kernels::check_equal, program (0, 0, 0), "
                  "element 0: got 0, want 1: the value");
  EXPECT_CONTAINS(ends[0].text, "on rank 1 256 of 256 checks failed");
}

TEST_F(WorldFault, MissingDevicesAreNamedOnEveryRank) {
  for (DeviceKind kind : {DeviceKind::hip, DeviceKind::cuda}) {
    if (deviceCount(kind).ok() && *deviceCount(kind) > 0)
      continue;
    auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
      WorldOptions options = faultOptions(launch);
      if (launch.rank == 1)
        options.device = kind;
      return World::create(options).status().toString();
    });
    EXPECT_CONTAINS(ends[1].text, "unavailable");
    EXPECT_CONTAINS(ends[0].text, "rank 1 failed");
  }
}
