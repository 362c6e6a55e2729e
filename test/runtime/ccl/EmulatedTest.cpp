// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives on emulated devices, through the C++ API: eager, on a second
// stream, and in a graph. Needs an emulator of AMD code (IRIS_EMULATOR);
// IRIS_TEST_CHIP is the chip, gfx942 by default.
#include "iris/ccl/Communicator.h"
#include "support/Ranks.h"
#include "support/ccl/Kernels.h"
#include "support/ccl/Solve.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class EmulatedCollectives : public testing::TestWithParam<uint32_t> {
protected:
  void SetUp() override {
    const char *emulator = std::getenv("IRIS_EMULATOR");
    if (!emulator || !*emulator)
      GTEST_SKIP() << "needs an emulator: set IRIS_EMULATOR";
  }
};

/// A call on one rank, with buffers on the heap.
struct Buffered {
  Problem problem;
  uint64_t in = 0, out = 0;
};
} // namespace

static WorldOptions emulatedOptions(const LaunchInfo &launch) {
  const char *chip = std::getenv("IRIS_TEST_CHIP");
  WorldOptions options = worldOptions(DeviceKind::host, launch);
  options.device = {DeviceKind::emulated, chip ? chip : "gfx942"};
  options.heapBytes = 64 << 20;
  options.heapChunkBytes = 2 << 20;
  options.collectiveLimit = 1200; // two ranks emulate on one CPU
  return options;
}

static Problem problemOf(Op op, uint64_t count, const Communicator &comm) {
  Problem p;
  p.op = op;
  p.dtype = DType::f32;
  p.count = count;
  p.ranks = comm.group().ranks;
  return p;
}

static Status enqueue(World &world, Communicator &comm, const Buffered &each,
                      Stream stream) {
  return call(world, comm, each.problem, each.in, each.out, nullptr, stream);
}

/// Fills the input for a round.
static Status write(World &world, Communicator &comm, Buffered &each,
                    uint64_t round, std::vector<std::vector<uint8_t>> &alive) {
  each.problem.seed = round;
  alive.push_back(inputOf(each.problem, static_cast<uint32_t>(comm.index())));
  return world.copyToDevice(each.in, alive.back().data(), alive.back().size());
}

static std::string check(World &world, Communicator &comm,
                         const Buffered &each) {
  std::vector<uint8_t> want =
      outputOf(each.problem, static_cast<uint32_t>(comm.index()));
  std::vector<uint8_t> got(want.size(), 0xcd);
  RANK_TRY(world.copyToHost(got.data(), each.out, got.size()));
  RANK_TRY(world.synchronize());
  return compare(each.problem, got, want);
}

static std::string runRank(const LaunchInfo &launch) {
  RANK_ASSIGN(auto world, World::create(emulatedOptions(launch)));
  RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
  std::vector<Buffered> calls;
  // Ragged counts: no whole tiles.
  for (auto [op, count] : {std::pair(Op::allReduce, 259), {Op::allGather, 77}})
    calls.push_back({problemOf(op, static_cast<uint64_t>(count), *comm)});
  for (Buffered &each : calls) {
    RANK_ASSIGN(each.in, world->allocate(4096));
    RANK_ASSIGN(each.out, world->allocate(4096));
  }
  RANK_ASSIGN(Stream side, world->createStream());
  RANK_ASSIGN(Event ready, world->createEvent());
  RANK_ASSIGN(Event done, world->createEvent());
  std::vector<std::vector<uint8_t>> alive; // until the copies are complete
  std::optional<Graph> graph;
  for (uint64_t round = 0; round < 3; ++round) {
    for (Buffered &each : calls)
      RANK_TRY(write(*world, *comm, each, round, alive));
    if (round == 1) {
      RANK_TRY(world->synchronize());
      RANK_TRY(world->beginCapture());
    }
    // The first call is on the default stream, the second one on another,
    // between two events.
    if (round < 2) {
      RANK_TRY(enqueue(*world, *comm, calls[0], {}));
      RANK_TRY(world->record(ready));
      RANK_TRY(world->waitFor(ready, side));
      RANK_TRY(enqueue(*world, *comm, calls[1], side));
      RANK_TRY(world->record(done, side));
      RANK_TRY(world->waitFor(done));
    }
    if (round == 1) {
      RANK_ASSIGN(graph, world->endCapture());
    }
    if (graph)
      RANK_TRY(world->launchGraph(*graph));
    RANK_TRY(world->sync());
    for (const Buffered &each : calls) {
      std::string wrong = check(*world, *comm, each);
      if (!wrong.empty())
        return "round " + std::to_string(round) + ", " +
               describe(each.problem, BufferLocation::heap, nullptr) + wrong;
    }
    RANK_TRY(world->sync()); // no rank overwrites what another one reads
  }
  RANK_TRY(world->destroyGraph(*graph));
  RANK_TRY(comm->destroy());
  RANK_TRY(world->destroy());
  return "";
}

TEST_P(EmulatedCollectives, RunEagerlyOnStreamsAndInGraphs) {
  EXPECT_EQ("", failures(runProcesses(GetParam(), runRank, 2400)));
}

INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedCollectives, testing::Values(2u, 3u));
