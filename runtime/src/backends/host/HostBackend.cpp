// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostBackend.cpp - Streams, modules and launches on the host --------===//
//
// HostMemory.cpp has the memory functions.
#include "backends/host/HostBackend.h"

#include "backends/host/SharedStreams.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <thread>
#include <unistd.h>

using namespace iris::rt;

Expected<std::unique_ptr<Backend>>
iris::rt::createHostBackend(int index, bool placeMappings) {
  if (index < 0)
    return makeStatus(StatusCode::invalidArgument, "there is no host device %d",
                      index);
  return std::unique_ptr<Backend>(new HostBackend(placeMappings));
}

HostBackend::HostBackend(bool placeMappings)
    : team_(std::make_shared<ThreadTeam>()) {
  workers_ = std::max(1u, std::thread::hardware_concurrency());
  info_.target = IRISRT_ARCH_HOST;
  info_.name = "host CPU";
  info_.processors = workers_;
  info_.memoryBytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
  info_.clockHz = IRISRT_CLOCK_HZ_HOST;
  info_.memoryKind = IRISRT_MEMORY_HOST;
  info_.canPlaceMappings = placeMappings;
  info_.canCapture = true;
  info_.memoryStartsZero = true;
}

void HostBackend::destroyStreams() {
  while (!streams_.entries.empty()) {
    StreamHandle stream = {streams_.entries.begin()->first};
    Status status = destroyStream(stream); // stuck_ records a timeout
    if (!status.ok())
      eraseStream(stream); // also if its owner captures it
  }
}

HostBackend::~HostBackend() {
  destroyStreams();
  if (stuck_) {
    for (auto &[id, image] : modules_.entries)
      image.leak();
    new std::shared_ptr<ThreadTeam>(team_); // its threads cannot be joined
    leakKeptMemory();
    return;
  }
  for (const auto &[address, mapping] : mappings_)
    ::munmap(reinterpret_cast<void *>(address), mapping.bytes);
  for (const auto &[address, bytes] : reservations_)
    ::munmap(reinterpret_cast<void *>(address), bytes);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<HostStream>>
HostBackend::findStream(StreamHandle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = streams_.entries.find(stream.value);
  if (found == streams_.entries.end())
    return makeStatus(StatusCode::invalidArgument, "unknown stream");
  return found->second;
}

Status HostBackend::enqueue(StreamHandle stream, HostTask task) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  if (found->capturing())
    return found->enqueue(std::move(task));
  std::shared_ptr<std::atomic<uint64_t>> work;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<std::atomic<uint64_t>> &known = work_[stream.value];
    if (!known)
      known = std::make_shared<std::atomic<uint64_t>>(0);
    work = known;
  }
  work->fetch_add(1);
  Status status = found->enqueue([work, task = std::move(task)] {
    Status ended = task();
    work->fetch_sub(1);
    return ended;
  });
  if (!status.ok())
    work->fetch_sub(1);
  return status;
}

bool HostBackend::hasWork(StreamHandle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = work_.find(stream.value);
  return found != work_.end() && found->second->load() != 0;
}

Status HostBackend::callOnHost(StreamHandle stream,
                               std::function<void()> function) {
  return enqueue(stream, [function = std::move(function)] {
    function();
    return Status::success();
  });
}

Expected<StreamHandle> HostBackend::createStream(bool /*isHighPriority*/) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> stream,
                          HostStream::create());
  std::lock_guard<std::mutex> lock(mutex_);
  return StreamHandle{streams_.add(std::move(stream))};
}

Expected<StreamHandle> HostBackend::adoptStream(void *native) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> stream,
                          findHostStream(native));
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = adopted_.find(native);
  if (found != adopted_.end() && streams_.entries[found->second] == stream)
    return StreamHandle{found->second};
  // A new stream may have the handle of one that was destroyed.
  return StreamHandle{adopted_[native] = streams_.add(std::move(stream))};
}

bool HostBackend::isAdopted(StreamHandle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = streams_.entries.find(stream.value);
  if (found == streams_.entries.end())
    return false;
  auto adopted = adopted_.find(found->second.get());
  return adopted != adopted_.end() && adopted->second == stream.value;
}

void HostBackend::eraseStream(StreamHandle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = streams_.entries.find(stream.value);
  if (found == streams_.entries.end())
    return;
  auto adopted = adopted_.find(found->second.get());
  if (adopted != adopted_.end() && adopted->second == stream.value)
    adopted_.erase(adopted);
  streams_.entries.erase(found);
}

Status HostBackend::forgetStream(StreamHandle stream) {
  if (!isAdopted(stream))
    return Backend::forgetStream(stream);
  eraseStream(stream);
  return Status::success();
}

Expected<void *> HostBackend::nativeStream(StreamHandle stream) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  if (!isAdopted(stream))
    return Status(StatusCode::unavailable,
                  "the stream belongs to its world; expected one of "
                  "createHostStream");
  return static_cast<void *>(found.get());
}

Expected<bool> HostBackend::isCapturing(StreamHandle stream) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  return static_cast<bool>(found->capturing());
}

/// No handle is used twice.
std::optional<uint64_t> HostBackend::streamId(StreamHandle stream) {
  if (!findStream(stream).ok())
    return std::nullopt;
  return stream.value;
}

Status HostBackend::destroyStream(StreamHandle stream,
                                  std::chrono::nanoseconds limit) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  const bool belongsToCaller = isAdopted(stream);
  if (belongsToCaller && found->capturing())
    return Status(StatusCode::failedPrecondition,
                  "the stream is captured by its owner");
  eraseStream(stream);
  Status status =
      belongsToCaller ? found->synchronize(limit) : found->stop(limit);
  if (status.code() == StatusCode::timeout)
    stuck_ = true;
  return status;
}

Expected<bool> HostBackend::query(StreamHandle stream) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  return found->idle();
}

Status HostBackend::synchronize(StreamHandle stream,
                                std::chrono::nanoseconds limit) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  return found->synchronize(limit);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<HostBackend::EventState>>
HostBackend::findEvent(EventHandle event) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = events_.entries.find(event.value);
  if (found == events_.entries.end())
    return makeStatus(StatusCode::invalidArgument, "unknown event");
  return found->second;
}

Expected<EventHandle> HostBackend::createEvent(bool isTimed) {
  std::lock_guard<std::mutex> lock(mutex_);
  return EventHandle{events_.add(std::make_shared<EventState>(isTimed))};
}

Status HostBackend::destroyEvent(EventHandle event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (events_.entries.erase(event.value) == 0)
    return makeStatus(StatusCode::invalidArgument, "unknown event");
  return Status::success();
}

Status HostBackend::record(EventHandle event, StreamHandle stream) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<EventState> state, findEvent(event));
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  // A captured record takes effect at every replay, and not before.
  if (HostStream::Capturing now = found->capturing()) {
    auto takeEffect = [state] {
      auto mark = std::make_shared<HostMark>();
      mark->complete();
      std::lock_guard<std::mutex> lock(state->mutex);
      state->last = mark;
      return Status::success();
    };
    IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostPoint> point,
                            now.capture->record(now.branch, takeEffect));
    std::lock_guard<std::mutex> lock(state->mutex);
    state->capture = now.capture;
    state->point = point;
    return Status::success();
  }
  auto mark = std::make_shared<HostMark>();
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->last = mark;
    state->capture = nullptr;
    state->point = nullptr;
  }
  return found->enqueue([mark] {
    mark->complete();
    return Status::success();
  });
}

Status HostBackend::wait(StreamHandle stream, EventHandle event) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<EventState> state, findEvent(event));
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  std::shared_ptr<HostCapture> capture;
  std::shared_ptr<HostPoint> point;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    capture = state->capture;
    point = state->point;
  }
  HostStream::Capturing now = found->capturing();
  if (capture && !capture->hasEnded()) {
    // A stream that waits for a captured event joins the capture.
    if (!now) {
      IRISRT_RETURN_IF_ERROR(found->joinCapture(capture));
      now = found->capturing();
    }
    if (now.capture != capture)
      return makeStatus(StatusCode::failedPrecondition,
                        "the event is part of another capture");
    return capture->wait(now.branch, point);
  }
  auto lastMark = [state] {
    std::lock_guard<std::mutex> lock(state->mutex);
    return state->last;
  };
  // The last record is determined now or, in a graph, at the replay.
  bool captured = static_cast<bool>(now);
  std::shared_ptr<HostMark> known = captured ? nullptr : lastMark();
  std::function<Status()> check = checkOfStream(stream);
  return found->enqueue([=] {
    std::shared_ptr<HostMark> mark = captured ? lastMark() : known;
    if (mark) // never recorded: nothing to wait for
      mark->wait();
    return check();
  });
}

Expected<double> HostBackend::elapsedMs(EventHandle start, EventHandle end) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<EventState> first, findEvent(start));
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<EventState> second, findEvent(end));
  if (!first->isTimed || !second->isTimed)
    return makeStatus(StatusCode::invalidArgument,
                      "an event was created without a time");
  std::shared_ptr<HostMark> from, to;
  {
    std::lock_guard<std::mutex> lock(first->mutex);
    from = first->last;
  }
  {
    std::lock_guard<std::mutex> lock(second->mutex);
    to = second->last;
  }
  if (!from || !to || !from->done() || !to->done())
    return makeStatus(StatusCode::failedPrecondition,
                      "an event was not recorded or is not complete");
  return std::chrono::duration<double, std::milli>(to->time() - from->time())
      .count();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Expected<ModuleHandle> HostBackend::loadModule(const void *image,
                                               size_t bytes) {
  IRISRT_ASSIGN_OR_RETURN(SharedImage loaded, SharedImage::load(image, bytes));
  std::lock_guard<std::mutex> lock(mutex_);
  return ModuleHandle{modules_.add(std::move(loaded))};
}

Status HostBackend::unloadModule(ModuleHandle module) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = modules_.entries.find(module.value);
  if (found == modules_.entries.end())
    return makeStatus(StatusCode::invalidArgument, "unknown module");
  if (stuck_)
    found->second.leak();
  modules_.entries.erase(found);
  return Status::success();
}

Expected<KernelHandle> HostBackend::findKernel(ModuleHandle module,
                                               const char *symbol) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = modules_.entries.find(module.value);
  if (found == modules_.entries.end())
    return makeStatus(StatusCode::invalidArgument, "unknown module");
  IRISRT_ASSIGN_OR_RETURN(void *address, found->second.find(symbol));
  return KernelHandle{
      static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address))};
}

Expected<uint32_t> HostBackend::maxCoresident(KernelHandle,
                                              const LaunchConfig &) {
  return maxHostCoresident;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static uint64_t monotonicNanoseconds() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

/// Called between two polls of a wait. After many polls it sleeps, because the
/// program that it waits for may need this CPU.
static void yieldBetweenPolls() {
  static thread_local uint64_t last = 0;
  static thread_local uint32_t polls = 0;
  uint64_t now = monotonicNanoseconds();
  polls = now - last < 1000000 ? polls + 1 : 0;
  last = now;
  if (polls < 200) {
    ::sched_yield();
    return;
  }
  timespec pause = {0, 20000};
  ::nanosleep(&pause, nullptr);
}

static void runProgram(IrisRtHostKernel kernel, const LaunchConfig &config,
                       const std::vector<uint64_t> &args, uint64_t linear,
                       void *arena) {
  IrisRtHostProgram program;
  std::memcpy(program.count, config.grid, sizeof(program.count));
  program.id[0] = static_cast<uint32_t>(linear % config.grid[0]);
  program.id[1] =
      static_cast<uint32_t>(linear / config.grid[0] % config.grid[1]);
  program.id[2] =
      static_cast<uint32_t>(linear / config.grid[0] / config.grid[1]);
  program.arena = arena;
  program.clock = monotonicNanoseconds;
  program.yield = yieldBetweenPolls;
  kernel(args.data(), &program);
}

/// Of the caller's streams only: the world tells the others' failures. A rank
/// that aborts itself ends its streams without an error.
std::function<Status()> HostBackend::checkOfStream(StreamHandle stream) {
  if (!abortWord_ || !isAdopted(stream))
    return [] { return Status::success(); };
  return [word = abortWord_] {
    const uint32_t reason = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (reason == IRISRT_ABORT_NONE || reason == IRISRT_ABORT_HOST)
      return Status::success();
    return Status(StatusCode::aborted,
                  "waits of the stream's work may have been ended, since a "
                  "rank failed or left; the communicator's or world's error "
                  "names it");
  };
}

HostTask HostBackend::unlessAborted(StreamHandle stream, HostTask task) {
  auto isAborted = [word = abortWord_, cutShort = cutShort_] {
    const bool is =
        word && __atomic_load_n(word, __ATOMIC_ACQUIRE) != IRISRT_ABORT_NONE;
    if (is)
      cutShort->store(true);
    return is;
  };
  return [isAborted, check = checkOfStream(stream),
          task = std::move(task)]() -> Status {
    // What would be sent was not computed.
    if (isAborted())
      return check();
    Status status = task();
    return status.ok() && isAborted() ? check() : status;
  };
}

Status HostBackend::launch(StreamHandle stream, KernelHandle kernel,
                           const LaunchConfig &config, const void *args,
                           size_t argBytes) {
  unsigned __int128 wide = static_cast<unsigned __int128>(config.grid[0]) *
                           config.grid[1] * config.grid[2];
  if (wide == 0 || wide > UINT64_MAX / 2)
    return makeStatus(StatusCode::invalidArgument,
                      "a launch of %u x %u x %u programs", config.grid[0],
                      config.grid[1], config.grid[2]);
  uint64_t programs = static_cast<uint64_t>(wide);
  if (config.coresident && programs > maxHostCoresident)
    return makeStatus(StatusCode::invalidArgument,
                      "%llu programs must run concurrently; the host runs at "
                      "most %u",
                      static_cast<unsigned long long>(programs),
                      maxHostCoresident);
  // 64-bit words, for the alignment of the arguments.
  auto block = std::make_shared<std::vector<uint64_t>>((argBytes + 7) / 8 + 1);
  if (argBytes != 0)
    std::memcpy(block->data(), args, argBytes);
  auto function =
      reinterpret_cast<IrisRtHostKernel>(static_cast<uintptr_t>(kernel.value));
  auto threads = static_cast<uint32_t>(std::min<uint64_t>(programs, workers_));
  std::shared_ptr<ThreadTeam> team = team_;
  std::shared_ptr<std::atomic<bool>> failed = launchFailed_;

  auto run = [=] {
    auto program = [&](uint64_t index, void *arena) {
      runProgram(function, config, *block, index, arena);
    };
    // Programs without waits may poll by atomics in loops of their own.
    Status status = config.coresident
                        ? team->run(static_cast<uint32_t>(programs),
                                    config.arenaBytes, program)
                        : team->runItems(programs, threads, maxHostCoresident,
                                         config.arenaBytes, program);
    if (!status.ok())
      failed->store(true);
    return status;
  };
  return enqueue(stream, unlessAborted(stream, run));
}

/// A kernel that fails to launch writes nothing, and the rest of its graph does
/// not run, so a failed launch ends the wait with an error.
Status HostBackend::waitEqual(StreamHandle stream, uint64_t address,
                              uint32_t value) {
  const auto *word =
      reinterpret_cast<const uint32_t *>(static_cast<uintptr_t>(address));
  std::shared_ptr<std::atomic<bool>> failed = launchFailed_;
  return enqueue(stream, [=] {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
      if (failed->load())
        return makeStatus(StatusCode::deviceError,
                          "a wait for a memory value ended because a launch "
                          "failed on this device");
      yieldBetweenPolls();
    }
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Status HostBackend::beginCapture(StreamHandle stream) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  return found->beginCapture();
}

Expected<GraphHandle> HostBackend::endCapture(StreamHandle stream) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findStream(stream));
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostGraph> graph,
                          found->endCapture());
  std::lock_guard<std::mutex> lock(mutex_);
  return GraphHandle{graphs_.add(std::move(graph))};
}

Status HostBackend::launchGraph(GraphHandle graph, StreamHandle stream) {
  std::shared_ptr<HostGraph> found;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto entry = graphs_.entries.find(graph.value);
    if (entry == graphs_.entries.end())
      return makeStatus(StatusCode::invalidArgument, "unknown graph");
    found = entry->second;
  }
  return enqueue(stream, [found] { return found->replay(); });
}

Status HostBackend::destroyGraph(GraphHandle graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (graphs_.entries.erase(graph.value) == 0)
    return makeStatus(StatusCode::invalidArgument, "unknown graph");
  return Status::success();
}
