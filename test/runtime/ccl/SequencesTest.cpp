// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many collectives in sequence without host synchronization, while one rank is
// occasionally late.
#include "ccl/OnDevices.h"

#include <algorithm>
#include <random>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
class Sequences : public OnDevices {};

/// Delays one rank occasionally.
class Delay {
public:
  explicit Delay(uint32_t rank) : late(rank == 1), random(rank) {}

  void pass(uint32_t oneIn) {
    if (late && random() % oneIn == 0)
      ::usleep(random() % 3000);
  }

private:
  const bool late;
  std::mt19937 random;
};
} // namespace

IRIS_ON_DEVICES(Sequences, 2u, 3u, 4u, 8u);

//===----------------------------------------------------------------------===//
// Ten thousand calls
//===----------------------------------------------------------------------===//

/// A chain of calls, each on the previous call's output.
static std::string tenThousandCalls(World &world, Communicator &comm) {
  constexpr uint64_t count = 48;
  constexpr int calls = 10000;
  const uint32_t n = comm.size(), me = world.rank();
  const uint64_t total = n * count;
  RANK_ASSIGN(uint64_t a, world.allocate(total * 4));
  RANK_ASSIGN(uint64_t b, world.allocate(total * 4));
  RANK_ASSIGN(uint64_t table, world.allocate(total * 4));
  // The data of all ranks, computed here.
  std::vector<std::vector<uint32_t>> all(n, std::vector<uint32_t>(total));
  for (uint32_t rank = 0; rank < n; ++rank)
    for (uint64_t i = 0; i < total; ++i)
      all[rank][i] = static_cast<uint32_t>((rank + 1) * 2654435761u ^ i * i);
  // Makes the ranks' data differ again: some of it overwrites the data after
  // every call.
  const std::vector<std::vector<uint32_t>> fresh = all;
  RANK_TRY(world.copyToDevice(a, fresh[me].data(), total * 4));
  RANK_TRY(world.copyToDevice(table, fresh[me].data(), total * 4));
  RANK_TRY(world.sync());

  auto run = [&](Op op, uint64_t in, uint64_t out, uint64_t elements,
                 uint32_t root = 0) {
    Problem p;
    p.op = op;
    p.dtype = DType::i32;
    p.count = elements;
    p.root = root;
    return call(world, comm, p, in, out);
  };
  std::mt19937 random(7);
  Delay delay(me);
  for (int step = 0; step < calls; ++step) {
    delay.pass(256);
    auto next = all;
    std::vector<uint32_t> sum(total);
    uint32_t root = random() % n;
    uint64_t mine = a + me * count * 4;
    switch (random() % 6) {
    case 0:
      RANK_TRY(run(Op::allReduce, a, b, total));
      for (const std::vector<uint32_t> &data : all)
        for (uint64_t i = 0; i < total; ++i)
          sum[i] += data[i];
      std::fill(next.begin(), next.end(), sum);
      break;
    case 1:
      RANK_TRY(run(Op::allGather, a, b, count));
      for (uint64_t i = 0; i < total; ++i)
        for (uint32_t rank = 0; rank < n; ++rank)
          next[rank][i] = all[i / count][i % count];
      break;
    case 2:
      RANK_TRY(run(Op::allToAll, a, b, count));
      for (uint64_t i = 0; i < total; ++i)
        for (uint32_t rank = 0; rank < n; ++rank)
          next[rank][i] = all[i / count][rank * count + i % count];
      break;
    case 3:
      RANK_TRY(run(Op::broadcast, a, b, total, root));
      std::fill(next.begin(), next.end(), all[root]);
      break;
    case 4:
      RANK_TRY(run(Op::reduceScatter, a, mine, count));
      RANK_TRY(run(Op::allGather, mine, b, count));
      for (const std::vector<uint32_t> &data : all)
        for (uint64_t i = 0; i < total; ++i)
          sum[i] += data[i];
      std::fill(next.begin(), next.end(), sum);
      break;
    case 5:
      RANK_TRY(run(Op::scatter, a, b, count, root));
      RANK_TRY(run(Op::allGather, b, a, count));
      RANK_TRY(world.copyOnDevice(b, a, total * 4));
      std::fill(next.begin(), next.end(), all[root]);
      break;
    }
    uint64_t at = random() % (total - 16);
    RANK_TRY(world.copyOnDevice(b + at * 4, table + at * 4, 16 * 4));
    for (uint32_t rank = 0; rank < n; ++rank)
      std::copy_n(&fresh[rank][at], 16, &next[rank][at]);
    all = std::move(next);
    std::swap(a, b);
  }
  std::vector<uint32_t> got(total);
  RANK_TRY(world.copyToHost(got.data(), a, total * 4));
  RANK_TRY(world.synchronize());
  RANK_CHECK(got == all[me]);
  RANK_TRY(world.sync());
  return "";
}

TEST_P(Sequences, TenThousandCallsInARow) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    return tenThousandCalls(*world, *comm);
  });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {
/// One call, with its own memory.
struct Step {
  Problem problem;
  Config config;
  uint64_t in = 0;
  /// Offset of its output in all outputs, and in a record of them.
  uint64_t offset = 0;
};

/// Some calls as a graph, and calls between its launches, on one stream. Every
/// input is overwritten on the stream before a call and right after it; every
/// output is copied to a record on the device, which is checked after a batch
/// of rounds.
class GraphTest {
public:
  GraphTest(World &world, Communicator &comm)
      : world(world), comm(comm), me(world.rank()) {}

  std::string run();

private:
  static constexpr uint64_t batches = 10, roundsPerBatch = 20;
  static constexpr uint64_t count = 1500;

  std::string prepare();
  std::string capture();
  std::string enqueue(uint64_t round);
  std::string check(uint64_t round, const uint8_t *record) const;

  /// The steps with the data of one round. The last one is the call between the
  /// graphs, which differs in each round.
  std::vector<Step> stepsOf(uint64_t round) const;
  /// The call with the input, which is overwritten afterwards.
  Status callAndClear(const Step &step);

  World &world;
  Communicator &comm;
  const uint32_t me;
  std::vector<Step> steps; // of the graph
  uint64_t outputs = 0, records = 0, eagerIn = 0;
  uint64_t recordBytes = 0;
  Stream stream;
  Graph graph;
  /// Inputs of a batch, which must outlive the stream's copies.
  std::vector<std::vector<uint8_t>> staged;
  Delay delay{me};
};
} // namespace

static const std::pair<Op, const char *> graphSteps[] = {
    {Op::allReduce, "one_shot_packet"},
    {Op::allGather, "push"},
    {Op::allReduce, "two_shot"},
    {Op::allReduce, "two_shot_push"},
    {Op::reduceScatter, "packet"},
    {Op::allToAll, "push"},
    {Op::allReduce, "two_shot_packet"},
    {Op::allGather, "packet"},
    {Op::allGather, "copy_engine"},
    {Op::broadcast, "push"},
    {Op::broadcast, "packet"},
    {Op::reduce, "packet"},
    {Op::allReduce, "one_shot"},
    {Op::reduceScatter, "pull"},
    {Op::allToAll, "packet"},
    {Op::allReduce, "ring"},
    {Op::gather, "pull"},
    {Op::scatter, "push"},
};

std::string GraphTest::prepare() {
  // The maximum size for each, at the same offsets on all ranks.
  const uint64_t bytes = sizeof(float) * count * comm.size();
  for (const auto &[op, variant] : graphSteps) {
    Step step;
    step.problem.op = op;
    step.problem.count = count;
    step.problem.root = comm.size() - 1;
    step.problem.ranks = comm.group().ranks;
    step.config.variant = variant;
    RANK_ASSIGN(step.in, world.allocate(bytes));
    step.offset = bytes * steps.size();
    steps.push_back(step);
    RANK_TRY(comm.prepare(op, step.problem.dtype, step.problem.reduce,
                          &step.config));
  }
  RANK_ASSIGN(eagerIn, world.allocate(bytes));
  recordBytes = bytes * (steps.size() + 1);
  RANK_ASSIGN(outputs, world.allocate(recordBytes));
  RANK_ASSIGN(records, world.allocate(recordBytes * roundsPerBatch));
  RANK_ASSIGN(stream, world.createStream());
  RANK_TRY(world.sync());
  return "";
}

Status GraphTest::callAndClear(const Step &step) {
  const Problem &p = step.problem;
  IRISRT_RETURN_IF_ERROR(call(world, comm, p, step.in, outputs + step.offset,
                              &step.config, stream));
  if (p.inCount(me) == 0)
    return Status::success();
  return world.zero(step.in, sizeof(float) * p.inCount(me), stream);
}

std::string GraphTest::capture() {
  RANK_TRY(world.beginCapture(stream));
  for (const Step &step : steps)
    RANK_TRY(callAndClear(step));
  RANK_ASSIGN(graph, world.endCapture(stream));
  return "";
}

std::vector<Step> GraphTest::stepsOf(uint64_t round) const {
  std::vector<Step> all = steps;
  Step eager = steps[round % steps.size()];
  eager.in = eagerIn;
  eager.offset = recordBytes / (steps.size() + 1) * steps.size();
  all.push_back(eager);
  for (size_t i = 0; i < all.size(); ++i)
    all[i].problem.seed = round * all.size() + i;
  return all;
}

std::string GraphTest::enqueue(uint64_t round) {
  std::vector<Step> now = stepsOf(round);
  for (const Step &step : now) {
    staged.push_back(inputOf(step.problem, me));
    const std::vector<uint8_t> &input = staged.back();
    if (!input.empty())
      RANK_TRY(world.copyToDevice(step.in, input.data(), input.size(), stream));
  }
  // The call comes before the graph in every other round.
  if (round % 2 == 0)
    RANK_TRY(callAndClear(now.back()));
  delay.pass(8);
  RANK_TRY(world.launchGraph(graph, stream));
  if (round % 2 == 1)
    RANK_TRY(callAndClear(now.back()));
  RANK_TRY(world.copyOnDevice(records + recordBytes * (round % roundsPerBatch),
                              outputs, recordBytes, stream));
  return "";
}

std::string GraphTest::check(uint64_t round, const uint8_t *record) const {
  for (const Step &step : stepsOf(round)) {
    std::vector<uint8_t> want = outputOf(step.problem, me);
    const uint8_t *from = record + step.offset;
    std::string wrong = compare(step.problem, {from, from + want.size()}, want);
    if (!wrong.empty())
      return "round " + std::to_string(round) + ", " +
             (step.in == eagerIn ? "outside" : "in") + " the graph: " +
             describe(step.problem, BufferLocation::heap, &step.config) + wrong;
  }
  return "";
}

std::string GraphTest::run() {
  std::string wrong = prepare();
  if (wrong.empty())
    wrong = capture();
  std::vector<uint8_t> got(recordBytes * roundsPerBatch);
  for (uint64_t batch = 0; batch < batches && wrong.empty(); ++batch) {
    uint64_t first = batch * roundsPerBatch;
    for (uint64_t i = 0; i < roundsPerBatch && wrong.empty(); ++i)
      wrong = enqueue(first + i);
    if (!wrong.empty())
      break;
    RANK_TRY(world.copyToHost(got.data(), records, got.size(), stream));
    RANK_TRY(world.synchronize(stream));
    staged.clear();
    for (uint64_t i = 0; i < roundsPerBatch && wrong.empty(); ++i)
      wrong = check(first + i, &got[recordBytes * i]);
  }
  if (!wrong.empty())
    return wrong;
  RANK_TRY(world.sync());
  RANK_TRY(world.destroyGraph(graph));
  return "";
}

TEST_P(Sequences, GraphsAndCallsOnOneStream) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    return GraphTest(*world, *comm).run();
  });
}
