// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events and graphs of the fake driver (for tests only).
#include "FakeDriver.h"

#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

using namespace fakegpu;

static FakeGpuControl &control() { return *fakeGpuControl(); }

//===----------------------------------------------------------------------===//
// FakeStream
//===----------------------------------------------------------------------===//

static unsigned long long nextStreamId() {
  static std::atomic<unsigned long long> last{0};
  return ++last;
}

FakeStream::FakeStream() : id(nextStreamId()), thread([this] { run(); }) {}

FakeStream::~FakeStream() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  changed.notify_all();
  thread.join();
}

void FakeStream::push(Work work) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    queue.push_back(std::move(work));
  }
  changed.notify_all();
}

Result FakeStream::query() {
  std::lock_guard<std::mutex> lock(mutex);
  if (failed)
    return errorLaunchFailed;
  return busy || !queue.empty() ? errorNotReady : success;
}

void FakeStream::run() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return stop || !queue.empty(); });
    if (queue.empty())
      return;
    Work work = std::move(queue.front());
    queue.pop_front();
    busy = true;
    bool skip = failed;
    lock.unlock();
    bool ok = skip || work();
    lock.lock();
    busy = false;
    failed = failed || !ok;
  }
}

//===----------------------------------------------------------------------===//
// FakeCapture
//===----------------------------------------------------------------------===//

void FakeCapture::goesOn(const FakeStream *stream, const FakeEvent *tail) {
  for (Branch &branch : branches)
    if (branch.stream == stream)
      branch = {stream, tail};
}

void FakeCapture::waitsFor(const FakeEvent *event) {
  for (Branch &branch : branches)
    branch.isJoined = branch.isJoined || branch.tail == event;
}

//===----------------------------------------------------------------------===//
// The driver's functions
//===----------------------------------------------------------------------===//

/// The default stream of the thread's device. It lives as long as the process.
static FakeStream *defaultStream() {
  static std::mutex mutex;
  static auto *streams = new std::map<int, FakeStream *>;
  std::lock_guard<std::mutex> lock(mutex);
  FakeStream *&stream = (*streams)[currentDevice()];
  if (!stream)
    stream = new FakeStream;
  return stream;
}

/// Null and 1 (CU_STREAM_LEGACY) are the default stream, 2
/// (CU_STREAM_PER_THREAD) that of the thread.
static FakeStream *toStream(Stream stream) {
  if (reinterpret_cast<uintptr_t>(stream) == 2) {
    static thread_local FakeStream ofThread;
    return &ofThread;
  }
  if (reinterpret_cast<uintptr_t>(stream) <= 1)
    return defaultStream();
  return static_cast<FakeStream *>(stream);
}

Result fakegpu::enqueue(Stream stream, Work work) {
  if (reinterpret_cast<uintptr_t>(stream) <= 1 && !control().usesDefaultStream)
    return misuse("work for the default stream, which orders nothing here");
  FakeStream *s = toStream(stream);
  if (s->device != currentDevice())
    return misuse("work for a stream of another device than the thread's");
  if (s->isCaptured()) {
    s->capture->work.push_back(std::move(work));
    s->capture->goesOn(s);
  } else {
    s->push(std::move(work));
  }
  return success;
}

namespace {
/// One record of an event. Work that was enqueued holds it: the event may be
/// recorded again or destroyed before that work runs.
struct Record {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::chrono::steady_clock::time_point time;

  void finish() {
    std::lock_guard<std::mutex> lock(mutex);
    time = std::chrono::steady_clock::now();
    done = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return done; });
  }
  std::optional<std::chrono::steady_clock::time_point> finished() {
    std::lock_guard<std::mutex> lock(mutex);
    return done ? std::optional(time) : std::nullopt;
  }
};
} // namespace

struct fakegpu::FakeEvent {
  explicit FakeEvent(bool isTimed) : isTimed(isTimed) {}
  const bool isTimed;
  std::mutex mutex; // guards the rest
  /// Null before the first record, which nothing waits for.
  std::shared_ptr<Record> last;
  /// The capture of the last record.
  std::weak_ptr<FakeCapture> capture;

  std::shared_ptr<Record> lastRecord() {
    std::lock_guard<std::mutex> lock(mutex);
    return last;
  }
};

namespace {
struct FakeGraph {
  std::vector<Work> work;
};
} // namespace

/// Of the thread; 0: global.
static thread_local int captureMode = 0;
static std::atomic<int> globalCaptures{0};

bool fakegpu::mayDisturbCaptures(const char *function) {
  if (globalCaptures.load() == 0 || captureMode == captureRelaxed)
    return true;
  misuse(function);
  return false;
}

extern "C" {

Result fake_set_bytes(Address address, unsigned char value, size_t bytes,
                      Stream stream) {
  FAKE_ENTER_BOUND("setBytes");
  return enqueue(stream, [=] {
    std::memset(reinterpret_cast<void *>(address), value, bytes);
    return true;
  });
}

static Result copy(uint64_t to, uint64_t from, size_t bytes, Stream stream) {
  return enqueue(stream, [=] {
    std::memmove(reinterpret_cast<void *>(to),
                 reinterpret_cast<const void *>(from), bytes);
    return true;
  });
}

Result fake_copy_to_device(Address to, const void *from, size_t bytes,
                           Stream stream) {
  FAKE_ENTER_BOUND("copyToDevice");
  return copy(to, reinterpret_cast<uintptr_t>(from), bytes, stream);
}

Result fake_copy_to_host(void *to, Address from, size_t bytes, Stream stream) {
  FAKE_ENTER_BOUND("copyToHost");
  return copy(reinterpret_cast<uintptr_t>(to), from, bytes, stream);
}

Result fake_copy_on_device(Address to, Address from, size_t bytes,
                           Stream stream) {
  FAKE_ENTER_BOUND("copyOnDevice");
  return copy(to, from, bytes, stream);
}

Result fake_stream_create(Stream *stream, unsigned flags, int) {
  FAKE_ENTER_BOUND("streamCreate");
  if (flags != streamNonBlocking)
    return misuse("a stream that the default stream waits for");
  *stream = new FakeStream;
  ++control().streams;
  return success;
}

Result fake_stream_destroy(Stream stream) {
  delete toStream(stream);
  --control().streams;
  return success;
}

Result fake_stream_device(Stream stream, Device *device) {
  FAKE_ENTER_BOUND("streamDevice");
  *device = toStream(stream)->device;
  return success;
}

Result fake_stream_context(Stream stream, Context *context) {
  Device device = 0;
  if (Result result = fake_stream_device(stream, &device))
    return result;
  *context = contextOf(device);
  return success;
}

Result fake_stream_id(Stream stream, unsigned long long *id) {
  FAKE_ENTER_BOUND("streamId");
  *id = toStream(stream)->id;
  return success;
}

Result fake_thread_capture_mode(int *mode) {
  FAKE_ENTER("threadCaptureMode");
  std::swap(*mode, captureMode);
  return success;
}

Result fake_stream_query(Stream stream) {
  FAKE_ENTER_BOUND("streamQuery");
  if (!mayDisturbCaptures("streamQuery during a capture"))
    return errorCaptureUnsupported;
  return toStream(stream)->query();
}

Result fake_event_create(Event *event, unsigned flags) {
  FAKE_ENTER_BOUND("eventCreate");
  if (flags != eventDefault && flags != eventDisableTiming)
    return misuse("event flags");
  *event = new FakeEvent(flags == eventDefault);
  ++control().events;
  return success;
}

Result fake_event_destroy(Event event) {
  delete static_cast<FakeEvent *>(event);
  --control().events;
  return success;
}

Result fake_event_record(Event event, Stream stream) {
  FAKE_ENTER_BOUND("eventRecord");
  auto *e = static_cast<FakeEvent *>(event);
  FakeStream *s = toStream(stream);
  auto record = std::make_shared<Record>();
  {
    std::lock_guard<std::mutex> lock(e->mutex);
    e->capture.reset();
    // A captured record is an edge of the graph, without any action.
    if (s && s->isCaptured()) {
      e->capture = s->capture;
      s->capture->goesOn(s, e);
      return success;
    }
    e->last = record;
  }
  return enqueue(stream, [record] {
    record->finish();
    return true;
  });
}

Result fake_launch_on_host(Stream stream, void (*function)(void *),
                           void *argument) {
  FAKE_ENTER_BOUND("launchOnHost");
  return enqueue(stream, [function, argument] {
    function(argument);
    return true;
  });
}

Result fake_stream_wait_event(Stream stream, Event event, unsigned) {
  FAKE_ENTER_BOUND("streamWaitEvent");
  ++control().eventWaits;
  auto *e = static_cast<FakeEvent *>(event);
  FakeStream *s = toStream(stream);
  std::shared_ptr<FakeCapture> capture;
  std::shared_ptr<Record> record;
  {
    std::lock_guard<std::mutex> lock(e->mutex);
    capture = e->capture.lock();
    record = e->last;
  }
  if (s && capture && !capture->ended) {
    if (!s->isCaptured()) {
      s->capture = capture;
      capture->branches.push_back({s});
    }
    if (s->capture != capture)
      return misuse("a wait for an event of another capture");
    capture->waitsFor(e);
    capture->goesOn(s);
    return success;
  }
  return enqueue(stream, [record] {
    if (record)
      record->wait();
    return true;
  });
}

static Result waitValue(Stream stream, Address address, uint32_t value,
                        unsigned flags) {
  if (flags != streamWaitValueEqual)
    return misuse("flags of a wait for a word");
  return enqueue(stream, [=] {
    const auto *word = reinterpret_cast<const uint32_t *>(address);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
      std::this_thread::yield();
    return true;
  });
}

Result fake_stream_wait_value(Stream stream, Address address, uint32_t value,
                              unsigned flags) {
  FAKE_ENTER_BOUND("streamWaitValue");
  return waitValue(stream, address, value, flags);
}

Result fake_stream_wait_masked(Stream stream, Address address, uint32_t value,
                               unsigned flags, uint32_t mask) {
  FAKE_ENTER_BOUND("streamWaitMasked");
  if (mask != 0xffffffff)
    return misuse("the mask of a wait for a word");
  return waitValue(stream, address, value, flags);
}

Result fake_stream_is_capturing(Stream stream, int *status) {
  *status = toStream(stream)->isCaptured();
  return success;
}

Result fake_event_elapsed(float *milliseconds, Event start, Event end) {
  auto *a = static_cast<FakeEvent *>(start), *b = static_cast<FakeEvent *>(end);
  if (!a->isTimed || !b->isTimed)
    return errorInvalidHandle;
  const std::shared_ptr<Record> first = a->lastRecord(), last = b->lastRecord();
  if (!first || !last)
    return errorInvalidHandle;
  const auto from = first->finished(), to = last->finished();
  if (!from || !to)
    return errorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(*to - *from).count();
  return success;
}

Result fake_begin_capture(Stream stream, int mode) {
  FAKE_ENTER_BOUND("beginCapture");
  FakeStream *s = toStream(stream);
  if (s->isCaptured())
    return misuse("beginCapture of a captured stream");
  s->capture = std::make_shared<FakeCapture>();
  s->capture->isGlobal = mode == 0;
  globalCaptures += s->capture->isGlobal ? 1 : 0;
  return success;
}

static Result endCapture(Stream stream, Graph *graph, bool leavesAlways) {
  FAKE_ENTER_BOUND("endCapture");
  FakeStream *s = toStream(stream);
  if (!s->isCaptured())
    return errorInvalidValue;
  const std::shared_ptr<FakeCapture> capture = s->capture;
  for (const FakeCapture::Branch &branch : capture->branches)
    if (branch.stream == s)
      return misuse("endCapture of a stream that was captured along");
  bool isJoined = true;
  for (const FakeCapture::Branch &branch : capture->branches)
    isJoined = isJoined && branch.isJoined;
  capture->ended = isJoined || leavesAlways;
  globalCaptures -= capture->ended && capture->isGlobal ? 1 : 0;
  if (!isJoined)
    return errorCaptureUnjoined;
  *graph = new FakeGraph{std::move(capture->work)};
  ++control().graphs;
  return success;
}

Result fake_cuda_end_capture(Stream stream, Graph *graph) {
  return endCapture(stream, graph, /*leavesAlways=*/true);
}

/// HIP keeps capturing if work was not joined.
Result fake_hip_end_capture(Stream stream, Graph *graph) {
  return endCapture(stream, graph, /*leavesAlways=*/false);
}

Result fake_stream_capture_info(Stream stream, int *status,
                                unsigned long long *id) {
  FakeStream *s = toStream(stream);
  *status = s->isCaptured();
  *id = s->isCaptured() ? reinterpret_cast<uintptr_t>(s->capture.get()) : 0;
  return success;
}

Result fake_graph_instantiate(GraphExec *exec, Graph graph,
                              unsigned long long) {
  FAKE_ENTER_BOUND("graphInstantiate");
  *exec = new FakeGraph(*static_cast<FakeGraph *>(graph));
  ++control().graphs;
  return success;
}

Result fake_graph_launch(GraphExec exec, Stream stream) {
  FAKE_ENTER_BOUND("graphLaunch");
  for (const Work &work : static_cast<FakeGraph *>(exec)->work)
    if (Result result = enqueue(stream, work))
      return result;
  return success;
}

Result fake_graph_destroy(Graph graph) {
  delete static_cast<FakeGraph *>(graph);
  --control().graphs;
  return success;
}

} // extern "C"

FAKE_EXPORT(fake_set_bytes, cuMemsetD8Async)
FAKE_EXPORT(fake_set_bytes, hipMemsetD8Async)
FAKE_EXPORT(fake_copy_to_device, cuMemcpyHtoDAsync_v2)
FAKE_EXPORT(fake_copy_to_device, hipMemcpyHtoDAsync)
FAKE_EXPORT(fake_copy_to_host, cuMemcpyDtoHAsync_v2)
FAKE_EXPORT(fake_copy_to_host, hipMemcpyDtoHAsync)
FAKE_EXPORT(fake_copy_on_device, cuMemcpyDtoDAsync_v2)
FAKE_EXPORT(fake_copy_on_device, hipMemcpyDtoDAsync)
//===----------------------------------------------------------------------===//
// The program beside Iris
//===----------------------------------------------------------------------===//

#define FAKE_CONTROL extern "C" __attribute__((visibility("default")))

FAKE_CONTROL void *fakeGpuCreateStream() {
  Stream stream = nullptr;
  (void)fake_stream_create(&stream, streamNonBlocking, 0);
  return stream;
}

FAKE_CONTROL void fakeGpuDestroyStream(void *stream) {
  (void)fake_stream_destroy(stream);
}

FAKE_CONTROL bool fakeGpuIsIdle(void *stream) {
  return fake_stream_query(stream) == success;
}

FAKE_CONTROL void fakeGpuBeginCapture(void *stream) {
  (void)fake_begin_capture(stream, /*mode=*/0);
}

FAKE_CONTROL bool fakeGpuReplayCapture(void *stream, int times) {
  Graph graph = nullptr;
  if (fake_cuda_end_capture(stream, &graph) != success)
    return false;
  for (int i = 0; i < times; ++i)
    (void)fake_graph_launch(graph, stream);
  (void)fake_graph_destroy(graph);
  return true;
}

FAKE_EXPORT(fake_stream_create, cuStreamCreateWithPriority)
FAKE_EXPORT(fake_stream_create, hipStreamCreateWithPriority)
FAKE_EXPORT(fake_stream_destroy, cuStreamDestroy_v2)
FAKE_EXPORT(fake_stream_destroy, hipStreamDestroy)
FAKE_EXPORT(fake_stream_context, cuStreamGetCtx)
FAKE_EXPORT(fake_thread_capture_mode, cuThreadExchangeStreamCaptureMode)
FAKE_EXPORT(fake_thread_capture_mode, hipThreadExchangeStreamCaptureMode)
FAKE_EXPORT(fake_stream_device, hipStreamGetDevice)
FAKE_EXPORT(fake_stream_id, cuStreamGetId)
FAKE_EXPORT(fake_stream_query, cuStreamQuery)
FAKE_EXPORT(fake_stream_query, hipStreamQuery)
FAKE_EXPORT(fake_launch_on_host, cuLaunchHostFunc)
FAKE_EXPORT(fake_launch_on_host, hipLaunchHostFunc)
FAKE_EXPORT(fake_stream_wait_event, cuStreamWaitEvent)
FAKE_EXPORT(fake_stream_wait_event, hipStreamWaitEvent)
FAKE_EXPORT(fake_stream_wait_value, cuStreamWaitValue32_v2)
FAKE_EXPORT(fake_stream_wait_masked, hipStreamWaitValue32)
FAKE_EXPORT(fake_stream_is_capturing, cuStreamIsCapturing)
FAKE_EXPORT(fake_stream_is_capturing, hipStreamIsCapturing)
FAKE_EXPORT(fake_event_create, cuEventCreate)
FAKE_EXPORT(fake_event_create, hipEventCreateWithFlags)
FAKE_EXPORT(fake_event_destroy, cuEventDestroy_v2)
FAKE_EXPORT(fake_event_destroy, hipEventDestroy)
FAKE_EXPORT(fake_event_record, cuEventRecord)
FAKE_EXPORT(fake_event_record, hipEventRecord)
FAKE_EXPORT(fake_event_elapsed, cuEventElapsedTime)
FAKE_EXPORT(fake_event_elapsed, hipEventElapsedTime)
FAKE_EXPORT(fake_begin_capture, cuStreamBeginCapture_v2)
FAKE_EXPORT(fake_begin_capture, hipStreamBeginCapture)
FAKE_EXPORT(fake_cuda_end_capture, cuStreamEndCapture)
FAKE_EXPORT(fake_hip_end_capture, hipStreamEndCapture)
FAKE_EXPORT(fake_stream_capture_info, hipStreamGetCaptureInfo)
FAKE_EXPORT(fake_graph_instantiate, cuGraphInstantiateWithFlags)
FAKE_EXPORT(fake_graph_instantiate, hipGraphInstantiateWithFlags)
FAKE_EXPORT(fake_graph_launch, cuGraphLaunch)
FAKE_EXPORT(fake_graph_launch, hipGraphLaunch)
FAKE_EXPORT(fake_graph_destroy, cuGraphDestroy)
FAKE_EXPORT(fake_graph_destroy, hipGraphDestroy)
FAKE_EXPORT(fake_graph_destroy, cuGraphExecDestroy)
FAKE_EXPORT(fake_graph_destroy, hipGraphExecDestroy)
