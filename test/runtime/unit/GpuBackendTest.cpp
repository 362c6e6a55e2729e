// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU back end on the fake driver: every path, also those that a given GPU
// never takes. conformance/ tests real devices.
#include "support/GpuFixture.h"

#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>

using namespace iris::rt;
using namespace iris::rt::gpu;
using namespace iris::rt::test;

namespace {

FAKE_GPU_SUITE(Gpu);

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
  EXPECT_HAS(far.status().message(), "device 2; this process has 2");
  EXPECT_FALSE(tryCreate(-1).ok());
}

TEST_P(Gpu, ReportsFailingStartup) {
  for (const char *function :
       {"init", "deviceCount",
        cuda() ? "primaryContextRetain" : "deviceCurrent", "streamCreate",
        "allocate", "setBytes", "copyToHost", "streamQuery"}) {
    control().failFunction = function;
    auto failed = tryCreate();
    EXPECT_FALSE(failed.ok()) << function;
    EXPECT_HAS(failed.status().message(), "fake failure") << function;
    control().failFunction = nullptr;
    EXPECT_EQ(control().live(), 0) << function;
  }
}

/// Stream waits on words are optional.
TEST_P(Gpu, WorksWithoutStreamWaits) {
  control().failFunction = cuda() ? "streamWaitValue" : "streamWaitMasked";
  create();
  control().failFunction = nullptr;
  auto stream = backend->createStream();
  ASSERT_TRUE(stream.ok());
  auto memory = backend->allocate(64);
  ASSERT_TRUE(memory.ok());
  Status status = backend->waitEqual(*stream, *memory, 0);
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_HAS(status.message(), "cannot wait for a memory value");
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
              cuda() ? IRISRT_MEMORY_COARSE : IRISRT_MEMORY_UNCACHED);
    EXPECT_EQ(backend->createChunk(2 << 20).status().code(),
              StatusCode::unavailable);
    EXPECT_EQ(backend->reserve(2 << 20, 0).status().code(),
              StatusCode::unavailable);
    backend.reset();
    control().failFunction = nullptr;
    EXPECT_EQ(control().live(), 0) << function;
  }
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
      ASSERT_OK(backend->releaseChunk(*chunk)); // the mapping keeps it alive
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

FAKE_GPU_SUITE(GpuMappings);

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
    backend.reset(); // with every object still alive
    EXPECT_EQ(control().live(), 0);
  }
}

TEST_P(GpuMappings, RejectInvalidArguments) {
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

  // A peer that sends less memory than announced.
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
             "device 1 cannot access the memory of device 0");
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

TEST(GpuLibraries, MissingOnesAreReported) {
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::hip}) {
    GpuOptions options;
    options.kind = kind;
    options.library = "/nonexistent/libgpu.so";
    auto missing = GpuBackend::create(options);
    EXPECT_EQ(missing.status().code(), StatusCode::unavailable);
    EXPECT_HAS(missing.status().message(), "/nonexistent/libgpu.so");
    // Another library.
    options.library = "libm.so.6";
    auto wrong = GpuBackend::create(options);
    EXPECT_EQ(wrong.status().code(), StatusCode::unavailable);
    EXPECT_HAS(wrong.status().message(), "does not export");
  }
}

/// The installed library, whatever this machine has, must yield a device or
/// report clearly that there is none.
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
