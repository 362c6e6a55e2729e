// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forked child and its parent's world.
#include "core/ForkGuard.h"
#include "core/OsThread.h"
#include "iris/ccl/Communicator.h"
#include "support/Ranks.h"
#include "support/TestKernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

/// The result of `body` in a forked child: "" if it returns "" within 10 s.
static std::string inChild(const std::function<std::string()> &body) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return "no pipe";
  pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(10); // a lock that is never released
    std::string text = body();
    bool written = ::write(fds[1], text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(fds[1]);
  std::string text;
  char buffer[4096];
  ssize_t got;
  while ((got = ::read(fds[0], buffer, sizeof(buffer))) > 0)
    text.append(buffer, static_cast<size_t>(got));
  ::close(fds[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    text += " (the child ended with status " + std::to_string(status) + ")";
  return text;
}

static WorldOptions forkOptions(const LaunchInfo &launch) {
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 128 << 20; // a communicator allocates some
  options.heapChunkBytes = 1 << 20;
  options.waitLimit = 5;
  options.joinLimit = 10;
  options.collectiveLimit = 15;
  return options;
}

#define REFUSED(expr)                                                          \
  do {                                                                         \
    Status refusedStatus_ = (expr);                                            \
    if (refusedStatus_.code() != StatusCode::failedPrecondition ||             \
        refusedStatus_.message().find("forked from") == std::string::npos)     \
      return std::string(#expr) + ": " + refusedStatus_.toString();            \
  } while (false)

TEST(Fork, EveryCallInTheChildIsRefused) {
  std::string bytes = testPackageBytes();
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Package package,
                Package::fromBytes(bytes.data(), bytes.size()));
    RANK_ASSIGN(auto world, World::create(forkOptions(launch)));
    RANK_ASSIGN(Module module, world->load(package));
    RANK_ASSIGN(Kernel fill, module.kernel("fill"));
    RANK_ASSIGN(uint64_t a, world->allocate(1024));
    RANK_ASSIGN(Stream stream, world->createStream());
    RANK_ASSIGN(Event event, world->createEvent());
    RANK_ASSIGN(auto comm, iris::ccl::Communicator::create(*world));
    RANK_ASSIGN(Group group, world->makeGroup({0, 1}));
    std::string child = inChild([&]() -> std::string {
      uint32_t word = 0;
      // First a call that once returned success for another rank.
      REFUSED(world->sync());
      REFUSED(world->failure());
      REFUSED(world->barrier());
      REFUSED(world->verify());
      REFUSED(world->deviceBarrier());
      REFUSED(world->allocate(64).status());
      REFUSED(world->deallocate(a));
      REFUSED(world->translate(a, 1).status());
      REFUSED(world->import(a, 4).status());
      REFUSED(world->release(a));
      RANK_CHECK(!world->symmetricAddress(a));
      REFUSED(world->copyToDevice(a, &word, 4));
      REFUSED(world->copyToHost(&word, a, 4));
      REFUSED(world->copyOnDevice(a, a, 4));
      REFUSED(world->zero(a, 4));
      REFUSED(world->load(package).status());
      REFUSED(world->findKernel("fill").status());
      REFUSED(module.kernel("fill").status());
      REFUSED(world->launch(fill, {1, 1, 1}, testArgs(a, 256, a, 256, 1)));
      REFUSED(world->maxCoresident(fill).status());
      REFUSED(world->createStream().status());
      REFUSED(world->destroyStream(stream));
      REFUSED(world->synchronize());
      REFUSED(world->createEvent().status());
      REFUSED(world->destroyEvent(event));
      REFUSED(world->record(event));
      REFUSED(world->waitFor(event));
      REFUSED(world->waitEqual(a, 0));
      REFUSED(world->elapsedMs(event, event).status());
      REFUSED(world->beginCapture());
      REFUSED(world->endCapture().status());
      REFUSED(world->launchGraph({1}));
      REFUSED(world->destroyGraph({1}));
      REFUSED(world->exchange(group, world->makeChannel(), "x").status());
      REFUSED(world->startTrace());
      REFUSED(world->checkMayRunMain());
      REFUSED(comm->barrier());
      REFUSED(comm->destroy());
      RANK_CHECK(!world->isSymmetric(a));
      RANK_CHECK(!world->capturing());
      RANK_CHECK(world->heapUsed() == 0);
      RANK_CHECK(world->expects().checked == 0);
      world->fail(makeStatus(StatusCode::internal, "the child's business"));
      // The same holds for grandchildren.
      std::string grandchild = inChild([&]() -> std::string {
        REFUSED(world->sync());
        return "";
      });
      RANK_CHECK(grandchild.empty());
      comm.reset();
      RANK_TRY(world->destroy());
      world.reset();
      return "";
    });
    if (!child.empty())
      return "child: " + child;
    // The parent's world is unaffected.
    RANK_TRY(world->launch(fill, {1, 1, 1}, testArgs(a, 256, a, 256, 1)));
    RANK_TRY(world->sync());
    RANK_TRY(comm->destroy());
    RANK_TRY(world->destroy());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST(Fork, AFailedWorldIsDestroyedInTheChild) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(forkOptions(launch)));
    RANK_ASSIGN(uint64_t a, world->allocate(1024));
    RANK_TRY(world->barrier());
    if (launch.rank == 1)
      world->fail(makeStatus(StatusCode::internal, "on purpose"));
    RANK_CHECK(!world->sync().ok());
    std::string child = inChild([&]() -> std::string {
      world.reset();
      return "";
    });
    RANK_CHECK(child.empty());
    *reinterpret_cast<volatile int *>(a) = 5; // still mapped here
    RANK_CHECK(world->destroy().message().find("on purpose") !=
               std::string::npos);
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST(Fork, LocksThatAreHeldDoNotMatter) {
  // Another thread uses the world while this one forks repeatedly.
  auto ends = runProcesses(1, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(forkOptions(launch)));
    std::atomic<bool> stop{false};
    RANK_ASSIGN(OsThread busy, OsThread::start([&] {
                  while (!stop)
                    world->sync().ignore("only its locks matter");
                }));
    std::string result;
    for (int i = 0; i < 50 && result.empty(); ++i)
      result = inChild([&]() -> std::string {
        REFUSED(world->sync());
        REFUSED(world->allocate(64).status());
        RANK_CHECK(!world->capturing());
        world.reset();
        return "";
      });
    stop = true;
    busy.join();
    return result;
  });
  EXPECT_EQ(failures(ends), "");
}

TEST(Fork, TheEndOfARankIsNoticedWhateverItsChildDoes) {
  // For example a data loader's worker, which outlives its parent.
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(forkOptions(launch)));
    RANK_TRY(world->barrier());
    if (launch.rank == 1) {
      if (::fork() == 0) {
        ::alarm(30);
        // Only connections count here, not the test's pipes.
        for (int fd = 0; fd < 1024; ++fd) {
          struct stat info;
          if (fd != fds[0] && ::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode))
            ::close(fd);
        }
        char byte;
        (void)!::read(fds[0], &byte, 1); // until the test is over
        ::_exit(0);
      }
      ::raise(SIGKILL);
    }
    ::close(fds[1]);
    Status status = world->sync();
    return status.toString();
  });
  ::close(fds[1]);
  ::close(fds[0]);
  for (int rank : {0, 2})
    EXPECT_NE(ends[rank].text.find("aborted: rank 1 failed: process"),
              std::string::npos)
        << ends[rank].text;
}

TEST(Fork, ChildrenHaveWorldsOfTheirOwn) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, World::create(forkOptions(launch)));
    RANK_TRY(world->barrier());
    std::string child = inChild([&]() -> std::string {
      WorldOptions options = forkOptions(launch);
      options.launch->job += ":children";
      RANK_ASSIGN(auto own, World::create(options));
      RANK_TRY(own->sync());
      REFUSED(world->sync());
      RANK_TRY(own->destroy());
      return "";
    });
    if (!child.empty())
      return "child: " + child;
    RANK_TRY(world->destroy());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST(Fork, OwnersAreDistinguished) {
  ProcessOwner parent;
  EXPECT_TRUE(parent.isHere());
  EXPECT_EQ(inChild([&]() -> std::string {
              ProcessOwner child;
              RANK_CHECK(!parent.isHere() && child.isHere());
              return inChild([&]() -> std::string {
                RANK_CHECK(!parent.isHere() && !child.isHere());
                RANK_CHECK(ProcessOwner().isHere());
                return "";
              });
            }),
            "");
  EXPECT_TRUE(parent.isHere());
}
