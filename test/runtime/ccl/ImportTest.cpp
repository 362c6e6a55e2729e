// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives on memory of the program that is imported: with its own
// addresses, without staging. On GPUs too, where there are enough.
#include "ccl/OnDevices.h"

#include "iris/rt/MemoryPool.h"

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

class ImportedCollectives : public OnDevices {};
IRIS_ON_DEVICES(ImportedCollectives, 1u, 2u, 3u, 4u, 8u);

namespace {
/// A problem in memory of the program.
struct Case {
  Problem problem;
  bool inPlace = false;
  uint64_t in = 0, out = 0;
};
} // namespace

static Call callOf(const Case &each) {
  Call call;
  call.op = each.problem.op;
  call.dtype = each.problem.dtype;
  call.reduce = each.problem.reduce;
  call.count = each.problem.count;
  call.root = each.problem.root;
  call.in = toPointer(each.in);
  call.out = toPointer(each.out);
  return call;
}

/// Where the smaller buffer is in the larger one, in elements.
static void placeInPlace(Case &each, uint32_t me) {
  const uint64_t width = 4, chunk = me * each.problem.count * width;
  if (each.problem.op == Op::allGather)
    each.in = each.out + chunk;
  else if (each.problem.op == Op::reduceScatter)
    each.out = each.in + chunk;
  else
    each.out = each.in;
}

static std::string solveCase(World &world, Communicator &comm, Case each) {
  const auto me = static_cast<uint32_t>(comm.index());
  if (each.inPlace)
    placeInPlace(each, me);
  const std::vector<uint8_t> input = inputOf(each.problem, me);
  const std::vector<uint8_t> want = outputOf(each.problem, me);
  std::vector<uint8_t> got(want.size());
  if (!input.empty())
    RANK_TRY(world.writeNow(each.in, input.data(), input.size()));
  RANK_TRY(call(world, comm, each.problem, each.in, each.out));
  RANK_TRY(world.sync());
  if (!got.empty())
    RANK_TRY(world.readNow(got.data(), each.out, got.size()));
  RANK_TRY(world.barrier());
  std::string wrong = compare(each.problem, got, want);
  return wrong.empty() ? "" : describe(each.problem) + wrong;
}

/// Whether the call stages its buffers, as the communicator explains.
static Expected<bool> isStaged(const Communicator &comm, const Case &each) {
  IRISRT_ASSIGN_OR_RETURN(std::string text, comm.explain(callOf(each)));
  return text.find("staged") != std::string::npos;
}

TEST_P(ImportedCollectives, InPlaceOfStaging) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    constexpr uint64_t most = 20000;
    const uint64_t bytes = 4 * most * launch.numRanks + 4096;
    WorldOptions options = worldOptions(kind(), launch);
    RANK_ASSIGN(auto world, World::create(options));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(auto pool,
                MemoryPool::create(kind(), deviceIndexOf(kind(), launch.rank)));
    RANK_ASSIGN(uint64_t in, pool->allocate(bytes));
    RANK_ASSIGN(uint64_t out, pool->allocate(bytes));
    uint64_t seed = 0;
    std::vector<Case> cases;
    for (Op op : {Op::allReduce, Op::allGather, Op::reduceScatter, Op::allToAll,
                  Op::broadcast, Op::reduce})
      for (uint64_t count : {uint64_t(3), most})
        for (bool inPlace : {false, true}) {
          if (inPlace && op != Op::allReduce && op != Op::allGather &&
              op != Op::reduceScatter)
            continue;
          Case each;
          each.problem.op = op;
          each.problem.dtype = DType::i32;
          each.problem.count = count;
          for (uint32_t rank = 0; rank < launch.numRanks; ++rank)
            each.problem.ranks.push_back(rank);
          each.problem.root = static_cast<uint32_t>(seed % launch.numRanks);
          each.problem.seed = ++seed;
          each.inPlace = inPlace;
          // An offset that is the same on all ranks.
          each.in = in + 16 * (seed % 5);
          each.out = out + 16 * (seed % 3);
          cases.push_back(each);
        }
    auto all = [&](bool staged) -> std::string {
      for (const Case &each : cases) {
        Case placed = each;
        if (each.inPlace)
          placeInPlace(placed, launch.rank);
        if (launch.numRanks > 1) {
          RANK_ASSIGN(bool is, isStaged(*comm, placed));
          RANK_CHECK(is == staged);
        }
        std::string wrong = solveCase(*world, *comm, each);
        if (!wrong.empty())
          return wrong;
      }
      return "";
    };
    if (std::string wrong = all(/*staged=*/true); !wrong.empty())
      return "before: " + wrong;
    RANK_ASSIGN(uint64_t importedIn, world->import(in, bytes));
    RANK_ASSIGN(uint64_t importedOut, world->import(out, bytes));
    if (std::string wrong = all(/*staged=*/false); !wrong.empty())
      return "imported: " + wrong;
    RANK_TRY(world->release(importedIn));
    RANK_TRY(world->release(importedOut));
    if (std::string wrong = all(/*staged=*/true); !wrong.empty())
      return "released: " + wrong;
    RANK_TRY(comm->destroy());
    RANK_TRY(world->destroy());
    RANK_TRY(pool->free(in));
    RANK_TRY(pool->free(out));
    return "";
  });
}
