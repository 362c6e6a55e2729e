// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, launches, events and graphs of the GPU back end on the fake driver.
#include "support/GpuFixture.h"

#include <chrono>
#include <cstring>

using namespace iris::rt;
using namespace iris::rt::gpu;
using namespace iris::rt::test;
using std::chrono::seconds;

namespace {

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

FAKE_GPU_SUITE(GpuKernels);

TEST_P(GpuKernels, Launch) {
  config.workgroup[0] = 64;
  config.grid[0] = 3;
  EXPECT_OK(fill(10, 5));
  EXPECT_EQ(readBack(9), 5u);
  EXPECT_EQ(readBack(10), 0u);
}

/// The fake driver's kernels have 8 KiB of their own.
TEST_P(GpuKernels, AskForSharedMemory) {
  config.dynamicSharedBytes = 44 * 1024;
  EXPECT_OK(fill(1, 1));
  config.dynamicSharedBytes = 60 * 1024;
  EXPECT_EQ(fill(1, 1).ok(), cuda());
  config.dynamicSharedBytes = 300 * 1024;
  Status status = fill(1, 1);
  EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  EXPECT_HAS(status.message(), "307200 bytes of shared memory; this device");
}

TEST_P(GpuKernels, CountProgramsThatFit) {
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
  EXPECT_EQ(status.code(), StatusCode::deviceError);
  EXPECT_HAS(status.message(), "launch 1x1x1 programs of 1x1x1 threads");
}

TEST_P(GpuKernels, AcceptParametersThatTheDriverCopies) {
  // Not within a block of such a kernel.
  uint64_t block[] = {0, address, 3, 0, 41};
  void *parameters[] = {block + 1, block + 2, block + 4};
  config.parameters = parameters;
  EXPECT_OK(
      backend->launch(stream, find("fill_u32"), config, block, sizeof(block)));
  uint32_t seen[3] = {};
  EXPECT_OK(backend->copyToHost(stream, seen, address, sizeof(seen)));
  EXPECT_OK(synchronize(stream));
  EXPECT_EQ(seen[0], 41u);
  EXPECT_EQ(seen[2], 41u);
}

TEST_P(GpuKernels, FailStickily) {
  EXPECT_OK(backend->launch(stream, find("trap"), config, nullptr, 0));
  Status status = synchronize(stream);
  EXPECT_EQ(status.code(), StatusCode::deviceError);
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

/// CUDA's programmatic dependent launch; HIP has none.
TEST_P(GpuKernels, MayBeginEarly) {
  config.dependent = true;
  EXPECT_OK(fill(10, 5));
  EXPECT_EQ(readBack(9), 5u);
  EXPECT_EQ(control().dependentLaunches, cuda() ? 1 : 0);
  config.dependent = false;
  EXPECT_OK(fill(10, 7));
  EXPECT_EQ(readBack(9), 7u);
  EXPECT_EQ(control().dependentLaunches, cuda() ? 1 : 0);
}

TEST_P(GpuKernels, StampPeers) {
  // Two heaps at a stride, and the same two through the table.
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

} // namespace
