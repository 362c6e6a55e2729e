// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events, kernels and graphs of the fake driver (for tests only).
#include "FakeDriver.h"

#include "iris-c/RuntimeABI.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

using namespace fakegpu;

static FakeGpuControl &control() { return *fakeGpuControl(); }

//===----------------------------------------------------------------------===//
// FakeStream
//===----------------------------------------------------------------------===//

FakeStream::FakeStream() : thread([this] { run(); }) {}

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

static FakeStream *toStream(Stream stream) {
  return static_cast<FakeStream *>(stream);
}

Result fakegpu::enqueue(Stream stream, Work work) {
  if (!stream)
    return misuse("work for the default stream, which orders nothing here");
  FakeStream *s = toStream(stream);
  if (s->capturing)
    s->captured.push_back(std::move(work));
  else
    s->push(std::move(work));
  return success;
}

namespace {

struct FakeEvent {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = true;
  uint64_t generation = 0;
  std::chrono::steady_clock::time_point time;
};

struct FakeFunction {
  std::string name;
  int dynamicShared = 48 * 1024;
};

struct FakeModule {
  std::vector<std::unique_ptr<FakeFunction>> functions;
};

struct FakeGraph {
  std::vector<Work> work;
};

template <typename T>
T argument(const std::vector<char> &block, size_t at) {
  T value = {};
  if (at + sizeof(T) <= block.size())
    std::memcpy(&value, block.data() + at, sizeof(T));
  else
    misuse("argument block too short");
  return value;
}

/// The kernels; false: the launch failed.
bool runKernel(const std::string &name, const std::vector<char> &block) {
  if (name == "fill_u32") {
    auto *out = argument<uint32_t *>(block, 0);
    auto count = argument<int64_t>(block, 8);
    auto value = argument<uint32_t>(block, 16);
    for (int64_t i = 0; i < count; ++i)
      out[i] = value;
    return true;
  }
  if (name == "spin_until") {
    auto *flag = argument<uint32_t *>(block, 0);
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
      if (std::chrono::steady_clock::now() > end)
        return false;
      else
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    return true;
  }
  if (name == "stamp_all") {
    auto context = argument<IrisRtContext>(block, 0);
    auto address = argument<uint64_t>(block, sizeof(IrisRtContext));
    for (uint32_t r = 0; r < context.numRanks; ++r) {
      uint64_t peer;
      if (context.heapStride) {
        peer = address + (int64_t(r) - context.rank) * context.heapStride;
      } else {
        auto *table = reinterpret_cast<uint64_t *>(context.heapTable);
        peer = table[r] + (address - context.heapBase);
      }
      reinterpret_cast<uint32_t *>(peer)[context.rank] = context.rank + 1;
    }
    return true;
  }
  return false; // "trap"
}

Result launch(Function function, unsigned blocks, unsigned threads,
              unsigned dynamicShared, Stream stream, void **parameters,
              void **extra, uintptr_t endOfExtra) {
  FAKE_ENTER("launch");
  if (parameters || blocks == 0 || threads == 0 || threads > 1024)
    return misuse("launch");
  std::vector<char> block;
  if (extra) {
    auto word = [&](int i) { return reinterpret_cast<uintptr_t>(extra[i]); };
    if (word(0) != 1 || word(2) != 2 || word(4) != endOfExtra)
      return misuse("launch with wrong extra parameters");
    auto *bytes = static_cast<const char *>(extra[1]);
    block.assign(bytes, bytes + *static_cast<size_t *>(extra[3]));
  }
  auto *f = static_cast<FakeFunction *>(function);
  if (int(dynamicShared) > f->dynamicShared)
    return errorInvalidValue;
  std::string name = f->name;
  return enqueue(stream, [name, block] { return runKernel(name, block); });
}

} // namespace

extern "C" {

Result fake_set_bytes(Address address, unsigned char value, size_t bytes,
                      Stream stream) {
  FAKE_ENTER("setBytes");
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
  FAKE_ENTER("copyToDevice");
  return copy(to, reinterpret_cast<uintptr_t>(from), bytes, stream);
}

Result fake_copy_to_host(void *to, Address from, size_t bytes, Stream stream) {
  FAKE_ENTER("copyToHost");
  return copy(reinterpret_cast<uintptr_t>(to), from, bytes, stream);
}

Result fake_copy_on_device(Address to, Address from, size_t bytes,
                           Stream stream) {
  FAKE_ENTER("copyOnDevice");
  return copy(to, from, bytes, stream);
}

Result fake_stream_create(Stream *stream, unsigned flags) {
  FAKE_ENTER("streamCreate");
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

Result fake_stream_query(Stream stream) {
  FAKE_ENTER("streamQuery");
  return toStream(stream)->query();
}

Result fake_event_create(Event *event, unsigned flags) {
  FAKE_ENTER("eventCreate");
  if (flags)
    return misuse("event flags");
  *event = new FakeEvent;
  ++control().events;
  return success;
}

Result fake_event_destroy(Event event) {
  delete static_cast<FakeEvent *>(event);
  --control().events;
  return success;
}

Result fake_event_record(Event event, Stream stream) {
  FAKE_ENTER("eventRecord");
  auto *e = static_cast<FakeEvent *>(event);
  uint64_t generation;
  {
    std::lock_guard<std::mutex> lock(e->mutex);
    e->done = false;
    generation = ++e->generation;
  }
  return enqueue(stream, [e, generation] {
    std::lock_guard<std::mutex> lock(e->mutex);
    e->time = std::chrono::steady_clock::now();
    e->done = generation == e->generation;
    e->changed.notify_all();
    return true;
  });
}

Result fake_stream_wait_event(Stream stream, Event event, unsigned) {
  FAKE_ENTER("streamWaitEvent");
  auto *e = static_cast<FakeEvent *>(event);
  return enqueue(stream, [e] {
    std::unique_lock<std::mutex> lock(e->mutex);
    e->changed.wait(lock, [e] { return e->done; });
    return true;
  });
}

Result fake_event_elapsed(float *milliseconds, Event start, Event end) {
  auto *a = static_cast<FakeEvent *>(start), *b = static_cast<FakeEvent *>(end);
  std::scoped_lock lock(a->mutex, b->mutex);
  if (!a->done || !b->done)
    return errorNotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(b->time - a->time).count();
  return success;
}

Result fake_module_load(Module *module, const void *image, unsigned numOptions,
                        int *options, void **values) {
  FAKE_ENTER("moduleLoad");
  if (std::strcmp(static_cast<const char *>(image), fakeGpuImage) != 0) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == jitErrorLogBuffer)
        std::strcpy(static_cast<char *>(values[i]), "line 1: not an image");
    return errorInvalidImage;
  }
  *module = new FakeModule;
  ++control().modules;
  return success;
}

Result fake_module_unload(Module module) {
  delete static_cast<FakeModule *>(module);
  --control().modules;
  return success;
}

Result fake_module_function(Function *function, Module module,
                            const char *name) {
  static const std::set<std::string> names = {"fill_u32", "spin_until",
                                              "stamp_all", "trap"};
  if (!names.count(name))
    return errorNotFound;
  auto *m = static_cast<FakeModule *>(module);
  m->functions.push_back(std::make_unique<FakeFunction>());
  m->functions.back()->name = name;
  *function = m->functions.back().get();
  return success;
}

Result fake_set_function_attribute(Function function, int attribute,
                                   int value) {
  if (attribute != functionMaxDynamicShared)
    return misuse("unknown function attribute");
  static_cast<FakeFunction *>(function)->dynamicShared = value;
  return success;
}

Result fake_occupancy(int *blocks, Function, int threads, size_t) {
  FAKE_ENTER("occupancy");
  *blocks = 2048 / threads;
  return success;
}

Result fake_cuda_launch(Function function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned dynamicShared, Stream stream,
                        void **parameters, void **extra) {
  return launch(function, gridX * gridY * gridZ, blockX * blockY * blockZ,
                dynamicShared, stream, parameters, extra, 0);
}

Result fake_hip_launch(Function function, unsigned gridX, unsigned gridY,
                       unsigned gridZ, unsigned blockX, unsigned blockY,
                       unsigned blockZ, unsigned dynamicShared, Stream stream,
                       void **parameters, void **extra) {
  return launch(function, gridX * gridY * gridZ, blockX * blockY * blockZ,
                dynamicShared, stream, parameters, extra, 3);
}

Result fake_begin_capture(Stream stream, int) {
  FAKE_ENTER("beginCapture");
  FakeStream *s = toStream(stream);
  if (s->capturing)
    return misuse("beginCapture of a captured stream");
  s->capturing = true;
  return success;
}

Result fake_end_capture(Stream stream, Graph *graph) {
  FakeStream *s = toStream(stream);
  if (!s->capturing)
    return errorInvalidValue;
  s->capturing = false;
  auto *g = new FakeGraph;
  g->work.swap(s->captured);
  *graph = g;
  ++control().graphs;
  return success;
}

Result fake_graph_instantiate(GraphExec *exec, Graph graph,
                              unsigned long long) {
  FAKE_ENTER("graphInstantiate");
  *exec = new FakeGraph(*static_cast<FakeGraph *>(graph));
  ++control().graphs;
  return success;
}

Result fake_graph_launch(GraphExec exec, Stream stream) {
  FAKE_ENTER("graphLaunch");
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
FAKE_EXPORT(fake_stream_create, cuStreamCreate)
FAKE_EXPORT(fake_stream_create, hipStreamCreateWithFlags)
FAKE_EXPORT(fake_stream_destroy, cuStreamDestroy_v2)
FAKE_EXPORT(fake_stream_destroy, hipStreamDestroy)
FAKE_EXPORT(fake_stream_query, cuStreamQuery)
FAKE_EXPORT(fake_stream_query, hipStreamQuery)
FAKE_EXPORT(fake_stream_wait_event, cuStreamWaitEvent)
FAKE_EXPORT(fake_stream_wait_event, hipStreamWaitEvent)
FAKE_EXPORT(fake_event_create, cuEventCreate)
FAKE_EXPORT(fake_event_create, hipEventCreateWithFlags)
FAKE_EXPORT(fake_event_destroy, cuEventDestroy_v2)
FAKE_EXPORT(fake_event_destroy, hipEventDestroy)
FAKE_EXPORT(fake_event_record, cuEventRecord)
FAKE_EXPORT(fake_event_record, hipEventRecord)
FAKE_EXPORT(fake_event_elapsed, cuEventElapsedTime)
FAKE_EXPORT(fake_event_elapsed, hipEventElapsedTime)
FAKE_EXPORT(fake_module_load, cuModuleLoadDataEx)
FAKE_EXPORT(fake_module_load, hipModuleLoadDataEx)
FAKE_EXPORT(fake_module_unload, cuModuleUnload)
FAKE_EXPORT(fake_module_unload, hipModuleUnload)
FAKE_EXPORT(fake_module_function, cuModuleGetFunction)
FAKE_EXPORT(fake_module_function, hipModuleGetFunction)
FAKE_EXPORT(fake_set_function_attribute, cuFuncSetAttribute)
FAKE_EXPORT(fake_occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)
FAKE_EXPORT(fake_occupancy, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)
FAKE_EXPORT(fake_cuda_launch, cuLaunchKernel)
FAKE_EXPORT(fake_hip_launch, hipModuleLaunchKernel)
FAKE_EXPORT(fake_begin_capture, cuStreamBeginCapture_v2)
FAKE_EXPORT(fake_begin_capture, hipStreamBeginCapture)
FAKE_EXPORT(fake_end_capture, cuStreamEndCapture)
FAKE_EXPORT(fake_end_capture, hipStreamEndCapture)
FAKE_EXPORT(fake_graph_instantiate, cuGraphInstantiateWithFlags)
FAKE_EXPORT(fake_graph_instantiate, hipGraphInstantiateWithFlags)
FAKE_EXPORT(fake_graph_launch, cuGraphLaunch)
FAKE_EXPORT(fake_graph_launch, hipGraphLaunch)
FAKE_EXPORT(fake_graph_destroy, cuGraphDestroy)
FAKE_EXPORT(fake_graph_destroy, hipGraphDestroy)
FAKE_EXPORT(fake_graph_destroy, cuGraphExecDestroy)
FAKE_EXPORT(fake_graph_destroy, hipGraphExecDestroy)
