// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Job.cpp - Ranks on several nodes -----------------------------------===//
#include "iris/rt/Job.h"

#include "bootstrap/Bootstrap.h"
#include "bootstrap/TcpSocket.h"
#include "core/DefaultLimits.h"
#include "core/ForkGuard.h"
#include "core/Launch.h"
#include "core/Log.h"
#include "core/NodeName.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

using namespace iris::rt;

static constexpr size_t maxNodeName = 256;
static constexpr uint64_t maxGatherBytes = 1 << 20;

/// The name of the next unnamed job of this rank. Ranks that create their jobs
/// in the same order get the same names.
static std::string nextJobName(const LaunchInfo &launch) {
  static NameCounter counter;
  return counter.next(launch);
}

struct Job::Impl {
  Impl(const JobOptions &options, const LaunchInfo &launch)
      : options(options), launch(launch), log(launch.rank, launch.numRanks),
        job(launch.job + "/job " +
            (options.name.empty() ? nextJobName(launch) : options.name)) {}
  ~Impl();

  Status open();
  Status findNodes();
  /// Fails the job if a collective has failed.
  Status failOnError(Status status);
  Status checkUsable() const;

  const ProcessOwner owner;
  const JobOptions options;
  const LaunchInfo launch;
  const Log log;
  const std::string job; ///< the name at the rendezvous
  std::chrono::nanoseconds limit{};
  std::unique_ptr<Bootstrap> bootstrap;
  std::vector<uint32_t> nodes;              ///< by rank
  std::vector<std::vector<uint32_t>> ranks; ///< by node
  uint32_t localRank = 0;

  mutable std::mutex mutex;
  Status failure;
  bool isDestroyed = false;
};

Job::Job(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Job::~Job() = default;

Job::Impl::~Impl() {
  if (!owner.isHere())
    (void)bootstrap.release(); // of the parent process; see World
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static Status checkLaunch(const LaunchInfo &launch) {
  if (launch.node.size() > maxNodeName)
    return makeStatus(StatusCode::invalidArgument,
                      "a node's name of %zu bytes (IRIS_NODE); expected at "
                      "most %zu",
                      launch.node.size(), maxNodeName);
  if (launch.address.empty()) {
    if (launch.localSize == 0 || launch.localSize == launch.numRanks)
      return Status::success();
    return makeStatus(StatusCode::failedPrecondition,
                      "the job's %u ranks are on several nodes (%u on this "
                      "one), which find each other at an address; set "
                      "IRIS_RENDEZVOUS_ADDRESS=HOST:PORT on every rank, an "
                      "address of rank 0's machine and a free port",
                      launch.numRanks, launch.localSize);
  }
  if (launch.token == 0)
    return Status(StatusCode::failedPrecondition,
                  "a job at an address (IRIS_RENDEZVOUS_ADDRESS) needs a "
                  "secret, because anybody can connect to it; set IRIS_TOKEN "
                  "on every rank to 16 random hexadecimal digits");
  return Status::success();
}

Expected<std::unique_ptr<Job>> Job::create(const JobOptions &options) {
  IRISRT_ASSIGN_OR_RETURN(LaunchInfo launch, launchOrDefault(options.launch));
  IRISRT_RETURN_IF_ERROR(checkLaunch(launch));
  auto impl = std::make_unique<Impl>(options, launch);
  Status status = impl->open();
  if (!status.ok()) {
    impl->log.info("%s", status.message().c_str());
    if (impl->bootstrap)
      impl->bootstrap->announceFailure(status);
    return status;
  }
  return std::unique_ptr<Job>(new Job(std::move(impl)));
}

Status Job::Impl::open() {
  const Env &env = Env::get();
  limit = secondsOf(options.collectiveLimit.value_or(
      env.collectiveLimitSeconds().value_or(defaultCollectiveSeconds)));
  RendezvousOptions rendezvous;
  rendezvous.rank = launch.rank;
  rendezvous.numRanks = launch.numRanks;
  rendezvous.job = job;
  rendezvous.token = launch.token;
  rendezvous.address = launch.address;
  rendezvous.directories = env.rendezvousDirs();
  rendezvous.noticeFd = launch.noticeFd;
  rendezvous.cancelled = options.cancelled;
  rendezvous.limit = secondsOf(options.joinLimit.value_or(
      env.joinLimitSeconds().value_or(defaultJoinSeconds)));
  IRISRT_ASSIGN_OR_RETURN(bootstrap, Bootstrap::create(rendezvous));
  return findNodes();
}

Status Job::Impl::findNodes() {
  std::string name = launch.node;
  if (name.empty()) {
    IRISRT_ASSIGN_OR_RETURN(name, nodeName());
  } else {
    name = "named " + name; // never equal to the name of a machine
  }
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<Bootstrap::Bytes> names,
      bootstrap->allGather(CollectiveTag::create,
                           Bootstrap::Bytes(name.begin(), name.end()), limit));
  std::map<Bootstrap::Bytes, uint32_t> numbers;
  for (uint32_t rank = 0; rank < launch.numRanks; ++rank) {
    const auto next = static_cast<uint32_t>(numbers.size());
    const uint32_t node = numbers.insert({names[rank], next}).first->second;
    if (node == ranks.size())
      ranks.emplace_back();
    if (rank == launch.rank)
      localRank = static_cast<uint32_t>(ranks[node].size());
    ranks[node].push_back(rank);
    nodes.push_back(node);
  }
  log.info("job of %u ranks on %zu node%s; this is rank %u of node %u",
           launch.numRanks, ranks.size(), ranks.size() == 1 ? "" : "s",
           localRank, nodes[launch.rank]);
  return Status::success();
}

Expected<std::string> Job::reserveAddress(const std::string &host) {
  return rt::reserveAddress(host);
}

/// The address by which this machine reaches the one of another address.
static Expected<std::string> hostNear(const std::string &address) {
  if (address.empty())
    return Status(StatusCode::failedPrecondition,
                  "the job has no address (IRIS_RENDEZVOUS_ADDRESS)");
  IRISRT_ASSIGN_OR_RETURN(TcpAddress far, parseAddress(address));
  IRISRT_ASSIGN_OR_RETURN(TcpAddress near, localAddressTo(far));
  return near.host;
}

Expected<std::string> Job::reserveAddress() const {
  IRISRT_ASSIGN_OR_RETURN(std::string host, hostNear(impl_->launch.address));
  return rt::reserveAddress(host);
}

Expected<std::string> Job::reserveLastingAddress() const {
  IRISRT_ASSIGN_OR_RETURN(std::string host, hostNear(impl_->launch.address));
  return rt::reserveAddress(host, AddressUse::lasting);
}

void Job::releaseAddress(const std::string &address) {
  rt::releaseAddress(address);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

uint32_t Job::rank() const { return impl_->launch.rank; }
uint32_t Job::numRanks() const { return impl_->launch.numRanks; }
uint32_t Job::numNodes() const {
  return static_cast<uint32_t>(impl_->ranks.size());
}
uint32_t Job::nodeOf(uint32_t rank) const {
  return rank < numRanks() ? impl_->nodes[rank] : numNodes();
}
const std::vector<uint32_t> &Job::ranksOf(uint32_t node) const {
  static const std::vector<uint32_t> none;
  return node < numNodes() ? impl_->ranks[node] : none;
}
uint32_t Job::localRank() const { return impl_->localRank; }
uint32_t Job::localSize() const {
  return static_cast<uint32_t>(ranksOf(node()).size());
}

LaunchInfo Job::nodeLaunch() const {
  LaunchInfo launch = impl_->launch;
  launch.rank = localRank();
  launch.numRanks = localSize();
  launch.localSize = localSize();
  launch.address.clear();
  launch.job = impl_->job + "/node" + std::to_string(node());
  // Notices name ranks of the job.
  if (numNodes() != 1)
    launch.noticeFd = -1;
  return launch;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

Status Job::Impl::checkUsable() const {
  IRISRT_RETURN_IF_ERROR(owner.check());
  IRISRT_RETURN_IF_ERROR(bootstrap->failure());
  std::lock_guard<std::mutex> lock(mutex);
  if (isDestroyed)
    return Status(StatusCode::failedPrecondition, "the job was destroyed");
  return failure;
}

Status Job::Impl::failOnError(Status status) {
  if (status.ok())
    return status;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (failure.ok())
      failure = status;
  }
  if (status.code() != StatusCode::aborted)
    bootstrap->announceFailure(status);
  bootstrap->endWaits(status);
  return status;
}

Status Job::barrier() {
  IRISRT_RETURN_IF_ERROR(impl_->checkUsable());
  return impl_->failOnError(
      impl_->bootstrap->barrier(CollectiveTag::barrier, impl_->limit));
}

/// The bytes at `offset` that fit into one contribution.
static Bootstrap::Bytes partAt(const std::string &text, size_t offset) {
  if (offset >= text.size())
    return {};
  const size_t size = std::min(text.size() - offset, maxContribution);
  const auto begin = text.begin() + static_cast<ptrdiff_t>(offset);
  return Bootstrap::Bytes(begin, begin + static_cast<ptrdiff_t>(size));
}

Expected<std::vector<std::string>> Job::allGather(const std::string &mine) {
  IRISRT_RETURN_IF_ERROR(impl_->checkUsable());
  if (mine.size() > maxGatherBytes)
    return makeStatus(StatusCode::invalidArgument,
                      "a text of %zu bytes; expected at most %llu", mine.size(),
                      static_cast<unsigned long long>(maxGatherBytes));
  auto gather = [&](const Bootstrap::Bytes &part) {
    return impl_->bootstrap->allGather(CollectiveTag::user, part, impl_->limit);
  };
  // First the sizes, which are checked before memory follows from them.
  const uint64_t size = mine.size();
  Bootstrap::Bytes sizeBytes(sizeof(size));
  std::memcpy(sizeBytes.data(), &size, sizeof(size));
  Expected<std::vector<Bootstrap::Bytes>> parts = gather(sizeBytes);
  if (!parts.ok())
    return impl_->failOnError(parts.status());
  uint64_t most = 0;
  std::vector<uint64_t> sizes(numRanks());
  for (uint32_t rank = 0; rank < numRanks(); ++rank) {
    if ((*parts)[rank].size() == sizeof(uint64_t))
      std::memcpy(&sizes[rank], (*parts)[rank].data(), sizeof(uint64_t));
    if ((*parts)[rank].size() != sizeof(uint64_t) ||
        sizes[rank] > maxGatherBytes)
      return impl_->failOnError(
          makeStatus(StatusCode::internal,
                     "rank %u announces a text of a wrong size", rank));
    most = std::max(most, sizes[rank]);
  }
  std::vector<std::string> texts(numRanks());
  for (uint64_t offset = 0; offset < most; offset += maxContribution) {
    parts = gather(partAt(mine, offset));
    if (!parts.ok())
      return impl_->failOnError(parts.status());
    for (uint32_t rank = 0; rank < numRanks(); ++rank)
      texts[rank].append((*parts)[rank].begin(), (*parts)[rank].end());
  }
  for (uint32_t rank = 0; rank < numRanks(); ++rank)
    if (texts[rank].size() != sizes[rank])
      return impl_->failOnError(makeStatus(
          StatusCode::internal, "rank %u sent %zu bytes and announced %llu",
          rank, texts[rank].size(),
          static_cast<unsigned long long>(sizes[rank])));
  return texts;
}

//===----------------------------------------------------------------------===//
// Failure and end
//===----------------------------------------------------------------------===//

Status Job::failure() const {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  IRISRT_RETURN_IF_ERROR(impl_->bootstrap->failure());
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->failure;
}

void Job::fail(const Status &status) {
  if (status.ok() || !impl_->owner.isHere())
    return;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    if (!impl_->failure.ok())
      return;
    impl_->failure = status;
  }
  impl_->bootstrap->announceFailure(status);
  impl_->bootstrap->endWaits(status);
}

void Job::onFailure(std::function<void(const Status &)> callback) {
  if (impl_->owner.isHere())
    impl_->bootstrap->onFailure(std::move(callback));
}

Status Job::destroy() {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  Status status = failure();
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    if (impl_->isDestroyed)
      return status;
    impl_->isDestroyed = true;
  }
  if (status.ok())
    status = impl_->bootstrap->barrier(CollectiveTag::destroy, impl_->limit);
  impl_->bootstrap->leave();
  return status;
}
