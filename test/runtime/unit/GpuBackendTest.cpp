// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU back end on the fake driver: every path, also those that a given GPU
// never takes.  What real devices do is tested by conformance/.
#include "backends/gpu/GpuBackend.h"

#include "support/fake_gpu/FakeGpu.h"

#include <gtest/gtest.h>

#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>

using namespace iris::rt;
using namespace iris::rt::gpu;
using std::chrono::seconds;

#define ASSERT_OK(expr)                                                        \
  do {                                                                         \
    auto &&result_ = (expr);                                                   \
    ASSERT_TRUE(result_.ok()) << describe(result_);                            \
  } while (false)
#define EXPECT_OK(expr)                                                        \
  do {                                                                         \
    auto &&result_ = (expr);                                                   \
    EXPECT_TRUE(result_.ok()) << describe(result_);                            \
  } while (false)
#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

namespace {

std::string describe(const Status &status) { return status.toString(); }
template <typename T>
std::string describe(const Expected<T> &expected) {
  return expected.status().toString();
}

FakeGpuControl &control() {
  static FakeGpuControl *control = [] {
    void *library = dlopen(IRIS_FAKE_GPU, RTLD_NOW | RTLD_LOCAL);
    auto *get = reinterpret_cast<FakeGpuControl *(*)()>(
        library ? dlsym(library, "fakeGpuControl") : nullptr);
    return get ? get() : nullptr;
  }();
  return *control;
}

class Gpu : public testing::TestWithParam<DeviceKind> {
protected:
  void SetUp() override { resetControl(); }
  void TearDown() override {
    backend.reset();
    EXPECT_EQ(control().live(), 0) << "the driver's objects leak";
    EXPECT_EQ(control().misuses, 0);
    resetControl();
  }

  static void resetControl() {
    new (&control()) FakeGpuControl; // nothing in it needs destruction
  }

  bool cuda() const { return GetParam() == DeviceKind::cuda; }

  Expected<std::unique_ptr<Backend>> tryCreate(int index = 0,
                                               bool placed = true) {
    GpuOptions options;
    options.kind = GetParam();
    options.index = index;
    options.library = IRIS_FAKE_GPU;
    options.allowPlacedMappings = placed;
    return GpuBackend::create(options);
  }

  void create(int index = 0, bool placed = true) {
    auto created = tryCreate(index, placed);
    ASSERT_OK(created);
    backend = created.take();
  }

  Status synchronize(StreamHandle stream) {
    return backend->synchronize(stream, seconds(20));
  }

  std::unique_ptr<Backend> backend;
};

INSTANTIATE_TEST_SUITE_P(Fake, Gpu,
                         testing::Values(DeviceKind::cuda, DeviceKind::hip),
                         [](const auto &info) {
                           return std::string(deviceKindName(info.param));
                         });

/// What only HIP does.
class GpuHip : public Gpu {};

INSTANTIATE_TEST_SUITE_P(Fake, GpuHip, testing::Values(DeviceKind::hip),
                         [](const auto &info) {
                           return std::string(deviceKindName(info.param));
                         });

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

TEST_P(Gpu, DescribesTheDevice) {
  create(1);
  const DeviceInfo &info = backend->info();
  EXPECT_EQ(info.target, cuda() ? "sm_90a" : "gfx942");
  EXPECT_EQ(info.name, "Fake GPU 1");
  EXPECT_EQ(info.index, 1);
  EXPECT_EQ(info.processors, cuda() ? 132u : 304u);
  EXPECT_EQ(info.memoryBytes, uint64_t(1) << 34);
  EXPECT_EQ(info.clockHz, cuda() ? 1000000000u : 100000000u);
  EXPECT_TRUE(info.canPlaceMappings);
  EXPECT_TRUE(info.canCapture);
  EXPECT_EQ(info.memoryKind,
            cuda() ? IRISRT_MEMORY_COARSE : IRISRT_MEMORY_UNCACHED);
  EXPECT_EQ(backend->granularity(), uint64_t(2) << 20);
}

TEST_P(Gpu, SaysThatThereIsNoDevice) {
  control().devices = 0;
  auto none = tryCreate();
  EXPECT_EQ(none.status().code(), StatusCode::unavailable);
  EXPECT_HAS(none.status().message(),
             cuda() ? "no CUDA device" : "no HIP device");
  control().devices = 2;
  auto far = tryCreate(2);
  EXPECT_EQ(far.status().code(), StatusCode::unavailable);
  EXPECT_HAS(far.status().message(), "device 2; this process sees 2");
  EXPECT_FALSE(tryCreate(-1).ok());
}

TEST_P(Gpu, ReportsFailingStartup) {
  for (const char *function :
       {"init", "deviceCount", cuda() ? "primaryContextRetain" : "setDevice",
        "streamCreate", "allocate", "setBytes", "copyToHost", "streamQuery"}) {
    control().failFunction = function;
    auto failed = tryCreate();
    EXPECT_FALSE(failed.ok()) << function;
    EXPECT_HAS(failed.status().message(), "fake failure") << function;
    control().failFunction = nullptr;
    EXPECT_EQ(control().live(), 0) << function;
  }
}

TEST_P(Gpu, FallsBackWhereMappingFails) {
  for (const char *function :
       {"memoryCreate", "addressReserve", "memoryMap", "memorySetAccess",
        "memoryExport", "memoryImport"}) {
    control().failFunction = function;
    control().failResult = 801;
    create();
    EXPECT_FALSE(backend->info().canPlaceMappings) << function;
    EXPECT_EQ(backend->info().memoryKind,
              cuda() ? IRISRT_MEMORY_COARSE : IRISRT_MEMORY_FINE_GRAINED);
    EXPECT_EQ(backend->createChunk(2 << 20).status().code(),
              StatusCode::unavailable);
    EXPECT_EQ(backend->reserve(2 << 20, 0).status().code(),
              StatusCode::unavailable);
    backend.reset();
    control().failFunction = nullptr;
    EXPECT_EQ(control().live(), 0) << function;
  }
}

TEST_P(GpuHip, NeverPutsHeapsIntoCachedMemory) {
  // HIP before 7.2 has no uncached mappings: share fine-grained memory.
  control().hipUncachedMappings = false;
  create();
  EXPECT_FALSE(backend->info().canPlaceMappings);
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_FINE_GRAINED);
  backend.reset();
  control().fineGrained = false;
  create();
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_UNCACHED);
  backend.reset();
  control().failFunction = "ipcGet";
  create();
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_COARSE);
  auto refused = backend->allocateShareable(1 << 20);
  EXPECT_EQ(refused.status().code(), StatusCode::unavailable);
  EXPECT_HAS(refused.status().message(), "neither fine-grained nor uncached");
}

TEST_P(GpuHip, LoadsOldVersions) {
  control().hipVersion = 50221153;
  control().hipTarget = "gfx90a";
  create();
  EXPECT_EQ(backend->info().target, "gfx90a");
  EXPECT_FALSE(backend->info().canPlaceMappings);
  backend.reset();
  control().hipTarget = "nonsense";
  EXPECT_HAS(tryCreate().status().message(), "does not name the target");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

class GpuMappings : public Gpu {
protected:
  /// Maps `count` granules one by one and writes to each through the device.
  void growAndUse(int count) {
    const uint64_t granule = backend->granularity();
    auto base = backend->reserve(8 * granule, 4 * granule);
    ASSERT_OK(base);
    EXPECT_EQ(*base % (4 * granule), 0u);
    auto stream = backend->createStream();
    ASSERT_OK(stream);
    for (int i = 0; i < count; ++i) {
      auto chunk = backend->createChunk(granule);
      ASSERT_OK(chunk);
      ASSERT_OK(backend->map(*chunk, *base + i * granule, granule));
      ASSERT_OK(backend->releaseChunk(*chunk)); // the mapping keeps it
      EXPECT_OK(backend->zero(*stream, *base, (i + 1) * granule));
      uint64_t word = 1;
      EXPECT_OK(backend->copyToHost(*stream, &word, *base + i * granule, 8));
      EXPECT_OK(synchronize(*stream));
      EXPECT_EQ(word, 0u);
    }
    EXPECT_EQ(backend->unreserve(*base, 8 * granule).code(),
              StatusCode::failedPrecondition);
    for (int i = 0; i < count; ++i)
      EXPECT_OK(backend->unmap(*base + i * granule, granule));
    EXPECT_OK(backend->unreserve(*base, 8 * granule));
    EXPECT_OK(backend->destroyStream(*stream));
  }
};

INSTANTIATE_TEST_SUITE_P(Fake, GpuMappings,
                         testing::Values(DeviceKind::cuda, DeviceKind::hip),
                         [](const auto &info) {
                           return std::string(deviceKindName(info.param));
                         });

TEST_P(GpuMappings, Grow) {
  create();
  growAndUse(4);
}

TEST_P(GpuMappings, GrowWithHipsAccessBug) {
  control().hipAccessBug = true;
  create();
  growAndUse(4);
}

TEST_P(GpuMappings, AlignThemselves) {
  control().ignoreAlignment = true;
  create();
  growAndUse(1);
}

TEST_P(GpuMappings, AreSharedByDescriptor) {
  for (int version : {70200000, 70000000, 60300000}) {
    control().hipVersion = version;
    create();
    const uint64_t granule = backend->granularity();
    auto base = backend->reserve(2 * granule, 0);
    ASSERT_OK(base);
    auto chunk = backend->createChunk(granule);
    ASSERT_OK(chunk);
    auto fd = backend->exportChunk(*chunk);
    ASSERT_OK(fd);
    auto imported = backend->importChunk(fd.take(), granule);
    ASSERT_OK(imported);
    ASSERT_OK(backend->map(*chunk, *base, granule));
    ASSERT_OK(backend->map(*imported, *base + granule, granule));
    auto stream = backend->createStream();
    ASSERT_OK(stream);
    uint32_t sent = 42, got = 0;
    EXPECT_OK(backend->copyToDevice(*stream, *base + 64, &sent, 4));
    EXPECT_OK(backend->copyOnDevice(*stream, *base + granule + 128,
                                    *base + granule + 64, 4));
    EXPECT_OK(backend->copyToHost(*stream, &got, *base + 128, 4));
    EXPECT_OK(synchronize(*stream));
    EXPECT_EQ(got, 42u);
    backend.reset(); // with everything still held
    EXPECT_EQ(control().live(), 0);
  }
}

TEST_P(GpuMappings, RefuseNonsense) {
  create();
  const uint64_t granule = backend->granularity();
  EXPECT_FALSE(backend->reserve(0, 0).ok());
  EXPECT_FALSE(backend->reserve(granule + 1, 0).ok());
  EXPECT_FALSE(backend->reserve(granule, 3).ok());
  EXPECT_FALSE(backend->createChunk(5).ok());
  auto huge = backend->createChunk(uint64_t(1) << 50);
  EXPECT_EQ(huge.status().code(), StatusCode::outOfMemory);
  EXPECT_HAS(huge.status().message(), "create 1125899906842624 bytes");
  EXPECT_FALSE(backend->importChunk(UniqueFd(), granule).ok());
  EXPECT_FALSE(backend->exportChunk({77}).ok());
  EXPECT_FALSE(backend->releaseChunk({77}).ok());
  EXPECT_FALSE(backend->unreserve(0x1000, granule).ok());
  EXPECT_FALSE(backend->unmap(0x1000, granule).ok());
  auto base = backend->reserve(2 * granule, 0);
  ASSERT_OK(base);
  auto chunk = backend->createChunk(granule);
  ASSERT_OK(chunk);
  EXPECT_FALSE(backend->map(*chunk, *base + 2 * granule, granule).ok());
  EXPECT_FALSE(backend->map(*chunk, *base - granule, granule).ok());
  EXPECT_FALSE(backend->map(*chunk, *base + 4096, granule).ok());
  EXPECT_FALSE(backend->map(*chunk, *base, 2 * granule).ok());
  EXPECT_FALSE(backend->map({99}, *base, granule).ok());
  EXPECT_OK(backend->map(*chunk, *base, granule));
  EXPECT_FALSE(backend->map(*chunk, *base, granule).ok());
  EXPECT_FALSE(backend->unmap(*base, 2 * granule).ok());

  // A peer that sends less memory than it says.
  UniqueFd small(memfd_create("small", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(small.get(), 4096), 0);
  auto imported = backend->importChunk(std::move(small), granule);
  ASSERT_OK(imported);
  EXPECT_FALSE(backend->map(*imported, *base + granule, granule).ok());
}

TEST_P(GpuMappings, UndoFailedOnes) {
  create();
  const uint64_t granule = backend->granularity();
  auto base = backend->reserve(granule, 0);
  auto chunk = backend->createChunk(granule);
  ASSERT_OK(base);
  ASSERT_OK(chunk);
  control().failFunction = "memorySetAccess";
  EXPECT_FALSE(backend->map(*chunk, *base, granule).ok());
  EXPECT_EQ(control().mappings, 0);
  control().failFunction = nullptr;
  EXPECT_OK(backend->map(*chunk, *base, granule));
}

TEST_P(Gpu, SharesMemoryByHandle) {
  create(0, /*placed=*/false);
  EXPECT_FALSE(backend->info().canPlaceMappings);
  auto address = backend->allocateShareable(1000);
  ASSERT_OK(address);
  auto handle = backend->shareMemory(*address);
  ASSERT_OK(handle);
  *reinterpret_cast<uint32_t *>(*address) = 7;

  // Another rank in this process, on the other device.
  auto other = tryCreate(1, false);
  ASSERT_OK(other);
  auto same = (*other)->openMemory(*handle);
  ASSERT_OK(same);
  EXPECT_EQ(*same, *address);
  EXPECT_OK((*other)->closeMemory(*same));
  EXPECT_FALSE((*other)->closeMemory(*same).ok());
  other->reset();

  // Another process.
  pid_t child = fork();
  if (child == 0) {
    auto peer = tryCreate(1, false);
    bool good = peer.ok();
    if (good) {
      auto opened = (*peer)->openMemory(*handle);
      good = opened.ok() && *reinterpret_cast<uint32_t *>(*opened) == 7;
      if (good)
        reinterpret_cast<uint32_t *>(*opened)[1] = 8;
      good = good && (*peer)->closeMemory(*opened).ok();
    }
    _exit(good ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(reinterpret_cast<uint32_t *>(*address)[1], 8u);

  IpcHandle wrong = *handle;
  wrong.pid = 1;
  EXPECT_FALSE(backend->openMemory(wrong).ok());
  EXPECT_OK(backend->freeShareable(*address));
  EXPECT_FALSE(backend->freeShareable(*address).ok());
  EXPECT_FALSE(backend->shareMemory(*address).ok());
  EXPECT_FALSE(backend->allocateShareable(0).ok());
  EXPECT_FALSE(backend->allocateShareable(UINT64_MAX).ok());
}

TEST_P(Gpu, SaysThatDevicesCannotReachEachOther) {
  create(0, false);
  auto address = backend->allocateShareable(1000);
  ASSERT_OK(address);
  auto handle = backend->shareMemory(*address);
  ASSERT_OK(handle);
  control().canAccessPeer = false;
  auto other = tryCreate(1, false);
  ASSERT_OK(other);
  auto refused = (*other)->openMemory(*handle);
  EXPECT_EQ(refused.status().code(), StatusCode::unavailable);
  EXPECT_HAS(refused.status().message(),
             "device 1 cannot reach the memory of device 0");
}

TEST_P(Gpu, AllocatesHostVisibleMemory) {
  create();
  auto memory = backend->allocateHostVisible(512);
  ASSERT_OK(memory);
  EXPECT_EQ(memory->bytes, 512u);
  EXPECT_NE(memory->device, 0u);
  for (int i = 0; i < 512; ++i)
    EXPECT_EQ(static_cast<char *>(memory->host)[i], 0);
  EXPECT_OK(backend->freeHostVisible(*memory));
  EXPECT_FALSE(backend->freeHostVisible(*memory).ok());
  control().failFunction = "hostDeviceAddress";
  EXPECT_FALSE(backend->allocateHostVisible(512).ok());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class GpuKernels : public Gpu {
protected:
  void SetUp() override {
    Gpu::SetUp();
    create();
    auto made = backend->createStream();
    ASSERT_OK(made);
    stream = *made;
    auto loaded = backend->loadModule(fakeGpuImage, strlen(fakeGpuImage));
    ASSERT_OK(loaded);
    module = *loaded;
    auto memory = backend->allocate(4096);
    ASSERT_OK(memory);
    address = *memory;
    EXPECT_OK(backend->zero(stream, address, 4096));
  }

  KernelHandle find(const char *name) {
    auto kernel = backend->findKernel(module, name);
    EXPECT_OK(kernel);
    return kernel.ok() ? *kernel : KernelHandle();
  }

  Status fill(int64_t count, uint32_t value) {
    struct {
      uint64_t address;
      int64_t count;
      uint32_t value;
    } args = {address, count, value};
    return backend->launch(stream, find("fill_u32"), config, &args, 24);
  }

  Status spin(uint64_t flag) {
    return backend->launch(stream, find("spin_until"), config, &flag, 8);
  }

  uint32_t readBack(int index) {
    uint32_t value = 0;
    EXPECT_OK(backend->copyToHost(stream, &value, address + 4 * index, 4));
    EXPECT_OK(synchronize(stream));
    return value;
  }

  StreamHandle stream;
  ModuleHandle module;
  uint64_t address = 0;
  LaunchConfig config;
};

INSTANTIATE_TEST_SUITE_P(Fake, GpuKernels,
                         testing::Values(DeviceKind::cuda, DeviceKind::hip),
                         [](const auto &info) {
                           return std::string(deviceKindName(info.param));
                         });

TEST_P(GpuKernels, Launch) {
  config.workgroup[0] = 64;
  config.grid[0] = 3;
  EXPECT_OK(fill(10, 5));
  EXPECT_EQ(readBack(9), 5u);
  EXPECT_EQ(readBack(10), 0u);
}

TEST_P(GpuKernels, AskForSharedMemory) {
  config.dynamicSharedBytes = 60 * 1024;
  EXPECT_EQ(fill(1, 1).ok(), cuda());
  config.dynamicSharedBytes = 300 * 1024;
  Status status = fill(1, 1);
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_HAS(status.message(), "307200 bytes of shared memory; this device");
}

TEST_P(GpuKernels, CountWhatFits) {
  config.workgroup[0] = 256;
  auto fits = backend->maxCoresident(find("fill_u32"), config);
  ASSERT_OK(fits);
  EXPECT_EQ(*fits, 8 * backend->info().processors);
  config.workgroup[1] = 5;
  EXPECT_FALSE(backend->maxCoresident(find("fill_u32"), config).ok());
}

TEST_P(GpuKernels, AreRefusedClearly) {
  auto bad = backend->loadModule("garbage", 7);
  EXPECT_FALSE(bad.ok());
  EXPECT_HAS(bad.status().message(),
             cuda() ? "line 1: not an image" : "load an image for gfx942");
  auto missing = backend->findKernel(module, "nothing");
  EXPECT_EQ(missing.status().code(), StatusCode::invalidArgument);
  EXPECT_HAS(missing.status().message(), "has no kernel 'nothing'");
  EXPECT_FALSE(backend->findKernel({1}, "fill_u32").ok());
  EXPECT_FALSE(backend->launch(stream, {1}, config, nullptr, 0).ok());
  EXPECT_FALSE(backend->launch({1}, find("trap"), config, nullptr, 0).ok());
  control().failFunction = "launch";
  Status status = fill(1, 1);
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_HAS(status.message(), "launch 1x1x1 programs of 1x1x1 threads");
}

TEST_P(GpuKernels, FailStickily) {
  EXPECT_OK(backend->launch(stream, find("trap"), config, nullptr, 0));
  Status status = synchronize(stream);
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_HAS(status.message(), "run the work of a stream");
  EXPECT_FALSE(backend->query(stream).ok());
}

TEST_P(GpuKernels, AreWaitedForWithLimit) {
  auto flag = backend->allocateHostVisible(64);
  ASSERT_OK(flag);
  EXPECT_OK(spin(flag->device));
  auto begin = std::chrono::steady_clock::now();
  Status status = backend->synchronize(stream, std::chrono::milliseconds(50));
  auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_LT(took, seconds(5));
  auto idle = backend->query(stream);
  ASSERT_OK(idle);
  EXPECT_FALSE(*idle);
  __atomic_store_n(static_cast<uint32_t *>(flag->host), 1, __ATOMIC_RELEASE);
  EXPECT_OK(synchronize(stream));
}

TEST_P(GpuKernels, AreOrderedByEvents) {
  auto flag = backend->allocateHostVisible(64);
  auto second = backend->createStream();
  auto start = backend->createEvent(), end = backend->createEvent();
  ASSERT_OK(flag);
  ASSERT_OK(second);
  ASSERT_OK(start);
  ASSERT_OK(end);
  EXPECT_OK(backend->record(*start, stream));
  EXPECT_OK(spin(flag->device));
  EXPECT_OK(fill(1, 9));
  EXPECT_OK(backend->record(*end, stream));
  EXPECT_OK(backend->wait(*second, *end));
  uint32_t seen = 0;
  EXPECT_OK(backend->copyToHost(*second, &seen, address, 4));
  EXPECT_EQ(backend->elapsedMs(*start, *end).status().code(),
            StatusCode::failedPrecondition);
  EXPECT_EQ(seen, 0u);
  __atomic_store_n(static_cast<uint32_t *>(flag->host), 1, __ATOMIC_RELEASE);
  EXPECT_OK(synchronize(*second));
  EXPECT_EQ(seen, 9u);
  auto elapsed = backend->elapsedMs(*start, *end);
  ASSERT_OK(elapsed);
  EXPECT_GE(*elapsed, 0.0);
  EXPECT_OK(backend->destroyEvent(*start));
  EXPECT_FALSE(backend->destroyEvent(*start).ok());
  EXPECT_FALSE(backend->record(*start, stream).ok());
}

TEST_P(GpuKernels, ReplayInGraphs) {
  find("fill_u32");
  EXPECT_OK(synchronize(stream));
  EXPECT_OK(backend->beginCapture(stream));
  EXPECT_OK(backend->zero(stream, address, 64));
  EXPECT_OK(fill(4, 3));
  auto graph = backend->endCapture(stream);
  ASSERT_OK(graph);
  EXPECT_OK(fill(8, 1));
  EXPECT_EQ(readBack(0), 1u); // nothing of the graph has run
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(backend->launchGraph(*graph, stream));
    EXPECT_EQ(readBack(3), 3u);
    EXPECT_EQ(readBack(4), 0u);
  }
  EXPECT_OK(backend->destroyGraph(*graph));
  EXPECT_FALSE(backend->launchGraph(*graph, stream).ok());
  EXPECT_FALSE(backend->endCapture(stream).ok());
  EXPECT_OK(backend->beginCapture(stream));
  control().failFunction = "graphInstantiate";
  EXPECT_FALSE(backend->endCapture(stream).ok());
}

TEST_P(GpuKernels, StampPeers) {
  // Two heaps at a stride, and the same two by table.
  auto table = backend->allocate(16);
  ASSERT_OK(table);
  uint64_t bases[2] = {address, address + 1024};
  EXPECT_OK(backend->copyToDevice(stream, *table, bases, 16));
  for (bool byTable : {false, true}) {
    EXPECT_OK(backend->zero(stream, address, 4096));
    for (uint32_t rank = 0; rank < 2; ++rank) {
      struct {
        IrisRtContext context;
        uint64_t address;
      } args = {};
      args.context.rank = rank;
      args.context.numRanks = 2;
      args.context.heapBase = bases[rank];
      args.context.heapStride = byTable ? 0 : 1024;
      args.context.heapTable = *table;
      args.address = bases[rank] + 16;
      EXPECT_OK(backend->launch(stream, find("stamp_all"), config, &args,
                                sizeof(args)));
    }
    for (int heap = 0; heap < 2; ++heap)
      for (uint32_t rank = 0; rank < 2; ++rank)
        EXPECT_EQ(readBack(256 * heap + 4 + rank), rank + 1);
  }
}

TEST_P(GpuKernels, OutliveNothing) {
  EXPECT_OK(backend->unloadModule(module));
  EXPECT_FALSE(backend->unloadModule(module).ok());
  EXPECT_FALSE(backend->findKernel(module, "fill_u32").ok());
}

TEST_P(Gpu, IsCreatedAndDestroyedOften) {
  for (int i = 0; i < 100; ++i) {
    create(i % 2, i % 3 != 0);
    backend.reset();
    ASSERT_EQ(control().live(), 0);
  }
}

//===----------------------------------------------------------------------===//
// Real libraries
//===----------------------------------------------------------------------===//

TEST(GpuLibraries, MissingOnesAreSaidToBe) {
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::hip}) {
    GpuOptions options;
    options.kind = kind;
    options.library = "/nonexistent/libgpu.so";
    auto missing = GpuBackend::create(options);
    EXPECT_EQ(missing.status().code(), StatusCode::unavailable);
    EXPECT_HAS(missing.status().message(), "/nonexistent/libgpu.so");
    // A library that is something else.
    options.library = "libm.so.6";
    auto wrong = GpuBackend::create(options);
    EXPECT_EQ(wrong.status().code(), StatusCode::unavailable);
    EXPECT_HAS(wrong.status().message(), "lacks");
  }
}

/// The installed library, whatever this machine has, must give a device or say
/// clearly that there is none.
TEST(GpuLibraries, InstalledOnesAnswer) {
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::hip}) {
    auto count = countGpuDevices(kind);
    if (count.ok()) {
      EXPECT_GT(*count, 0);
      auto created = createBackend(kind, 0);
      EXPECT_OK(created);
      continue;
    }
    EXPECT_EQ(count.status().code(), StatusCode::unavailable)
        << describe(count);
    RecordProperty(std::string(deviceKindName(kind)), count.status().message());
    std::printf("%s: %s\n", deviceKindName(kind).data(),
                count.status().message().c_str());
  }
}

} // namespace
