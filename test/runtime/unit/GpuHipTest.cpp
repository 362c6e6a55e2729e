// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Behavior of HIP only, or of some of its versions, on the fake driver.
#include "support/GpuFixture.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

using namespace iris::rt;
using namespace iris::rt::gpu;
using namespace iris::rt::test;

namespace {

class GpuHip : public Gpu {};

INSTANTIATE_TEST_SUITE_P(Fake, GpuHip, testing::Values(DeviceKind::hip),
                         [](const auto &info) {
                           return std::string(deviceKindName(info.param));
                         });

TEST_P(GpuHip, LoadsOldVersions) {
  control().hipVersion = 50221153;
  control().hipTarget = "gfx90a";
  create();
  EXPECT_EQ(backend->info().target, "gfx90a");
  EXPECT_FALSE(backend->info().canPlaceMappings);
  backend.reset();
  control().hipTarget = "nonsense";
  EXPECT_HAS(tryCreate().status().message(), "does not report the target");
}

//===----------------------------------------------------------------------===//
// The kind of memory
//===----------------------------------------------------------------------===//

TEST_P(GpuHip, SharesUncachedMemoryWhereItCannotMapIt) {
  // HIP before 7.2 has no uncached mappings.
  control().hipUncachedMappings = false;
  create();
  EXPECT_FALSE(backend->info().canPlaceMappings);
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_UNCACHED);
  auto address = backend->allocateShareable(1 << 20);
  ASSERT_OK(address);
  EXPECT_OK(backend->freeShareable(*address));
}

TEST_P(GpuHip, UsesFineGrainedMemoryOnlyIfSupported) {
  control().hipUncachedMappings = false;
  control().uncachedIsCoarse = true;
  create();
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_FINE_GRAINED);
  auto address = backend->allocateShareable(1 << 20);
  ASSERT_OK(address);
  EXPECT_OK(backend->freeShareable(*address));
  backend.reset();
  // Without links between devices memory is coarse-grained, without any
  // indication.
  control().fineGrainedIsCoarse = true;
  create();
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_COARSE);
  auto refused = backend->allocateShareable(1 << 20);
  EXPECT_EQ(refused.status().code(), StatusCode::unavailable);
  EXPECT_HAS(refused.status().message(),
             "gives coarse memory where uncached memory is asked for");
  EXPECT_HAS(refused.status().message(),
             "gives coarse memory where fine-grained memory is asked for");
}

/// gfx1200 and gfx1201 have no uncached pool.
TEST_P(GpuHip, MapsNoCoarseMemory) {
  control().uncachedMappingsAreCoarse = true;
  for (bool tells : {true, false}) {
    control().tellsKindOfMappings = tells;
    control().uncachedIsCoarse = !tells;
    create();
    EXPECT_FALSE(backend->info().canPlaceMappings) << tells;
    EXPECT_EQ(backend->info().memoryKind,
              tells ? IRISRT_MEMORY_UNCACHED : IRISRT_MEMORY_FINE_GRAINED);
    backend.reset();
  }
}

/// Some ROCr versions report nothing about mappings: allocations decide.
TEST_P(GpuHip, MapsMemoryOfTheAllocationsKind) {
  control().tellsKindOfMappings = false;
  create();
  EXPECT_TRUE(backend->info().canPlaceMappings);
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_UNCACHED);
}

TEST_P(GpuHip, RejectsMemoryOfUnknownKind) {
  control().tellsKind = false;
  create();
  EXPECT_FALSE(backend->info().canPlaceMappings);
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_COARSE);
  EXPECT_HAS(backend->allocateShareable(1 << 20).status().message(),
             "does not tell which kind of memory HIP gave");
}

TEST_P(GpuHip, ReportsMissingHandles) {
  control().hipUncachedMappings = false;
  control().failFunction = "ipcGet";
  create();
  EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_COARSE);
  auto refused = backend->allocateShareable(1 << 20);
  EXPECT_EQ(refused.status().code(), StatusCode::unavailable);
  EXPECT_HAS(refused.status().message(), "neither uncached nor fine-grained");
  EXPECT_HAS(refused.status().message(), "cannot share memory");
}

//===----------------------------------------------------------------------===//
// Peers' memory
//===----------------------------------------------------------------------===//

/// The heap closes descriptors before it maps the memory behind them.
TEST_P(GpuHip, ProbesWhetherImportedMemoryCanBeMapped) {
  for (bool needsDescriptor : {true, false}) {
    control().importNeedsDescriptor = needsDescriptor;
    control().canMapImported = needsDescriptor;
    create();
    EXPECT_FALSE(backend->info().canPlaceMappings) << needsDescriptor;
    EXPECT_EQ(backend->info().memoryKind, IRISRT_MEMORY_UNCACHED);
    backend.reset();
    EXPECT_EQ(control().live(), 0) << needsDescriptor;
  }
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

class GpuCaptures : public Gpu {
protected:
  void copyWord(StreamHandle stream, uint64_t to, uint64_t from) {
    EXPECT_OK(backend->copyOnDevice(stream, to, from, 4));
  }
};
FAKE_GPU_SUITE(GpuCaptures);

/// HIP leaves streams capturing if work was not joined. Their handles must then
/// refer to working streams.
TEST_P(GpuCaptures, StreamsWorkAfterOneThatFailed) {
  create();
  auto first = backend->createStream();
  auto beside = backend->createStream(/*isHighPriority=*/true);
  auto other = backend->createStream();
  auto fork = backend->createEvent();
  auto words = backend->allocate(64);
  for (bool ok : {first.ok(), beside.ok(), other.ok(), fork.ok(), words.ok()})
    ASSERT_TRUE(ok);
  auto *word = reinterpret_cast<uint32_t *>(*words);
  for (int turn = 0; turn < 3; ++turn) {
    const int streams = control().streams;
    for (int i = 0; i < 16; ++i)
      word[i] = static_cast<uint32_t>(i + 1);
    // Another capture continues at the same time.
    ASSERT_OK(backend->beginCapture(*other));
    copyWord(*other, *words + 4, *words);
    ASSERT_OK(backend->beginCapture(*first));
    ASSERT_OK(backend->record(*fork, *first));
    ASSERT_OK(backend->wait(*beside, *fork));
    copyWord(*beside, *words + 8, *words);
    EXPECT_FALSE(backend->endCapture(*first).ok());
    EXPECT_EQ(control().streams, streams) << "none leaks";

    copyWord(*first, *words + 12, *words);
    copyWord(*beside, *words + 16, *words);
    EXPECT_OK(synchronize(*first));
    EXPECT_OK(synchronize(*beside));
    EXPECT_EQ(word[3], 1u);
    EXPECT_EQ(word[4], 1u);
    EXPECT_EQ(word[2], 3u) << "the captured work does not run";
    EXPECT_EQ(word[1], 2u) << "nor does the work that is still being captured";
    auto graph = backend->endCapture(*other);
    ASSERT_OK(graph);
    EXPECT_OK(backend->launchGraph(*graph, *beside));
    EXPECT_OK(synchronize(*beside));
    EXPECT_EQ(word[1], 1u);
    EXPECT_OK(backend->destroyGraph(*graph));
    // They can be captured again.
    ASSERT_OK(backend->beginCapture(*first));
    copyWord(*first, *words + 20, *words);
    auto again = backend->endCapture(*first);
    ASSERT_OK(again);
    EXPECT_OK(backend->launchGraph(*again, *first));
    EXPECT_OK(synchronize(*first));
    EXPECT_EQ(word[5], 1u);
    EXPECT_OK(backend->destroyGraph(*again));
  }
  // New streams have distinct handles.
  std::set<uint64_t> handles = {first->value, beside->value, other->value};
  for (int i = 0; i < 8; ++i) {
    auto stream = backend->createStream();
    ASSERT_OK(stream);
    EXPECT_TRUE(handles.insert(stream->value).second);
    copyWord(*stream, *words + 24, *words);
    EXPECT_OK(synchronize(*stream));
  }
  for (uint64_t handle : handles)
    EXPECT_OK(backend->destroyStream(StreamHandle{handle}));
  EXPECT_EQ(control().streams, 0);
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

/// In a separate process, since the loader reads its path once.
TEST(GpuLibrary, MayBeOfALaterVersion) {
  char folder[] = "/tmp/iris-hip-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  for (const char *version : {"7", "8", "9", "12"}) {
    auto link = std::filesystem::path(folder) /
                ("libamdhip64.so." + std::string(version));
    std::filesystem::create_symlink(IRIS_FAKE_GPU, link);
    const std::string command =
        "LD_LIBRARY_PATH=" + std::string(folder) + " " +
        std::filesystem::read_symlink("/proc/self/exe").string() +
        " --gtest_filter=GpuLibraries.InstalledOnesAnswer 2>&1";
    std::string output;
    FILE *pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    for (int c; (c = std::fgetc(pipe)) != EOF;)
      output += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0) << output;
    EXPECT_EQ(output.find("no HIP driver library"), std::string::npos)
        << version << ": " << output;
    std::filesystem::remove(link);
  }
  std::filesystem::remove(folder);
}

} // namespace
