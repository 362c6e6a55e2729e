// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract of Backend.h, for every back end.
#include "conformance/DeviceUnderTest.h"

#include "iris/rt/HostStream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

using namespace iris::rt;
using namespace iris::rt::test;

static constexpr auto limit = std::chrono::seconds(20);

namespace {
class BackendConformance : public testing::TestWithParam<DeviceUnderTest> {
protected:
  void SetUp() override {
    auto opened = GetParam().open();
    if (!opened.ok()) {
      ASSERT_EQ(opened.status().code(), StatusCode::unavailable)
          << opened.status().message();
      GTEST_SKIP() << opened.status().message();
    }
    backend = opened.take();
    auto created = backend->createStream();
    ASSERT_TRUE(created.ok()) << created.status().message();
    stream = *created;
  }

  std::vector<uint32_t> read(uint64_t address, size_t words) {
    std::vector<uint32_t> values(words, 0xdeadbeef);
    Status status =
        backend->copyToHost(stream, values.data(), address, words * 4);
    EXPECT_TRUE(status.ok()) << status.message();
    status = backend->synchronize(stream, limit);
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
  void write(uint64_t address, const std::vector<uint32_t> &values) {
    Status status = backend->copyToDevice(stream, address, values.data(),
                                          values.size() * 4);
    EXPECT_TRUE(status.ok()) << status.message();
    status = backend->synchronize(stream, limit);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  std::unique_ptr<Backend> backend;
  StreamHandle stream;
};

std::string nameOf(const testing::TestParamInfo<DeviceUnderTest> &info) {
  return info.param.name;
}
} // namespace

#define ASSERT_OK(expr)                                                        \
  do {                                                                         \
    Status okStatus_ = (expr);                                                 \
    ASSERT_TRUE(okStatus_.ok()) << okStatus_.message();                        \
  } while (false)
#define ASSERT_VALUE(lhs, expr)                                                \
  auto IRISRT_CONCAT(value_, __LINE__) = (expr);                               \
  ASSERT_TRUE(IRISRT_CONCAT(value_, __LINE__).ok())                            \
      << IRISRT_CONCAT(value_, __LINE__).status().message();                   \
  lhs = IRISRT_CONCAT(value_, __LINE__).take()

TEST_P(BackendConformance, Identity) {
  const DeviceInfo &info = backend->info();
  EXPECT_FALSE(info.target.empty());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.processors, 0u);
  EXPECT_GT(info.memoryBytes, 0u);
  EXPECT_GE(info.clockHz, 1000000u);
}

TEST_P(BackendConformance, ChunksAreMappedWhereAsked) {
  if (!backend->info().canPlaceMappings)
    GTEST_SKIP() << "cannot place mappings";
  uint64_t unit = backend->granularity();
  EXPECT_EQ(unit & (unit - 1), 0u);
  ASSERT_VALUE(uint64_t base, backend->reserve(8 * unit, 2 << 20));
  EXPECT_EQ(base % (2 << 20), 0u);
  ASSERT_VALUE(ChunkHandle first, backend->createChunk(unit));
  ASSERT_VALUE(ChunkHandle second, backend->createChunk(2 * unit));
  ASSERT_OK(backend->map(first, base + unit, unit));
  ASSERT_OK(backend->map(second, base + 2 * unit, 2 * unit));
  ASSERT_OK(backend->zero(stream, base + unit, 3 * unit));
  // Adjacent chunks: one range across both.
  write(base + 2 * unit - 8, {1, 2, 3, 4});
  EXPECT_EQ(read(base + 2 * unit - 8, 4), (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(read(base + unit, 4), std::vector<uint32_t>(4, 0));
  ASSERT_OK(backend->releaseChunk(first));
  ASSERT_OK(backend->releaseChunk(second));
  // The mapping keeps the memory alive.
  EXPECT_EQ(read(base + 2 * unit, 2), (std::vector<uint32_t>{3, 4}));
  ASSERT_OK(backend->unmap(base + unit, unit));
  ASSERT_OK(backend->unmap(base + 2 * unit, 2 * unit));
  ASSERT_OK(backend->unreserve(base, 8 * unit));
}

TEST_P(BackendConformance, ExportedChunksAreTheSameMemory) {
  if (!backend->info().canPlaceMappings)
    GTEST_SKIP() << "cannot place mappings";
  uint64_t unit = backend->granularity();
  ASSERT_VALUE(uint64_t base, backend->reserve(2 * unit, unit));
  ASSERT_VALUE(ChunkHandle own, backend->createChunk(unit));
  ASSERT_VALUE(UniqueFd fd, backend->exportChunk(own));
  ASSERT_VALUE(ChunkHandle other, backend->importChunk(std::move(fd), unit));
  ASSERT_OK(backend->map(own, base, unit));
  ASSERT_OK(backend->map(other, base + unit, unit));
  write(base + 64, {11, 12});
  EXPECT_EQ(read(base + unit + 64, 2), (std::vector<uint32_t>{11, 12}));
  write(base + unit + 64, {13});
  EXPECT_EQ(read(base + 64, 2), (std::vector<uint32_t>{13, 12}));
  ASSERT_OK(backend->unmap(base, unit));
  ASSERT_OK(backend->unmap(base + unit, unit));
  ASSERT_OK(backend->releaseChunk(own));
  ASSERT_OK(backend->releaseChunk(other));
  ASSERT_OK(backend->unreserve(base, 2 * unit));
}

TEST_P(BackendConformance, InvalidArgumentsAreRejected) {
  EXPECT_FALSE(backend->importChunk(UniqueFd(), 4096).ok());
  EXPECT_FALSE(backend->map({12345}, 0x10000, 4096).ok());
  EXPECT_FALSE(backend->query({12345}).ok());
  EXPECT_FALSE(backend->loadModule("not an image", 12).ok());
  EXPECT_FALSE(backend->findKernel({12345}, "x").ok());
  EXPECT_FALSE(backend->openMemory(IpcHandle()).ok());
}

TEST_P(BackendConformance, ShareableMemory) {
  ASSERT_VALUE(uint64_t address, backend->allocateShareable(1 << 20));
  ASSERT_OK(backend->zero(stream, address, 1 << 20));
  write(address, {5, 6});
  ASSERT_VALUE(IpcHandle handle, backend->shareMemory(address));
  EXPECT_EQ(handle.address, address);
  EXPECT_GT(handle.pid, 0);
  EXPECT_EQ(read(address, 3), (std::vector<uint32_t>{5, 6, 0}));
  ASSERT_OK(backend->freeShareable(address));
}

TEST_P(BackendConformance, HostVisibleMemory) {
  ASSERT_VALUE(HostVisibleMemory memory, backend->allocateHostVisible(4096));
  auto *words = static_cast<uint32_t *>(memory.host);
  for (int i = 0; i < 1024; ++i)
    ASSERT_EQ(words[i], 0u);
  words[3] = 77;
  EXPECT_EQ(read(memory.device + 12, 1), std::vector<uint32_t>{77});
  write(memory.device, {88});
  EXPECT_EQ(words[0], 88u);
  ASSERT_OK(backend->freeHostVisible(memory));
}

/// A stream waits for a word that another one writes, as calls and in a graph,
/// in either order of the calls.
TEST_P(BackendConformance, StreamsWaitForWords) {
  ASSERT_VALUE(StreamHandle beside, backend->createStream());
  ASSERT_VALUE(EventHandle fork, backend->createEvent());
  ASSERT_VALUE(EventHandle join, backend->createEvent());
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  ASSERT_VALUE(uint64_t b, backend->allocate(4096));
  write(a, {5, 3, 7});
  ASSERT_OK(backend->waitEqual(beside, a, 3));
  ASSERT_OK(backend->copyOnDevice(beside, b, a + 8, 4));
  ASSERT_VALUE(bool idle, backend->query(beside));
  EXPECT_FALSE(idle);
  ASSERT_OK(backend->copyOnDevice(stream, a, a + 4, 4));
  ASSERT_OK(backend->synchronize(beside, limit));
  EXPECT_EQ(read(b, 1), std::vector<uint32_t>{7});
  if (!backend->info().canCapture)
    return;
  if (GetParam().kind == DeviceKind::hip) {
    ASSERT_OK(backend->beginCapture(stream));
    EXPECT_EQ(backend->waitEqual(stream, a, 3).code(), StatusCode::unavailable);
    ASSERT_VALUE(GraphHandle empty, backend->endCapture(stream));
    ASSERT_OK(backend->destroyGraph(empty));
    return;
  }
  ASSERT_OK(backend->beginCapture(stream));
  ASSERT_OK(backend->copyOnDevice(stream, a, b + 8, 4));
  ASSERT_OK(backend->record(fork, stream));
  ASSERT_OK(backend->wait(beside, fork));
  ASSERT_OK(backend->copyOnDevice(stream, a, a + 4, 4));
  ASSERT_OK(backend->waitEqual(beside, a, 3));
  ASSERT_OK(backend->copyOnDevice(beside, b, b + 12, 4));
  ASSERT_OK(backend->record(join, beside));
  ASSERT_OK(backend->wait(stream, join));
  ASSERT_VALUE(GraphHandle graph, backend->endCapture(stream));
  for (uint32_t turn = 0; turn < 20; ++turn) {
    write(b, {0, 0, 1, turn});
    ASSERT_OK(backend->launchGraph(graph, stream));
    EXPECT_EQ(read(b, 1), std::vector<uint32_t>{turn});
  }
  ASSERT_OK(backend->destroyGraph(graph));
  ASSERT_OK(backend->destroyEvent(fork));
  ASSERT_OK(backend->destroyEvent(join));
  ASSERT_OK(backend->destroyStream(beside));
  for (uint64_t memory : {a, b})
    ASSERT_OK(backend->free(memory));
}

TEST_P(BackendConformance, CopiesAndZerosAreInStreamOrder) {
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  ASSERT_VALUE(uint64_t b, backend->allocate(4096));
  std::vector<uint32_t> values(1024);
  std::iota(values.begin(), values.end(), 1);
  ASSERT_OK(backend->copyToDevice(stream, a, values.data(), 4096));
  ASSERT_OK(backend->copyOnDevice(stream, b, a, 4096));
  ASSERT_OK(backend->zero(stream, a, 2048));
  std::vector<uint32_t> fromA(1024), fromB(1024);
  ASSERT_OK(backend->copyToHost(stream, fromA.data(), a, 4096));
  ASSERT_OK(backend->copyToHost(stream, fromB.data(), b, 4096));
  ASSERT_OK(backend->synchronize(stream, limit));
  EXPECT_EQ(fromB, values);
  EXPECT_EQ(fromA[511], 0u);
  EXPECT_EQ(fromA[512], 513u);
  ASSERT_VALUE(bool idle, backend->query(stream));
  EXPECT_TRUE(idle);
  ASSERT_OK(backend->free(a));
  ASSERT_OK(backend->free(b));
}

/// A function of the host runs between the copies before and after it.
TEST_P(BackendConformance, FunctionsAreCalledInStreamOrder) {
  ASSERT_VALUE(HostVisibleMemory memory, backend->allocateHostVisible(4096));
  auto *words = static_cast<uint32_t *>(memory.host);
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  write(a, {5});
  uint32_t seen = 0;
  ASSERT_OK(backend->copyOnDevice(stream, memory.device, a, 4));
  ASSERT_OK(backend->callOnHost(stream, [&seen, words] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    seen = words[0];
    words[1] = seen + 1;
  }));
  ASSERT_OK(backend->copyOnDevice(stream, a, memory.device + 4, 4));
  EXPECT_EQ(read(a, 1), std::vector<uint32_t>{6});
  EXPECT_EQ(seen, 5u);
  if (backend->info().canCapture) {
    uint32_t calls = 0;
    ASSERT_OK(backend->beginCapture(stream));
    Status captured = backend->callOnHost(stream, [&calls] { ++calls; });
    ASSERT_VALUE(GraphHandle graph, backend->endCapture(stream));
    if (captured.ok()) {
      for (uint32_t replays = 0; replays < 3; ++replays)
        ASSERT_OK(backend->launchGraph(graph, stream));
      ASSERT_OK(backend->synchronize(stream, limit));
      EXPECT_EQ(calls, 3u);
    } else {
      EXPECT_EQ(captured.code(), StatusCode::unavailable);
    }
    ASSERT_OK(backend->destroyGraph(graph));
  }
  ASSERT_OK(backend->free(a));
  ASSERT_OK(backend->freeHostVisible(memory));
}

TEST_P(BackendConformance, EventsOrderStreamsAndTime) {
  ASSERT_VALUE(StreamHandle other, backend->createStream());
  ASSERT_VALUE(EventHandle start, backend->createEvent());
  ASSERT_VALUE(EventHandle end, backend->createEvent());
  ASSERT_VALUE(uint64_t a, backend->allocate(64 << 20));
  ASSERT_VALUE(uint64_t b, backend->allocate(64 << 20));
  ASSERT_OK(backend->zero(stream, a, 64 << 20));
  uint32_t mark = 9;
  ASSERT_OK(backend->record(start, stream));
  ASSERT_OK(backend->copyOnDevice(stream, b, a, 64 << 20));
  ASSERT_OK(
      backend->copyToDevice(stream, b + (64 << 20) - 4, &mark, sizeof(mark)));
  ASSERT_OK(backend->record(end, stream));
  ASSERT_OK(backend->wait(other, end));
  uint32_t seen = 0;
  ASSERT_OK(backend->copyToHost(other, &seen, b + (64 << 20) - 4, 4));
  ASSERT_OK(backend->synchronize(other, limit));
  EXPECT_EQ(seen, 9u);
  ASSERT_VALUE(double ms, backend->elapsedMs(start, end));
  EXPECT_GT(ms, 0);
  EXPECT_LT(ms, 20000);
  ASSERT_OK(backend->destroyEvent(start));
  ASSERT_OK(backend->destroyEvent(end));
  ASSERT_OK(backend->destroyStream(other));
  ASSERT_OK(backend->free(a));
  ASSERT_OK(backend->free(b));
}

TEST_P(BackendConformance, KernelsRun) {
  std::string image = GetParam().image();
  if (image.empty())
    GTEST_SKIP() << "no image for this back end";
  ASSERT_VALUE(ModuleHandle module,
               backend->loadModule(image.data(), image.size()));
  EXPECT_FALSE(backend->findKernel(module, "no_such_kernel").ok());
  ASSERT_VALUE(KernelHandle kernel, backend->findKernel(module, "store_ids"));
  image.assign(image.size(), '\0'); // the bytes need not persist
  ASSERT_VALUE(uint64_t to, backend->allocate(4096));
  LaunchConfig config;
  config.grid[0] = 100;
  config.workgroup[0] = backend->info().target == "host" ? 1 : 64;
  ASSERT_VALUE(uint32_t most, backend->maxCoresident(kernel, config));
  EXPECT_GE(most, backend->info().target == "host"
                      ? 1024
                      : backend->info().processors);
  for (bool coresident : {false, true}) {
    config.coresident = coresident;
    ASSERT_OK(backend->zero(stream, to, 4096));
    StoreIdsArgs args = {to, 1000, 0};
    ASSERT_OK(backend->launch(stream, kernel, config, &args, sizeof(args)));
    args = {}; // the block is copied
    std::vector<uint32_t> values = read(to, 101);
    for (uint32_t i = 0; i < 100; ++i)
      ASSERT_EQ(values[i], 1000 + i);
    EXPECT_EQ(values[100], 0u);
  }
  ASSERT_OK(backend->free(to));
  ASSERT_OK(backend->unloadModule(module));
}

/// The back end does not change the calling thread's device.
TEST_P(BackendConformance, LeavesTheThreadsDevice) {
  std::string image = GetParam().image();
  if (GetParam().boundTo().empty() || image.empty())
    GTEST_SKIP() << "threads are bound to no device, or no image";
  std::thread thread([&] {
    const std::string before = GetParam().boundTo();
#define KEPT(expr)                                                             \
  ASSERT_OK(expr);                                                             \
  ASSERT_EQ(before, GetParam().boundTo())
    ASSERT_VALUE(std::unique_ptr<Backend> other, GetParam().open());
    ASSERT_EQ(before, GetParam().boundTo());
    ASSERT_VALUE(StreamHandle mine, other->createStream());
    ASSERT_VALUE(uint64_t to, other->allocate(4096));
    ASSERT_VALUE(ModuleHandle module,
                 other->loadModule(image.data(), image.size()));
    ASSERT_VALUE(KernelHandle kernel, other->findKernel(module, "store_ids"));
    ASSERT_EQ(before, GetParam().boundTo());
    LaunchConfig config;
    StoreIdsArgs args = {to, 7, 0};
    KEPT(other->zero(mine, to, 4096));
    KEPT(other->launch(mine, kernel, config, &args, sizeof(args)));
    KEPT(other->synchronize(mine, limit));
    KEPT(other->unloadModule(module));
    KEPT(other->free(to));
    KEPT(other->destroyStream(mine));
    other.reset();
    ASSERT_EQ(before, GetParam().boundTo());
#undef KEPT
  });
  thread.join();
}

/// Streams of createHostStream, which several back ends may adopt.
TEST_P(BackendConformance, HostStreamsAreAdopted) {
  if (!GetParam().boundTo().empty())
    GTEST_SKIP() << "the device has streams of its own";
  ASSERT_VALUE(void *native, createHostStream());
  ASSERT_VALUE(std::unique_ptr<Backend> other, GetParam().open());
  ASSERT_VALUE(StreamHandle adopted, backend->adoptStream(native));
  ASSERT_VALUE(StreamHandle again, backend->adoptStream(native));
  EXPECT_TRUE(adopted == again);
  ASSERT_VALUE(void *known, backend->nativeStream(adopted));
  EXPECT_EQ(known, native);
  ASSERT_VALUE(StreamHandle own, backend->createStream());
  EXPECT_EQ(backend->nativeStream(own).status().code(),
            StatusCode::unavailable);
  ASSERT_VALUE(StreamHandle theirs, other->adoptStream(native));
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  ASSERT_VALUE(uint64_t b, backend->allocate(4096));
  write(a, {1, 2, 3});
  ASSERT_OK(backend->copyOnDevice(adopted, b, a, 12));
  ASSERT_OK(other->zero(theirs, b, 4)); // in order
  ASSERT_OK(synchronizeHostStream(native));
  EXPECT_EQ(read(b, 3), (std::vector<uint32_t>{0, 2, 3}));

  ASSERT_OK(backend->beginCapture(adopted));
  ASSERT_OK(backend->zero(adopted, b, 8));
  EXPECT_EQ(backend->destroyStream(adopted).code(),
            StatusCode::failedPrecondition);
  ASSERT_VALUE(GraphHandle graph, backend->endCapture(adopted));
  ASSERT_OK(backend->launchGraph(graph, adopted));
  ASSERT_OK(backend->synchronize(adopted, limit));
  EXPECT_EQ(read(b, 3), (std::vector<uint32_t>{0, 0, 3}));

  // The owner goes on with a stream that one back end has forgotten.
  ASSERT_OK(backend->forgetStream(adopted));
  EXPECT_EQ(backend->query(adopted).status().code(),
            StatusCode::invalidArgument);
  EXPECT_EQ(backend->forgetStream(adopted).code(), StatusCode::invalidArgument);
  EXPECT_EQ(backend->forgetStream(stream).code(), StatusCode::invalidArgument);
  ASSERT_OK(other->copyOnDevice(theirs, b, a, 4));
  ASSERT_OK(destroyHostStream(native));
  EXPECT_EQ(read(b, 1), std::vector<uint32_t>{1});
  EXPECT_EQ(other->zero(theirs, b, 4).code(), StatusCode::failedPrecondition);
  EXPECT_EQ(backend->adoptStream(native).status().code(),
            StatusCode::invalidArgument);
  for (Status status :
       {synchronizeHostStream(native), destroyHostStream(native)})
    EXPECT_EQ(status.code(), StatusCode::invalidArgument);
  other.reset();
}

/// Streams that another library created: here, another back end of the device.
TEST_P(BackendConformance, StreamsAreAdopted) {
  ASSERT_VALUE(std::unique_ptr<Backend> other, GetParam().open());
  ASSERT_VALUE(StreamHandle theirs, other->createStream());
  auto *native = reinterpret_cast<void *>(theirs.value);
  if (GetParam().boundTo().empty()) {
    EXPECT_EQ(backend->adoptStream(native).status().code(),
              StatusCode::invalidArgument);
    return; // HostStreamsAreAdopted has those of the host
  }
  ASSERT_VALUE(StreamHandle adopted, backend->adoptStream(native));
  ASSERT_VALUE(StreamHandle again, backend->adoptStream(native));
  EXPECT_TRUE(adopted == again);
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  ASSERT_VALUE(uint64_t b, backend->allocate(4096));
  write(a, {1, 2, 3});
  ASSERT_OK(backend->copyOnDevice(adopted, b, a, 8));
  ASSERT_OK(other->synchronize(theirs, limit));
  EXPECT_EQ(read(b, 2), (std::vector<uint32_t>{1, 2}));

  // Their owner captures them.
  ASSERT_OK(other->beginCapture(theirs));
  ASSERT_OK(backend->zero(adopted, b, 4));
  ASSERT_VALUE(bool isCapturing, backend->isCapturing(adopted));
  EXPECT_TRUE(isCapturing);
  for (Status status :
       {backend->query(adopted).status(), backend->synchronize(adopted, limit),
        backend->destroyStream(adopted)})
    EXPECT_EQ(status.code(), StatusCode::failedPrecondition);
  ASSERT_VALUE(GraphHandle graph, other->endCapture(theirs));
  EXPECT_EQ(read(b, 1), std::vector<uint32_t>{1});
  ASSERT_OK(other->launchGraph(graph, theirs));
  ASSERT_OK(backend->synchronize(adopted, limit));
  EXPECT_EQ(read(b, 2), (std::vector<uint32_t>{0, 2}));

  // Without a call of the driver.
  ASSERT_OK(backend->forgetStream(adopted));
  EXPECT_EQ(backend->query(adopted).status().code(),
            StatusCode::invalidArgument);
  EXPECT_EQ(backend->forgetStream(stream).code(), StatusCode::invalidArgument);
  ASSERT_VALUE(adopted, backend->adoptStream(native));
  ASSERT_OK(backend->copyOnDevice(adopted, b, a, 12));
  ASSERT_OK(backend->destroyStream(adopted)); // which waits
  EXPECT_EQ(read(b, 3), (std::vector<uint32_t>{1, 2, 3}));
  ASSERT_OK(other->zero(theirs, b, 4));
  ASSERT_OK(other->destroyGraph(graph));
  ASSERT_OK(other->destroyStream(theirs));
  EXPECT_EQ(read(b, 1), std::vector<uint32_t>{0});
}

TEST_P(BackendConformance, GraphsReplay) {
  std::string image = GetParam().image();
  if (!backend->info().canCapture || image.empty())
    GTEST_SKIP() << "no graphs, or no image for this back end";
  ASSERT_VALUE(ModuleHandle module,
               backend->loadModule(image.data(), image.size()));
  ASSERT_VALUE(KernelHandle kernel, backend->findKernel(module, "store_ids"));
  ASSERT_VALUE(uint64_t to, backend->allocate(4096));
  ASSERT_VALUE(uint64_t copy, backend->allocate(4096));
  ASSERT_OK(backend->zero(stream, to, 4096));
  ASSERT_OK(backend->zero(stream, copy, 4096));
  ASSERT_OK(backend->synchronize(stream, limit));
  LaunchConfig config;
  config.grid[0] = 10;
  StoreIdsArgs args = {to, 7, 0};
  ASSERT_OK(backend->beginCapture(stream));
  ASSERT_OK(backend->launch(stream, kernel, config, &args, sizeof(args)));
  ASSERT_OK(backend->copyOnDevice(stream, copy, to, 40));
  ASSERT_VALUE(GraphHandle graph, backend->endCapture(stream));
  // Nothing has run yet.
  EXPECT_EQ(read(copy, 1), std::vector<uint32_t>{0});
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(backend->zero(stream, copy, 4096));
    ASSERT_OK(backend->launchGraph(graph, stream));
    EXPECT_EQ(read(copy, 2), (std::vector<uint32_t>{7, 8}));
  }
  ASSERT_OK(backend->destroyGraph(graph));
  ASSERT_OK(backend->free(to));
  ASSERT_OK(backend->free(copy));
  ASSERT_OK(backend->unloadModule(module));
}

TEST_P(BackendConformance, MemoryWorkIsCaptured) {
  if (!backend->info().canCapture)
    GTEST_SKIP() << "no graphs";
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  ASSERT_VALUE(uint64_t b, backend->allocate(4096));
  write(a, {1, 2, 3});
  write(b, {9, 9, 9});
  ASSERT_OK(backend->beginCapture(stream));
  ASSERT_OK(backend->copyOnDevice(stream, b, a, 8));
  ASSERT_OK(backend->zero(stream, a, 4));
  ASSERT_VALUE(GraphHandle graph, backend->endCapture(stream));
  EXPECT_EQ(read(b, 3), (std::vector<uint32_t>{9, 9, 9}));
  ASSERT_OK(backend->launchGraph(graph, stream));
  EXPECT_EQ(read(b, 3), (std::vector<uint32_t>{1, 2, 9}));
  ASSERT_OK(backend->launchGraph(graph, stream));
  EXPECT_EQ(read(b, 3), (std::vector<uint32_t>{0, 2, 9}));
  EXPECT_FALSE(backend->endCapture(stream).ok());
  ASSERT_OK(backend->destroyGraph(graph));
  ASSERT_OK(backend->free(a));
  ASSERT_OK(backend->free(b));
}

/// A stream that waits for a captured event is captured as well, and runs
/// concurrently in every replay.
TEST_P(BackendConformance, ForksAndJoinsAreCaptured) {
  if (!backend->info().canCapture)
    GTEST_SKIP() << "no graphs";
  ASSERT_VALUE(StreamHandle beside, backend->createStream());
  ASSERT_VALUE(EventHandle fork, backend->createEvent());
  ASSERT_VALUE(EventHandle join, backend->createEvent());
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  ASSERT_VALUE(uint64_t b, backend->allocate(4096));
  ASSERT_VALUE(uint64_t c, backend->allocate(4096));
  write(c, {9, 9});
  ASSERT_OK(backend->beginCapture(stream));
  ASSERT_OK(backend->copyOnDevice(stream, b, a, 4));
  ASSERT_OK(backend->record(fork, stream));
  ASSERT_OK(backend->wait(beside, fork));
  ASSERT_OK(backend->copyOnDevice(beside, c, b, 4));
  ASSERT_OK(backend->record(join, beside));
  ASSERT_OK(backend->copyOnDevice(stream, c + 4, b, 4));
  ASSERT_OK(backend->wait(stream, join));
  ASSERT_OK(backend->copyOnDevice(stream, c + 8, c, 8));
  ASSERT_VALUE(GraphHandle graph, backend->endCapture(stream));
  EXPECT_EQ(read(c, 2), (std::vector<uint32_t>{9, 9})) << "nothing ran";
  for (uint32_t i = 1; i < 20; ++i) {
    write(a, {i});
    ASSERT_OK(backend->launchGraph(graph, stream));
    EXPECT_EQ(read(c, 4), (std::vector<uint32_t>{i, i, i, i}));
  }
  // The streams and events work as before.
  ASSERT_OK(backend->copyOnDevice(beside, b, c, 4));
  ASSERT_OK(backend->record(join, beside));
  ASSERT_OK(backend->wait(stream, join));
  EXPECT_EQ(read(b, 1), std::vector<uint32_t>{19});
  // Work that is not joined is not part of a graph.
  ASSERT_OK(backend->beginCapture(stream));
  ASSERT_OK(backend->record(fork, stream));
  ASSERT_OK(backend->wait(beside, fork));
  ASSERT_OK(backend->copyOnDevice(beside, c, b, 4));
  EXPECT_FALSE(backend->endCapture(stream).ok());
  ASSERT_OK(backend->copyOnDevice(beside, b, c + 4, 4));
  ASSERT_OK(backend->synchronize(beside, limit));
  ASSERT_OK(backend->destroyGraph(graph));
  ASSERT_OK(backend->destroyEvent(fork));
  ASSERT_OK(backend->destroyEvent(join));
  ASSERT_OK(backend->destroyStream(beside));
  for (uint64_t memory : {a, b, c})
    ASSERT_OK(backend->free(memory));
}

/// Streams may replay a graph concurrently.
TEST_P(BackendConformance, GraphsAreReplayedOnSeveralStreams) {
  if (GetParam().kind == DeviceKind::cuda || GetParam().kind == DeviceKind::hip)
    GTEST_SKIP() << "up to the driver";
  ASSERT_VALUE(StreamHandle beside, backend->createStream());
  ASSERT_VALUE(EventHandle fork, backend->createEvent());
  ASSERT_VALUE(EventHandle join, backend->createEvent());
  ASSERT_VALUE(uint64_t a, backend->allocate(4096));
  ASSERT_VALUE(uint64_t b, backend->allocate(4096));
  write(a, {1, 2});
  ASSERT_OK(backend->beginCapture(stream));
  ASSERT_OK(backend->record(fork, stream));
  ASSERT_OK(backend->wait(beside, fork));
  ASSERT_OK(backend->copyOnDevice(beside, b, a, 4));
  ASSERT_OK(backend->record(join, beside));
  ASSERT_OK(backend->wait(stream, join));
  ASSERT_OK(backend->copyOnDevice(stream, b + 4, a + 4, 4));
  ASSERT_VALUE(GraphHandle graph, backend->endCapture(stream));
  for (int i = 0; i < 50; ++i)
    for (StreamHandle on : {stream, beside})
      ASSERT_OK(backend->launchGraph(graph, on));
  ASSERT_OK(backend->synchronize(beside, limit));
  EXPECT_EQ(read(b, 2), (std::vector<uint32_t>{1, 2}));
  ASSERT_OK(backend->free(a));
  ASSERT_OK(backend->free(b));
}

TEST_P(BackendConformance, LeakedObjectsAreCleanedUp) {
  if (backend->info().canPlaceMappings) {
    uint64_t unit = backend->granularity();
    ASSERT_VALUE(uint64_t base, backend->reserve(4 * unit, unit));
    ASSERT_VALUE(ChunkHandle chunk, backend->createChunk(unit));
    ASSERT_OK(backend->map(chunk, base, unit));
    ASSERT_OK(backend->zero(stream, base, unit));
  }
  if (backend->info().canCapture) {
    ASSERT_VALUE(StreamHandle beside, backend->createStream());
    ASSERT_VALUE(EventHandle fork, backend->createEvent());
    ASSERT_OK(backend->beginCapture(stream));
    ASSERT_OK(backend->record(fork, stream));
    ASSERT_OK(backend->wait(beside, fork));
  }
  backend.reset(); // with its streams, event, chunk, mapping and reservation
}

INSTANTIATE_TEST_SUITE_P(Devices, BackendConformance,
                         testing::ValuesIn(devicesUnderTest()), nameOf);
