// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators that measure their kernels, on the host, with clocks that do
// not depend on the machine and with stand-in kernels. GpuWorldTest.cpp has
// those on a fake GPU.
#include "iris/ccl/Communicator.h"
#include "support/Ranks.h"
#include "support/ccl/CacheFolder.h"
#include "support/ccl/NoisyClock.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static bool startsWith(const std::string &text, const char *start) {
  return text.rfind(start, 0) == 0;
}

static bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Beside one workspace there is room for chunks of 64 KiB: the stand-in
/// kernels are slow.
static Expected<std::unique_ptr<World>> makeWorld(const LaunchInfo &launch) {
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 64 << 20;
  options.heapChunkBytes = 4 << 20;
  options.waitLimit = 20;
  options.collectiveLimit = 60;
  return World::create(options);
}

/// Every rank has another noise; each call takes less than the one before it,
/// so that the model's favourite, the first one, is the slowest.
static CommunicatorOptions optionsOf(const CacheFolder &folder, uint32_t rank,
                                     double limitMs = 1e6,
                                     double noise = 0.02) {
  CommunicatorOptions options;
  options.cache = std::make_shared<KernelCache>(folder.options());
  options.tuning.level = TuneLevel::full;
  options.tuning.limitMs = limitMs;
  options.tuning.clock = std::make_shared<NoisyClock>(
      rank, std::vector<double>{1400, 1300, 1200, 1100, 1000, 900}, noise);
  return options;
}

namespace {
/// Two buffers on the heap, and the explanation of a call with them.
struct Buffers {
  static Expected<Buffers> create(World &world) {
    Buffers buffers;
    IRISRT_ASSIGN_OR_RETURN(buffers.in, world.allocate(1 << 20));
    IRISRT_ASSIGN_OR_RETURN(buffers.out, world.allocate(4 << 20));
    return buffers;
  }
  Call callOf(Op op, uint64_t count) const {
    Call call;
    call.op = op;
    call.in = reinterpret_cast<void *>(in);
    call.out = reinterpret_cast<void *>(out);
    call.count = count;
    call.dtype = DType::i32;
    return call;
  }
  uint64_t in = 0, out = 0;
};
} // namespace

/// The sum of one call is right, whichever kernel was chosen.
static std::string checkSum(World &world, Communicator &comm,
                            const Buffers &buffers, uint64_t count) {
  std::vector<int32_t> values(count);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = static_cast<int32_t>((world.rank() + 1) * 1000 + i);
  RANK_TRY(world.writeNow(buffers.in, values.data(), count * 4));
  RANK_TRY(world.sync());
  RANK_TRY(comm.run(buffers.callOf(Op::allReduce, count)));
  RANK_TRY(world.readNow(values.data(), buffers.out, count * 4));
  const auto size = static_cast<int32_t>(comm.size());
  for (uint64_t i = 0; i < count; ++i)
    RANK_CHECK(values[i] ==
               1000 * size * (size + 1) / 2 + size * static_cast<int32_t>(i));
  RANK_TRY(world.sync());
  return "";
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

static std::string measuresOnce(const LaunchInfo &launch,
                                const CacheFolder &folder) {
  RANK_ASSIGN(auto world, makeWorld(launch));
  RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
  const uint64_t before = world->heapUsed();
  const Call call = buffers.callOf(Op::allReduce, 1024);
  auto configOf = [](const std::string &text) {
    const size_t start = text.find(": ") + 2;
    return text.substr(start, text.find(':', start) - start);
  };
  auto close = [&](Communicator &comm) -> Status {
    IRISRT_RETURN_IF_ERROR(world->sync());
    IRISRT_RETURN_IF_ERROR(comm.destroy());
    return world->sync();
  };
  // The model's favourite, which will be the slowest.
  CommunicatorOptions off = optionsOf(folder, launch.rank);
  off.tuning.level = TuneLevel::off;
  RANK_ASSIGN(auto model, Communicator::create(*world, off));
  RANK_ASSIGN(std::string modelled, model->explain(call));
  if (!startsWith(modelled, "model: ") || has(modelled, "not measured: "))
    return modelled;
  RANK_TRY(close(*model));

  RANK_ASSIGN(auto first,
              Communicator::create(*world, optionsOf(folder, launch.rank)));
  // Only the workspace stays.
  RANK_CHECK(world->heapUsed() - before ==
             CommunicatorOptions().workspaceBytes);
  RANK_ASSIGN(std::string measured, first->explain(call));
  if (!startsWith(measured, "measured: ") || !has(measured, "as measured") ||
      !has(measured, "the next one takes "))
    return measured;
  RANK_CHECK(configOf(measured) != configOf(modelled));
  RANK_ASSIGN(double us, first->estimate(call));
  RANK_CHECK(us > 800 && us < 1450);
  // All ranks have the same choice and the same times.
  RANK_ASSIGN(std::vector<std::string> texts,
              world->exchange(first->group(), world->makeChannel(), measured));
  for (const std::string &text : texts)
    RANK_CHECK(text == measured);
  if (std::string wrong = checkSum(*world, *first, buffers, 1024);
      !wrong.empty())
    return wrong;
  RANK_TRY(close(*first));

  // Another communicator takes the times from the disk, and compiles nothing.
  const size_t compilations = folder.compilations();
  RANK_TRY(world->barrier());
  RANK_ASSIGN(auto second,
              Communicator::create(*world, optionsOf(folder, launch.rank)));
  RANK_ASSIGN(std::string kept, second->explain(call));
  RANK_CHECK(startsWith(kept, "table: "));
  RANK_CHECK(has(kept, "measured earlier on this machine"));
  RANK_CHECK(configOf(kept) == configOf(measured));
  RANK_CHECK(folder.compilations() == compilations);
  if (std::string wrong = checkSum(*world, *second, buffers, 1024);
      !wrong.empty())
    return wrong;
  RANK_TRY(close(*second));
  RANK_CHECK(world->heapUsed() == before);
  return "";
}

TEST(CollectiveTuning, IsMeasuredOnceOnAllRanks) {
  for (uint32_t ranks : {2u, 3u}) {
    CacheFolder folder;
    EXPECT_EQ("", failures(runProcesses(
                      ranks,
                      [&](const LaunchInfo &launch) {
                        return measuresOnce(launch, folder);
                      },
                      250)))
        << ranks;
  }
}

/// The noise of each rank would have it choose other kernels.
TEST(CollectiveTuning, AllRanksChooseTheSame) {
  CacheFolder folder;
  EXPECT_EQ(
      "",
      failures(runProcesses(
          3,
          [&](const LaunchInfo &launch) -> std::string {
            RANK_ASSIGN(auto world, makeWorld(launch));
            RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
            RANK_ASSIGN(auto comm,
                        Communicator::create(
                            *world, optionsOf(folder, launch.rank, 1e6, 0.9)));
            std::string mine;
            for (Op op : {Op::allReduce, Op::allGather, Op::broadcast})
              for (uint64_t count : {100, 5000, 20000, 200000}) {
                RANK_ASSIGN(std::string text,
                            comm->explain(buffers.callOf(op, count)));
                RANK_CHECK(startsWith(text, "measured: "));
                mine += text.substr(0, 60) + "\n";
              }
            for (size_t at = 0; at < mine.size(); at += 1000) {
              RANK_ASSIGN(auto texts, world->exchange(comm->group(), 1000,
                                                      mine.substr(at, 1000)));
              for (const std::string &text : texts)
                RANK_CHECK(text == mine.substr(at, 1000));
            }
            RANK_TRY(world->sync());
            return "";
          },
          250)));
}

/// A group of some ranks measures; the other ranks only take part in the
/// allocations.
TEST(CollectiveTuning, GroupsMeasureAmongThemselves) {
  CacheFolder folder;
  EXPECT_EQ(
      "",
      failures(runProcesses(
          3,
          [&](const LaunchInfo &launch) -> std::string {
            RANK_ASSIGN(auto world, makeWorld(launch));
            RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
            CommunicatorOptions options = optionsOf(folder, launch.rank);
            options.ranks = {2, 0};
            RANK_ASSIGN(auto comm, Communicator::create(*world, options));
            if (comm->isMember()) {
              RANK_ASSIGN(std::string text,
                          comm->explain(buffers.callOf(Op::allGather, 1024)));
              RANK_CHECK(startsWith(text, "measured: "));
            }
            RANK_TRY(world->sync());
            RANK_TRY(comm->destroy());
            RANK_TRY(world->sync());
            // The times are not those of the whole world.
            options = optionsOf(folder, launch.rank);
            RANK_ASSIGN(auto all, Communicator::create(*world, options));
            RANK_ASSIGN(std::string text,
                        all->explain(buffers.callOf(Op::allGather, 1024)));
            RANK_CHECK(startsWith(text, "measured: "));
            RANK_TRY(world->sync());
            return "";
          },
          250)));
}

TEST(CollectiveTuning, AKilledRankIsNamedOnEveryOtherRank) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    CommunicatorOptions options = optionsOf(folder, launch.rank);
    if (launch.rank == 1)
      options.tuning.clock = std::make_shared<DeadlyClock>(
          launch.rank, std::vector<double>{100}, 0);
    Status status = Communicator::create(*world, options).status();
    RANK_CHECK(!status.ok() && !world->failure().ok());
    return has(status.message(), "rank 1") ? "" : status.toString();
  };
  std::vector<RankEnd> ends = runProcesses(3, body, 250);
  EXPECT_EQ(ends[0].text, "");
  EXPECT_TRUE(ends[0].exited);
  EXPECT_EQ(ends[1].signal, SIGKILL);
  EXPECT_EQ(ends[2].text, "");
  EXPECT_TRUE(ends[2].exited);
}

//===----------------------------------------------------------------------===//
// What is not measured
//===----------------------------------------------------------------------===//

namespace {
/// Time passes at each look at the clock, and by 20 ms at each sample.
class BusyClock : public NoisyClock {
public:
  explicit BusyClock(uint32_t rank)
      : NoisyClock(rank, {20000, 19000, 18000}, 0) {}
  double nowMs() override { return NoisyClock::nowMs() + 0.01 * ++looks_; }

private:
  int looks_ = 0;
};
} // namespace

/// What does not fit into the limit is left to the model, and measured by later
/// communicators.
static std::string keepsTheLimit(const LaunchInfo &launch,
                                 const CacheFolder &folder) {
  RANK_ASSIGN(auto world, makeWorld(launch));
  RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
  double totalMs = 0;
  size_t measuredBefore = 0;
  for (int round = 0; round < 3; ++round) {
    CommunicatorOptions options = optionsOf(folder, launch.rank, 900);
    auto clock = std::make_shared<BusyClock>(launch.rank);
    options.tuning.clock = clock;
    const double startMs = clock->nowMs();
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    const double spentMs = clock->nowMs() - startMs;
    // At most the samples of one more call are in flight when the limit
    // expires.
    RANK_CHECK(spentMs < 900 + 100);
    totalMs += spentMs;
    size_t measured = 0;
    for (Op op : {Op::allReduce, Op::allGather, Op::broadcast}) {
      RANK_ASSIGN(std::string text, comm->explain(buffers.callOf(op, 1024)));
      if (startsWith(text, "model: "))
        RANK_CHECK(has(text, "not measured: "));
      else
        ++measured;
    }
    RANK_CHECK(round == 0 ? measured < 3 : measured >= measuredBefore);
    measuredBefore = measured;
    RANK_TRY(comm->destroy());
    RANK_TRY(world->sync());
  }
  RANK_CHECK(measuredBefore > 1 && totalMs > 900);
  // Without any time, nothing is enqueued.
  CommunicatorOptions options = optionsOf(folder, launch.rank, 1e-6);
  options.workspaceBytes = 57 << 20; // other files
  auto clock =
      std::make_shared<NoisyClock>(launch.rank, std::vector<double>{100}, 0);
  options.tuning.clock = clock;
  RANK_ASSIGN(auto comm, Communicator::create(*world, options));
  RANK_CHECK(clock->samples == 0);
  RANK_ASSIGN(std::string text,
              comm->explain(buffers.callOf(Op::allReduce, 1024)));
  RANK_CHECK(startsWith(text, "model: ") &&
             has(text, "could be measured in 1e-06 ms"));
  return "";
}

TEST(CollectiveTuning, TheLimitIsKept) {
  CacheFolder folder;
  EXPECT_EQ("", failures(runProcesses(
                    2,
                    [&](const LaunchInfo &launch) {
                      return keepsTheLimit(launch, folder);
                    },
                    250)));
}

/// Nothing is measured during a capture, where the caller forbids it, or where
/// it would say nothing.
static std::string leavesItToTheModel(const LaunchInfo &launch,
                                      const CacheFolder &folder) {
  RANK_ASSIGN(auto world, makeWorld(launch));
  RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
  auto explain = [&](const CommunicatorOptions &options,
                     bool captures = false) -> Expected<std::string> {
    IRISRT_ASSIGN_OR_RETURN(auto comm, Communicator::create(*world, options));
    IRISRT_ASSIGN_OR_RETURN(std::string text,
                            comm->explain(buffers.callOf(Op::allReduce, 1024)));
    IRISRT_RETURN_IF_ERROR(comm->destroy());
    if (!captures)
      IRISRT_RETURN_IF_ERROR(world->sync());
    return text;
  };
  auto optionsWith = [&](std::optional<TuneLevel> level) {
    CommunicatorOptions options = optionsOf(folder, launch.rank);
    options.tuning.level = level;
    return options;
  };
  // The default of the host, what the caller forbids, and a device that has a
  // model of its own.
  for (auto level : {std::optional<TuneLevel>(), std::optional(TuneLevel::off),
                     std::optional(TuneLevel::quick)}) {
    CommunicatorOptions options = optionsWith(level);
    auto clock =
        std::make_shared<NoisyClock>(launch.rank, std::vector<double>{100}, 0);
    options.tuning.clock = clock;
    RANK_ASSIGN(std::string text, explain(options));
    if (!startsWith(text, "model: ") || has(text, "not measured") ||
        !has(text, "constants: 2 CPU cores"))
      return text;
    RANK_CHECK(clock->samples == 0);
  }
  // One rank is capturing a stream.
  const bool captures = launch.rank + 1 == launch.numRanks;
  RANK_ASSIGN(Stream stream, world->createStream());
  if (captures)
    RANK_TRY(world->beginCapture(stream));
  RANK_ASSIGN(std::string captured,
              explain(optionsWith(TuneLevel::full), true));
  RANK_CHECK(startsWith(captured, "model: ") &&
             has(captured, "not measured: a stream is being captured"));
  if (captures) {
    RANK_ASSIGN(Graph graph, world->endCapture(stream));
    RANK_TRY(world->destroyGraph(graph));
  }
  RANK_TRY(world->sync());
  // A workspace for which there is no model.
  CommunicatorOptions small = optionsWith(TuneLevel::full);
  small.workspaceBytes = 1 << 20;
  RANK_ASSIGN(std::string text, explain(small));
  RANK_CHECK(has(text, "not measured: the workspace is smaller"));
  // Ranks that ask for different things.
  Status status = explain(optionsWith(launch.rank == 0 ? TuneLevel::quick
                                                       : TuneLevel::full))
                      .status();
  RANK_CHECK(
      has(status.message(), "members differ in the tuning of a communicator"));
  RANK_TRY(world->failure());
  // An error on one rank is one on all of them.
  CommunicatorOptions wrong = optionsWith(TuneLevel::full);
  if (launch.rank == 1)
    wrong.maxPrograms = -1;
  RANK_CHECK(has(explain(wrong).status().message(), "at most -1 programs"));
  return "";
}

TEST(CollectiveTuning, IsLeftToTheModel) {
  CacheFolder folder;
  EXPECT_EQ("", failures(runProcesses(
                    2,
                    [&](const LaunchInfo &launch) {
                      return leavesItToTheModel(launch, folder);
                    },
                    250)));
}

/// Before the runtime reads its environment.
[[maybe_unused]] static const int environment =
    ::setenv("IRIS_EMULATOR", IRIS_TEST_EMULATOR, /*overwrite=*/1);

TEST(CollectiveTuning, NothingIsMeasuredInEmulation) {
  CacheFolder folder;
  EXPECT_EQ(
      "",
      failures(runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
        WorldOptions options;
        options.launch = launch;
        options.heapBytes = 96 << 20;
        options.device = DeviceSpec(DeviceKind::emulated, "gfx942");
        RANK_ASSIGN(auto world, World::create(options));
        CommunicatorOptions full = optionsOf(folder, launch.rank);
        auto clock = std::make_shared<NoisyClock>(launch.rank,
                                                  std::vector<double>{100}, 0);
        full.tuning.clock = clock;
        RANK_ASSIGN(auto comm, Communicator::create(*world, full));
        RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
        RANK_ASSIGN(std::string text,
                    comm->explain(buffers.callOf(Op::allGather, 1024)));
        RANK_CHECK(clock->samples == 0);
        RANK_CHECK(folder.compilations() == 0);
        RANK_CHECK(startsWith(text, "model: ") &&
                   has(text, "not measured: an emulator's"));
        RANK_TRY(world->sync());
        return "";
      })));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::vector<std::string> filesOf(const CacheFolder &folder) {
  std::vector<std::string> files;
  for (const auto &each :
       std::filesystem::directory_iterator(folder.path() + "/tuned"))
    files.push_back(each.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Files that are damaged, of an older version, of another problem, or
/// accessible to a group are made again; a directory that others can write to
/// is an error.
static std::string remakesFiles(const LaunchInfo &launch,
                                const CacheFolder &folder) {
  RANK_ASSIGN(auto world, makeWorld(launch));
  RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
  auto source = [&]() -> Expected<std::string> {
    IRISRT_ASSIGN_OR_RETURN(
        auto comm,
        Communicator::create(*world, optionsOf(folder, launch.rank)));
    IRISRT_ASSIGN_OR_RETURN(std::string text,
                            comm->explain(buffers.callOf(Op::allReduce, 1024)));
    IRISRT_RETURN_IF_ERROR(comm->destroy());
    IRISRT_RETURN_IF_ERROR(world->sync());
    return text.substr(0, text.find(':'));
  };
  RANK_ASSIGN(std::string first, source());
  RANK_CHECK(first == "measured");
  const std::vector<std::string> files = filesOf(folder);
  for (const std::string &file : files)
    RANK_CHECK(CacheFolder::modeOf(file) == 0600);
  RANK_CHECK(CacheFolder::modeOf(folder.path() + "/tuned") == 0700);
  // For each file, the contents of the file of another problem.
  std::map<std::string, std::string> swapped;
  for (const std::string &file : files)
    swapped[file] = readFile(file == files[0] ? files[1] : files[0]);
  using Change = std::function<void(const std::string &file)>;
  const Change changes[] = {
      [](const std::string &file) {
        std::ofstream(file, std::ios::app) << "more";
      },
      [](const std::string &file) {
        std::string bytes = readFile(file);
        bytes[bytes.size() / 2] ^= 1;
        std::ofstream(file, std::ios::binary) << bytes;
      },
      [](const std::string &file) {
        std::string bytes = readFile(file);
        std::ofstream(file, std::ios::binary)
            << "iris tuned choice 0" + bytes.substr(bytes.find('\n'));
      },
      [&](const std::string &file) {
        std::ofstream(file, std::ios::binary) << swapped[file];
      },
      [](const std::string &file) { ::chmod(file.c_str(), 0660); },
  };
  for (const Change &change : changes) {
    RANK_ASSIGN(std::string kept, source());
    RANK_CHECK(kept == "table");
    RANK_TRY(world->barrier());
    if (launch.rank == 0)
      for (const std::string &file : files)
        change(file);
    RANK_TRY(world->barrier());
    RANK_ASSIGN(std::string again, source());
    RANK_CHECK(again == "measured");
    RANK_TRY(world->barrier());
    RANK_CHECK(filesOf(folder) == files);
    for (const std::string &file : files)
      RANK_CHECK(CacheFolder::modeOf(file) == 0600);
  }
  if (launch.rank == 0)
    ::chmod((folder.path() + "/tuned").c_str(), 0770);
  RANK_TRY(world->barrier());
  Status status = source().status();
  RANK_CHECK(status.code() == StatusCode::failedPrecondition);
  RANK_CHECK(has(status.message(), "tuned"));
  RANK_TRY(world->failure());
  return "";
}

TEST(CollectiveTuning, FilesThatCannotBeTrustedAreMadeAgain) {
  CacheFolder folder;
  EXPECT_EQ("", failures(runProcesses(
                    2,
                    [&](const LaunchInfo &launch) {
                      return remakesFiles(launch, folder);
                    },
                    250)));
}

/// Without a disk, times last as long as the process.
TEST(CollectiveTuning, TimesAreKeptInTheProcessWithoutADisk) {
  CacheFolder folder;
  EXPECT_EQ(
      "",
      failures(runProcesses(
          2,
          [&](const LaunchInfo &launch) -> std::string {
            RANK_ASSIGN(auto world, makeWorld(launch));
            RANK_ASSIGN(Buffers buffers, Buffers::create(*world));
            for (const char *source : {"measured: ", "table: "}) {
              CommunicatorOptions options = optionsOf(folder, launch.rank);
              KernelCacheOptions memory = folder.options();
              memory.maxBytes = 0;
              options.cache = std::make_shared<KernelCache>(memory);
              RANK_ASSIGN(auto comm, Communicator::create(*world, options));
              RANK_ASSIGN(std::string text,
                          comm->explain(buffers.callOf(Op::allReduce, 1024)));
              RANK_CHECK(startsWith(text, source));
              RANK_TRY(comm->destroy());
              RANK_TRY(world->sync());
            }
            RANK_CHECK(!std::filesystem::exists(folder.path()));
            return "";
          },
          250)));
}
