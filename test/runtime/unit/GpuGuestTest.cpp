// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The back end as a guest: what belongs to the caller stays as it is, and what
// a kernel may use stays where it is.
#include "support/GpuFixture.h"

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

/// Every function leaves the thread bound as it was, whatever it returns.
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

/// A thread that works with the device anyway pays for one query.
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

//===----------------------------------------------------------------------===//
// Kernels that do not end
//===----------------------------------------------------------------------===//

/// Memory, mappings and code stay while a kernel may use them, and every call
/// ends in time.
TEST_P(GpuGuest, TakesNothingFromARunningKernel) {
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
    resetControl(); // the process's end takes what was left
  }
}

/// The same for work that was waited for in vain: who gives up frees what he
/// has, and the stream comes later.
TEST_P(GpuGuest, TakesNothingFromWorkThatIsLate) {
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
  EXPECT_OK(backend->free(*words)); // now it can go
  EXPECT_FALSE(backend->free(*words).ok());
}

/// What stayed goes with the back end if the kernel has ended by then.
TEST_P(GpuGuest, FreesWhatStayedWhenTheKernelHasEnded) {
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
