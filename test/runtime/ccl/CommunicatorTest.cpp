// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators with stand-in kernels and a stand-in compiler.
#include "iris/ccl/Communicator.h"
#include "ccl/Agreement.h"
#include "support/LoadedImages.h"
#include "support/Ranks.h"
#include "support/ccl/CacheFolder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static WorldOptions worldOptionsOf(const LaunchInfo &launch) {
  WorldOptions options;
  options.launch = launch;
  options.heapBytes = 64 << 20;
  options.heapChunkBytes = 4 << 20;
  options.waitLimit = 20;
  options.collectiveLimit = 60;
  return options;
}

static Expected<std::unique_ptr<World>> makeWorld(const LaunchInfo &launch,
                                                  bool forceTable = false) {
  WorldOptions options = worldOptionsOf(launch);
  options.forceTable = forceTable;
  return World::create(options);
}

static CommunicatorOptions optionsOf(const CacheFolder &folder,
                                     std::vector<uint32_t> ranks = {}) {
  CommunicatorOptions options;
  options.ranks = std::move(ranks);
  options.workspaceBytes = 1 << 20;
  options.cache = std::make_shared<KernelCache>(folder.options());
  return options;
}

static void *pointer(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

static int32_t valueOf(uint64_t rank, uint64_t index, uint64_t call) {
  uint64_t hash = (rank + 1) * 0x9e3779b97f4a7c15ull ^
                  (index + 1) * 0xbf58476d1ce4e5b9ull ^ call << 40;
  hash = (hash ^ hash >> 31) * 0x94d049bb133111ebull;
  return static_cast<int32_t>(hash >> 32);
}

/// Calls on one communicator, and their results.
static std::string useGroup(World &world, Communicator &comm, int32_t *in,
                            int32_t *out, size_t count, uint64_t seed) {
  const std::vector<uint32_t> &ranks = comm.group().ranks;
  auto me = static_cast<uint64_t>(comm.index());
  for (size_t i = 0; i < count; ++i)
    in[i] = valueOf(world.rank(), i, seed);
  RANK_TRY(comm.barrier());
  RANK_TRY(comm.allGather(in, out, count, DType::i32));
  RANK_TRY(world.synchronize());
  for (size_t m = 0; m < ranks.size(); ++m)
    for (size_t i = 0; i < count; ++i)
      RANK_CHECK(out[m * count + i] == valueOf(ranks[m], i, seed));

  auto sumAt = [&](size_t i) {
    uint32_t sum = 0;
    for (uint32_t rank : ranks)
      sum += static_cast<uint32_t>(valueOf(rank, i, seed));
    return static_cast<int32_t>(sum);
  };
  RANK_TRY(comm.allReduce(in, out, count, DType::i32, ReduceOp::sum));
  RANK_TRY(world.synchronize());
  for (size_t i = 0; i < count; ++i)
    RANK_CHECK(out[i] == sumAt(i) && in[i] == valueOf(world.rank(), i, seed));

  // In place, which the kernel does not support: staged, and in several rounds.
  RANK_TRY(comm.allReduce(in, in, count, DType::i32, ReduceOp::sum));
  for (uint32_t root = 0; root < ranks.size(); ++root)
    RANK_TRY(comm.broadcast(root == me ? out : nullptr,
                            out + (root + 1) * count, count, DType::i32, root));
  RANK_TRY(world.synchronize());
  for (size_t i = 0; i < count; ++i) {
    RANK_CHECK(in[i] == sumAt(i));
    for (size_t root = 0; root < ranks.size(); ++root)
      RANK_CHECK(out[(root + 1) * count + i] == sumAt(i));
  }

  // Memory outside the symmetric heap.
  std::vector<int32_t> own(count), result(count);
  for (size_t i = 0; i < count; ++i)
    own[i] = valueOf(world.rank(), i, seed);
  RANK_TRY(comm.allReduce(own.data(), result.data(), count, DType::i32,
                          ReduceOp::sum));
  RANK_TRY(world.synchronize());
  for (size_t i = 0; i < count; ++i)
    RANK_CHECK(result[i] == sumAt(i));
  return "";
}

/// The code of a failure on the rank that has it, and on the other ones.
TEST(Agreement, AnErrorOfTheDeviceIsAbortedOnOtherRanks) {
  for (auto [code, ofPeers] :
       {std::pair(StatusCode::deviceError, StatusCode::aborted),
        {StatusCode::invalidArgument, StatusCode::invalidArgument}})
    EXPECT_EQ(
        "", failures(runProcesses(
                3,
                [code = code,
                 ofPeers = ofPeers](const LaunchInfo &launch) -> std::string {
                  RANK_ASSIGN(auto world, makeWorld(launch));
                  Group group;
                  group.ranks = {0, 1, 2};
                  group.index = static_cast<int32_t>(launch.rank);
                  Agreement agreement(*world, group, world->makeChannel());
                  const bool isFailing = launch.rank == 1;
                  Status status =
                      agreement.succeeded(isFailing ? Status(code, "on purpose")
                                                    : Status::success());
                  RANK_CHECK(status.code() == (isFailing ? code : ofPeers));
                  RANK_CHECK(status.message() ==
                             (isFailing ? "on purpose" : "rank 1: on purpose"));
                  RANK_TRY(agreement.succeeded(Status::success()));
                  RANK_TRY(world->destroy());
                  return "";
                })));
}

TEST(Communicator, WholeWorlds) {
  CacheFolder folder;
  auto body = [&](bool table) {
    return [&folder, table](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(auto world, makeWorld(launch, table));
      RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
      RANK_CHECK(comm->size() == launch.numRanks);
      RANK_CHECK(comm->index() == static_cast<int32_t>(launch.rank));
      RANK_ASSIGN(auto in, world->allocate<int32_t>(1 << 18));
      RANK_ASSIGN(auto out, world->allocate<int32_t>(4 << 18));
      for (size_t count : {1, 3, 64, 2500}) {
        std::string text = useGroup(*world, *comm, in, out, count, count);
        if (!text.empty())
          return text;
      }
      // Typed buffers are arguments as they are.
      auto one = in.slice(0, 1), sum = out.slice(0, 1);
      *one = 3;
      RANK_TRY(comm->allReduce(one, sum, one.size(), dtypeOf<int32_t>,
                               ReduceOp::sum));
      RANK_TRY(world->sync());
      RANK_CHECK(*sum == 3 * static_cast<int32_t>(launch.numRanks));
      RANK_TRY(comm->destroy());
      RANK_TRY(comm->destroy()); // a second call does nothing
      RANK_CHECK(comm->barrier().message().find("was destroyed") !=
                 std::string::npos);
      RANK_TRY(world->sync());
      return "";
    };
  };
  for (uint32_t n : {1u, 2u, 3u, 5u, 8u}) {
    EXPECT_EQ("", failures(runThreads(n, body(false)))) << n;
    EXPECT_EQ("", failures(runProcesses(n, body(n == 3)))) << n;
  }
}

TEST(Communicator, GroupsInAnyOrder) {
  CacheFolder folder;
  const std::vector<std::vector<uint32_t>> groups = {
      {6, 0, 1}, {3, 7}, {2, 5, 4}, {7, 6, 5, 4, 3, 2, 1, 0}, {4}};
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    std::vector<std::unique_ptr<Communicator>> comms;
    for (const std::vector<uint32_t> &ranks : groups) {
      RANK_ASSIGN(auto comm,
                  Communicator::create(*world, optionsOf(folder, ranks)));
      comms.push_back(std::move(comm));
    }
    RANK_ASSIGN(uint64_t in, world->allocate(1 << 20));
    RANK_ASSIGN(uint64_t out, world->allocate(4 << 20));
    for (uint64_t seed = 0; seed < 3; ++seed)
      for (const std::unique_ptr<Communicator> &comm : comms) {
        if (!comm->isMember()) {
          Status status = comm->allReduce(pointer(in), pointer(out), 4,
                                          DType::i32, ReduceOp::sum);
          RANK_CHECK(status.code() == StatusCode::failedPrecondition);
          RANK_CHECK(status.message().find("is no member of this "
                                           "communicator (ranks ") !=
                     std::string::npos);
          RANK_CHECK(!comm->prepare(Op::allGather).ok());
          continue;
        }
        std::string text =
            useGroup(*world, *comm, static_cast<int32_t *>(pointer(in)),
                     static_cast<int32_t *>(pointer(out)), 100, seed);
        if (!text.empty())
          return text;
      }
    for (const std::unique_ptr<Communicator> &comm : comms)
      RANK_TRY(comm->destroy());
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runThreads(8, body)));
  EXPECT_EQ("", failures(runProcesses(8, body)));
}

TEST(Communicator, WrongOptions) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    auto message = [&](std::vector<uint32_t> ranks, uint64_t bytes = 1 << 20) {
      CommunicatorOptions options = optionsOf(folder, std::move(ranks));
      options.workspaceBytes = bytes;
      return Communicator::create(*world, options).status().message();
    };
    RANK_CHECK(message({0, 2}) ==
               "communicator: rank 2 in a group of 2 ranks; expected less than "
               "2");
    RANK_CHECK(message({1, 1}) == "communicator: rank 1 is twice in a group");
    RANK_CHECK(message(std::vector<uint32_t>(17)) ==
               "communicator: a group of 17 ranks; expected 1 to 16");
    for (uint64_t bytes : {uint64_t(0), uint64_t(524284), uint64_t(524290),
                           (uint64_t(1) << 30) + 4, uint64_t(1) << 63})
      RANK_CHECK(message({}, bytes) ==
                 "communicator: a workspace of " + std::to_string(bytes) +
                     " bytes; expected a multiple of 4, 524288 to 1073741824 "
                     "(CommunicatorOptions::workspaceBytes)");
    CommunicatorOptions options = optionsOf(folder);
    options.maxPrograms = -1;
    RANK_CHECK(Communicator::create(*world, options).status().message() ==
               "communicator: at most -1 programs; expected at least 0 "
               "(CommunicatorOptions::maxPrograms)");
    options.maxPrograms = 0;
    // Too small for the kernel.
    options.workspaceBytes = 512 << 10;
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    Status status = comm->barrier();
    RANK_CHECK(status.message().find("needs a workspace of 1048576 bytes") !=
               std::string::npos);
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runThreads(2, body)));
}

TEST(Communicator, FailuresOfOneRankFailAllRanks) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    // Rank 2 has no compiler, and a cache folder of its own.
    CommunicatorOptions options = optionsOf(folder);
    KernelCacheOptions broken = folder.options();
    broken.maxBytes = 0;
    broken.compiler = "/nowhere";
    if (launch.rank == 2)
      options.cache = std::make_shared<KernelCache>(broken);
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    RANK_ASSIGN(uint64_t in, world->allocate(4096));
    for (int round = 0; round < 2; ++round) {
      Status status =
          comm->allGather(pointer(in), pointer(in + 1024), 16, DType::f32);
      RANK_CHECK(status.code() == StatusCode::unavailable);
      RANK_CHECK(status.message().find("'/nowhere' cannot be run") !=
                 std::string::npos);
      RANK_CHECK((status.message().find("rank 2: ") != std::string::npos) ==
                 (launch.rank != 2));
    }
    // The world is still usable.
    RANK_TRY(world->sync());
    RANK_ASSIGN(comm, Communicator::create(*world, optionsOf(folder)));
    RANK_TRY(comm->allGather(pointer(in), pointer(in + 1024), 16, DType::f32));
    // A request that the compiler rejects.
    options = optionsOf(folder);
    options.rewrite = [](const std::string &request) {
      return request + "// fail";
    };
    RANK_ASSIGN(comm, Communicator::create(*world, options));
    Status status = comm->prepare(Op::barrier);
    RANK_CHECK(status.message().find("is not to be") != std::string::npos);
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runThreads(4, body)));
  EXPECT_EQ("", failures(runProcesses(4, body)));
}

TEST(Communicator, MembersThatDiffer) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    CommunicatorOptions options = optionsOf(folder);
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    void *a = pointer(in), *b = pointer(in + 32768);
    Status status = launch.rank == 1 ? comm->barrier()
                                     : comm->allGather(a, b, 16, DType::f32);
    RANK_CHECK(status.code() == StatusCode::failedPrecondition);
    RANK_CHECK(status.message().find(
                   "members differ in what they call: rank 0 has 'all_gather "
                   "i8 size 3") != std::string::npos);
    RANK_CHECK(status.message().find("rank 1 has 'barrier i8 size 3") !=
               std::string::npos);

    options.checkCalls = true;
    RANK_ASSIGN(comm, Communicator::create(*world, options));
    for (int round = 0; round < 2; ++round)
      RANK_TRY(comm->allGather(a, b, 16, DType::f32));
    status = comm->allGather(a, b, 16 + launch.rank, DType::f32);
    RANK_CHECK(status.message().find("members differ in a call: rank 0 has") !=
               std::string::npos);
    RANK_CHECK(status.message().find("f32 x 16, 'out' at") !=
               std::string::npos);
    RANK_CHECK(!comm->broadcast(a, b, 16, DType::f32, launch.rank).ok());
    uint64_t shift = launch.rank == 2 ? 64 : 0;
    RANK_CHECK(
        !comm->allGather(a, pointer(in + 32768 + shift), 16, DType::f32).ok());
    // An error of a single rank is reported on all ranks.
    status = comm->allGather(launch.rank == 1 ? nullptr : a, b, 16, DType::f32);
    RANK_CHECK(status.message().find("'in' is null") != std::string::npos);
    RANK_CHECK(
        !comm->allGather(a, b, launch.rank == 2 ? 0 : 16, DType::f32).ok());
    RANK_TRY(comm->broadcast(a, b, 16, DType::f32, 1));
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runThreads(3, body)));
}

//===----------------------------------------------------------------------===//
// Errors on some ranks only: all ranks get a status, and soon
//===----------------------------------------------------------------------===//

/// A world with short time limits.
static Expected<std::unique_ptr<World>>
makeHastyWorld(const LaunchInfo &launch) {
  WorldOptions options = worldOptionsOf(launch);
  options.waitLimit = 1;
  options.collectiveLimit = 3;
  return World::create(options);
}

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

TEST(Communicator, ConfigsOfSomeMembersOnly) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeHastyWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    auto gather = [&](const Config *config) {
      return comm->allGather(pointer(in), pointer(in + 1024), 16, DType::i32,
                             {}, config);
    };
    Config tiles;
    tiles.tile = 128;
    const Config *mine = launch.rank == 1 ? &tiles : nullptr;
    // On first use the ranks exchange their arguments, and detect the
    // difference.
    auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < 2; ++round) {
      Status status = gather(mine);
      RANK_CHECK(status.code() == StatusCode::failedPrecondition);
      RANK_CHECK(status.message().find("members differ in what they call") !=
                 std::string::npos);
      RANK_CHECK(status.message().find("tile = 128") != std::string::npos);
    }
    RANK_TRY(gather(nullptr));
    RANK_TRY(world->sync());
    RANK_CHECK(secondsSince(begin) < 2);
    // Later calls exchange nothing: the kernels of all other ranks wait for
    // rank 1, and rank 1 for theirs.
    begin = std::chrono::steady_clock::now();
    Status status = gather(mine);
    RANK_CHECK(status.ok() == (launch.rank != 1));
    RANK_CHECK(!world->sync().ok());
    RANK_CHECK(!gather(nullptr).ok());
    RANK_CHECK(!comm->prepare(Op::allGather).ok());
    RANK_CHECK(secondsSince(begin) < 10);
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
  EXPECT_EQ("", failures(runThreads(3, body)));
}

/// One kernel serves any number of programs, but all ranks must launch equally
/// many.
TEST(Communicator, ProgramsOfMembersThatDiffer) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeHastyWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    auto gather = [&](int64_t programs) {
      Config config;
      config.variant = "push";
      config.programs = programs;
      return comm->allGather(pointer(in), pointer(in + 1024), 16, DType::i32,
                             {}, &config);
    };
    Status status = gather(launch.rank == 1 ? 3 : 2);
    RANK_CHECK(status.code() == StatusCode::failedPrecondition);
    RANK_CHECK(status.message().find("programs = 3") != std::string::npos);
    for (int64_t programs : {1, 2, 128})
      RANK_TRY(gather(programs));
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(Communicator, CallsThatOneMemberRefuses) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeHastyWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    Config wrong;
    wrong.variant = "magic";
    auto begin = std::chrono::steady_clock::now();
    Status status =
        comm->allGather(pointer(in), pointer(in + 1024), 16, DType::i32, {},
                        launch.rank == 1 ? &wrong : nullptr);
    if (launch.rank == 1) {
      RANK_CHECK(status.message().find("has no variant 'magic'") !=
                 std::string::npos);
      RANK_CHECK(secondsSince(begin) < 2);
      // All other ranks time out before the sync below does.
      std::this_thread::sleep_for(std::chrono::seconds(1));
    } else {
      RANK_CHECK(status.message().find(
                     "rank 1 did not join the collective of a group "
                     "(ranks 0, 1, 2) within 3 s") != std::string::npos);
    }
    RANK_CHECK(!world->sync().ok());
    RANK_CHECK(secondsSince(begin) < 15);
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(Communicator, PreparationsOfSomeMembersOnly) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeHastyWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    const bool isOdd = launch.rank == 1;
    Config wrong, tiles;
    wrong.variant = "magic";
    tiles.tile = 128;
    auto begin = std::chrono::steady_clock::now();
    auto prepare = [&](const Config *config,
                       Placement placement = Placement::onHeap) {
      return comm->prepare(Op::allGather, DType::i8, {}, config, placement);
    };
    RANK_TRY(prepare(nullptr));
    Status status = prepare(isOdd ? &wrong : nullptr);
    RANK_CHECK(status.code() == StatusCode::invalidArgument);
    RANK_CHECK(status.message().find(std::string(isOdd ? "" : "rank 1: ") +
                                     "all_gather has no variant 'magic'") == 0);
    // Also if some ranks have loaded the kernels already.
    status = prepare(isOdd ? &tiles : nullptr);
    RANK_CHECK(status.message() ==
               "members differ in what they prepare: rank 0 has 'all_gather i8 "
               "size 3, as chosen', rank 1 has 'all_gather i8 size 3 {tile = "
               "128}'");
    status = prepare(nullptr, isOdd ? Placement::anywhere : Placement::onHeap);
    RANK_CHECK(status.message().find("size 3, as chosen, for buffers "
                                     "anywhere'") != std::string::npos);
    status = comm->prepare(isOdd ? Op(99) : Op::barrier);
    RANK_CHECK(status.code() == StatusCode::invalidArgument);
    // The world is still usable.
    RANK_TRY(prepare(&tiles, Placement::anywhere));
    RANK_TRY(world->sync());
    RANK_CHECK(secondsSince(begin) < 2.5);
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(Communicator, CompilersOfOneMember) {
  CacheFolder folder;
  struct Case {
    uint32_t rank;
    const char *addition;
    const char *message;
  };
  // Failures of one rank's compiler: of the first rank to compile, or of
  // another.
  const Case cases[] = {
      {0, "// fail", "is not to be"},
      {2, "// fail", "is not to be"},
      {0, "// die", "signal"},
      {2, "// die", "signal"},
      {0, "// garbage", "the output of '"},
      {2, "// garbage", "the output of '"},
      {0, "// hang", "1 s"},
      {2, "// hang", "1 s"},
  };
  auto body = [&](const LaunchInfo &launch) -> std::string {
    WorldOptions worldOptions = worldOptionsOf(launch);
    worldOptions.waitLimit = 1;
    worldOptions.collectiveLimit = 20;
    RANK_ASSIGN(auto world, World::create(worldOptions));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    auto gather = [&](Communicator &comm) {
      return comm.allGather(pointer(in), pointer(in + 1024), 16, DType::i32);
    };
    for (const Case &each : cases) {
      CommunicatorOptions options = optionsOf(folder);
      KernelCacheOptions cache = folder.options();
      cache.compileLimit = 1;
      options.cache = std::make_shared<KernelCache>(cache);
      if (launch.rank == each.rank)
        options.rewrite = [&each](const std::string &request) {
          return request + each.addition;
        };
      RANK_ASSIGN(auto comm, Communicator::create(*world, options));
      auto begin = std::chrono::steady_clock::now();
      Status status = gather(*comm);
      RANK_CHECK(secondsSince(begin) < 10);
      if (status.message().find(each.message) == std::string::npos)
        return std::string(each.addition) + ": " + status.toString();
      RANK_CHECK(
          (status.message().find("rank " + std::to_string(each.rank) + ": ") !=
           std::string::npos) == (launch.rank != each.rank));
      RANK_TRY(world->sync());
    }
    // One rank's kernel differs.
    CommunicatorOptions options = optionsOf(folder);
    if (launch.rank == 2)
      options.rewrite = [](const std::string &request) {
        std::string text = request;
        size_t at = text.find("programs = ");
        return text.replace(at, text.find_first_of(",}", at) - at,
                            "programs = 7");
      };
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    Status status = gather(*comm);
    RANK_CHECK(status.message().find("members differ in a kernel: rank 0 "
                                     "has") != std::string::npos);
    // No rank has cached it.
    RANK_CHECK(!gather(*comm).ok());
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
  EXPECT_EQ("", failures(runThreads(3, body)));
}

TEST(Communicator, OptionsOfSomeRanksOnly) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeHastyWorld(launch));
    // Rank 1 passes invalid options, before it allocates.
    CommunicatorOptions options = optionsOf(folder);
    if (launch.rank == 1)
      options.ranks = {1, 1};
    RANK_CHECK(Communicator::create(*world, options).ok() ==
               (launch.rank != 1));
    // The heaps differ now, which sync reports, but no call waits for a channel
    // that other ranks do not use.
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    auto begin = std::chrono::steady_clock::now();
    RANK_TRY(comm->prepare(Op::allGather));
    RANK_CHECK(secondsSince(begin) < 2.5);
    RANK_CHECK(!world->sync().ok());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

//===----------------------------------------------------------------------===//
// Calls and kernels
//===----------------------------------------------------------------------===//

TEST(Communicator, CallsThatAreRefused) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    RANK_CHECK(
        !comm->allReduce(nullptr, pointer(in), 1, DType::i32, ReduceOp::sum)
             .ok());
    RANK_CHECK(!comm->allReduce(pointer(in), pointer(in + 4), 2, DType::i32,
                                ReduceOp::sum)
                    .ok());
    // Nothing is launched, so nothing is loaded.
    RANK_TRY(comm->allReduce(nullptr, nullptr, 0, DType::i32, ReduceOp::sum));
    RANK_CHECK(folder.compilations() == 0);
    RANK_CHECK(!comm->prepare(Op(11)).ok());
    Config wrong;
    wrong.variant = "magic";
    RANK_CHECK(
        !comm->prepare(Op::allReduce, DType::i32, ReduceOp::sum, &wrong).ok());
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runThreads(2, body)));
}

/// Without prepare(), and again.
TEST(Communicator, CapturesLoadKernels) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    RANK_ASSIGN(uint64_t out, world->allocate(65536));
    RANK_ASSIGN(Stream stream, world->createStream());
    auto gather = [&] {
      return comm->allGather(pointer(in), pointer(out), 64, DType::i32, stream);
    };
    RANK_CHECK(!world->capturing());
    RANK_TRY(world->beginCapture(stream));
    RANK_CHECK(world->capturing());
    RANK_CHECK(world->canLoad());
    RANK_TRY(gather());
    RANK_ASSIGN(Graph graph, world->endCapture(stream));
    RANK_CHECK(!world->capturing());
    auto *values = static_cast<int32_t *>(pointer(in));
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 64; ++i)
        values[i] = valueOf(launch.rank, i, round);
      RANK_TRY(world->launchGraph(graph, stream));
      RANK_TRY(world->synchronize(stream));
      for (int i = 0; i < 64; ++i)
        for (uint32_t rank = 0; rank < 3; ++rank)
          RANK_CHECK(static_cast<int32_t *>(pointer(out))[rank * 64 + i] ==
                     valueOf(rank, i, round));
      RANK_TRY(world->barrier());
    }
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(Communicator, CapturesOfBuffersThatWerePreparedFor) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t heap, world->allocate(65536));
    RANK_ASSIGN(Stream stream, world->createStream());
    auto *a = static_cast<int32_t *>(pointer(heap));
    auto *b = static_cast<int32_t *>(pointer(heap + 32768));
    std::vector<int32_t> own(256), result(512);
    auto sum = [&](const void *in, void *out, const Config *config = nullptr) {
      return comm->allReduce(in, out, 64, DType::i32, ReduceOp::sum, stream,
                             config);
    };
    // The result of `calls` during a capture, which is to need new kernels or
    // not; nothing runs.
    auto captured = [&](auto calls, bool needsKernels = false) {
      const auto before = folder.compilations();
      Status status = world->beginCapture(stream);
      if (status.ok())
        status = calls();
      auto graph = world->endCapture(stream);
      if (graph.ok())
        world->destroyGraph(*graph).ignore("it did not run");
      if (status.ok() && (folder.compilations() != before) != needsKernels)
        return Status(StatusCode::internal, "new kernels, or none");
      return status;
    };
    auto gatherOwn = [&] {
      return comm->allGather(own.data(), result.data(), 64, DType::i32, stream);
    };

    // Buffers on the heap: distinct, and in place, which the kernel does not
    // support.
    RANK_TRY(comm->prepare(Op::allReduce, DType::i32, ReduceOp::sum));
    RANK_TRY(captured([&] { return sum(a, b); }));
    RANK_TRY(captured([&] { return sum(a, a); }));
    RANK_TRY(comm->prepare(Op::allGather));
    RANK_TRY(captured(gatherOwn, /*needsKernels=*/true));
    RANK_TRY(comm->prepare(Op::allGather, DType::i8, {}, nullptr,
                           Placement::anywhere));
    RANK_TRY(captured(gatherOwn));

    // A config with a variant requests one kernel, or two.
    Config named;
    named.variant = "one_shot";
    named.tile = 128;
    RANK_TRY(comm->prepare(Op::allReduce, DType::i32, ReduceOp::sum, &named));
    RANK_TRY(captured([&] { return sum(a, b, &named); }));
    RANK_TRY(captured([&] { return sum(a, a, &named); }, true));
    RANK_TRY(comm->prepare(Op::allReduce, DType::i32, ReduceOp::sum, &named,
                           Placement::anywhere));
    RANK_TRY(captured([&] { return sum(a, a, &named); }));
    RANK_TRY(captured([&] { return sum(own.data(), b, &named); }));
    // A config without a variant requests every kernel that may be selected.
    Config tiles;
    tiles.tile = 256;
    RANK_TRY(comm->prepare(Op::allReduce, DType::i32, ReduceOp::sum, &tiles));
    RANK_TRY(captured([&] { return sum(a, a, &tiles); }));
    RANK_TRY(comm->prepare(Op::barrier, DType::i8, {}, nullptr,
                           Placement::anywhere));
    RANK_TRY(captured([&] { return comm->barrier(stream); }));
    RANK_CHECK(
        comm->prepare(Op::allGather, DType::i8, {}, nullptr, Placement(2))
            .message() == "prepare: 2 is no placement");
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(Communicator, PackagesThatWereCompiledAhead) {
  CacheFolder folder;
  std::string path = folder.path() + ".pkg";
  {
    KernelCache cache(folder.options());
    KernelRequest request;
    request.source = "iris.collective @run all_gather i8 size 2 {tile = 32}";
    request.target = "host";
    request.translation = "stride";
    ASSERT_TRUE(cache.find(request).ok());
    std::filesystem::copy_file(folder.entries()[0], path);
  }
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    CommunicatorOptions options = optionsOf(folder);
    KernelCacheOptions none = folder.options();
    none.compiler = "/nowhere";
    options.cache = std::make_shared<KernelCache>(none);
    RANK_ASSIGN(auto comm, Communicator::create(*world, options));
    RANK_CHECK(!comm->addPackage("/nowhere").ok());
    RANK_TRY(comm->addPackage(path));
    // The kernel that the selector requests is missing, but another one exists.
    RANK_TRY(comm->prepare(Op::allGather));
    Config push;
    push.variant = "push";
    push.tile = 32;
    RANK_TRY(comm->prepare(Op::allGather, DType::i8, {}, &push));
    Config other;
    other.tile = 16;
    RANK_CHECK(!comm->prepare(Op::allGather, DType::i8, {}, &other).ok());
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    RANK_TRY(comm->allGather(pointer(in), pointer(in + 1024), 16, DType::f64));
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

/// The file of a package with the kernels of these requests, one per line.
static std::string compileAhead(const CacheFolder &folder,
                                const std::string &requests) {
  std::string path = folder.path() + ".ahead";
  std::ofstream(path + ".mlir") << requests;
  std::string command =
      IRIS_TEST_COMPILER " --target=host '" + path + ".mlir' -o '" + path + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return path;
}

TEST(Communicator, PackagesOfManyKernelsAreLoadedOnce) {
  CacheFolder folder;
  std::string path = compileAhead(folder, R"(
    iris.collective @a all_gather i8 size 2 {variant = "push"}
    iris.collective @b all_reduce sum i32 size 2 {variant = "one_shot"}
    iris.collective @c broadcast i8 size 2 {variant = "push"}
    iris.collective @d barrier i8 size 2 {variant = "flags"}
  )");
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    void *a = pointer(in), *b = pointer(in + 32768);
    // Communicators that each read the file.
    for (int round = 0; round < 2; ++round) {
      CommunicatorOptions options = optionsOf(folder);
      KernelCacheOptions none = folder.options();
      none.compiler = "/nowhere";
      options.cache = std::make_shared<KernelCache>(none);
      RANK_ASSIGN(auto comm, Communicator::create(*world, options));
      RANK_TRY(comm->addPackage(path));
      RANK_TRY(comm->allGather(a, b, 16, DType::f32));
      RANK_TRY(comm->allReduce(a, b, 16, DType::i32, ReduceOp::sum));
      RANK_TRY(comm->broadcast(a, b, 16, DType::f32, 1));
      RANK_TRY(comm->barrier());
      RANK_CHECK(loadedImages() == 1);
      // The world's modules outlive the communicator and its packages.
      RANK_TRY(comm->destroy());
    }
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(Communicator, LaunchesByHandAreChecked) {
  CacheFolder folder;
  std::string path = compileAhead(
      folder, "iris.collective @a barrier i8 size 2 {programs = 3}");
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(Package package, Package::fromFile(path));
    RANK_ASSIGN(Module module, world->load(package));
    RANK_ASSIGN(Kernel kernel, module.kernel("a::kernel"));
    RANK_CHECK(kernel.info().maxPrograms == 3u);
    RANK_ASSIGN(uint64_t workspace, world->allocate(65536));
    std::vector<IrisRtArg> args = {
        makeContextArg(),
        makeMemrefArg(IRISRT_ELT_I8, workspace, {0}),
        makeMemrefArg(IRISRT_ELT_I8, workspace, {0}),
        makeMemrefArg(IRISRT_ELT_I32, workspace, {16384}),
        makeScalarArg(IRISRT_ELT_INDEX, 0),
        makeScalarArg(IRISRT_ELT_INDEX, 0)};
    auto message = [&](std::array<uint64_t, 3> programs) {
      return world->launch(kernel, programs, args).message();
    };
    RANK_CHECK(message({4, 1, 1}) ==
               "a::kernel: a launch of 4 x 1 x 1 programs; the collective was "
               "generated for at most 3 x 1 x 1");
    RANK_CHECK(message({1, 3, 1}).find("1 x 3 x 1 programs") !=
               std::string::npos);
    RANK_CHECK(message({1, 1, 2}).find("1 x 1 x 2 programs") !=
               std::string::npos);
    RANK_TRY(world->launch(kernel, {3, 1, 1}, args));
    RANK_TRY(world->launch(kernel, {1, 1, 1}, args));
    RANK_ASSIGN(Group alone, world->makeGroup({launch.rank}));
    Status status = world->launch(kernel, {1, 1, 1}, args, {}, &alone);
    RANK_CHECK(status.message() ==
               "a::kernel was generated for a group of 2 ranks, not of 1");
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(Communicator, ChoicesAreKeptForEachConfig) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    auto gather = [&](const Config *config) {
      return comm->allGather(pointer(in), pointer(in + 1024), 16, DType::i32,
                             {}, config);
    };
    // Each config but the first needs its own kernel, also if only one number
    // differs. The first may be equal to the default.
    std::vector<Config> configs(7);
    configs[1].variant = "pull";
    configs[2].variant = "push";
    configs[3].tile = 128;
    configs[4].warps = 2;
    configs[5].xcds = 2;
    configs[6].staged = true;
    RANK_TRY(gather(nullptr));
    RANK_TRY(gather(&configs[0]));
    for (int round = 0; round < 3; ++round)
      for (size_t i = 0; i < configs.size(); ++i) {
        RANK_TRY(world->barrier());
        size_t before = folder.compilations();
        RANK_TRY(world->barrier());
        RANK_TRY(gather(nullptr));
        RANK_TRY(gather(&configs[i]));
        bool isNew = round == 0 && i != 0;
        RANK_TRY(world->barrier());
        RANK_CHECK(folder.compilations() == before + (isNew ? 1 : 0));
      }
    RANK_TRY(world->sync());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(Communicator, ManyCallsBackToBack) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, optionsOf(folder)));
    RANK_ASSIGN(uint64_t in, world->allocate(65536));
    RANK_ASSIGN(uint64_t out, world->allocate(65536));
    auto *values = static_cast<int32_t *>(pointer(in));
    for (int i = 0; i < 16; ++i)
      values[i] = valueOf(launch.rank, i, 0);
    RANK_TRY(comm->prepare(Op::allReduce, DType::i32, ReduceOp::sum));
    RANK_TRY(comm->prepare(Op::allGather));
    for (int call = 0; call < 5000; ++call) {
      RANK_TRY(comm->allReduce(pointer(in), pointer(out), 16, DType::i32,
                               ReduceOp::sum));
      RANK_TRY(
          comm->allGather(pointer(out), pointer(out + 1024), 16, DType::i32));
    }
    RANK_TRY(world->sync());
    auto *results = static_cast<int32_t *>(pointer(out + 1024));
    for (int i = 0; i < 32; ++i)
      RANK_CHECK(
          results[i] ==
          static_cast<int32_t>(static_cast<uint32_t>(valueOf(0, i % 16, 0)) +
                               static_cast<uint32_t>(valueOf(1, i % 16, 0))));
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(2, body, 120)));
}
