// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Comm.cpp - A communicator ------------------------------------------===//
#include "Comm.h"

#include "LocalRanks.h"
#include "core/Log.h"
#include "iris-c/RuntimeABI.h"
#include "iris/rt/Env.h"
#include "iris/rt/Job.h"

#include <algorithm>

namespace ccl = iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

/// Bytes of a rank's heap: the workspace of the collectives, and what follows
/// from the heap's granularity. The caller's buffers are not on the heap.
static constexpr uint64_t heapBytes = 128 << 20;
/// NCCL has no time limits. Those of frameworks are 10 minutes.
static constexpr double defaultLimitSeconds = 600;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

namespace {
struct Handles {
  std::mutex mutex;
  std::map<const ncclComm *, std::shared_ptr<ncclComm>> comms;
};
} // namespace

/// Never destroyed: threads may use communicators while the process exits.
static Handles &allHandles() {
  static auto *handles = new Handles();
  return *handles;
}

std::shared_ptr<ncclComm> ncclComm::make(const CommOptions &options) {
  auto comm = std::make_shared<ncclComm>(options);
  Handles &handles = allHandles();
  std::lock_guard<std::mutex> lock(handles.mutex);
  handles.comms[comm.get()] = comm;
  return comm;
}

static Status noCommunicator(const void *handle) {
  if (!handle)
    return checkPointer(handle, "comm");
  return makeStatus(StatusCode::invalidArgument,
                    "%p is no communicator; it was destroyed, or never created",
                    handle);
}

Expected<std::shared_ptr<ncclComm>> ncclComm::find(ncclComm_t handle) {
  Handles &handles = allHandles();
  std::lock_guard<std::mutex> lock(handles.mutex);
  auto found = handles.comms.find(handle);
  if (found == handles.comms.end())
    return noCommunicator(handle);
  return found->second;
}

Expected<std::shared_ptr<ncclComm>> ncclComm::take(ncclComm_t handle) {
  Handles &handles = allHandles();
  std::lock_guard<std::mutex> lock(handles.mutex);
  auto found = handles.comms.find(handle);
  if (found == handles.comms.end())
    return noCommunicator(handle);
  std::shared_ptr<ncclComm> comm = std::move(found->second);
  handles.comms.erase(found);
  return comm;
}

//===----------------------------------------------------------------------===//
// Creation and end
//===----------------------------------------------------------------------===//

ncclComm::ncclComm(const CommOptions &options) : options(options) {
  LocalRanks::add(options.secret.job(), options.deviceIndex);
}

ncclComm::~ncclComm() {
  destroy().ignore("a destructor cannot return an error");
}

/// Enables peer access among the devices of this process, as NCCL does where
/// they have links: programs rely on it.
static Status enablePeerAccess(World &world, const std::string &job) {
  for (int device : LocalRanks::devices(job)) {
    Status status = world.enablePeerAccess(device);
    if (!status.ok() && status.code() != StatusCode::unavailable)
      return status;
  }
  return Status::success();
}

/// The ranks of one node have a world, whose groups are limited. All ranks
/// return the same.
static Status checkNodes(const Job &job) {
  for (uint32_t node = 0; node < job.numNodes(); ++node)
    if (job.ranksOf(node).size() > IRISRT_MAX_GROUP)
      return makeStatus(StatusCode::failedPrecondition,
                        "%zu ranks of the communicator are on node %u; Iris "
                        "serves at most %d on each",
                        job.ranksOf(node).size(), node, IRISRT_MAX_GROUP);
  return Status::success();
}

/// Joins the ranks at the address, to find out which nodes they are on.
static Expected<std::unique_ptr<Job>> meet(const WorldOptions &world) {
  JobOptions options;
  options.launch = *world.launch;
  options.name = world.name;
  options.joinLimit = world.joinLimit;
  options.collectiveLimit = world.collectiveLimit;
  options.cancelled = world.cancelled;
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<Job> job, Job::create(options));
  Status status = checkNodes(*job);
  if (!status.ok()) {
    job->destroy().ignore("the communicator fails in any case");
    return status;
  }
  return job;
}

/// Joins the ranks of this node, and at an address those of other nodes.
static Expected<Session> join(WorldOptions world, const Config &config) {
  if (world.launch->address.empty())
    return Session::open(world, config);
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<Job> job, meet(world));
  world.launch = job->nodeLaunch();
  if (job->numNodes() > 1)
    return Session::open(world, config, std::move(job));
  IRISRT_RETURN_IF_ERROR(job->destroy());
  return Session::open(world, config);
}

Status ncclComm::open() {
  const Env &env = Env::get();
  WorldOptions world;
  LaunchInfo launch;
  launch.launcher = "NCCL";
  launch.rank = options.rank;
  launch.numRanks = options.numRanks;
  launch.localRank = options.rank;
  launch.job = options.secret.job();
  launch.token = options.secret.token();
  launch.address = options.address;
  if (env.launch().ok())
    launch.node = env.launch()->node;
  world.launch = launch;
  world.name = "comm";
  world.device = options.device;
  world.deviceIndex = options.deviceIndex;
  world.heapBytes = heapBytes;
  world.waitLimit = env.waitLimitSeconds().value_or(defaultLimitSeconds);
  world.joinLimit = env.joinLimitSeconds().value_or(defaultLimitSeconds);
  world.collectiveLimit =
      env.collectiveLimitSeconds().value_or(defaultLimitSeconds);
  world.cancelled = &cancelled_;

  std::lock_guard<std::mutex> running(runMutex_);
  Expected<Session> session = join(world, options.config);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!session.ok()) {
    openError_ = session.status();
    return openError_;
  }
  session_ = session.take();
  SessionOperation goesOn(session_, /*peers=*/0);
  Status status = prepare();
  if (!status.ok()) {
    session_.fail(status);
    return status;
  }
  if (lifetime_ == Lifetime::aborted) // while it joined
    session_.fail(Status(StatusCode::aborted, "ncclCommAbort was called"));
  return session_.world->failure();
}

/// The caller holds both mutexes.
Status ncclComm::prepare() {
  IRISRT_RETURN_IF_ERROR(streams_.open(*session_.world));
  IRISRT_RETURN_IF_ERROR(
      enablePeerAccess(*session_.world, options.secret.job()));
  return scaling.open(*session_.world, session_.cache);
}

bool ncclComm::spansNodes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return session_.spansNodes();
}

bool ncclComm::areOnSeveralNodes(const std::vector<uint32_t> &ranks) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Job *job = session_.job.get();
  return job && std::any_of(ranks.begin(), ranks.end(), [&](uint32_t rank) {
           return job->nodeOf(rank) != job->nodeOf(ranks.front());
         });
}

Expected<std::string> ncclComm::reserveAddress() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!session_.job)
    return Status(StatusCode::internal, "a communicator on one node");
  return session_.job->reserveAddress();
}

Expected<std::string>
ncclComm::addressAmong(const std::vector<uint32_t> &ranks) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (session_.addresses.empty())
    return Status(StatusCode::failedPrecondition,
                  "the communicator has not joined its other ranks");
  const std::string &address = session_.addresses[ranks.front()];
  if (address.empty())
    return makeStatus(StatusCode::unavailable,
                      "rank %u, the first of those that remain, could not "
                      "open a port when the communicator was created",
                      ranks.front());
  return address;
}

World *ncclComm::world() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return session_.world.get();
}

Status ncclComm::checkInUse() const {
  std::lock_guard<std::mutex> lock(mutex_);
  IRISRT_RETURN_IF_ERROR(openError_);
  const char *ended = nullptr;
  switch (lifetime_) {
  case Lifetime::inUse:
    break;
  case Lifetime::finalized:
    ended = "ncclCommFinalize";
    break;
  case Lifetime::revoked:
    ended = "ncclCommRevoke";
    break;
  case Lifetime::aborted:
    ended = "ncclCommAbort";
    break;
  }
  if (ended)
    return makeStatus(StatusCode::failedPrecondition,
                      "%s was called for the communicator; no operation can "
                      "follow",
                      ended);
  if (!session_.world)
    return Status(StatusCode::failedPrecondition,
                  "the communicator has not joined its other ranks");
  return Status::success();
}

bool ncclComm::isFinalized() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return lifetime_ == Lifetime::finalized;
}

Status ncclComm::checkUsable() {
  if (worker.isBusy())
    return Status(StatusCode::invalidArgument,
                  "the communicator's last call is in progress; wait until "
                  "ncclCommGetAsyncError no longer tells ncclInProgress");
  IRISRT_RETURN_IF_ERROR(checkInUse());
  std::lock_guard<std::mutex> lock(mutex_);
  return session_.world ? session_.pollFor(/*peers=*/0) : Status::success();
}

Status ncclComm::asyncError() {
  // Calls of a blocking communicator have returned their errors.
  if (!options.config.isBlocking)
    IRISRT_RETURN_IF_ERROR(worker.wait());
  std::lock_guard<std::mutex> lock(mutex_);
  IRISRT_RETURN_IF_ERROR(openError_);
  if (!session_.world)
    return Status::success();
  IRISRT_RETURN_IF_ERROR(session_.pollFor(/*peers=*/0));
  SessionOperation goesOn(session_, /*peers=*/0);
  return failOnDeviceError(session_.world->checkDevice());
}

Status ncclComm::departures() {
  std::lock_guard<std::mutex> lock(mutex_);
  return session_.world ? session_.poll() : Status::success();
}

Status ncclComm::finalize() {
  std::lock_guard<std::mutex> running(runMutex_);
  IRISRT_RETURN_IF_ERROR(checkInUse());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    lifetime_ = Lifetime::finalized;
  }
  SessionOperation goesOn(session_, /*peers=*/0);
  Status status = streams_.forget(*world(), {});
  if (status.ok())
    status = world()->synchronize();
  return failOnDeviceError(status);
}

/// Work that other ranks wait for is missing after an error of the device.
/// Other errors of calls are those of all ranks, or have no effect.
Status ncclComm::failOnDeviceError(const Status &status) {
  if (status.code() == StatusCode::deviceError)
    session_.fail(status);
  return status;
}

void ncclComm::stop(Lifetime lifetime) {
  std::lock_guard<std::mutex> lock(mutex_);
  lifetime_ = std::max(lifetime_, lifetime);
  if (lifetime == Lifetime::aborted)
    cancelled_.store(true);
  if (!session_.world)
    return;
  // Others may have what they need of a rank that aborts; revoked, they end.
  if (lifetime == Lifetime::aborted)
    session_.leave(Status(StatusCode::aborted, "ncclCommAbort was called"));
  else
    session_.fail(Status(StatusCode::aborted, "ncclCommRevoke was called"));
}

bool ncclComm::isRevoked() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return lifetime_ == Lifetime::revoked;
}

Status ncclComm::destroy() {
  worker.wait().ignore("it was reported as the asynchronous error");
  std::lock_guard<std::mutex> running(runMutex_);
  Session session;
  bool isFirst = false;
  World *opened = world();
  Status forgotten = opened ? streams_.forget(*opened, {}) : Status::success();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    session = std::move(session_);
    isFirst = !std::exchange(isDestroyed_, true);
  }
  if (!isFirst)
    return Status::success();
  const std::string job = options.secret.job();
  if (!session.world || !session.world->failure().ok()) {
    // No rank waits for this one any more.
    session.end().ignore("the failure is known");
    session.free();
    LocalRanks::remove(job);
    return Status::success();
  }
  Status status = LocalRanks::end(job, std::move(session));
  // A peer that exits without ncclCommDestroy has nothing left to do here.
  if (status.code() == StatusCode::aborted)
    return Status::success();
  return status.ok() ? forgotten : status;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool ncclComm::isSynchronous(const Operation &operation) const {
  return CallerStreams::isSynchronous(options.device.kind, operation.stream);
}

/// An error of the caller's streams: of several nodes, by the numbers that
/// ranks have in the communicator.
Status ncclComm::named(const Status &status) {
  if (status.ok() || !session_.spansNodes())
    return status;
  const Status failure = session_.poll();
  return failure.ok() ? status : failure;
}

Status ncclComm::runCollective(const Operation &operation) {
  World &world = *session_.world;
  IRISRT_ASSIGN_OR_RETURN(CallerStreams::Entered entered,
                          streams_.enter(world, operation.stream));
  ccl::Call call = operation.call;
  call.stream = entered.stream();
  // A call that fails may have enqueued a part of its work.
  auto run = [this](const ccl::Call &each) { return session_.run(each); };
  Status status = operation.factor ? scaling.run(world, options.numRanks, run,
                                                 call, *operation.factor)
                                   : run(call);
  Status left = streams_.leave(world, entered);
  return status.ok() ? named(left) : status;
}

Status
ncclComm::runPointToPoint(const std::vector<const Operation *> &operations) {
  World &world = *session_.world;
  std::vector<void *> natives;
  std::vector<CallerStreams::Entered> entered;
  std::vector<Stream> streams;
  std::vector<ccl::Call> calls;
  for (const Operation *operation : operations) {
    calls.push_back(operation->call);
    if (std::find(natives.begin(), natives.end(), operation->stream) !=
        natives.end())
      continue;
    IRISRT_ASSIGN_OR_RETURN(CallerStreams::Entered each,
                            streams_.enter(world, operation->stream));
    natives.push_back(operation->stream);
    streams.push_back(each.stream());
    entered.push_back(std::move(each));
  }
  Status status = session_.runPointToPoint(pointToPoint_, calls, streams);
  for (const CallerStreams::Entered &each : entered) {
    Status left = streams_.leave(world, each);
    if (status.ok())
      status = named(left);
  }
  return status;
}

/// The ranks that kernels of the operations may wait for, one bit for each.
static uint64_t peersOf(const std::vector<Operation> &operations) {
  uint64_t peers = 0;
  for (const Operation &operation : operations)
    peers |= operation.isPointToPoint() ? uint64_t(1) << operation.call.root
                                        : WorldOperation::allRanks;
  return peers;
}

Status ncclComm::run(const std::vector<Operation> &operations) {
  std::lock_guard<std::mutex> running(runMutex_);
  IRISRT_RETURN_IF_ERROR(checkInUse());
  const uint64_t peers = peersOf(operations);
  IRISRT_RETURN_IF_ERROR(session_.pollFor(peers));
  SessionOperation goesOn(session_, peers);
  return failOnDeviceError(runAll(operations));
}

/// The caller holds runMutex_.
Status ncclComm::runAll(const std::vector<Operation> &operations) {
  std::vector<void *> natives;
  for (const Operation &operation : operations)
    natives.push_back(operation.stream);
  IRISRT_RETURN_IF_ERROR(streams_.forget(*session_.world, natives));
  std::vector<const Operation *> transfers;
  bool waits = false;
  for (const Operation &operation : operations) {
    waits = waits || isSynchronous(operation);
    if (operation.isPointToPoint())
      transfers.push_back(&operation);
    else
      IRISRT_RETURN_IF_ERROR(runCollective(operation));
  }
  if (!transfers.empty())
    IRISRT_RETURN_IF_ERROR(runPointToPoint(transfers));
  return waits ? named(session_.world->synchronize()) : Status::success();
}

/// Operations whose launches a driver accepts in any case. A launch waits where
/// too many are pending, and these may need those of the next rank to end.
static constexpr size_t maxPending = 4;

bool ncclComm::onlyEnqueues(const std::vector<Operation> &operations) {
  std::lock_guard<std::mutex> running(runMutex_);
  if (operations.size() > maxPending || !checkInUse().ok() ||
      session_.spansNodes())
    return false;
  return std::all_of(operations.begin(), operations.end(),
                     [&](const Operation &operation) {
                       const bool isOwn = operation.isPointToPoint() &&
                                          operation.call.root == options.rank;
                       return !isSynchronous(operation) && !operation.factor &&
                              (isOwn || session_.collectives->onlyEnqueues(
                                            session_.bounded(operation.call)));
                     });
}

void ncclComm::loadTransfers(const std::vector<Operation> &operations) {
  std::lock_guard<std::mutex> running(runMutex_);
  // Between nodes, the peers have other numbers.
  if (!checkInUse().ok() || session_.spansNodes())
    return;
  for (const Operation &operation : operations) {
    if (!operation.isPointToPoint() || operation.call.root == options.rank)
      continue;
    // Some drivers cannot load while the stream is captured.
    Expected<CallerStreams::InUse> used =
        streams_.use(*session_.world, operation.stream);
    if (used.ok())
      session_.collectives->load(operation.call).ignore("run() reports it");
  }
}

/// Collectives run one after another, then all sends and all receives at once.
Expected<double> ncclComm::estimate(const std::vector<Operation> &operations) {
  std::lock_guard<std::mutex> running(runMutex_);
  IRISRT_RETURN_IF_ERROR(checkInUse());
  double collectives = 0, sends = 0, receives = 0;
  for (const Operation &operation : operations) {
    const bool isOwn =
        operation.isPointToPoint() && operation.call.root == options.rank;
    if (isOwn)
      continue; // a copy
    IRISRT_ASSIGN_OR_RETURN(double us, session_.estimate(operation.call));
    (!operation.isPointToPoint()          ? collectives
     : operation.call.op == ccl::Op::send ? sends
                                          : receives) += us;
  }
  return collectives + std::max(sends, receives);
}

Expected<std::vector<std::string>> ncclComm::exchange(const std::string &mine) {
  std::lock_guard<std::mutex> running(runMutex_);
  IRISRT_RETURN_IF_ERROR(checkInUse());
  return session_.exchange(mine);
}

uint64_t ncclComm::takeChildNumber(const std::vector<uint32_t> &ranks) {
  std::lock_guard<std::mutex> lock(mutex_);
  ChildNumbers &numbers = children_[ranks];
  if (numbers.free.empty())
    return numbers.next++;
  return numbers.free.extract(numbers.free.begin()).value();
}

void ncclComm::giveChildNumber(const std::vector<uint32_t> &ranks,
                               uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  children_[ranks].free.insert(number);
}

//===----------------------------------------------------------------------===//
// Registrations
//===----------------------------------------------------------------------===//

void *ncclComm::addRegistration(const Registration &added) {
  auto registration = std::make_unique<Registration>(added);
  void *handle = registration.get();
  std::lock_guard<std::mutex> lock(mutex_);
  registrations_[handle] = std::move(registration);
  return handle;
}

Status ncclComm::registerWindow(void *address, size_t bytes, int flags,
                                ncclWindow_t *window) {
  Registration added;
  added.kind = Registration::Kind::window;
  added.address = reinterpret_cast<uint64_t>(address);
  std::lock_guard<std::mutex> running(runMutex_);
  IRISRT_RETURN_IF_ERROR(checkInUse());
  if ((flags & NCCL_WIN_COLL_SYMMETRIC) != 0) {
    World &world = *session_.world;
    Expected<uint64_t> imported = world.import(added.address, bytes);
    IRISRT_RETURN_IF_ERROR(session_.poll());
    const Log log(options.rank, options.numRanks);
    if (imported.ok())
      log.info("window of %zu bytes at %p: collectives use it where it is",
               bytes, address);
    else // the same on all ranks
      log.info("window of %zu bytes at %p: collectives stage it: %s", bytes,
               address, imported.status().message().c_str());
    added.imported = imported.ok() ? *imported : 0;
  }
  *window = static_cast<ncclWindow_t>(addRegistration(added));
  return Status::success();
}

Status ncclComm::removeRegistration(Registration::Kind kind,
                                    const void *handle) {
  std::lock_guard<std::mutex> running(runMutex_);
  uint64_t imported = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = registrations_.find(handle);
    if (found == registrations_.end() || found->second->kind != kind)
      // The codes of NCCL.
      return makeStatus(kind == Registration::Kind::buffer
                            ? StatusCode::failedPrecondition
                            : StatusCode::invalidArgument,
                        "%p is no handle of this communicator, or it was "
                        "deregistered",
                        handle);
    imported = found->second->imported;
  }
  // The end of a world that has failed releases what it has imported.
  World *opened = world();
  if (imported != 0 && opened && opened->failure().ok())
    IRISRT_RETURN_IF_ERROR(opened->release(imported));
  std::lock_guard<std::mutex> lock(mutex_);
  registrations_.erase(handle);
  return Status::success();
}

bool ncclComm::hasWindowIn(uint64_t address, uint64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(
      registrations_.begin(), registrations_.end(), [&](const auto &each) {
        const Registration &window = *each.second;
        return window.imported != 0 && window.address >= address &&
               window.address - address < bytes;
      });
}

bool ncclComm::usesWindowIn(uint64_t address, uint64_t bytes) {
  std::vector<std::shared_ptr<ncclComm>> comms;
  {
    Handles &handles = allHandles();
    std::lock_guard<std::mutex> lock(handles.mutex);
    for (const auto &[handle, comm] : handles.comms)
      comms.push_back(comm);
  }
  return std::any_of(comms.begin(), comms.end(), [&](const auto &comm) {
    return comm->hasWindowIn(address, bytes);
  });
}
