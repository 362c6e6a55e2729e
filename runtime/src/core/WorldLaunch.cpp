// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorldLaunch.cpp - Modules, streams and synchronization -------------===//
//
// KernelLaunch.cpp has launches.
#include "core/Report.h"
#include "core/WorldImpl.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace iris::rt;

/// How long a rank waits for its streams after a peer has failed.
static constexpr auto failedStreamGrace = std::chrono::seconds(5);
/// How much later than a wait of its kernels a stream's wait times out.
static constexpr auto timedOutGrace = std::chrono::seconds(2);
static constexpr auto pollSlice = std::chrono::milliseconds(50);

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// The caller holds `loadMutex`.
const World::Impl::Loaded *
World::Impl::findLoaded(const Package &package) const {
  for (const std::unique_ptr<Loaded> &loaded : modules)
    if (loaded->package == package)
      return loaded.get();
  return nullptr;
}

Status World::Impl::checkHostCode(const char *what) const {
  if (!options.refuseHostCode.value_or(Env::get().refuseHostCode()))
    return Status::success();
  return makeStatus(StatusCode::failedPrecondition,
                    "the package's %s is code that would run in this process, "
                    "which WorldOptions::refuseHostCode or "
                    "IRIS_REFUSE_HOST_CODE=1 forbids; use a package for a "
                    "GPU, or permit host code if its source is trusted",
                    what);
}

Status World::checkMayRunMain() const {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  return impl_->checkHostCode("@main");
}

Expected<Module> World::load(const Package &package) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  std::lock_guard<std::mutex> loading(impl_->loadMutex);
  const Impl::Loaded *found = impl_->findLoaded(package);
  if (!found) {
    auto loaded = std::make_unique<Impl::Loaded>(Impl::Loaded{package, {}, {}});
    IRISRT_ASSIGN_OR_RETURN(loaded->image,
                            loaded->package.findImage(target(), translation()));
    if (deviceKind() == DeviceKind::host)
      IRISRT_RETURN_IF_ERROR(impl_->checkHostCode("image for the host"));
    IRISRT_ASSIGN_OR_RETURN(
        loaded->module,
        impl_->backend->loadModule(loaded->image->data, loaded->image->size));
    found = loaded.get();
    {
      std::lock_guard<std::mutex> lock(impl_->mutex);
      impl_->modules.push_back(std::move(loaded));
    }
    IRISRT_RETURN_IF_ERROR(compareClocks());
  }
  Module module;
  module.world_ = this;
  module.image_ = found->image;
  module.handle_ = found->module.value;
  return module;
}

Expected<Kernel> Module::kernel(std::string_view name) const {
  IRISRT_RETURN_IF_ERROR(world_->impl_->owner.check());
  Kernel kernel;
  IRISRT_ASSIGN_OR_RETURN(kernel.info_, image_->findKernel(name));
  IRISRT_ASSIGN_OR_RETURN(KernelHandle handle,
                          world_->impl_->backend->findKernel(
                              {handle_}, kernel.info_->symbol.c_str()));
  kernel.handle_ = handle.value;
  // Queried once, so that launches need no lookup. The error for a kernel that
  // can never run is reported by the launch.
  if (kernel.info_->coresident) {
    Expected<uint32_t> most = world_->maxCoresident(kernel);
    kernel.maxCoresident_ = most.ok() ? *most : 0;
  }
  return kernel;
}

Expected<Kernel> World::findKernel(std::string_view name) const {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  std::vector<Module> candidates;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    for (const std::unique_ptr<Impl::Loaded> &loaded : impl_->modules) {
      Module module;
      module.world_ = const_cast<World *>(this);
      module.image_ = loaded->image;
      module.handle_ = loaded->module.value;
      candidates.push_back(module);
    }
  }
  Status last = makeStatus(StatusCode::invalidArgument,
                           "no kernel '%.*s': no package is loaded",
                           static_cast<int>(name.size()), name.data());
  for (const Module &module : candidates) {
    Expected<Kernel> kernel = module.kernel(name);
    if (kernel.ok())
      return kernel;
    last = kernel.status();
  }
  return last;
}

const KernelInfo *World::Impl::findByHash(uint64_t hash) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::unique_ptr<Loaded> &loaded : modules)
    for (const KernelInfo &kernel : loaded->image->kernels)
      if (kernel.nameHash() == hash)
        return &kernel;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

Expected<Stream> World::createStream(bool isHighPriority) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  IRISRT_ASSIGN_OR_RETURN(StreamHandle handle,
                          impl_->backend->createStream(isHighPriority));
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->streams.insert(handle.value);
  return Stream{handle.value};
}

Expected<Stream> World::adoptStream(void *native) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  IRISRT_ASSIGN_OR_RETURN(StreamHandle handle,
                          impl_->backend->adoptStream(native));
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (handle.value != impl_->mainStream.value) {
    impl_->streams.insert(handle.value);
    impl_->adopted.insert(handle.value);
  }
  return Stream{handle.value};
}

Status World::forgetStream(Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  impl_->followed.joinStream(*impl_->backend, impl_->mainStream, {stream.id});
  IRISRT_RETURN_IF_ERROR(impl_->backend->forgetStream({stream.id}));
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->streams.erase(stream.id);
  impl_->adopted.erase(stream.id);
  return Status::success();
}

void World::setInUse(Stream stream, bool isInUse) {
  if (!impl_->owner.isHere())
    return;
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->adopted.count(stream.id) == 0)
    return;
  if (isInUse)
    impl_->streams.insert(stream.id);
  else
    impl_->streams.erase(stream.id);
}

Status World::destroyStream(Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  IRISRT_RETURN_IF_ERROR(impl_->checkNotCaptured({{stream.id}}));
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    const bool isKnown = impl_->streams.erase(stream.id) != 0;
    if (impl_->adopted.erase(stream.id) == 0 && !isKnown)
      return makeStatus(
          StatusCode::invalidArgument,
          "unknown stream, or the default stream, which cannot be "
          "destroyed");
  }
  impl_->followed.joinStream(*impl_->backend, impl_->mainStream, {stream.id});
  return impl_->backend->destroyStream({stream.id});
}

Status World::synchronize(Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->finalFailure());
  StreamHandle handle = impl_->joinedHandleOf(stream);
  IRISRT_RETURN_IF_ERROR(impl_->checkNotCaptured({handle}));
  const uint32_t launches = impl_->launchCount.load();
  Status status = impl_->synchronizeStream(handle);
  if (!status.ok()) {
    impl_->checkHang().ignore("it records a hang as the failure");
    return impl_->recordFailure(status);
  }
  {
    std::lock_guard<std::mutex> lock(impl_->pendingMutex);
    if (impl_->launchCount.load() == launches)
      impl_->pending.erase(handle.value);
  }
  return impl_->recordFailure(impl_->checkEnded());
}

Expected<Event> World::createEvent(bool isTimed) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  IRISRT_ASSIGN_OR_RETURN(EventHandle handle,
                          impl_->backend->createEvent(isTimed));
  return Event{handle.value};
}

Status World::destroyEvent(Event event) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  impl_->followed.joinEvent(*impl_->backend, impl_->mainStream, {event.id});
  return impl_->backend->destroyEvent({event.id});
}

Status World::record(Event event, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  impl_->followed.joinEvent(*impl_->backend, impl_->mainStream, {event.id});
  return impl_->backend->record({event.id}, impl_->joinedHandleOf(stream));
}

Status World::waitFor(Event event, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->backend->wait(impl_->joinedHandleOf(stream), {event.id});
}

Status World::follow(Event event, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  const StreamHandle handle = impl_->joinedHandleOf(stream);
  IRISRT_RETURN_IF_ERROR(impl_->followed.follow(
      *impl_->backend, impl_->mainStream, {event.id}, handle));
  impl_->noteFollowed(handle);
  return impl_->failure();
}

Status World::waitEqual(uint64_t address, uint32_t value, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  if (address % sizeof(uint32_t) != 0 ||
      !isSymmetric(address, sizeof(uint32_t)))
    return makeStatus(StatusCode::invalidArgument,
                      "0x%" PRIx64
                      " is not an aligned 32-bit word on this rank's heap",
                      address);
  return impl_->backend->waitEqual(impl_->joinedHandleOf(stream), address,
                                   value);
}

Status World::callOnHost(std::function<void()> function, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->backend->callOnHost(impl_->joinedHandleOf(stream),
                                    std::move(function));
}

Expected<double> World::elapsedMs(Event start, Event end) const {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  return impl_->backend->elapsedMs({start.id}, {end.id});
}

Status World::beginCapture(Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->backend->beginCapture(impl_->joinedHandleOf(stream));
}

bool World::isCaptured(Stream stream) const {
  return impl_->owner.isHere() &&
         impl_->isAnyCaptured({impl_->handleOf(stream)});
}

std::optional<uint64_t> World::streamId(Stream stream) const {
  if (!impl_->owner.isHere())
    return std::nullopt;
  return impl_->backend->streamId(impl_->handleOf(stream));
}

bool World::capturing() const {
  return impl_->owner.isHere() && impl_->isAnyCaptured(impl_->allStreams());
}

bool World::canLoad() const {
  return !capturing() || impl_->backend->canLoadInCaptures();
}

Expected<Graph> World::endCapture(Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  IRISRT_ASSIGN_OR_RETURN(GraphHandle graph,
                          impl_->backend->endCapture(impl_->handleOf(stream)));
  return Graph{graph.value};
}

Status World::launchGraph(Graph graph, Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  const StreamHandle handle = impl_->joinedHandleOf(stream);
  Status status = impl_->backend->launchGraph({graph.id}, handle);
  impl_->notePending(handle, impl_->isCapturing(handle));
  return status;
}

Status World::destroyGraph(Graph graph) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  return impl_->backend->destroyGraph({graph.id});
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

/// Waits for a stream; after a failure of the world, only for a grace period.
Status World::Impl::synchronizeStream(StreamHandle stream) {
  // A kernel whose wait times out names the rank that is missing.
  const std::chrono::nanoseconds waits = secondsOf(waitSeconds);
  const std::chrono::nanoseconds mine =
      waitSeconds == 0 || waits > limit
          ? limit
          : std::max(limit, waits + timedOutGrace);
  Deadline deadline(mine);
  std::optional<Deadline> grace;
  while (true) {
    Status status = backend->synchronize(
        stream,
        std::min<std::chrono::nanoseconds>(deadline.remaining(), pollSlice));
    if (status.code() != StatusCode::timeout)
      return status;
    if (deadline.passed())
      return makeStatus(StatusCode::timeout,
                        "the kernels of rank %u did not end within %.3g s",
                        launch.rank,
                        std::chrono::duration<double>(mine).count());
    if (!grace && isAborted())
      grace.emplace(failedStreamGrace);
    if (grace && grace->passed())
      return failure();
  }
}

Status World::Impl::finalFailure() const {
  IRISRT_RETURN_IF_ERROR(owner.check());
  if (!hasFailed.load(std::memory_order_acquire))
    return Status::success();
  std::lock_guard<std::mutex> lock(mutex);
  return hasFinalFailure ? failure_ : Status::success();
}

std::vector<StreamHandle> World::Impl::allStreams() const {
  std::vector<StreamHandle> all = {mainStream};
  std::lock_guard<std::mutex> lock(mutex);
  for (uint64_t stream : streams)
    all.push_back({stream});
  return all;
}

bool World::Impl::isAnyCaptured(const std::vector<StreamHandle> &among) const {
  return std::any_of(among.begin(), among.end(), [this](StreamHandle stream) {
    return isCapturing(stream);
  });
}

Status
World::Impl::checkNotCaptured(const std::vector<StreamHandle> &among) const {
  if (!isAnyCaptured(among))
    return Status::success();
  return Status(StatusCode::failedPrecondition,
                "a stream is captured, so its work does not run; end the "
                "capture before waiting for it");
}

Status World::Impl::synchronizeAll() {
  followed.join(*backend, mainStream);
  for (StreamHandle stream : allStreams()) {
    Status status = synchronizeStream(stream);
    if (!status.ok()) {
      checkHang().ignore("it records a hang as the failure");
      return status;
    }
  }
  return checkHang();
}

Status World::Impl::recordFailure(Status status) {
  status = failOnError(std::move(status));
  if (!status.ok()) {
    std::lock_guard<std::mutex> lock(mutex);
    hasFinalFailure = true;
  }
  return status;
}

/// Makes the world fail if a check of this rank's kernels has failed.
void World::Impl::checkChecks() {
  const IrisRtCheckRecord &shared = block()->check;
  if (__atomic_load_n(&shared.state, __ATOMIC_ACQUIRE) != IRISRT_RECORD_READY)
    return;
  IrisRtCheckRecord record;
  std::memcpy(&record, &shared, sizeof(record));
  std::string text = describeCheck(record, findByHash(record.kernelHash));
  fail(makeStatus(StatusCode::invalidArgument, "%s", text.c_str()),
       /*remote=*/false);
}

/// Makes the world fail if a wait of this rank's kernels has timed out.
Status World::Impl::checkHang() {
  checkChecks();
  const IrisRtHangRecord &shared = block()->hang;
  if (__atomic_load_n(&shared.state, __ATOMIC_ACQUIRE) != IRISRT_RECORD_READY ||
      hasLocalFailure())
    return failure();
  IrisRtHangRecord record;
  std::memcpy(&record, &shared, sizeof(record));
  HangContext hang;
  hang.limitSeconds = waitSeconds;
  if (std::optional<uint64_t> offset = heap->offsetOf(record.address))
    hang.location = {*offset, heap->allocationOf(record.address)};
  if (record.owedBy >= 0)
    hang.launchesOfOwner =
        bootstrap->launchesOf(static_cast<uint32_t>(record.owedBy));
  std::string text = describeHang(record, findByHash(record.kernelHash), hang);
  fail(makeStatus(StatusCode::timeout, "%s", text.c_str()), /*remote=*/false);
  return failure();
}

/// A rank that left, or failed, when this rank's work had what it needs, is an
/// error of later calls only.
Status World::Impl::checkEnded() {
  Status status = checkHang();
  const bool wasEnded =
      hasLocalFailure() ||
      (backend->canTellWork() ? backend->hasCutWorkShort() : isAborted());
  return wasEnded ? status : Status::success();
}

Status World::poll() {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->checkHang();
}

Status World::checkDevice() {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->failOnError(impl_->backend->checkDevice(impl_->mainStream));
}

Status World::Impl::agreeAcrossRanks() {
  IRISRT_RETURN_IF_ERROR(heap->compare(CollectiveTag::sync));
  return heap->recycle();
}

Status World::barrier() {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  return impl_->failOnError(impl_->heap->compare(CollectiveTag::barrier));
}

uint32_t World::makeChannel() {
  if (!impl_->owner.isHere())
    return 0; // exchange() returns the error
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->channels++;
}

Expected<std::vector<std::string>>
World::exchange(const Group &group, uint32_t channel, const std::string &mine) {
  IRISRT_RETURN_IF_ERROR(impl_->failure());
  if (!group.contains())
    return makeStatus(StatusCode::invalidArgument,
                      "rank %u is not in the group", rank());
  Expected<std::vector<Bootstrap::Bytes>> contributions =
      impl_->bootstrap->gatherAmong(channel, group.ranks,
                                    Bootstrap::Bytes(mine.begin(), mine.end()),
                                    impl_->limit);
  if (!contributions.ok())
    return impl_->failOnError(contributions.status());
  std::vector<std::string> texts;
  for (const Bootstrap::Bytes &contribution : *contributions)
    texts.emplace_back(contribution.begin(), contribution.end());
  return texts;
}

Status World::deviceBarrier(Stream stream) {
  IRISRT_RETURN_IF_ERROR(synchronize(stream));
  return barrier();
}

Status World::sync() {
  // Not failure(): a hang of this rank, which shows when its streams are done,
  // is more informative than a failure that a peer reported.
  IRISRT_RETURN_IF_ERROR(impl_->finalFailure());
  IRISRT_RETURN_IF_ERROR(impl_->checkNotCaptured(impl_->allStreams()));
  IRISRT_RETURN_IF_ERROR(impl_->recordFailure(impl_->synchronizeAll()));
  return impl_->recordFailure(impl_->agreeAcrossRanks());
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

ExpectReport World::Impl::expects() const {
  ExpectReport report;
  const IrisRtControl *shared = block();
  report.checked = __atomic_load_n(&shared->expectChecked, __ATOMIC_ACQUIRE);
  report.failed = __atomic_load_n(&shared->expectFailed, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&shared->expect.state, __ATOMIC_ACQUIRE) ==
      IRISRT_RECORD_READY) {
    IrisRtExpectRecord record;
    std::memcpy(&record, &shared->expect, sizeof(record));
    report.first = describeExpect(record, findByHash(record.kernelHash));
  }
  return report;
}

ExpectReport World::expects() const {
  if (!impl_->owner.isHere())
    return {};
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->expectsRead = true;
  }
  return impl_->expects();
}

Status World::verify() {
  IRISRT_RETURN_IF_ERROR(sync());
  ExpectReport mine = expects();
  std::string text;
  if (mine.failed != 0)
    text = formatString("%llu of %llu checks failed; the first: ",
                        static_cast<unsigned long long>(mine.failed),
                        static_cast<unsigned long long>(mine.checked)) +
           mine.first;
  text.resize(std::min(text.size(), maxContribution));
  Expected<std::vector<Bootstrap::Bytes>> contributions =
      impl_->bootstrap->allGather(CollectiveTag::sync,
                                  Bootstrap::Bytes(text.begin(), text.end()),
                                  impl_->limit);
  if (!contributions.ok())
    return impl_->failOnError(contributions.status());
  if (mine.failed != 0)
    return makeStatus(StatusCode::failedPrecondition, "%s", text.c_str());
  for (uint32_t rank = 0; rank < numRanks(); ++rank)
    if (!(*contributions)[rank].empty())
      return makeStatus(StatusCode::failedPrecondition, "on rank %u %s", rank,
                        std::string((*contributions)[rank].begin(),
                                    (*contributions)[rank].end())
                            .c_str());
  return Status::success();
}
