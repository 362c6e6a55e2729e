// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.cpp - Creation, failure and memory of a world ----------------===//
//
// WorldLaunch.cpp has modules, streams and synchronization; KernelLaunch.cpp
// has launches.
#include "core/Contribution.h"
#include "core/DefaultLimits.h"
#include "core/DeviceLocation.h"
#include "core/Launch.h"
#include "core/WorldAccess.h"
#include "core/WorldImpl.h"

#include "core/Report.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <unistd.h>

using namespace iris::rt;

static constexpr double defaultWaitSeconds = 30;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// The name of the next unnamed world of this rank. Ranks that create their
/// worlds in the same order get the same names.
static std::string nextWorldName(const LaunchInfo &launch) {
  static NameCounter counter;
  return counter.next(launch);
}

/// The default device: the launcher's local rank modulo the number of visible
/// devices, which may be one per process.
static Expected<int> chooseDevice(const WorldOptions &options,
                                  const LaunchInfo &launch) {
  if (options.deviceIndex)
    return *options.deviceIndex;
  if (options.device.kind == DeviceKind::host)
    return 0;
  IRISRT_ASSIGN_OR_RETURN(int count, countDevices(options.device));
  if (count <= 0)
    return makeStatus(StatusCode::unavailable, "no %s device is visible",
                      deviceName(options.device).c_str());
  return static_cast<int>(launch.localRank % static_cast<uint32_t>(count));
}

Expected<std::unique_ptr<World>> World::create(const WorldOptions &options) {
  IRISRT_ASSIGN_OR_RETURN(LaunchInfo launch, launchOrDefault(options.launch));
  if (launch.localSize != 0 && launch.localSize < launch.numRanks)
    return makeStatus(StatusCode::unavailable,
                      "the job's %u ranks are on several nodes (%u on this "
                      "one), but a world is limited to one; create an "
                      "iris::rt::Job, whose nodes have a world each, or start "
                      "the job on one node",
                      launch.numRanks, launch.localSize);
  launch.job +=
      "/" + (options.name.empty() ? nextWorldName(launch) : options.name);

  auto impl = std::make_unique<Impl>(options, launch);
  Status status = impl->open();
  if (!status.ok()) {
    impl->log.info("%s", status.message().c_str());
    impl->fail(status, /*remote=*/false);
    return status;
  }
  return std::unique_ptr<World>(new World(std::move(impl)));
}

Status World::Impl::open() {
  const Env &env = Env::get();
  if (!env.warning().empty() && launch.rank == 0)
    log.warning("%s", env.warning().c_str());
  waitSeconds = options.waitLimit.value_or(
      env.waitLimitSeconds().value_or(defaultWaitSeconds));
  limit = secondsOf(options.collectiveLimit.value_or(
      env.collectiveLimitSeconds().value_or(defaultCollectiveSeconds)));

  // Join first, so that later errors can be reported to all ranks.
  RendezvousOptions rendezvous;
  rendezvous.rank = launch.rank;
  rendezvous.numRanks = launch.numRanks;
  rendezvous.job = launch.job;
  rendezvous.token = launch.token;
  rendezvous.directories = env.rendezvousDirs();
  rendezvous.noticeFd = launch.noticeFd;
  rendezvous.cancelled = options.cancelled;
  rendezvous.limit = secondsOf(options.joinLimit.value_or(
      env.joinLimitSeconds().value_or(defaultJoinSeconds)));
  IRISRT_ASSIGN_OR_RETURN(bootstrap, Bootstrap::create(rendezvous));

  IRISRT_ASSIGN_OR_RETURN(int index, chooseDevice(options, launch));
  IRISRT_ASSIGN_OR_RETURN(backend,
                          createBackend(options.device, index,
                                        /*placeMappings=*/!options.forceTable));
  if (options.letPeersAccess)
    IRISRT_RETURN_IF_ERROR(backend->letPeersAccess());
  IRISRT_RETURN_IF_ERROR(openControl());
  IRISRT_ASSIGN_OR_RETURN(mainStream, backend->createStream());

  HeapOptions heapOptions;
  heapOptions.bytes =
      options.heapBytes != 0 ? options.heapBytes : env.heapBytes().value_or(0);
  heapOptions.importBytes =
      options.importBytes ? options.importBytes : env.importBytes();
  heapOptions.chunkBytes = options.heapChunkBytes;
  heapOptions.limit = limit;
  IRISRT_ASSIGN_OR_RETURN(
      heap, SymmetricHeap::create(*backend, *bootstrap, heapOptions));
  IRISRT_RETURN_IF_ERROR(countRanksOnDevice());
  // Else the memory of a rank ends with it.
  if (backend->info().canPlaceMappings || backend->canTellWork())
    IRISRT_RETURN_IF_ERROR(bootstrap->letRanksLeave(limit));

  context.rank = launch.rank;
  context.numRanks = launch.numRanks;
  context.heapBase = heap->base();
  context.heapStride = static_cast<int64_t>(heap->stride());
  context.heapTable = heap->table();
  context.heapBytes = heap->bytes();
  context.control = control.device;
  context.waitLimit = static_cast<uint64_t>(
      waitSeconds * static_cast<double>(backend->info().clockHz));
  if (launch.numRanks <= IRISRT_MAX_GROUP) {
    worldGroup.ranks.resize(launch.numRanks);
    std::iota(worldGroup.ranks.begin(), worldGroup.ranks.end(), 0);
    worldGroup.index = static_cast<int32_t>(launch.rank);
  }
  context.memoryKind = backend->info().memoryKind;
  log.info("world of %u ranks on %s (%s), heap of %llu bytes, %s",
           launch.numRanks, backend->info().name.c_str(),
           backend->info().target.c_str(),
           static_cast<unsigned long long>(heap->bytes()),
           heap->stride() != 0 ? "uniform stride" : "table");
  return Status::success();
}

Status World::Impl::countRanksOnDevice() {
  if (options.device.kind != DeviceKind::cuda &&
      options.device.kind != DeviceKind::hip)
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<Bootstrap::Bytes> all,
      bootstrap->allGather(
          CollectiveTag::create,
          toContribution(DeviceLocation::of(backend->info().index)), limit));
  std::map<DeviceLocation, uint32_t> ranks;
  for (uint32_t rank = 0; rank < bootstrap->numRanks(); ++rank) {
    IRISRT_ASSIGN_OR_RETURN(DeviceLocation location,
                            fromContribution<DeviceLocation>(all[rank], rank));
    ranksOnDevice = std::max(ranksOnDevice, ++ranks[location]);
  }
  return Status::success();
}

Status World::Impl::openControl() {
  IRISRT_ASSIGN_OR_RETURN(control,
                          backend->allocateHostVisible(sizeof(IrisRtControl)));
  backend->watchAbort(&block()->abortWord);
  bootstrap->onFailure(
      [this](const Status &status) { fail(status, /*remote=*/true); });
  bootstrap->onLaunchQuery([this] { return launchCount.load(); });
  return Status::success();
}

World::World(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

//===----------------------------------------------------------------------===//
// Failure
//===----------------------------------------------------------------------===//

/// Ends all waits of this rank's kernels.
void World::Impl::setAbort(uint32_t reason) {
  if (!control.host)
    return;
  uint32_t none = IRISRT_ABORT_NONE;
  __atomic_compare_exchange_n(&block()->abortWord, &none, reason,
                              /*weak=*/false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

void World::Impl::fail(const Status &status, bool remote, bool leaves) {
  if (!owner.isHere())
    return;
  const uint64_t left = remote && bootstrap ? bootstrap->ranksThatLeft() : 0;
  // What is queued may send the output of work that ends here.
  leaves = leaves && hasEnded();
  if (!remote && !leaves && repeatsLeaver(status))
    return failForLeavers();
  {
    std::lock_guard<std::mutex> lock(mutex);
    // A local error replaces the report of a peer, and any failure the one that
    // ranks left.
    const bool isFirst = failure_.ok();
    const bool replaces =
        (failureIsRemote && !remote) || (leftRanks != 0 && left == 0);
    if (!isFirst && !replaces && leftRanks == 0)
      return;
    if (isFirst || replaces) {
      failure_ = status;
      failureIsRemote = remote;
    }
    // Threads that report different ranks come here in any order.
    leftRanks = left != 0 ? leftRanks | left : 0;
    hasFailed.store(true);
  }
  if (left != 0)
    return limitWaits();
  // Peers first: a driver's queue goes on when waits have ended.
  if (!remote && bootstrap)
    bootstrap->announceFailure(status, leaves);
  setAbort(remote ? IRISRT_ABORT_REMOTE : IRISRT_ABORT_HOST);
  if (!remote && bootstrap)
    bootstrap->endWaits(status);
}

Status World::Impl::failure() const {
  IRISRT_RETURN_IF_ERROR(owner.check());
  if (!hasFailed.load(std::memory_order_acquire))
    return Status::success();
  std::lock_guard<std::mutex> lock(mutex);
  return goesOn() ? Status::success() : failure_;
}

//===----------------------------------------------------------------------===//
// Ranks that leave
//===----------------------------------------------------------------------===//
//
// A rank may leave, or its process end, when it has done its part: what it owed
// is in the memory of its peers. Whether it owes more, the host cannot tell.
// Kernels that may wait for it therefore get some time to end by themselves;
// then all waits of this rank end, and it fails. Kernels that wait for other
// ranks only go on.
//
// A rank that ends its own waits has not done its part: it has failed, also if
// it did so because it, or another one, leaves.

/// The time that waits get; less if the limit of waits is short.
static constexpr double leaveGraceSeconds = 2;
static constexpr double leaveGraceOfLimit = 0.25;
/// How long a driver may take to tell that work has ended.
static constexpr auto endedLimit = std::chrono::milliseconds(10);

namespace {
struct CurrentOperation {
  const void *world = nullptr; ///< the Impl
  uint64_t peers = WorldOperation::allRanks;
};
} // namespace

static thread_local CurrentOperation currentOperation;

WorldOperation::WorldOperation(World &world, uint64_t peers)
    : outerWorld_(currentOperation.world), outerPeers_(currentOperation.peers) {
  currentOperation = {world.impl_.get(), peers};
}

WorldOperation::~WorldOperation() {
  currentOperation = {outerWorld_, outerPeers_};
}

void World::leave(const Status &status) {
  if (!status.ok())
    impl_->fail(status, /*remote=*/false, /*leaves=*/true);
}

uint64_t World::ranksThatLeft() const {
  if (!impl_->owner.isHere())
    return 0;
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->leftRanks;
}

bool World::Impl::isAborted() const {
  return control.host && __atomic_load_n(&block()->abortWord,
                                         __ATOMIC_ACQUIRE) != IRISRT_ABORT_NONE;
}

bool World::Impl::goesOn() const {
  return leftRanks != 0 && currentOperation.world == this && !isAborted();
}

bool World::Impl::isCapturing(StreamHandle stream) const {
  Expected<bool> isCaptured = backend->isCapturing(stream);
  return isCaptured.ok() && *isCaptured;
}

void World::Impl::notePending(StreamHandle stream, bool isCaptured) {
  const uint64_t peers = currentOperation.world == this
                             ? currentOperation.peers
                             : WorldOperation::allRanks;
  {
    std::lock_guard<std::mutex> lock(pendingMutex);
    // The program may launch its graphs unseen.
    (isCaptured ? capturedPeers : pending[stream.value]) |= peers;
  }
  if (hasFailed.load())
    limitWaits();
}

void World::Impl::noteFollowed(StreamHandle stream) {
  if (backend->canTellWork() || stream.value == mainStream.value)
    return;
  std::lock_guard<std::mutex> lock(pendingMutex);
  auto found = pending.find(stream.value);
  if (found == pending.end())
    return;
  pending[mainStream.value] |= found->second;
  pending.erase(found);
}

bool World::Impl::mayNeed(uint64_t ranks) {
  std::lock_guard<std::mutex> lock(pendingMutex);
  uint64_t peers = capturedPeers;
  for (auto each = pending.begin(); each != pending.end();) {
    if (!backend->hasWork({each->first})) {
      each = pending.erase(each);
      continue;
    }
    peers |= each->second;
    ++each;
  }
  return (peers & ranks) != 0;
}

bool World::Impl::mayNeedLeavers() {
  uint64_t left = 0;
  {
    std::lock_guard<std::mutex> lock(mutex);
    left = leftRanks;
  }
  return mayNeed(left);
}

bool World::Impl::hasEnded() {
  if (!backend || !mainStream.valid())
    return true;
  if (!backend->canTellWork()) {
    const StreamHandle joined = joinedHandleOf({});
    if (backend->synchronize(joined, endedLimit).ok()) {
      std::lock_guard<std::mutex> lock(pendingMutex);
      pending.erase(joined.value);
    }
  }
  return !mayNeed(WorldOperation::allRanks);
}

void World::Impl::limitWaits() {
  if (!mayNeedLeavers())
    return;
  double seconds = leaveGraceSeconds;
  if (waitSeconds > 0)
    seconds = std::min(seconds, waitSeconds * leaveGraceOfLimit);
  bootstrap->callLater(secondsOf(seconds), [this] { endLimitedWaits(); });
}

bool World::Impl::repeatsLeaver(const Status &status) const {
  std::lock_guard<std::mutex> lock(mutex);
  return leftRanks != 0 &&
         status.message().find(failure_.message()) != std::string::npos;
}

void World::Impl::endLimitedWaits() {
  if (mayNeedLeavers())
    failForLeavers();
}

void World::Impl::failForLeavers() {
  Status status;
  {
    std::lock_guard<std::mutex> lock(mutex);
    leftRanks = 0;
    status = failure_;
  }
  // Others may wait for what this rank does not send now.
  bootstrap->announceLeaverFailed();
  setAbort(IRISRT_ABORT_REMOTE);
  bootstrap->endWaits(status);
}

//===----------------------------------------------------------------------===//
// State of failures
//===----------------------------------------------------------------------===//

bool World::Impl::hasLocalFailure() const {
  std::lock_guard<std::mutex> lock(mutex);
  return !failure_.ok() && !failureIsRemote;
}

Status World::Impl::failOnError(Status status) {
  if (status.ok())
    return status;
  IRISRT_RETURN_IF_ERROR(owner.check());
  // An aborted collective only repeats the error of a peer.
  fail(status, /*remote=*/status.code() == StatusCode::aborted);
  std::lock_guard<std::mutex> lock(mutex);
  return failure_; // in a WorldOperation too
}

//===----------------------------------------------------------------------===//
// Destruction
//===----------------------------------------------------------------------===//

Status World::Impl::destroy() {
  if (!owner.isHere())
    return Status::success(); // belongs to the parent process
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (destroyed)
      return failure_;
    destroyed = true;
  }
  Status status = failure();
  if (status.ok() && heap)
    status = recordFailure(synchronizeAll());
  else if (heap && !isAborted()) {
    // Other ranks have left. This one's work may still end, and so may that of
    // the others.
    synchronizeAll().ignore("the failure is returned");
    if (hasEnded())
      bootstrap->announceFailure(status, /*leaves=*/true);
    else
      bootstrap->announceLeaverFailed();
  }
  // Peers may use this rank's memory until they have arrived here.
  if (status.ok() && heap)
    status = failOnError(bootstrap->barrier(CollectiveTag::destroy, limit));
  if (control.host) {
    ExpectReport report = expects();
    if (report.failed != 0 && !expectsRead)
      log.error("%llu of %llu checks failed and were never read; the first: %s",
                static_cast<unsigned long long>(report.failed),
                static_cast<unsigned long long>(report.checked),
                report.first.c_str());
  }
  setAbort(IRISRT_ABORT_HOST);
  if (bootstrap)
    bootstrap->leave(); // no callback uses the control block any more
  return status;
}

void World::Impl::abandon() {
  // The threads do not exist in this process, the device does not know it, and
  // fork has closed the connections: no destructor may run.
  (void)heap.release();
  (void)backend.release();
  (void)bootstrap.release();
}

World::Impl::~Impl() {
  if (!owner.isHere()) {
    abandon();
    return;
  }
  destroy().ignore("callers that need the status call destroy()");
  const char *why = "a destructor cannot return an error";
  if (backend) {
    // If a kernel is still running, the memory that it may use stays allocated:
    // after a timeout the back end neither frees nor unmaps anything.
    Deadline deadline(std::min<std::chrono::nanoseconds>(
        limit, std::chrono::nanoseconds(destroyStreamLimit)));
    bool isStuck = false;
    auto end = [&](StreamHandle stream) {
      Status ended = backend->destroyStream(stream, deadline.remaining());
      isStuck |= ended.code() == StatusCode::timeout;
    };
    for (uint64_t stream : streams)
      end({stream});
    if (mainStream.valid())
      end(joinedHandleOf({}));
    if (isStuck)
      log.error("a kernel of this rank still runs; its heap, code and control "
                "block stay allocated until the process ends");
    for (const std::unique_ptr<Loaded> &loaded : modules)
      backend->unloadModule(loaded->module).ignore(why);
  }
  heap.reset();
  if (backend && control.host)
    backend->freeHostVisible(control).ignore(why);
}

World::~World() = default;

Status World::destroy() { return impl_->destroy(); }

Status World::enablePeerAccess(int device) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->backend->enablePeer(device);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

uint32_t World::rank() const { return impl_->launch.rank; }
uint32_t World::numRanks() const { return impl_->launch.numRanks; }
DeviceKind World::deviceKind() const { return impl_->options.device.kind; }
const DeviceSpec &World::device() const { return impl_->options.device; }
const std::string &World::target() const {
  return impl_->backend->info().target;
}
const std::string &World::deviceName() const {
  return impl_->backend->info().name;
}
const DeviceAttributes &World::deviceAttributes() const {
  return impl_->backend->info();
}
const char *World::translation() const {
  return translationOf(impl_->heap->stride() != 0);
}
Status World::failure() const { return impl_->failure(); }
void World::fail(const Status &status) {
  if (!status.ok())
    impl_->fail(status, /*remote=*/false);
}
IrisRtContext World::context() const { return impl_->context; }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<uint64_t> World::allocate(uint64_t bytes, uint64_t alignment) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  bool isDiverged = false;
  Expected<uint64_t> address =
      impl_->heap->allocate(bytes, alignment, isDiverged);
  if (!address.ok() && isDiverged)
    return impl_->failOnError(address.status());
  return address;
}

Status World::deallocate(uint64_t address) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->heap->release(address);
}

bool World::isSymmetric(uint64_t address, uint64_t bytes) const {
  return impl_->owner.isHere() && impl_->heap->contains(address, bytes);
}

Expected<uint64_t> World::translate(uint64_t address, uint32_t rank) const {
  if (rank >= numRanks())
    return makeStatus(StatusCode::invalidArgument,
                      "rank %u; expected less than %u", rank, numRanks());
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  if (!isSymmetric(address))
    return makeStatus(StatusCode::invalidArgument,
                      "address 0x%llx is not in an allocation on the symmetric "
                      "heap",
                      static_cast<unsigned long long>(address));
  return address - impl_->heap->base() + impl_->heap->baseOf(rank);
}

uint64_t World::heapBytes() const { return impl_->heap->bytes(); }
uint64_t World::heapUsed() const {
  return impl_->owner.isHere() ? impl_->heap->usedBytes() : 0;
}

Expected<uint64_t> World::freeDeviceBytes() const {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  return impl_->backend->freeBytes();
}

Backend &WorldAccess::backend(World &world) { return *world.impl_->backend; }

StreamHandle WorldAccess::handleOf(const World &world, Stream stream) {
  return world.impl_->joinedHandleOf(stream);
}

Expected<std::vector<UniqueFd>> WorldAccess::exchangeFds(World &world, int fd) {
  World::Impl &impl = *world.impl_;
  IRISRT_RETURN_IF_ERROR(impl.failure());
  Expected<Bootstrap::FdResult> result =
      impl.bootstrap->exchangeFds(CollectiveTag::share, {}, fd, impl.limit);
  if (!result.ok())
    return impl.failOnError(result.status());
  return std::move(result->fds);
}

Expected<uint64_t> World::import(uint64_t address, uint64_t bytes) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  bool isDiverged = false;
  Expected<uint64_t> imported = impl_->heap->import(address, bytes, isDiverged);
  if (!imported.ok() && isDiverged)
    return impl_->failOnError(imported.status());
  return imported;
}

Status World::release(uint64_t imported) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  IRISRT_RETURN_IF_ERROR(impl_->heap->checkImported(imported));
  IRISRT_RETURN_IF_ERROR(impl_->checkNotCaptured(impl_->allStreams()));
  IRISRT_RETURN_IF_ERROR(impl_->recordFailure(impl_->synchronizeAll()));
  return impl_->heap->releaseImport(imported);
}

std::optional<uint64_t> World::symmetricAddress(uint64_t address,
                                                uint64_t bytes) const {
  if (!impl_->owner.isHere())
    return std::nullopt;
  return impl_->heap->addressOf(address, bytes);
}

Status World::copyToDevice(uint64_t to, const void *from, uint64_t bytes,
                           Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->backend->copyToDevice(impl_->joinedHandleOf(stream), to, from,
                                      bytes);
}

Status World::copyToHost(void *to, uint64_t from, uint64_t bytes,
                         Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->backend->copyToHost(impl_->joinedHandleOf(stream), to, from,
                                    bytes);
}

Status World::writeNow(uint64_t to, const void *from, uint64_t bytes,
                       Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  auto staged = std::make_unique<uint8_t[]>(bytes);
  std::memcpy(staged.get(), from, bytes);
  Status status = copyToDevice(to, staged.get(), bytes, stream);
  if (status.ok())
    status = synchronize(stream);
  if (!status.ok())
    impl_->backend->keepUntilEnd(std::move(staged));
  return status;
}

Status World::readNow(void *to, uint64_t from, uint64_t bytes, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  auto staged = std::make_unique<uint8_t[]>(bytes);
  Status status = copyToHost(staged.get(), from, bytes, stream);
  if (status.ok())
    status = synchronize(stream);
  if (status.ok())
    std::memcpy(to, staged.get(), bytes);
  else
    impl_->backend->keepUntilEnd(std::move(staged));
  return status;
}

Status World::copyOnDevice(uint64_t to, uint64_t from, uint64_t bytes,
                           Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->backend->copyOnDevice(impl_->joinedHandleOf(stream), to, from,
                                      bytes);
}

Status World::zero(uint64_t address, uint64_t bytes, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  Status status =
      impl_->backend->zero(impl_->joinedHandleOf(stream), address, bytes);
  Status failure = impl_->failure();
  return failure.ok() ? status : failure;
}
