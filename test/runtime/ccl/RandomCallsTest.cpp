// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random collectives of several groups back to back, one by one and as graphs
// that are replayed with other inputs:
//
//   IRIS_TEST_SECONDS=600 iris-rt-collectives-test
//       --gtest_filter='Devices/RandomCalls.*/cuda_4'
//
// goes on for ten minutes; IRIS_TEST_SEED draws others. Without the first
// variable there is one round.
#include "ccl/OnDevices.h"
#include "support/Hash.h"

#include "iris/ccl/Types.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static uint64_t numberOf(const char *variable, uint64_t otherwise) {
  const char *value = std::getenv(variable);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

namespace {
class RandomCalls : public OnDevices {};

constexpr unsigned callsPerRound = 12, launchesPerRound = 6;
/// Each has kernels of its own, which are compiled in the first rounds.
constexpr unsigned numKinds = 40;
/// Of each call's input and output.
constexpr uint64_t slotBytes = 2 << 20;
constexpr uint64_t stride = slotBytes + 4096;

/// What a kernel is compiled for. The variant is empty if the call has no
/// config.
struct Kind {
  Communicator *comm = nullptr;
  Op op = Op::allReduce;
  DType dtype = DType::f32;
  ReduceOp reduce = ReduceOp::sum;
  Config config;
};

/// A call that all ranks draw alike, on `offset` bytes of the buffers.
struct DrawnCall {
  Communicator *comm = nullptr;
  Problem problem;
  BufferLocation location = BufferLocation::heap;
  /// Its variant is empty if the call has no config.
  Config config;
  uint64_t offset = 0;

  const Config *configOrNull() const {
    return config.variant.empty() ? nullptr : &config;
  }
};

/// Rounds of calls. All ranks draw the same ones, and the same order.
class Soak {
public:
  Soak(World &world, const Buffers &buffers, uint64_t seed)
      : world(world), buffers(buffers), seed(seed) {}

  std::string run(uint64_t seconds);

private:
  using Random = std::mt19937_64;

  std::string prepare();
  /// Whether rank 0 wants another round.
  Expected<bool> goesOn(bool mine);
  Kind drawKind(Random &random) const;
  DrawnCall draw(Random &random, unsigned index) const;
  std::string round();
  /// Sets the inputs and outputs of a launch.
  std::string reset(unsigned launch);
  Status callAll();
  /// Keeps the outputs of a launch on the device.
  Status keep(unsigned launch);
  std::string check(unsigned launch, const uint8_t *record) const;

  bool takesPart(const DrawnCall &each) const { return each.comm->isMember(); }
  /// The problem with the data of one launch.
  Problem problemOf(const DrawnCall &each, unsigned launch) const {
    Problem p = each.problem;
    p.seed = hash(seed + number, launch, each.offset);
    return p;
  }
  CallBuffers buffersOf(const DrawnCall &each) const {
    return buffersAt(each.location, each.problem,
                     static_cast<uint32_t>(each.comm->index()), buffers,
                     each.offset);
  }

  World &world;
  const Buffers &buffers;
  const uint64_t seed;
  std::vector<std::unique_ptr<Communicator>> comms;
  std::vector<Kind> kinds;
  Stream stream;
  uint64_t flags = 0, records = 0;
  std::random_device delays;
  // Of the round.
  uint64_t number = 0, calls = 0;
  std::vector<DrawnCall> drawn;
  /// What is copied to the device, which must outlive the copies.
  std::vector<std::vector<uint8_t>> staged;
};
} // namespace

IRIS_ON_DEVICES(RandomCalls, 2u, 3u, 4u, 8u);

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

Kind Soak::drawKind(Random &random) const {
  static constexpr Op ops[] = {Op::allReduce, Op::allGather, Op::reduceScatter,
                               Op::allToAll,  Op::broadcast, Op::reduce,
                               Op::gather,    Op::scatter};
  auto below = [&](uint64_t limit) { return random() % limit; };
  Kind kind;
  kind.comm = comms[below(comms.size())].get();
  kind.op = ops[below(std::size(ops))];
  kind.dtype = static_cast<DType>(below(static_cast<uint64_t>(DType::u64) + 1));
  kind.reduce =
      static_cast<ReduceOp>(below(static_cast<uint64_t>(ReduceOp::avg) + 1));
  if (below(3) != 0)
    return kind;
  const std::vector<std::string> &variants = variantsOf(kind.op);
  kind.config.variant = variants[below(variants.size())];
  kind.config.staged =
      below(2) == 0 && hasStagedForm(kind.op, kind.config.variant);
  if (getCollective(kind.op).find(kind.config.variant)->has(plan::anyOrder)) {
    kind.reduce = ReduceOp::sum; // what such variants compute
    kind.dtype = DType::f32;
  }
  return kind;
}

DrawnCall Soak::draw(Random &random, unsigned index) const {
  auto below = [&](uint64_t limit) { return random() % limit; };
  const Kind &kind = kinds[below(kinds.size())];
  DrawnCall each;
  each.comm = kind.comm;
  each.config = kind.config;
  each.offset = index * stride;
  Problem &p = each.problem;
  p.op = kind.op;
  p.dtype = kind.dtype;
  p.reduce = kind.reduce;
  p.ranks = each.comm->group().ranks;
  p.root = static_cast<uint32_t>(below(p.ranks.size()));
  // The largest buffer has as many bytes as a number of random length.
  uint64_t bytes = 1 + (below(slotBytes) >> below(21));
  uint64_t chunks = std::max(p.inCount(p.root), p.outCount(p.root));
  p.count = std::max<uint64_t>(1, bytes / chunks / dtypeBytes(p.dtype));
  if (!each.config.variant.empty())
    return each; // not every variant has other locations
  static constexpr BufferLocation locations[] = {
      BufferLocation::heap, BufferLocation::heap, BufferLocation::inPlace,
      BufferLocation::ordinary, BufferLocation::ordinaryOnRoot};
  each.location = locations[below(std::size(locations))];
  if (each.location == BufferLocation::ordinaryOnRoot && !hasRoot(p.op))
    each.location = BufferLocation::ordinary;
  return each;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

std::string Soak::prepare() {
  const uint32_t n = world.numRanks();
  std::vector<uint32_t> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<std::vector<uint32_t>> groups{ranks, ranks};
  std::reverse(groups[1].begin(), groups[1].end());
  if (n > 2) { // all but one, in any order
    std::shuffle(ranks.begin(), ranks.end(), Random(seed));
    ranks.pop_back();
    groups.push_back(ranks);
  }
  for (const std::vector<uint32_t> &group : groups) {
    CommunicatorOptions options = communicatorOptions(group);
    options.workspaceBytes = 16 << 20;
    RANK_ASSIGN(auto comm, Communicator::create(world, options));
    comms.push_back(std::move(comm));
  }
  Random random(hash(seed, n, numKinds));
  for (unsigned i = 0; i < numKinds; ++i)
    kinds.push_back(drawKind(random));
  RANK_ASSIGN(flags, world.allocate(2 * sizeof(int32_t)));
  RANK_ASSIGN(records,
              world.allocate(stride * callsPerRound * launchesPerRound));
  RANK_ASSIGN(stream, world.createStream());
  return "";
}

Expected<bool> Soak::goesOn(bool mine) {
  Problem p;
  p.op = Op::broadcast;
  p.dtype = DType::i32;
  int32_t flag = mine;
  IRISRT_RETURN_IF_ERROR(
      world.copyToDevice(flags, &flag, sizeof(flag), stream));
  IRISRT_RETURN_IF_ERROR(call(world, *comms[0], p, flags,
                              flags + sizeof(int32_t), nullptr, stream));
  IRISRT_RETURN_IF_ERROR(
      world.copyToHost(&flag, flags + sizeof(int32_t), sizeof(flag), stream));
  IRISRT_RETURN_IF_ERROR(world.synchronize(stream));
  return flag != 0;
}

std::string Soak::reset(unsigned launch) {
  auto upload = [&](uint64_t to, std::vector<uint8_t> bytes) {
    staged.push_back(std::move(bytes));
    return world.copyToDevice(to, staged.back().data(), staged.back().size(),
                              stream);
  };
  for (const DrawnCall &each : drawn) {
    if (!takesPart(each))
      continue;
    Problem p = problemOf(each, launch);
    auto me = static_cast<uint32_t>(each.comm->index());
    CallBuffers at = buffersOf(each);
    if (uint64_t bytes = p.outCount(me) * dtypeBytes(p.dtype))
      RANK_TRY(upload(at.out, std::vector<uint8_t>(bytes + guardBytes, guard)));
    if (p.inCount(me) != 0)
      RANK_TRY(upload(at.in, inputOf(p, me)));
  }
  return "";
}

Status Soak::callAll() {
  for (const DrawnCall &each : drawn) {
    if (!takesPart(each))
      continue;
    auto me = static_cast<uint32_t>(each.comm->index());
    auto [in, out] = buffersOf(each);
    // All ranks but the root pass null for the root's buffer.
    IRISRT_RETURN_IF_ERROR(call(
        world, *each.comm, each.problem, each.problem.inCount(me) == 0 ? 0 : in,
        each.problem.outCount(me) == 0 ? 0 : out, each.configOrNull(), stream));
  }
  return Status::success();
}

Status Soak::keep(unsigned launch) {
  for (const DrawnCall &each : drawn) {
    if (!takesPart(each))
      continue;
    auto me = static_cast<uint32_t>(each.comm->index());
    uint64_t bytes = each.problem.outCount(me) * dtypeBytes(each.problem.dtype);
    if (bytes == 0)
      continue;
    IRISRT_RETURN_IF_ERROR(world.copyOnDevice(
        records + launch * callsPerRound * stride + each.offset,
        buffersOf(each).out, bytes + guardBytes, stream));
  }
  return Status::success();
}

std::string Soak::check(unsigned launch, const uint8_t *record) const {
  for (const DrawnCall &each : drawn) {
    if (!takesPart(each))
      continue;
    Problem p = problemOf(each, launch);
    std::vector<uint8_t> want =
        outputOf(p, static_cast<uint32_t>(each.comm->index()));
    const uint8_t *got = record + each.offset;
    std::string wrong = compare(p, {got, got + want.size()}, want);
    if (wrong.empty() && !want.empty() &&
        each.location != BufferLocation::inPlace &&
        std::any_of(got + want.size(), got + want.size() + guardBytes,
                    [](uint8_t byte) { return byte != guard; }))
      wrong = "written past the output";
    if (!wrong.empty())
      return "seed " + std::to_string(seed) + ", round " +
             std::to_string(number) + ", launch " + std::to_string(launch) +
             ": " + describe(p, each.location, each.configOrNull()) + wrong;
  }
  return "";
}

std::string Soak::round() {
  Random random(hash(seed, number, world.numRanks()));
  drawn.clear();
  for (unsigned i = 0; i < callsPerRound; ++i)
    drawn.push_back(draw(random, i));
  Graph graph;
  for (unsigned launch = 0; launch < launchesPerRound; ++launch) {
    // The first calls load the kernels, which the capture needs.
    bool asGraph = launch > 0 && random() % 4 != 0;
    std::string wrong = reset(launch);
    if (!wrong.empty())
      return wrong;
    if (delays() % (4 * world.numRanks()) == 0)
      ::usleep(delays() % 3000);
    if (asGraph)
      RANK_TRY(world.launchGraph(graph, stream));
    else
      RANK_TRY(callAll());
    RANK_TRY(keep(launch));
    calls += drawn.size();
    if (launch == 0) {
      RANK_TRY(world.beginCapture(stream));
      RANK_TRY(callAll());
      RANK_ASSIGN(graph, world.endCapture(stream));
    }
  }
  const uint64_t recordBytes = stride * callsPerRound;
  std::vector<uint8_t> got(recordBytes * launchesPerRound);
  RANK_TRY(world.copyToHost(got.data(), records, got.size(), stream));
  RANK_TRY(world.synchronize(stream));
  staged.clear();
  for (unsigned launch = 0; launch < launchesPerRound; ++launch) {
    std::string wrong = check(launch, &got[launch * recordBytes]);
    if (!wrong.empty())
      return wrong;
  }
  RANK_TRY(world.destroyGraph(graph));
  return "";
}

std::string Soak::run(uint64_t seconds) {
  std::string wrong = prepare();
  if (!wrong.empty())
    return wrong;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (bool more = true; more; ++number) {
    wrong = round();
    if (!wrong.empty())
      return wrong;
    RANK_ASSIGN(more, goesOn(std::chrono::steady_clock::now() < end));
  }
  if (world.rank() == 0 && seconds != 0)
    std::printf("%llu calls in %llu rounds, seed %llu\n",
                static_cast<unsigned long long>(calls),
                static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(seed));
  std::fflush(stdout); // the process may end without it
  RANK_TRY(world.sync());
  return "";
}

TEST_P(RandomCalls, BackToBack) {
  const uint64_t seconds = numberOf("IRIS_TEST_SECONDS", 0),
                 seed = numberOf("IRIS_TEST_SEED", 1);
  expectGood(
      [&](const LaunchInfo &launch) -> std::string {
        WorldOptions options = worldOptions(kind(), launch);
        options.heapBytes = 512 << 20;
        RANK_ASSIGN(auto world, World::create(options));
        RANK_ASSIGN(Buffers buffers,
                    Buffers::create(*world, stride * callsPerRound));
        return Soak(*world, buffers, seed).run(seconds);
      },
      static_cast<double>(seconds) + 280);
}
