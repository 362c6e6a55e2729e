// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between nodes, which are declared on one machine, over NCCL:
// checks the results of all operations, then prints the time of a call beside
// that of NCCL alone, both in replays of graphs.
//
//   iris-nodes-measure --library=PATH [--device=cuda] [--nodes=ab]
//                      [--kernels=FOLDER] [--min=1024] [--max=268435456]
//                      [--rounds=21]
//
// --library: the absolute path of NCCL or RCCL; with --device=host
// libiris_nccl.
// --nodes:   a letter for the node of each rank; rank r has device r.
// --kernels: kernels of the device that were compiled before, as by
//            iris-bench --nccl; needed where a node has several ranks, and for
//            the reductions that kernels do, if there is no compiler.
// --max=0:   only checks.
#include "internode/NcclLibrary.h"
#include "iris/ccl/JobCommunicator.h"
#include "iris/rt/HostStream.h"
#include "support/JoinNodes.h"
#include "support/Ranks.h"
#include "support/Shared.h"
#include "support/ccl/Solve.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
struct Settings {
  std::string device = "cuda", nodes = "ab", library, kernels;
  uint64_t min = 1 << 10, max = 256 << 20, rounds = 21;
};

/// A stream of the device's API, and NCCL alone.
struct Rank {
  static Expected<Rank> create(const Settings &settings,
                               const LaunchInfo &launch, SharedText &address);
  Status openStream(int device);
  Status openNccl(const std::string &path);
  Status destroy();

  std::unique_ptr<Job> job;
  std::unique_ptr<World> world;
  std::unique_ptr<Communicator> node;
  std::unique_ptr<InterNode> engine;
  std::unique_ptr<JobCommunicator> all;
  void *native = nullptr;
  Stream stream;
  NcclLibrary nccl;
  ncclComm_t alone = nullptr;
  uint64_t in = 0, out = 0;
};
} // namespace

static Status failIf(bool isWrong, const char *what) {
  return isWrong ? makeStatus(StatusCode::internal, "%s failed", what)
                 : Status::success();
}

template <class Function>
static Function find(void *library, const char *name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

/// The device is current from then on, which NCCL expects.
Status Rank::openStream(int device) {
  if (world->deviceKind() == DeviceKind::host) {
    IRISRT_ASSIGN_OR_RETURN(native, createHostStream());
  } else if (world->deviceKind() == DeviceKind::cuda) {
    void *driver = ::dlopen("libcuda.so.1", RTLD_NOW);
    void *context = nullptr;
    IRISRT_RETURN_IF_ERROR(failIf(
        !driver ||
            find<int (*)(void **, int)>(driver, "cuDevicePrimaryCtxRetain")(
                &context, device) != 0 ||
            find<int (*)(void *)>(driver, "cuCtxSetCurrent")(context) != 0 ||
            find<int (*)(void **, unsigned)>(driver, "cuStreamCreate")(
                &native, /*non-blocking*/ 1) != 0,
        "creating a stream by CUDA"));
  } else {
    void *driver = ::dlopen("libamdhip64.so", RTLD_NOW);
    IRISRT_RETURN_IF_ERROR(failIf(
        !driver || find<int (*)(int)>(driver, "hipSetDevice")(device) != 0 ||
            find<int (*)(void **, unsigned)>(
                driver, "hipStreamCreateWithFlags")(&native, 1) != 0,
        "creating a stream by HIP"));
  }
  IRISRT_ASSIGN_OR_RETURN(stream, world->adoptStream(native));
  return Status::success();
}

Status Rank::openNccl(const std::string &path) {
  IRISRT_ASSIGN_OR_RETURN(nccl, NcclLibrary::open("--library", path));
  ncclUniqueId id{};
  if (job->rank() == 0)
    IRISRT_RETURN_IF_ERROR(
        failIf((nccl.isIris() ? nccl.irisNcclGetLocalUniqueId
                              : nccl.ncclGetUniqueId)(&id) != ncclSuccess,
               "ncclGetUniqueId"));
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<std::string> ids,
      job->allGather(std::string(id.internal, sizeof(id.internal))));
  std::memcpy(&id, ids[0].data(), sizeof(id));
  return failIf(nccl.ncclCommInitRank(&alone, static_cast<int>(job->numRanks()),
                                      id, static_cast<int>(job->rank())) !=
                    ncclSuccess,
                "ncclCommInitRank");
}

Expected<Rank> Rank::create(const Settings &settings, const LaunchInfo &launch,
                            SharedText &address) {
  Rank rank;
  IRISRT_ASSIGN_OR_RETURN(
      rank.job, joinNodes(launch, settings.nodes.substr(launch.rank, 1),
                          address, "127.0.0.1", 120));
  WorldOptions world;
  IRISRT_ASSIGN_OR_RETURN(world.device, parseDevice(settings.device));
  const bool isHost = world.device.kind == DeviceKind::host;
  world.deviceIndex = isHost ? 0 : static_cast<int>(launch.rank);
  world.launch = rank.job->nodeLaunch();
  const uint64_t bytes = std::max<uint64_t>(settings.max, 4 << 20);
  world.heapBytes = 2 * bytes + (256 << 20);
  IRISRT_ASSIGN_OR_RETURN(rank.world, World::create(world));
  if (!settings.kernels.empty())
    IRISRT_RETURN_IF_ERROR(KernelCache::shared()->addFolder(settings.kernels));
  IRISRT_ASSIGN_OR_RETURN(rank.node, Communicator::create(*rank.world));
  IRISRT_RETURN_IF_ERROR(rank.openStream(*world.deviceIndex));
  IRISRT_RETURN_IF_ERROR(rank.openNccl(settings.library));
  InterNodeOptions engine;
  engine.library = settings.library;
  IRISRT_ASSIGN_OR_RETURN(rank.engine,
                          InterNode::connect(*rank.job, *rank.world, engine));
  IRISRT_ASSIGN_OR_RETURN(rank.all,
                          JobCommunicator::create(*rank.job, *rank.world,
                                                  *rank.node, *rank.engine));
  IRISRT_ASSIGN_OR_RETURN(rank.in, rank.world->allocate(bytes));
  IRISRT_ASSIGN_OR_RETURN(rank.out, rank.world->allocate(bytes));
  return std::move(rank);
}

Status Rank::destroy() {
  IRISRT_RETURN_IF_ERROR(job->barrier());
  IRISRT_RETURN_IF_ERROR(
      failIf(nccl.ncclCommDestroy(alone) != ncclSuccess, "ncclCommDestroy"));
  IRISRT_RETURN_IF_ERROR(all->destroy());
  IRISRT_RETURN_IF_ERROR(node->destroy());
  IRISRT_RETURN_IF_ERROR(engine->destroy());
  IRISRT_RETURN_IF_ERROR(world->destroy());
  return job->destroy();
}

static Call callOf(const Rank &rank, const Problem &p) {
  Call call;
  call.op = p.op;
  call.in = toPointer(rank.in);
  call.out = toPointer(rank.out);
  call.count = p.count;
  call.dtype = p.dtype;
  call.reduce = p.reduce;
  call.root = p.root;
  call.stream = rank.stream;
  return call;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// As a call, and in two replays of a graph.
static std::string check(Rank &rank, Problem p) {
  const uint32_t me = rank.job->rank();
  World &world = *rank.world;
  for (uint32_t i = 0; i < rank.job->numRanks(); ++i)
    p.ranks.push_back(i);
  const Call call = callOf(rank, p);
  auto isRight = [&](const std::function<Status()> &run) -> std::string {
    const std::vector<uint8_t> in = inputOf(p, me), want = outputOf(p, me);
    std::vector<uint8_t> got(want.size());
    if (!in.empty())
      RANK_TRY(world.writeNow(rank.in, in.data(), in.size(), rank.stream));
    RANK_TRY(run());
    if (!got.empty())
      RANK_TRY(world.readNow(got.data(), rank.out, got.size(), rank.stream));
    RANK_TRY(world.synchronize(rank.stream));
    const std::string wrong = compare(p, got, want);
    return wrong.empty() ? "" : describe(p) + wrong;
  };
  std::string wrong = isRight([&] { return rank.all->run(call); });
  if (!wrong.empty())
    return wrong;
  RANK_TRY(world.beginCapture(rank.stream));
  RANK_TRY(rank.all->run(call));
  RANK_ASSIGN(Graph graph, world.endCapture(rank.stream));
  for (int replay = 0; replay < 2 && wrong.empty(); ++replay) {
    ++p.seed;
    wrong = isRight([&] { return world.launchGraph(graph, rank.stream); });
    // Until all ranks have read their results.
    RANK_TRY(rank.job->barrier());
  }
  RANK_TRY(world.destroyGraph(graph));
  return wrong;
}

static std::string checkAll(Rank &rank, const Settings &settings) {
  const bool hasKernels =
      !settings.kernels.empty() || settings.device == "host";
  uint64_t seed = 0, numChecked = 0;
  for (Op op : {Op::allReduce, Op::reduceScatter, Op::allGather, Op::broadcast,
                Op::reduce, Op::gather, Op::scatter, Op::allToAll})
    for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::i32,
                        DType::u8, DType::f64})
      for (ReduceOp reduce : {ReduceOp::sum, ReduceOp::avg, ReduceOp::max})
        for (uint64_t count : {1u, 1009u, 30011u}) {
          const bool isInteger = dtype == DType::i32 || dtype == DType::u8;
          // Kernels average integers, and find the largest number.
          if (reduce != ReduceOp::sum &&
              (!reduces(op) ||
               (!hasKernels && (reduce == ReduceOp::avg) == isInteger)))
            continue;
          Problem p;
          p.op = op;
          p.dtype = dtype;
          p.reduce = reduce;
          p.count = count;
          p.seed = ++seed * 16;
          p.root = static_cast<uint32_t>(seed % rank.job->numRanks());
          const std::string wrong = check(rank, p);
          if (!wrong.empty())
            return wrong;
          ++numChecked;
        }
  if (rank.job->rank() == 0)
    std::printf("%llu calls checked over %s, each eager and in two replays\n",
                static_cast<unsigned long long>(numChecked),
                rank.engine->name().c_str());
  return "";
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

static ncclResult_t runAlone(const Rank &rank, const Problem &p) {
  const void *in = toPointer(rank.in);
  void *out = toPointer(rank.out);
  const auto stream = static_cast<cudaStream_t>(rank.native);
  if (p.op == Op::allReduce)
    return rank.nccl.ncclAllReduce(in, out, p.count, ncclFloat32, ncclSum,
                                   rank.alone, stream);
  if (p.op == Op::allGather)
    return rank.nccl.ncclAllGather(in, out, p.count, ncclFloat32, rank.alone,
                                   stream);
  return rank.nccl.ncclReduceScatter(in, out, p.count, ncclFloat32, ncclSum,
                                     rank.alone, stream);
}

/// The median over rounds of the time of a call, in microseconds: of Iris, and
/// of NCCL, whose replays alternate.
static Status measure(Rank &rank, const Settings &settings, const Problem &p,
                      double (&median)[2]) {
  World &world = *rank.world;
  const uint64_t repeats = p.count * 4 > (4 << 20) ? 4 : 20;
  const Call call = callOf(rank, p);
  const std::function<Status()> runs[2] = {
      [&] { return rank.all->run(call); },
      [&] { return failIf(runAlone(rank, p) != ncclSuccess, "NCCL"); }};
  Graph graphs[2];
  for (int i = 0; i < 2; ++i) {
    IRISRT_RETURN_IF_ERROR(runs[i]()); // connects, and loads kernels
    IRISRT_RETURN_IF_ERROR(world.synchronize(rank.stream));
    IRISRT_RETURN_IF_ERROR(world.beginCapture(rank.stream));
    for (uint64_t k = 0; k < repeats; ++k)
      IRISRT_RETURN_IF_ERROR(runs[i]());
    IRISRT_ASSIGN_OR_RETURN(graphs[i], world.endCapture(rank.stream));
  }
  IRISRT_ASSIGN_OR_RETURN(Event start, world.createEvent());
  IRISRT_ASSIGN_OR_RETURN(Event end, world.createEvent());
  std::vector<double> times[2];
  for (uint64_t round = 0; round <= settings.rounds; ++round)
    for (int i = 0; i < 2; ++i) {
      IRISRT_RETURN_IF_ERROR(rank.job->barrier());
      IRISRT_RETURN_IF_ERROR(world.record(start, rank.stream));
      IRISRT_RETURN_IF_ERROR(world.launchGraph(graphs[i], rank.stream));
      IRISRT_RETURN_IF_ERROR(world.record(end, rank.stream));
      IRISRT_RETURN_IF_ERROR(world.synchronize(rank.stream));
      IRISRT_ASSIGN_OR_RETURN(double ms, world.elapsedMs(start, end));
      if (round > 0) // the first one loads the graph
        times[i].push_back(ms * 1e3 / static_cast<double>(repeats));
    }
  for (int i = 0; i < 2; ++i) {
    std::sort(times[i].begin(), times[i].end());
    median[i] = times[i][times[i].size() / 2];
    IRISRT_RETURN_IF_ERROR(world.destroyGraph(graphs[i]));
  }
  IRISRT_RETURN_IF_ERROR(world.destroyEvent(start));
  return world.destroyEvent(end);
}

static std::string measureAll(Rank &rank, const Settings &settings) {
  const uint64_t numRanks = rank.job->numRanks();
  if (rank.job->rank() == 0)
    std::printf("%-15s %12s %10s %10s %6s\n", "operation (f32)", "bytes",
                "Iris, us", "NCCL, us", "ratio");
  double logs = 0, worst = 0;
  uint64_t points = 0;
  for (Op op : {Op::allReduce, Op::allGather, Op::reduceScatter})
    for (uint64_t bytes = settings.min; bytes <= settings.max; bytes *= 4) {
      Problem p;
      p.op = op;
      p.count = bytes / 4 / (op == Op::allReduce ? 1 : numRanks);
      double median[2] = {};
      RANK_TRY(measure(rank, settings, p, median));
      // Of the slowest rank.
      RANK_ASSIGN(std::vector<std::string> texts,
                  rank.job->allGather(std::to_string(median[0]) + " " +
                                      std::to_string(median[1])));
      for (const std::string &text : texts) {
        double ofPeer[2] = {};
        std::sscanf(text.c_str(), "%lf %lf", &ofPeer[0], &ofPeer[1]);
        for (int i = 0; i < 2; ++i)
          median[i] = std::max(median[i], ofPeer[i]);
      }
      const double ratio = median[0] / median[1];
      logs += std::log(ratio);
      worst = std::max(worst, ratio);
      ++points;
      if (rank.job->rank() == 0)
        std::printf("%-15s %12llu %10.2f %10.2f %6.3f\n",
                    std::string(opName(op)).c_str(),
                    static_cast<unsigned long long>(bytes), median[0],
                    median[1], ratio);
    }
  if (rank.job->rank() == 0 && points != 0)
    std::printf("geometric mean of the ratios %.3f, largest %.3f\n",
                std::exp(logs / static_cast<double>(points)), worst);
  std::fflush(stdout);
  return "";
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static bool parse(const std::string &argument, Settings &settings) {
  auto take = [&](const char *name, auto set) {
    const std::string prefix = std::string("--") + name + "=";
    if (argument.compare(0, prefix.size(), prefix) != 0)
      return false;
    set(argument.substr(prefix.size()));
    return true;
  };
  auto text = [](std::string &to) {
    return [&to](const std::string &value) { to = value; };
  };
  auto number = [](uint64_t &to) {
    return [&to](const std::string &value) {
      to = std::strtoull(value.c_str(), nullptr, 10);
    };
  };
  return take("device", text(settings.device)) ||
         take("nodes", text(settings.nodes)) ||
         take("library", text(settings.library)) ||
         take("kernels", text(settings.kernels)) ||
         take("min", number(settings.min)) ||
         take("max", number(settings.max)) ||
         take("rounds", number(settings.rounds));
}

int main(int argc, char **argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i)
    if (!parse(argv[i], settings)) {
      std::fprintf(stderr, "unknown argument '%s'\n", argv[i]);
      return 2;
    }
  if (settings.library.empty() || settings.nodes.empty() ||
      settings.min < 256) {
    std::fprintf(stderr,
                 "usage: %s --library=PATH [--device=cuda|hip|host] "
                 "[--nodes=ab] [--kernels=FOLDER] [--min=BYTES] "
                 "[--max=BYTES] [--rounds=N]\n",
                 argv[0]);
    return 2;
  }
  SharedText address;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(Rank rank, Rank::create(settings, launch, address));
    std::string wrong = checkAll(rank, settings);
    if (wrong.empty())
      wrong = measureAll(rank, settings);
    std::fflush(stdout);
    if (!wrong.empty()) {
      rank.all->fail(Status(StatusCode::aborted, wrong));
      return wrong;
    }
    RANK_TRY(rank.destroy());
    return "";
  };
  const std::string wrong = failures(
      runProcesses(static_cast<uint32_t>(settings.nodes.size()), body, 3600));
  if (!wrong.empty())
    std::fprintf(stderr, "%s", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
