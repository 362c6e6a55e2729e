// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The back end as a guest: the caller's state does not change, and memory that
// a kernel may use stays allocated.
#include "core/FollowedEvents.h"
#include "support/GpuFixture.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace iris::rt;
using namespace iris::rt::gpu;
using namespace iris::rt::test;

namespace {

//===----------------------------------------------------------------------===//
// The caller's device
//===----------------------------------------------------------------------===//

class GpuGuest : public Gpu {
protected:
  void TearDown() override {
    backend.reset();
    fake<void (*)(int)>("fakeGpuBindDevice")(-1);
    Gpu::TearDown();
  }
};
FAKE_GPU_SUITE(GpuGuest);

/// Every function restores the thread's device, whatever it returns.
TEST_P(GpuGuest, LeavesTheThreadsDevice) {
  auto bound = fake<int (*)()>("fakeGpuCurrentDevice");
  auto bind = fake<void (*)(int)>("fakeGpuBindDevice");
  control().devices = 3;
  for (int before : {-1, 0, 2}) {
    if (!cuda() && before < 0)
      continue; // there, every thread has a device
    for (bool placed : {true, false}) {
      bind(before);
#define KEPT(expr)                                                             \
  [&] {                                                                        \
    auto result_ = (expr);                                                     \
    EXPECT_EQ(bound(), before) << #expr << " rebinds the thread";              \
    bind(before);                                                              \
    return result_;                                                            \
  }()
#define KEPT_OK(expr) EXPECT_OK(KEPT(expr))
      auto created = KEPT(tryCreate(1, placed));
      ASSERT_OK(created);
      std::unique_ptr<Backend> gpu = created.take();
      const uint64_t granule = gpu->granularity();
      if (placed) {
        auto base = KEPT(gpu->reserve(granule, granule));
        auto chunk = KEPT(gpu->createChunk(granule));
        ASSERT_OK(base);
        ASSERT_OK(chunk);
        auto fd = KEPT(gpu->exportChunk(*chunk));
        ASSERT_OK(fd);
        auto peer = KEPT(gpu->importChunk(fd.take(), granule));
        ASSERT_OK(peer);
        KEPT_OK(gpu->map(*chunk, *base, granule));
        KEPT_OK(gpu->unmap(*base, granule));
        KEPT_OK(gpu->releaseChunk(*chunk));
        KEPT_OK(gpu->releaseChunk(*peer));
        KEPT_OK(gpu->unreserve(*base, granule));
      } else {
        auto shared = KEPT(gpu->allocateShareable(100));
        ASSERT_OK(shared);
        auto handle = KEPT(gpu->shareMemory(*shared));
        ASSERT_OK(handle);
        auto other = KEPT(tryCreate(2, false));
        ASSERT_OK(other);
        auto opened = KEPT((*other)->openMemory(*handle));
        ASSERT_OK(opened);
        KEPT_OK((*other)->closeMemory(*opened));
        other->reset();
        EXPECT_EQ(bound(), before);
        KEPT_OK(gpu->freeShareable(*shared));
      }
      auto host = KEPT(gpu->allocateHostVisible(64));
      auto words = KEPT(gpu->allocate(64));
      auto stream = KEPT(gpu->createStream());
      auto start = KEPT(gpu->createEvent());
      auto stop = KEPT(gpu->createEvent());
      ASSERT_OK(stop);
      auto module = KEPT(gpu->loadModule(fakeGpuImage, sizeof(fakeGpuImage)));
      for (bool ok :
           {host.ok(), words.ok(), stream.ok(), start.ok(), module.ok()})
        ASSERT_TRUE(ok);
      auto kernel = KEPT(gpu->findKernel(*module, "store_ids"));
      ASSERT_OK(kernel);
      uint32_t word = 0;
      KEPT_OK(gpu->record(*start, *stream));
      KEPT_OK(gpu->zero(*stream, *words, 64));
      KEPT_OK(gpu->copyToDevice(*stream, *words, &word, 4));
      KEPT_OK(gpu->copyOnDevice(*stream, *words + 4, *words, 4));
      KEPT_OK(gpu->copyToHost(*stream, &word, *words, 4));
      KEPT_OK(gpu->waitEqual(*stream, *words, 0));
      KEPT_OK(gpu->wait(*stream, *start));
      LaunchConfig config;
      config.dynamicSharedBytes = cuda() ? 64 << 10 : 1 << 10;
      struct {
        uint64_t to;
        uint32_t value, reserved;
      } args = {*words, 1, 0};
      KEPT_OK(gpu->maxCoresident(*kernel, config));
      KEPT_OK(gpu->launch(*stream, *kernel, config, &args, sizeof(args)));
      // Before each launch of a kernel that has tensor maps.
      TensorMapSpec map;
      map.address = *words;
      alignas(128) uint8_t words128[128];
      auto encoded = KEPT(gpu->encodeTensorMap(map, words128));
      ASSERT_OK(encoded);
      EXPECT_EQ(*encoded, cuda());
      KEPT_OK(gpu->record(*stop, *stream));
      KEPT_OK(gpu->synchronize(*stream, std::chrono::seconds(20)));
      KEPT_OK(gpu->query(*stream));
      KEPT_OK(gpu->elapsedMs(*start, *stop));
      KEPT_OK(gpu->beginCapture(*stream));
      KEPT_OK(gpu->zero(*stream, *words, 4));
      auto graph = KEPT(gpu->endCapture(*stream));
      ASSERT_OK(graph);
      KEPT_OK(gpu->launchGraph(*graph, *stream));
      KEPT_OK(gpu->synchronize(*stream, std::chrono::seconds(20)));
      KEPT_OK(gpu->destroyGraph(*graph));
      control().failFunction = "launch";
      EXPECT_FALSE(
          KEPT(gpu->launch(*stream, *kernel, config, &args, sizeof(args)))
              .ok());
      control().failFunction = nullptr;
      KEPT_OK(gpu->unloadModule(*module));
      KEPT_OK(gpu->destroyEvent(*start));
      KEPT_OK(gpu->destroyEvent(*stop));
      KEPT_OK(gpu->free(*words));
      KEPT_OK(gpu->freeHostVisible(*host));
      KEPT_OK(gpu->destroyStream(*stream));
      EXPECT_EQ(bound(), before);
      gpu.reset();
      EXPECT_EQ(bound(), before);
      EXPECT_EQ(control().misuses, 0);
    }
  }
}

/// A thread that already uses the device pays for one query.
TEST_P(GpuGuest, BindsOnlyThreadsThatAreNotBound) {
  create(1);
  auto stream = backend->createStream();
  auto module = backend->loadModule(fakeGpuImage, sizeof(fakeGpuImage));
  auto words = backend->allocate(64);
  ASSERT_OK(stream);
  ASSERT_OK(module);
  ASSERT_OK(words);
  auto kernel = backend->findKernel(*module, "store_ids");
  ASSERT_OK(kernel);
  LaunchConfig config;
  config.dynamicSharedBytes = cuda() ? 64 << 10 : 1 << 10;
  struct {
    uint64_t to;
    uint32_t value, reserved;
  } args = {*words, 1, 0};
  auto bind = fake<void (*)(int)>("fakeGpuBindDevice");
  bind(1);
  control().bindings = control().attributeCalls = 0;
  for (int i = 0; i < 10; ++i)
    EXPECT_OK(backend->launch(*stream, *kernel, config, &args, sizeof(args)));
  EXPECT_EQ(control().bindings, 0);
  EXPECT_EQ(control().attributeCalls, cuda() ? 1 : 0) << "asked for once";
  bind(0);
  EXPECT_OK(backend->launch(*stream, *kernel, config, &args, sizeof(args)));
  EXPECT_EQ(control().bindings, 2);
  EXPECT_OK(synchronize(*stream));
}

/// The devices of one process, once; the caller's device stays.
/// Without a change to what is captured, or to the mode of the thread.
TEST_P(GpuGuest, AsksWhetherTheDeviceHasFailed) {
  auto exchange = fake<int (*)(int *)>("cuThreadExchangeStreamCaptureMode");
  auto modeOfThread = [&] {
    int mode = 0;
    exchange(&mode);
    const int before = mode;
    exchange(&mode);
    return before;
  };
  create();
  auto stream = backend->createStream();
  ASSERT_OK(stream);
  for (int mode : {0, 1, 2}) { // global, of the thread, relaxed
    int set = mode;
    exchange(&set);
    EXPECT_OK(backend->checkDevice(*stream));
    EXPECT_EQ(modeOfThread(), mode);
  }
  EXPECT_OK(backend->beginCapture(*stream));
  EXPECT_OK(backend->checkDevice(*stream));
  auto graph = backend->endCapture(*stream);
  ASSERT_OK(graph);
  EXPECT_OK(backend->destroyGraph(*graph));
  control().failFunction = "streamQuery";
  control().failResult = 719;
  EXPECT_EQ(backend->checkDevice(*stream).code(), StatusCode::deviceError);
  EXPECT_EQ(modeOfThread(), 2);
  control().failFunction = "threadCaptureMode"; // old drivers lack it
  EXPECT_OK(backend->checkDevice(*stream));
  control().failFunction = nullptr;
  int global = 0;
  exchange(&global);
  EXPECT_FALSE(backend->checkDevice({1}).ok());
}

TEST_P(GpuGuest, EnablesPeerAccess) {
  auto bound = fake<int (*)()>("fakeGpuCurrentDevice");
  auto bind = fake<void (*)(int)>("fakeGpuBindDevice");
  control().devices = 3;
  auto created = tryCreate(1, /*placed=*/true);
  ASSERT_OK(created);
  bind(0);
  EXPECT_OK((*created)->enablePeer(1)); // itself
  EXPECT_OK((*created)->enablePeer(2));
  const int accesses = control().peerAccesses;
  EXPECT_OK((*created)->enablePeer(2));
  EXPECT_EQ(control().peerAccesses, accesses);
  EXPECT_EQ(bound(), 0);
  EXPECT_FALSE((*created)->enablePeer(3).ok()); // there is none
  control().canAccessPeer = false;
  EXPECT_EQ((*created)->enablePeer(0).code(), StatusCode::unavailable);
}

/// Mapped memory, at its own addresses: of all devices that have a link.
TEST_P(GpuGuest, LetsPeersAccess) {
  auto accessing = [this](bool hasLinks) {
    control().canAccessPeer = hasLinks;
    auto created = tryCreate(1, /*placed=*/true);
    EXPECT_OK(created);
    EXPECT_OK((*created)->letPeersAccess());
    const uint64_t granule = (*created)->granularity();
    auto base = (*created)->reserve(granule, granule);
    auto chunk = (*created)->createChunk(granule);
    EXPECT_OK(base);
    EXPECT_OK(chunk);
    EXPECT_OK((*created)->map(*chunk, *base, granule));
    return control().accessingDevices.load();
  };
  control().devices = 3;
  EXPECT_EQ(accessing(true), 3);
  EXPECT_EQ(accessing(false), 1);
}

//===----------------------------------------------------------------------===//
// The caller's streams
//===----------------------------------------------------------------------===//

/// A back end on device 1 of 3, to which the thread is bound, with a kernel
/// that stores numbers, and a stream that the program created.
class AdoptedStream : public GpuGuest {
protected:
  void SetUp() override {
    GpuGuest::SetUp();
    control().devices = 3;
    bind(1);
    native = createNative();
    create(1);
    auto module = backend->loadModule(fakeGpuImage, sizeof(fakeGpuImage));
    ASSERT_OK(module);
    auto found = backend->findKernel(*module, "store_ids");
    ASSERT_OK(found);
    kernel = *found;
    auto allocated = backend->allocate(64);
    ASSERT_OK(allocated);
    words = reinterpret_cast<uint32_t *>(*allocated);
    std::fill_n(words, 16, 0);
  }
  void TearDown() override {
    backend.reset();
    bind(1);
    destroyNative(native);
    GpuGuest::TearDown();
  }

  void bind(int device) { fake<void (*)(int)>("fakeGpuBindDevice")(device); }
  void *createNative() { return fake<void *(*)()>("fakeGpuCreateStream")(); }
  void destroyNative(void *stream) {
    fake<void (*)(void *)>("fakeGpuDestroyStream")(stream);
  }
  bool isIdle(void *stream) {
    return fake<bool (*)(void *)>("fakeGpuIsIdle")(stream);
  }
  void beginCapture() { fake<void (*)(void *)>("fakeGpuBeginCapture")(native); }
  bool replayCapture(int times) {
    return fake<bool (*)(void *, int)>("fakeGpuReplayCapture")(native, times);
  }

  /// Stores value + p in word p.
  Status launch(StreamHandle stream, uint32_t value, bool dependent = false) {
    LaunchConfig config;
    config.grid[0] = 4;
    config.dependent = dependent;
    auto isCaptured = backend->isCapturing(stream);
    config.isCaptured = isCaptured.ok() && *isCaptured;
    struct {
      uint32_t *to;
      uint32_t value, reserved;
    } args = {words, value, 0};
    return backend->launch(stream, kernel, config, &args, sizeof(args));
  }
  void expectWords(uint32_t value) {
    for (uint32_t p = 0; p < 4; ++p)
      EXPECT_EQ(words[p], value + p);
  }

  void *native = nullptr;
  KernelHandle kernel;
  uint32_t *words = nullptr;
};
FAKE_GPU_SUITE(AdoptedStream);

/// In a capture of the program, whose mode forbids what may disturb it.
TEST_P(AdoptedStream, MayBeCapturedByTheProgram) {
  EXPECT_TRUE(backend->canLoadInCaptures());
  beginCapture();
  auto own = backend->createStream();
  ASSERT_OK(own);
  auto memory = backend->allocate(64);
  ASSERT_OK(memory);
  EXPECT_OK(backend->zero(*own, *memory, 64));
  EXPECT_OK(synchronize(*own));
  EXPECT_OK(backend->free(*memory));
  EXPECT_OK(backend->allocateHostVisible(64));
  auto module = backend->loadModule(fakeGpuImage, sizeof(fakeGpuImage));
  ASSERT_OK(module);
  EXPECT_OK(backend->findKernel(*module, "store_ids"));
  EXPECT_TRUE(fake<bool (*)(void *, int)>("fakeGpuReplayCapture")(native, 1));
}

TEST_P(AdoptedStream, RunsWorkAndStaysTheCallers) {
  auto stream = backend->adoptStream(native);
  ASSERT_OK(stream);
  auto again = backend->adoptStream(native);
  ASSERT_OK(again);
  EXPECT_TRUE(*stream == *again);
  auto known = backend->nativeStream(*stream);
  ASSERT_OK(known);
  EXPECT_EQ(*known, native);
  EXPECT_OK(launch(*stream, 7));
  while (!isIdle(native))
    std::this_thread::yield();
  expectWords(7);
  const int streams = control().streams;
  EXPECT_OK(launch(*stream, 9));
  EXPECT_OK(backend->destroyStream(*stream));
  expectWords(9); // it waited
  EXPECT_EQ(control().streams, streams) << "the caller's stream is destroyed";
  EXPECT_FALSE(backend->query(*stream).ok());
  EXPECT_OK(backend->adoptStream(native)); // and left to the destructor
}

/// CUDA's programmatic dependent launch; graphs of the caller have none.
TEST_P(AdoptedStream, BeginsKernelsInOrderWhileItIsCaptured) {
  auto stream = backend->adoptStream(native);
  ASSERT_OK(stream);
  EXPECT_OK(launch(*stream, 3, /*dependent=*/true));
  EXPECT_OK(synchronize(*stream));
  expectWords(3);
  const int before = cuda() ? 1 : 0;
  EXPECT_EQ(control().dependentLaunches, before);
  beginCapture();
  EXPECT_OK(launch(*stream, 7, /*dependent=*/true));
  EXPECT_TRUE(replayCapture(1));
  EXPECT_OK(synchronize(*stream));
  expectWords(7);
  EXPECT_EQ(control().dependentLaunches, before);
}

TEST_P(AdoptedStream, MayBeTheDefaultStream) {
  control().usesDefaultStream = true;
  auto stream = backend->adoptStream(nullptr);
  ASSERT_OK(stream);
  EXPECT_TRUE(stream->valid());
  EXPECT_OK(launch(*stream, 5));
  EXPECT_OK(synchronize(*stream));
  expectWords(5);
  auto own = backend->createStream(), adopted = backend->adoptStream(native);
  ASSERT_OK(own);
  ASSERT_OK(adopted);
  EXPECT_OK(launch(*own, 6));
  EXPECT_OK(backend->destroyStream(*own));
  EXPECT_OK(launch(*adopted, 8));
  EXPECT_OK(backend->destroyStream(*adopted));
  expectWords(8);
  EXPECT_OK(backend->destroyStream(*stream));
}

TEST_P(AdoptedStream, IsCapturedByItsOwner) {
  auto stream = backend->adoptStream(native);
  ASSERT_OK(stream);
  beginCapture();
  auto capturing = backend->isCapturing(*stream);
  ASSERT_OK(capturing);
  EXPECT_TRUE(*capturing);
  EXPECT_OK(launch(*stream, 3));
  // None of these ends the capture.
  EXPECT_EQ(backend->query(*stream).status().code(),
            StatusCode::failedPrecondition);
  EXPECT_EQ(synchronize(*stream).code(), StatusCode::failedPrecondition);
  EXPECT_EQ(backend->destroyStream(*stream).code(),
            StatusCode::failedPrecondition);
  EXPECT_EQ(words[0], 0u) << "captured work has run";
  EXPECT_TRUE(replayCapture(3));
  capturing = backend->isCapturing(*stream);
  ASSERT_OK(capturing);
  EXPECT_FALSE(*capturing);
  EXPECT_OK(synchronize(*stream));
  expectWords(3);
}

/// A capture that Iris cannot end must not cost the caller his stream.
TEST_P(AdoptedStream, StaysWhenACaptureFails) {
  auto stream = backend->adoptStream(native);
  auto side = backend->createStream();
  auto event = backend->createEvent();
  ASSERT_OK(stream);
  ASSERT_OK(side);
  ASSERT_OK(event);
  ASSERT_OK(backend->beginCapture(*stream));
  ASSERT_OK(backend->record(*event, *stream));
  ASSERT_OK(backend->wait(*side, *event));
  ASSERT_OK(launch(*side, 1)); // is not joined
  const int streams = control().streams;
  EXPECT_FALSE(backend->endCapture(*stream).ok());
  EXPECT_EQ(control().streams, streams);
  EXPECT_OK(backend->destroyStream(*side));
}

/// A number tells streams apart whose handles may be the same.
TEST_P(AdoptedStream, HasANumberOfItsOwn) {
  auto stream = backend->adoptStream(native);
  auto other = backend->createStream();
  ASSERT_OK(stream);
  ASSERT_OK(other);
  const std::optional<uint64_t> number = backend->streamId(*stream);
  ASSERT_EQ(number.has_value(), cuda());
  if (!number)
    return;
  EXPECT_EQ(backend->streamId(*stream), number);
  EXPECT_NE(backend->streamId(*other), number);
  EXPECT_OK(backend->destroyStream(*other));
  EXPECT_EQ(backend->streamId(*other), std::nullopt); // there is none
  auto perThread = backend->adoptStream(reinterpret_cast<void *>(2));
  ASSERT_OK(perThread);
  EXPECT_EQ(backend->streamId(*perThread), std::nullopt);
}

//===----------------------------------------------------------------------===//
// Events that are followed
//===----------------------------------------------------------------------===//

/// A stream waits for an event of another one when it is used, once.
TEST_P(AdoptedStream, IsFollowedLate) {
  auto stream = backend->adoptStream(native);
  auto follower = backend->createStream();
  auto event = backend->createEvent(/*isTimed=*/false);
  ASSERT_OK(stream);
  ASSERT_OK(follower);
  ASSERT_OK(event);
  FollowedEvents followed;
  const int waits = control().eventWaits;
  for (uint32_t value = 1; value <= 3; ++value) {
    ASSERT_OK(launch(*stream, value));
    ASSERT_OK(followed.follow(*backend, *follower, *event, *stream));
  }
  EXPECT_EQ(control().eventWaits, waits);
  followed.join(*backend, *follower);
  followed.join(*backend, *follower);
  EXPECT_EQ(control().eventWaits, waits + 1);
  EXPECT_OK(synchronize(*follower));
  expectWords(3);

  // A record on another stream must not lose what was recorded before.
  auto other = backend->createStream();
  ASSERT_OK(other);
  ASSERT_OK(followed.follow(*backend, *follower, *event, *stream));
  ASSERT_OK(followed.follow(*backend, *follower, *event, *other));
  EXPECT_EQ(control().eventWaits, waits + 2);
  followed.joinStream(*backend, *follower, *stream);
  EXPECT_EQ(control().eventWaits, waits + 2);
  followed.joinStream(*backend, *follower, *other);
  EXPECT_EQ(control().eventWaits, waits + 3);
  ASSERT_OK(followed.follow(*backend, *follower, *event, *other));
  followed.joinEvent(*backend, *follower, *event);
  EXPECT_EQ(control().eventWaits, waits + 4);
  EXPECT_FALSE(backend->elapsedMs(*event, *event).ok()); // has no time
  for (StreamHandle each : {*other, *follower})
    EXPECT_OK(backend->destroyStream(each));
  EXPECT_OK(backend->destroyEvent(*event));
}

/// An event may be recorded again, or destroyed, before its last record runs.
TEST_P(AdoptedStream, OutlivesItsEvents) {
  auto module = backend->loadModule(fakeGpuImage, sizeof(fakeGpuImage));
  ASSERT_OK(module);
  auto spin = backend->findKernel(*module, "spin_until");
  auto stream = backend->createStream(), idle = backend->createStream();
  auto follower = backend->createStream();
  auto event = backend->createEvent(/*isTimed=*/false);
  ASSERT_OK(spin);
  ASSERT_OK(event);
  for (bool ok : {stream.ok(), idle.ok(), follower.ok()})
    ASSERT_TRUE(ok);
  uint64_t word = reinterpret_cast<uint64_t>(words + 8);
  ASSERT_OK(backend->launch(*stream, *spin, LaunchConfig(), &word, 8));
  ASSERT_OK(launch(*stream, 4));
  ASSERT_OK(backend->record(*event, *stream));
  ASSERT_OK(backend->wait(*follower, *event));
  ASSERT_OK(backend->record(*event, *idle)); // the follower waits for the first
  EXPECT_OK(synchronize(*idle));
  EXPECT_OK(backend->destroyEvent(*event));
  auto ended = backend->query(*follower);
  ASSERT_OK(ended);
  EXPECT_FALSE(*ended);
  __atomic_store_n(words + 8, 1, __ATOMIC_RELEASE);
  EXPECT_OK(synchronize(*follower));
  expectWords(4);
  for (StreamHandle each : {*stream, *idle, *follower})
    EXPECT_OK(backend->destroyStream(each));
}

TEST_P(AdoptedStream, MustBeOfTheDevice) {
  bind(2);
  void *other = createNative();
  auto stream = backend->adoptStream(other);
  EXPECT_EQ(stream.status().code(), StatusCode::invalidArgument);
  EXPECT_HAS(stream.status().message(), "device");
  destroyNative(other);
}

//===----------------------------------------------------------------------===//
// Kernels that do not end
//===----------------------------------------------------------------------===//

/// Memory, mappings and code stay while a kernel may use them, and every call
/// ends in time.
TEST_P(GpuGuest, FreesNothingThatARunningKernelUses) {
  using std::chrono::milliseconds;
  for (bool placed : {true, false}) {
    create(0, placed);
    const uint64_t granule = backend->granularity();
    uint64_t heap = 0;
    ChunkHandle chunk;
    if (placed) {
      auto base = backend->reserve(granule, granule);
      auto made = backend->createChunk(granule);
      ASSERT_OK(base);
      ASSERT_OK(made);
      heap = *base;
      chunk = *made;
      ASSERT_OK(backend->map(chunk, heap, granule));
    } else {
      auto shared = backend->allocateShareable(granule);
      ASSERT_OK(shared);
      heap = *shared;
    }
    auto stream = backend->createStream();
    auto idle = backend->createStream();
    auto host = backend->allocateHostVisible(64);
    auto module = backend->loadModule(fakeGpuImage, sizeof(fakeGpuImage));
    for (bool ok : {stream.ok(), idle.ok(), host.ok(), module.ok()})
      ASSERT_TRUE(ok);
    auto kernel = backend->findKernel(*module, "spin_until");
    ASSERT_OK(kernel);
    auto *word = reinterpret_cast<uint32_t *>(heap);
    *word = 0;
    ASSERT_OK(backend->launch(*stream, *kernel, LaunchConfig(), &heap, 8));
    while (control().kernelsRunning == 0)
      std::this_thread::yield();

    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(backend->destroyStream(*stream, milliseconds(50)).code(),
              StatusCode::timeout);
    EXPECT_OK(backend->destroyStream(*idle));
    EXPECT_OK(backend->unloadModule(*module));
    EXPECT_OK(backend->freeHostVisible(*host));
    if (placed) {
      EXPECT_OK(backend->unmap(heap, granule));
      EXPECT_OK(backend->unreserve(heap, granule));
    } else {
      EXPECT_OK(backend->freeShareable(heap));
    }
    const int held = control().live();
    backend.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(5));
    EXPECT_EQ(control().takenFromKernels, 0);
    EXPECT_EQ(control().live(), held) << "all of it is left alone";
    EXPECT_EQ(control().kernelsRunning, 1) << "it reads its word";

    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    while (control().kernelsRunning != 0)
      std::this_thread::sleep_for(milliseconds(1));
    resetControl(); // leftovers are freed at process exit
  }
}

/// The same after a timeout: the caller frees its memory, and the stream
/// finishes later.
TEST_P(GpuGuest, FreesNothingThatLateWorkUses) {
  create();
  auto stream = backend->createStream();
  auto words = backend->allocate(64);
  auto module = backend->loadModule(fakeGpuImage, sizeof(fakeGpuImage));
  ASSERT_OK(stream);
  ASSERT_OK(words);
  ASSERT_OK(module);
  auto kernel = backend->findKernel(*module, "spin_until");
  ASSERT_OK(kernel);
  auto *word = reinterpret_cast<uint32_t *>(*words);
  *word = 0;
  ASSERT_OK(backend->launch(*stream, *kernel, LaunchConfig(), &*words, 8));
  while (control().kernelsRunning == 0)
    std::this_thread::yield();
  EXPECT_EQ(backend->synchronize(*stream, std::chrono::milliseconds(20)).code(),
            StatusCode::timeout);
  EXPECT_OK(backend->free(*words));
  EXPECT_EQ(control().takenFromKernels, 0);
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_OK(synchronize(*stream));
  EXPECT_OK(backend->free(*words)); // now it can be freed
  EXPECT_FALSE(backend->free(*words).ok());
}

/// Deferred frees happen in the destructor if the kernel has ended by then.
TEST_P(GpuGuest, FreesDeferredMemoryWhenTheKernelHasEnded) {
  create();
  auto stream = backend->createStream();
  auto words = backend->allocate(64);
  auto module = backend->loadModule(fakeGpuImage, sizeof(fakeGpuImage));
  ASSERT_OK(stream);
  ASSERT_OK(words);
  ASSERT_OK(module);
  auto kernel = backend->findKernel(*module, "spin_until");
  ASSERT_OK(kernel);
  auto *word = reinterpret_cast<uint32_t *>(*words);
  *word = 0;
  ASSERT_OK(backend->launch(*stream, *kernel, LaunchConfig(), &*words, 8));
  EXPECT_EQ(
      backend->destroyStream(*stream, std::chrono::milliseconds(20)).code(),
      StatusCode::timeout);
  EXPECT_OK(backend->free(*words));
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_OK(synchronize(*stream));
  backend.reset();
  EXPECT_EQ(control().live(), 0);
  EXPECT_EQ(control().takenFromKernels, 0);
}

} // namespace
