// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Worlds of 1, 2, 3, 4 and 8 ranks, as processes and as threads.
#include "support/LoadedImages.h"
#include "support/Ranks.h"
#include "support/TestKernels.h"

#include "iris/rt/HostStream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ostream>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
struct Shape {
  uint32_t numRanks;
  bool threads;
  bool table;
};

void PrintTo(const Shape &shape, std::ostream *stream) {
  *stream << shape.numRanks << (shape.threads ? " threads" : " processes")
          << (shape.table ? ", by table" : "");
}

std::string nameOf(const testing::TestParamInfo<Shape> &info) {
  return std::to_string(info.param.numRanks) +
         (info.param.threads ? "threads" : "processes") +
         (info.param.table ? "_table" : "");
}

class Worlds : public testing::TestWithParam<Shape> {
protected:
  std::string run(const RankBody &body) {
    return failures(runRanks(GetParam().numRanks, GetParam().threads, body));
  }
  WorldOptions options(const LaunchInfo &launch) const {
    WorldOptions result;
    result.launch = launch;
    result.heapBytes = 64 << 20;
    result.heapChunkBytes = 1 << 20;
    result.forceTable = GetParam().table;
    result.joinLimit = 30;
    result.collectiveLimit = 60;
    return result;
  }
};
} // namespace

static std::string gatherOnce(World &world, const Package &package,
                              int64_t count) {
  uint64_t usedBefore = world.heapUsed();
  RANK_ASSIGN(Module module, world.load(package));
  RANK_ASSIGN(uint64_t a, world.allocate(count * 4));
  RANK_ASSIGN(uint64_t b, world.allocate(count * 4 * world.numRanks()));
  int64_t total = count * world.numRanks();
  RANK_ASSIGN(Kernel fill, module.kernel("fill"));
  RANK_ASSIGN(Kernel gather, module.kernel("kernels::all_gather"));
  RANK_ASSIGN(Kernel check, module.kernel("check_gathered"));
  RANK_TRY(world.launch(fill, {3, 1, 1}, testArgs(a, count, b, total)));
  RANK_TRY(world.launch(gather, {2, 2, 1}, testArgs(a, count, b, total)));
  RANK_TRY(world.sync());
  RANK_TRY(world.launch(check, {2, 1, 1}, testArgs(a, count, b, total)));
  RANK_TRY(world.verify());
  RANK_CHECK(world.expects().checked == static_cast<uint64_t>(total));
  RANK_TRY(world.deallocate(b));
  RANK_TRY(world.deallocate(a));
  RANK_TRY(world.sync());
  RANK_CHECK(world.heapUsed() == usedBefore);
  return "";
}

/// Work on a stream that is forgotten, and destroyed by its owner, is waited
/// for; the world may have failed.
TEST_P(Worlds, FollowsForgottenStreams) {
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(auto world, World::create(options(launch)));
              RANK_ASSIGN(void *native, createHostStream());
              RANK_ASSIGN(Stream stream, world->adoptStream(native));
              RANK_ASSIGN(Event event, world->createEvent());
              RANK_ASSIGN(uint64_t word, world->allocate(4));
              uint32_t one = 1, got = 0;
              RANK_TRY(world->waitEqual(word, 1, stream));
              RANK_TRY(world->follow(event, stream));
              RANK_TRY(world->forgetStream(stream));
              RANK_CHECK(world->forgetStream(stream).code() ==
                         StatusCode::invalidArgument);
              RANK_CHECK(world->forgetStream({}).code() ==
                         StatusCode::invalidArgument);
              RANK_ASSIGN(Stream other, world->createStream());
              RANK_TRY(world->copyToDevice(word, &one, 4, other));
              RANK_TRY(world->copyToHost(&got, word, 4)); // behind the event
              RANK_TRY(world->sync());
              RANK_CHECK(got == 1);
              // Not with peers, which may still be in sync().
              if (launch.numRanks == 1) {
                world->fail(Status(StatusCode::aborted, "a test"));
                RANK_CHECK(!world->follow(event, other).ok());
                RANK_CHECK(!world->poll().ok());
              }
              RANK_TRY(destroyHostStream(native));
              return "";
            }));
}

/// A failure that another thread records ends the wait of a host thread for
/// ranks that never come, on all ranks.
TEST_P(Worlds, FailureEndsHostWaits) {
  if (GetParam().numRanks == 1)
    GTEST_SKIP() << "there is no other rank";
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              WorldOptions forever = options(launch);
              forever.collectiveLimit = 1e6;
              auto created = World::create(forever);
              // Rank 0 may fail before the others have returned from here.
              if (launch.rank != 0 &&
                  created.status().code() == StatusCode::aborted)
                return "";
              RANK_ASSIGN(auto world, std::move(created));
              if (launch.rank == launch.numRanks - 1) {
                while (world->poll().ok())
                  std::this_thread::yield();
                return "";
              }
              std::thread other;
              if (launch.rank == 0)
                other = std::thread([&] {
                  world->fail(Status(StatusCode::aborted, "a test"));
                });
              Status status = world->barrier();
              if (other.joinable())
                other.join();
              RANK_CHECK(status.code() == StatusCode::aborted);
              return "";
            }));
}

/// Another thread ends the wait for ranks that never come.
TEST(WorldCreation, IsCancelled) {
  EXPECT_EQ("", failures(runProcesses(
                    2, [&](const LaunchInfo &launch) -> std::string {
                      std::atomic<bool> cancelled{false};
                      WorldOptions options;
                      options.launch = launch;
                      options.launch->numRanks = 3;
                      options.joinLimit = 1e6;
                      options.cancelled = &cancelled;
                      std::thread other([&] { cancelled = true; });
                      Status status = World::create(options).status();
                      other.join();
                      RANK_CHECK(status.code() == StatusCode::aborted);
                      return "";
                    })));
}

TEST_P(Worlds, Gather) {
  std::string bytes = testPackageBytes();
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(Package package,
                          Package::fromBytes(bytes.data(), bytes.size()));
              for (int64_t count : {1, 1000, 65536}) {
                RANK_ASSIGN(auto world, World::create(options(launch)));
                std::string text = gatherOnce(*world, package, count);
                if (!text.empty())
                  return text;
                RANK_TRY(world->destroy());
              }
              return "";
            }));
  EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
}

TEST_P(Worlds, DeviceBarrierOfManyRounds) {
  std::string bytes = testPackageBytes();
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(Package package,
                          Package::fromBytes(bytes.data(), bytes.size()));
              RANK_ASSIGN(auto world, World::create(options(launch)));
              RANK_ASSIGN(Module module, world->load(package));
              RANK_ASSIGN(Kernel barrier, module.kernel("rank_barrier"));
              RANK_ASSIGN(uint64_t flags, world->allocate(4 * 32 * 4));
              RANK_TRY(world->launch(barrier, {2, 1, 1},
                                     testArgs(flags, 128, flags, 128, 0, 200)));
              RANK_TRY(world->sync());
              return "";
            }));
}

/// A launch and heap queries, while another thread of the rank waits for the
/// last rank to allocate.
static std::string launchDuringGrowth(World &world, const Package &package,
                                      std::atomic<uint32_t> &launched) {
  const bool isLate = world.rank() + 1 == world.numRanks();
  RANK_ASSIGN(Module module, world.load(package));
  RANK_ASSIGN(Kernel fill, module.kernel("fill"));
  RANK_ASSIGN(uint64_t a, world.allocate(4 * 256));
  RANK_TRY(world.barrier());
  std::atomic<bool> isEntering{false};
  Status grown;
  std::thread other([&] {
    while (isLate && launched < world.numRanks() - 1)
      std::this_thread::yield();
    isEntering = true;
    grown = world.allocate(8 << 20).status();
  });
  auto launch = [&]() -> std::string {
    while (!isEntering)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int i = 0; i < 20; ++i) {
      RANK_TRY(world.launch(fill, {1, 1, 1}, testArgs(a, 256, a, 256)));
      RANK_TRY(world.synchronize());
      RANK_CHECK(world.isSymmetric(a, 4 * 256) && world.heapUsed() >= 4 * 256);
    }
    return "";
  };
  std::string text = launch();
  // Also after a failure: the other ranks must not wait forever.
  ++launched;
  other.join();
  if (!text.empty())
    return text;
  RANK_TRY(grown);
  RANK_TRY(world.sync());
  return "";
}

TEST(World, LaunchesWhileTheHeapGrows) {
  std::string bytes = testPackageBytes();
  for (uint32_t numRanks : {2u, 4u}) {
    std::atomic<uint32_t> launched{0};
    EXPECT_EQ("",
              failures(runThreads(
                  numRanks, [&](const LaunchInfo &launch) -> std::string {
                    RANK_ASSIGN(Package package,
                                Package::fromBytes(bytes.data(), bytes.size()));
                    WorldOptions options;
                    options.launch = launch;
                    options.heapBytes = 64 << 20;
                    options.heapChunkBytes = 1 << 20;
                    options.collectiveLimit = 10;
                    RANK_ASSIGN(auto world, World::create(options));
                    return launchDuringGrowth(*world, package, launched);
                  })));
  }
}

TEST(World, AgreesOnTheSizeOfChunks) {
  EXPECT_EQ(
      "",
      failures(runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
        WorldOptions options;
        options.launch = launch;
        options.heapBytes = 64 << 20;
        options.heapChunkBytes = (launch.rank + 1) << 20;
        RANK_ASSIGN(auto world, World::create(options));
        RANK_ASSIGN(uint64_t a, world->allocate(5 << 20));
        RANK_CHECK(world->isSymmetric(a, 5 << 20));
        for (uint32_t rank = 0; rank < 3; ++rank) {
          RANK_ASSIGN(uint64_t there, world->translate(a, rank));
          uint32_t word = 7;
          RANK_TRY(world->copyToDevice(there + (4 << 20) + 4 * launch.rank,
                                       &word, 4));
          RANK_TRY(world->synchronize());
        }
        RANK_TRY(world->sync());
        uint32_t got[3] = {};
        RANK_TRY(world->copyToHost(got, a + (4 << 20), 12));
        RANK_TRY(world->synchronize());
        RANK_CHECK(got[0] == 7 && got[1] == 7 && got[2] == 7);
        return "";
      })));
}

TEST_P(Worlds, HeapOfManyRandomAllocations) {
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(auto world, World::create(options(launch)));
              std::mt19937 random(42); // the same on every rank
              std::vector<std::pair<uint64_t, uint64_t>> live;
              IrisRtContext before = world->context();
              for (int step = 0; step < 2000; ++step) {
                if (random() % 3 != 0 || live.empty()) {
                  uint64_t bytes = 1 + random() % 20000;
                  RANK_ASSIGN(uint64_t address, world->allocate(bytes));
                  auto *words = reinterpret_cast<unsigned char *>(address);
                  for (uint64_t i = 0; i < bytes; i += 97)
                    RANK_CHECK(words[i] == 0);
                  RANK_CHECK(address % 256 == 0);
                  RANK_CHECK(world->isSymmetric(address, bytes));
                  // Fill the local memory: it must be zero when it is
                  // reallocated.
                  for (uint64_t i = 0; i < bytes; i += 97)
                    words[i] = 0xee;
                  live.push_back({address, bytes});
                } else {
                  size_t index = random() % live.size();
                  RANK_TRY(world->deallocate(live[index].first));
                  live.erase(live.begin() + static_cast<ptrdiff_t>(index));
                }
                if (step % 100 == 99)
                  RANK_TRY(world->sync());
              }
              // The heap has grown; the context has not moved.
              RANK_CHECK(world->context().heapBase == before.heapBase);
              RANK_CHECK(world->context().heapStride == before.heapStride);
              RANK_TRY(world->destroy());
              return "";
            }));
}

TEST_P(Worlds, RemoteStoresReachMappedHeapAfterGrowth) {
  std::string bytes = testPackageBytes();
  EXPECT_EQ("", run([&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(Package package,
                          Package::fromBytes(bytes.data(), bytes.size()));
              RANK_ASSIGN(auto world, World::create(options(launch)));
              RANK_ASSIGN(uint64_t gap, world->allocate(5 << 20));
              (void)gap;
              return gatherOnce(*world, package, 100000);
            }));
}

TEST_P(Worlds, GraphReplaysLaunches) {
  std::string bytes = testPackageBytes();
  EXPECT_EQ(
      "", run([&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(Package package,
                    Package::fromBytes(bytes.data(), bytes.size()));
        RANK_ASSIGN(auto world, World::create(options(launch)));
        RANK_ASSIGN(Module module, world->load(package));
        RANK_ASSIGN(Kernel barrier, module.kernel("program_barrier"));
        RANK_ASSIGN(uint64_t a, world->allocate(256));
        RANK_TRY(world->beginCapture());
        RANK_TRY(world->launch(barrier, {1, 1, 1}, testArgs(a, 1, a, 1, 1)));
        RANK_ASSIGN(Graph graph, world->endCapture());
        for (int i = 0; i < 10; ++i)
          RANK_TRY(world->launchGraph(graph));
        RANK_TRY(world->sync());
        int32_t value = 0;
        RANK_TRY(world->copyToHost(&value, a, 4));
        RANK_TRY(world->synchronize());
        RANK_CHECK(value == 10);
        RANK_TRY(world->destroyGraph(graph));
        return "";
      }));
}

INSTANTIATE_TEST_SUITE_P(
    All, Worlds,
    testing::Values(Shape{1, false, false}, Shape{2, false, false},
                    Shape{3, false, false}, Shape{4, false, false},
                    Shape{8, false, false}, Shape{1, true, false},
                    Shape{2, true, false}, Shape{4, true, false},
                    Shape{2, false, true}, Shape{4, false, true},
                    Shape{3, true, true}),
    nameOf);

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

static WorldOptions smallWorld(const LaunchInfo &launch) {
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 1 << 20;
  options.joinLimit = 30;
  options.collectiveLimit = 60;
  return options;
}

/// Leaves a socket without a listener, as a killed job does.
static void leaveStaleSocket(const std::string &name) {
  ::mkdir(Env::get().rendezvousDirs().front().c_str(), 0700);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string path = Env::get().rendezvousDirs().front() + "/" + name + ".sock";
  std::snprintf(address.sun_path, sizeof(address.sun_path), "%s", path.c_str());
  int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)),
            0);
  ::close(fd);
}

TEST(WorldRepetition, TwoHundredWorldsInOneProcess) {
  leaveStaleSocket("0123456789abcdef");
  leaveStaleSocket("fedcba9876543210");
  EXPECT_EQ(
      "",
      failures(runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
        for (int i = 0; i < 200; ++i) {
          RANK_ASSIGN(auto world, World::create(smallWorld(launch)));
          RANK_ASSIGN(uint64_t address, world->allocate(1000));
          RANK_CHECK(*reinterpret_cast<int *>(address) == 0);
          *reinterpret_cast<int *>(address) = i;
          RANK_TRY(world->destroy());
        }
        return "";
      })));
  EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
}

TEST(WorldRepetition, TwoWorldsAtOnce) {
  EXPECT_EQ(
      "",
      failures(runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto first, World::create(smallWorld(launch)));
        RANK_ASSIGN(auto second, World::create(smallWorld(launch)));
        RANK_ASSIGN(uint64_t a, first->allocate(100));
        RANK_ASSIGN(uint64_t b, second->allocate(100));
        RANK_CHECK(first->isSymmetric(a));
        RANK_CHECK(!first->isSymmetric(b));
        RANK_TRY(second->sync());
        RANK_TRY(first->sync());
        RANK_TRY(first->destroy());
        RANK_TRY(second->sync());
        RANK_TRY(second->destroy());
        return "";
      })));
}

TEST(WorldRepetition, NamedWorldsInAnyOrder) {
  EXPECT_EQ("", failures(runProcesses(
                    2, [&](const LaunchInfo &launch) -> std::string {
                      std::string texts[2];
                      auto make = [&](int which) {
                        WorldOptions options = smallWorld(launch);
                        options.name = "world" + std::to_string(which);
                        auto world = World::create(options);
                        texts[which] = world.ok() ? (*world)->sync().message()
                                                  : world.status().toString();
                      };
                      // Each rank starts with another one.
                      std::thread one(make, static_cast<int>(launch.rank));
                      std::thread two(make, 1 - static_cast<int>(launch.rank));
                      one.join();
                      two.join();
                      return texts[0] + texts[1];
                    })));
}

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

TEST(WorldPackages, AreLoadedOnce) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    std::string bytes = testPackageBytes();
    auto read = [&bytes] {
      return Package::fromBytes(bytes.data(), bytes.size());
    };
    RANK_ASSIGN(auto world, World::create(smallWorld(launch)));
    RANK_CHECK(loadedImages() == 0);
    Module module;
    {
      RANK_ASSIGN(Package package, read());
      RANK_ASSIGN(module, world->load(package));
      RANK_CHECK(loadedImages() == 1);
      Package copy = package;
      RANK_ASSIGN(module, world->load(copy));
      RANK_CHECK(loadedImages() == 1);
    }
    // Another package of the same bytes, after the first object is destroyed.
    RANK_ASSIGN(Package again, read());
    RANK_ASSIGN(Module second, world->load(again));
    RANK_CHECK(loadedImages() == 1);
    RANK_ASSIGN(Kernel a, module.kernel("fill"));
    RANK_ASSIGN(Kernel b, second.kernel("fill"));
    RANK_CHECK(&a.info() == &b.info());
    // Different bytes of the same size.
    EntrySpec entry = kernelEntry(
        "host", "{\"kernels\": [" + kernelMetadata("fill", false) + "]}",
        readFile(IRIS_TEST_KERNELS));
    bytes = writeEntry(entry);
    RANK_ASSIGN(Package other, read());
    RANK_ASSIGN(module, world->load(other));
    RANK_CHECK(loadedImages() == 2);
    entry.strings[IRISRT_KEY_META].replace(
        entry.strings[IRISRT_KEY_META].find("12:5"), 4, "13:5");
    bytes = writeEntry(entry);
    RANK_ASSIGN(Package sameSize, read());
    RANK_CHECK(other != sameSize);
    RANK_ASSIGN(module, world->load(sameSize));
    RANK_CHECK(loadedImages() == 3);
    RANK_ASSIGN(Kernel changed, module.kernel("fill"));
    RANK_CHECK(changed.info().sites[0].location == "test.mlir:13:5");
    RANK_TRY(world->destroy());
    world.reset();
    RANK_CHECK(loadedImages() == 0);
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(1, body)));
}

TEST(WorldPackages, AreLoadedOnceByThreads) {
  auto body = [](const LaunchInfo &launch) -> std::string {
    std::string bytes = testPackageBytes();
    RANK_ASSIGN(auto world, World::create(smallWorld(launch)));
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        auto package = Package::fromBytes(bytes.data(), bytes.size());
        failures += !package.ok() || !world->load(*package).ok();
      });
    for (std::thread &thread : threads)
      thread.join();
    RANK_CHECK(failures == 0);
    RANK_CHECK(loadedImages() == 1);
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(1, body)));
}
