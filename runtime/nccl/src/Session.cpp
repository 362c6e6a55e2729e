// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Session.cpp - A communicator's rank in its world -------------------===//
#include "Session.h"

#include "KernelFolders.h"
#include "RealLibrary.h"
#include "ccl/NodeRanks.h"
#include "ccl/ProgramLimit.h"
#include "core/DeviceLocation.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

using namespace iris::nccl;
using namespace iris::rt;

/// Time by which the limit of transfers between nodes, whose error names the
/// peers, expires before that of streams.
static constexpr double beyondTransfersSeconds = 10;

Expected<Session> Session::open(const WorldOptions &options,
                                const Config &config,
                                std::unique_ptr<rt::Job> job) {
  Session session;
  session.job = std::move(job);
  Status status = session.join(options, config);
  if (!status.ok()) {
    if (session.job)
      session.job->fail(status);
    return status;
  }
  return session;
}

/// The GPU of a world, in a text without spaces; "-" of other devices, which
/// ranks share.
static std::string describeGpu(const World &world, int index) {
  if (world.deviceKind() != DeviceKind::cuda &&
      world.deviceKind() != DeviceKind::hip)
    return "-";
  std::string identity = world.deviceAttributes().identity;
  if (!identity.empty())
    return identity;
  // Ranks of one process can be told apart in any case.
  const DeviceLocation location = DeviceLocation::of(index);
  return formatString("%lld/%llx/%lld", static_cast<long long>(location.pid),
                      static_cast<unsigned long long>(location.mark),
                      static_cast<long long>(location.index));
}

/// \param gpus what describeGpu returns on each rank
/// \param job the ranks of several nodes, or null
static Status checkGpus(const std::vector<std::string> &gpus, const Job *job) {
  std::map<std::pair<uint32_t, std::string>, uint32_t> ranks;
  for (uint32_t rank = 0; rank < gpus.size(); ++rank) {
    uint32_t node = job ? job->nodeOf(rank) : 0;
    auto [first, isNew] = ranks.emplace(std::pair(node, gpus[rank]), rank);
    if (!isNew && gpus[rank] != "-")
      return makeStatus(StatusCode::failedPrecondition,
                        "ranks %u and %u are on one GPU (%s); expected a GPU "
                        "for each rank, or NCCL_MULTI_RANK_GPU_ENABLE=1",
                        first->second, rank, gpus[rank].c_str());
  }
  return Status::success();
}

/// The processors that kernels share with others; 0 on the host, where nothing
/// else runs on them.
static int64_t processorsOf(const World &world) {
  return world.deviceKind() == DeviceKind::host
             ? 0
             : world.deviceAttributes().processors;
}

/// The most programs of a kernel. A policy other than the default leaves three
/// quarters of the processors to other kernels.
static int64_t mostPrograms(const Config &config, const World &world) {
  const int64_t processors = processorsOf(world);
  const bool isFree =
      config.ctaPolicy == NCCL_CTA_POLICY_DEFAULT || processors == 0;
  return iris::ccl::smallerLimit(
      config.maxCTAs, isFree ? 0 : std::max<int64_t>(processors / 4, 1));
}

/// Half of the processors. Alone, all of them are faster; but on 2 H200, steps
/// of DDP and FSDP took 1.05 to 1.07 of NCCL's time, and with half of them 1.02
/// to 1.04 (benchmarks/results/nvidia-h200-x2/README.md).
static int64_t overlapProgramsOf(const World &world) {
  return processorsOf(world) / 2;
}

/// Whether programs overlap such calls with computation, and half of the
/// processors are enough to be no slower than NCCL on 2 H200; on other GPUs it
/// was not measured.
static bool isOverlapped(const iris::ccl::Call &call, uint32_t numRanks) {
  constexpr uint64_t mostBytes = uint64_t(512) << 20;
  const uint64_t bytes = call.count * iris::ccl::dtypeBytes(call.dtype);
  switch (call.op) {
  case iris::ccl::Op::allReduce:
    return bytes <= mostBytes;
  case iris::ccl::Op::allGather:
  case iris::ccl::Op::reduceScatter:
    return bytes <= mostBytes / numRanks;
  default:
    return false;
  }
}

Expected<Session::Agreed> Session::agree(int deviceIndex,
                                         const Config &config) {
  const Env &env = Env::get();
  const std::string mine = formatString(
      "%lld %lld %d %d %d %s",
      static_cast<long long>(mostPrograms(config, *world)),
      static_cast<long long>(overlapProgramsOf(*world)),
      config.ctaPolicy & NCCL_CTA_POLICY_ZERO ? 1 : 0,
      env.checkCollectives() ? 1 : 0, env.ncclMultiRankGpu() ? 1 : 0,
      describeGpu(*world, deviceIndex).c_str());
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> texts, exchange(mine));
  Agreed agreed;
  bool multiRankGpu = false;
  std::vector<std::string> gpus;
  for (const std::string &each : texts) {
    std::istringstream words(each);
    int64_t maxPrograms = 0, overlapPrograms = 0;
    bool copies = false, checks = false, several = false;
    words >> maxPrograms >> overlapPrograms >> copies >> checks >> several >>
        gpus.emplace_back();
    agreed.maxPrograms = ccl::smallerLimit(agreed.maxPrograms, maxPrograms);
    agreed.overlapPrograms =
        ccl::smallerLimit(agreed.overlapPrograms, overlapPrograms);
    agreed.prefersCopies = agreed.prefersCopies || copies;
    agreed.checkCalls = agreed.checkCalls || checks;
    multiRankGpu = multiRankGpu || several;
  }
  if (!multiRankGpu)
    IRISRT_RETURN_IF_ERROR(checkGpus(gpus, job.get()));
  return agreed;
}

Status Session::join(const WorldOptions &given, const Config &config) {
  WorldOptions options = given;
  if (job && options.collectiveLimit)
    *options.collectiveLimit += beyondTransfersSeconds;
  IRISRT_ASSIGN_OR_RETURN(world, World::create(options));
  // Others may have joined, done their part and left.
  SessionOperation goesOn(*this, /*peers=*/0);
  cache = kernelCacheFor(world->target());
  ccl::CommunicatorOptions communicator;
  communicator.cache = cache;
  communicator.workspaceBytes = workspaceBytes;
  for (uint32_t rank = 0; rank < world->numRanks(); ++rank)
    all.ranks.push_back(rank);
  all.index = static_cast<int32_t>(world->rank());
  channel = world->makeChannel();
  IRISRT_ASSIGN_OR_RETURN(Agreed agreed,
                          agree(given.deviceIndex.value_or(0), config));
  prefersCopies = agreed.prefersCopies;
  overlapPrograms = agreed.maxPrograms == 0 ? agreed.overlapPrograms : 0;
  communicator.maxPrograms = agreed.maxPrograms;
  communicator.checkCalls = agreed.checkCalls;
  IRISRT_ASSIGN_OR_RETURN(collectives,
                          ccl::Communicator::create(*world, communicator));
  loadForRanksOfDevice();
  if (!job)
    return Status::success();
  const Env &env = Env::get();
  if (world->deviceKind() != DeviceKind::host)
    IRISRT_RETURN_IF_ERROR(RealLibrary::openBetweenNodes(
        env.interNodeLibrary().empty() ? env.ncclLibrary()
                                       : env.interNodeLibrary()));
  InterNodeOptions transfers;
  transfers.limit = given.collectiveLimit;
  IRISRT_ASSIGN_OR_RETURN(engine, InterNode::connect(*job, *world, transfers));
  ccl::JobCommunicatorOptions nodes;
  nodes.cache = cache;
  nodes.checkCalls = agreed.checkCalls;
  IRISRT_ASSIGN_OR_RETURN(
      between,
      ccl::JobCommunicator::create(*job, *world, *collectives, *engine, nodes));
  return exchangeAddresses();
}

/// Loads the kernels of sends and receives where a process has several ranks on
/// a GPU. A rank loads them without the others, and CUDA waits then until the
/// GPU's kernels have ended, of which one may wait for this rank's.
void Session::loadForRanksOfDevice() {
  if (world->ranksOnDevice() == 1)
    return;
  for (ccl::Op op : {ccl::Op::send, ccl::Op::recv})
    collectives
        ->prepare(op, ccl::DType::i8, ccl::ReduceOp::sum,
                  /*config=*/nullptr, ccl::Placement::anywhere)
        .ignore("a call that needs a missing kernel reports it");
}

/// A rank that cannot listen can take part in all but that.
Status Session::exchangeAddresses() {
  Expected<std::string> mine = job->reserveLastingAddress();
  Expected<std::vector<std::string>> all =
      job->allGather(mine.ok() ? *mine : std::string());
  if (all.ok())
    addresses = all.take();
  else if (mine.ok())
    Job::releaseAddress(*mine);
  return all.status();
}

Status Session::end() {
  if (!world)
    return Status::success();
  if (!addresses.empty())
    Job::releaseAddress(addresses[job->rank()]);
  Status status;
  auto keep = [&status](Status next) {
    if (status.ok())
      status = std::move(next);
  };
  if (between)
    keep(between->destroy());
  keep(collectives->destroy());
  if (engine)
    keep(engine->destroy());
  keep(world->destroy());
  if (job)
    keep(job->destroy());
  return status;
}

void Session::free() {
  between.reset();
  engine.reset();
  job.reset();
  collectives.reset();
  world.reset();
}

/// Whether all ranks' buffers are in windows. The ranks' buffers are at the
/// same offsets of these, so that each comes to the same answer.
bool Session::canCopyAllGather(const ccl::Call &call) const {
  const uint64_t bytes = call.count * ccl::dtypeBytes(call.dtype);
  auto isInWindow = [&](const void *buffer, uint64_t length) {
    return world->symmetricAddress(reinterpret_cast<uint64_t>(buffer), length)
        .has_value();
  };
  return call.op == ccl::Op::allGather && bytes != 0 &&
         world->deviceKind() != DeviceKind::host &&
         isInWindow(call.in, bytes) &&
         isInWindow(call.out, bytes * world->numRanks());
}

/// A config that outlives its calls.
static const iris::ccl::Config &copyEngine() {
  static const auto *config = [] {
    auto *made = new iris::ccl::Config();
    made->variant = "copy_engine";
    return made;
  }();
  return *config;
}

iris::ccl::Call Session::bounded(const ccl::Call &call) const {
  ccl::Call bounded = call;
  if (between)
    return bounded;
  if (prefersCopies && canCopyAllGather(call))
    bounded.config = &copyEngine();
  else if (isOverlapped(call, world->numRanks()))
    bounded.maxPrograms = overlapPrograms;
  return bounded;
}

Status Session::run(const ccl::Call &call) {
  return between ? between->run(call) : collectives->run(bounded(call));
}

Expected<double> Session::estimate(const ccl::Call &call) {
  return between ? between->estimate(call)
                 : collectives->estimate(bounded(call));
}

/// Those with ranks of this node are kernels, in which the peer is the rank in
/// the node.
Status Session::runPointToPoint(PointToPoint &pointToPoint,
                                const std::vector<ccl::Call> &calls,
                                const std::vector<Stream> &streams) {
  std::vector<ccl::Call> inside, across;
  for (ccl::Call call : calls) {
    if (job && job->nodeOf(call.root) != job->node()) {
      across.push_back(call);
      continue;
    }
    if (job) {
      const std::vector<uint32_t> &ranks = job->ranksOf(job->node());
      call.root = static_cast<uint32_t>(
          std::find(ranks.begin(), ranks.end(), call.root) - ranks.begin());
    }
    inside.push_back(call);
  }
  auto runInside = [&]() -> Status {
    if (inside.empty())
      return Status::success();
    Status status = pointToPoint.run(*world, *collectives, inside, streams);
    if (!job || status.ok() || world->failure().ok())
      return status;
    // Of this node's ranks, until all learn of it.
    if (status.code() != StatusCode::aborted) {
      status = ccl::namedInNode(*job, status);
      between->fail(status);
    }
    return status;
  };
  return across.empty() ? runInside()
                        : between->transfer(across, streams, runInside);
}

Expected<std::vector<std::string>> Session::exchange(const std::string &mine) {
  return job ? job->allGather(mine) : world->exchange(all, channel, mine);
}

Status Session::poll() { return between ? between->poll() : world->poll(); }

Status Session::pollFor(uint64_t peers) {
  if (between)
    return poll();
  const bool isNeeded = (world->ranksThatLeft() & peers) != 0;
  if (isNeeded && world->deviceKind() != DeviceKind::host)
    return poll();
  WorldOperation goesOn(*world, peers);
  return poll();
}

void Session::fail(const Status &status) {
  if (between)
    between->fail(status);
  else
    world->fail(status);
}

void Session::leave(const Status &status) {
  if (between)
    between->fail(status);
  else
    world->leave(status);
}
