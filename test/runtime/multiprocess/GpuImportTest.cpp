// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that the program got from the driver, imported by worlds on the fake
// driver: ranks are processes, so that each has a driver of its own.
#include "support/Hash.h"
#include "support/Ranks.h"
#include "support/fake_gpu/FakeGpu.h"

#include "backends/gpu/GpuTypes.h"
#include "iris/rt/MemoryPool.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <functional>
#include <utility>

using namespace iris::rt;
using namespace iris::rt::test;
namespace driver = iris::rt::gpu;

static constexpr uint64_t granule = 2 << 20;

namespace {

/// A function of the driver, as the program calls it. Both names of the fake
/// are in either library.
template <typename... Parameters>
driver::Result driverCall(DeviceKind kind, const char *name,
                          Parameters... parameters) {
  const bool cuda = kind == DeviceKind::cuda;
  void *library =
      dlopen(cuda ? "libcuda.so.1" : "libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
  std::string symbol = (cuda ? "cu" : "hip") + std::string(name);
  if (cuda && (symbol == "cuMemAlloc" || symbol == "cuMemFree"))
    symbol += "_v2";
  if (!cuda && symbol == "hipMemAlloc")
    symbol = "hipMalloc";
  if (!cuda && symbol == "hipMemFree")
    symbol = "hipFree";
  auto *function = reinterpret_cast<driver::Result (*)(Parameters...)>(
      library ? dlsym(library, symbol.c_str()) : nullptr);
  return function ? function(parameters...) : -1;
}

FakeGpuControl *findControl(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  auto *get = reinterpret_cast<FakeGpuControl *(*)()>(
      handle ? dlsym(handle, "fakeGpuControl") : nullptr);
  return get ? get() : nullptr;
}

void bindDevice(const char *library, int device) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  reinterpret_cast<void (*)(int)>(dlsym(handle, "fakeGpuBindDevice"))(device);
}

/// Memory of the program in virtual address space: adjacent allocations.
struct ProgramMemory {
  uint64_t address = 0;
  std::vector<uint64_t> sizes;
};

class GpuImports
    : public testing::TestWithParam<std::tuple<DeviceKind, uint32_t>> {
protected:
  static DeviceKind kind() { return std::get<0>(GetParam()); }
  static uint32_t numRanks() { return std::get<1>(GetParam()); }
  static const char *library() {
    return kind() == DeviceKind::cuda ? "libcuda.so.1" : "libamdhip64.so";
  }
  void SetUp() override {
    if (!findControl(library()))
      GTEST_SKIP() << "the fake driver is not first in the library path";
  }

  static Expected<std::unique_ptr<World>>
  createWorld(const LaunchInfo &launch) {
    WorldOptions options;
    options.launch = launch;
    options.device = kind();
    options.deviceIndex = 0;
    options.heapBytes = 64 << 20;
    options.heapChunkBytes = granule;
    options.importBytes = 64 << 20;
    options.joinLimit = 30;
    options.collectiveLimit = 60;
    return World::create(options);
  }

  using WorldBody = std::function<std::string(
      World &world, const LaunchInfo &launch, FakeGpuControl &control)>;

  /// Runs `body`, which destroys its world, on each rank. Nothing of the
  /// driver's may be left afterwards, nor may it have been misused.
  static void runInWorlds(const WorldBody &body) {
    auto ends =
        runProcesses(numRanks(), [&](const LaunchInfo &launch) -> std::string {
          FakeGpuControl *control = findControl(library());
          {
            RANK_ASSIGN(auto world, createWorld(launch));
            bindDevice(library(), 0);
            std::string failure = body(*world, launch, *control);
            if (!failure.empty())
              return failure;
          }
          RANK_CHECK(control->live() == 0);
          RANK_CHECK(control->misuses == 0);
          return "";
        });
    EXPECT_EQ("", failures(ends));
  }

  static std::string allocate(ProgramMemory &memory,
                              std::vector<uint64_t> sizes, int device = 0,
                              int32_t handleTypes = driver::handlePosixFd,
                              bool isCoarse = false) {
    uint64_t total = 0;
    for (uint64_t bytes : sizes)
      total += bytes;
    RANK_CHECK(driverCall(kind(), "MemAddressReserve", &memory.address,
                          size_t(total), size_t(granule), uint64_t(0),
                          0ull) == 0);
    uint64_t at = memory.address;
    for (uint64_t bytes : sizes) {
      driver::AllocationProperties properties = {};
      properties.type = kind() == DeviceKind::hip && !isCoarse
                            ? driver::allocationUncached
                            : driver::allocationPinned;
      properties.requestedHandleTypes = handleTypes;
      properties.location = {driver::locationDevice, device};
      uint64_t handle = 0;
      RANK_CHECK(driverCall(kind(), "MemCreate", &handle, size_t(bytes),
                            &std::as_const(properties), 0ull) == 0);
      RANK_CHECK(driverCall(kind(), "MemMap", at, size_t(bytes), size_t(0),
                            handle, 0ull) == 0);
      const driver::AccessDescription access = {
          {driver::locationDevice, device}, driver::accessReadWrite};
      RANK_CHECK(driverCall(kind(), "MemSetAccess", at, size_t(bytes), &access,
                            size_t(1)) == 0);
      // As programs do: the mapping keeps the memory.
      RANK_CHECK(driverCall(kind(), "MemRelease", handle) == 0);
      at += bytes;
    }
    memory.sizes = std::move(sizes);
    return "";
  }
  static std::string release(const ProgramMemory &memory) {
    uint64_t at = memory.address;
    for (uint64_t bytes : memory.sizes) {
      RANK_CHECK(driverCall(kind(), "MemUnmap", at, size_t(bytes)) == 0);
      at += bytes;
    }
    RANK_CHECK(driverCall(kind(), "MemAddressFree", memory.address,
                          size_t(at - memory.address)) == 0);
    return "";
  }
};

INSTANTIATE_TEST_SUITE_P(
    Fake, GpuImports,
    testing::Combine(testing::Values(DeviceKind::cuda, DeviceKind::hip),
                     testing::Values(1u, 2u, 4u)),
    [](const auto &info) {
      return std::string(deviceKindName(std::get<0>(info.param))) +
             std::to_string(std::get<1>(info.param));
    });
} // namespace

#define TRY_STEP(expr)                                                         \
  do {                                                                         \
    std::string step_ = (expr);                                                \
    if (!step_.empty())                                                        \
      return step_;                                                            \
  } while (false)

static bool isError(const Status &status, StatusCode code, const char *part) {
  if (status.code() == code && status.message().find(part) != std::string::npos)
    return true;
  std::fprintf(stderr, "expected '%s', got %s\n", part,
               status.toString().c_str());
  return false;
}

/// Memory of several allocations is the same memory at both addresses, on all
/// ranks, and nothing of the driver's leaks.
TEST_P(GpuImports, MemoryOfTheDriver) {
  runInWorlds([&](World &world, const LaunchInfo &launch,
                  FakeGpuControl &) -> std::string {
    ProgramMemory memory;
    TRY_STEP(allocate(memory, {granule, 3 * granule, 2 * granule}));
    // From the middle of the first allocation to that of the last.
    const uint64_t mine = memory.address + 4096, bytes = 4 * granule;
    auto *words = reinterpret_cast<uint32_t *>(mine);
    for (uint64_t i = 0; i < bytes / 4; ++i)
      words[i] = static_cast<uint32_t>(hash(launch.rank, i, 5));
    RANK_ASSIGN(uint64_t imported, world.import(mine, bytes));
    RANK_CHECK(world.symmetricAddress(mine, bytes) == imported);
    RANK_TRY(world.barrier());
    std::vector<uint32_t> got(bytes / 4);
    for (uint32_t rank = 0; rank < numRanks(); ++rank) {
      RANK_ASSIGN(uint64_t there, world.translate(imported, rank));
      RANK_TRY(world.readNow(got.data(), there, bytes));
      for (uint64_t i = 0; i < got.size(); ++i)
        RANK_CHECK(got[i] == static_cast<uint32_t>(hash(rank, i, 5)));
    }
    RANK_TRY(world.barrier());
    RANK_ASSIGN(uint64_t next,
                world.translate(imported, (launch.rank + 1) % numRanks()));
    uint32_t value = 1000 + launch.rank;
    RANK_TRY(world.writeNow(next + 64, &value, 4));
    RANK_TRY(world.sync());
    RANK_CHECK(words[16] == 1000 + (launch.rank + numRanks() - 1) % numRanks());
    // Freed by the program first; the import keeps it.
    TRY_STEP(release(memory));
    RANK_TRY(world.readNow(&value, imported + 64, 4));
    RANK_TRY(world.release(imported));
    RANK_CHECK(isError(world.import(mine, bytes).status(),
                       StatusCode::invalidArgument, "or it was freed"));
    // One that the world's end releases.
    TRY_STEP(allocate(memory, {granule}));
    RANK_TRY(world.import(memory.address, granule).status());
    RANK_TRY(world.sync());
    TRY_STEP(release(memory));
    RANK_TRY(world.destroy());
    return "";
  });
}

/// Memory that cannot be imported says why, and the world goes on.
TEST_P(GpuImports, Refusals) {
  runInWorlds([&](World &world, const LaunchInfo &launch,
                  FakeGpuControl &control) -> std::string {
    uint64_t plain = 0;
    RANK_CHECK(driverCall(kind(), "MemAlloc", &plain, size_t(granule)) == 0);
    RANK_CHECK(isError(world.import(plain, 4096).status(),
                       StatusCode::unavailable, "Malloc is not"));
    RANK_CHECK(isError(world.import(plain, 4096).status(),
                       StatusCode::unavailable, "ncclMemAlloc"));
    RANK_CHECK(driverCall(kind(), "MemFree", plain) == 0);
    ProgramMemory memory;
    TRY_STEP(allocate(memory, {granule}, /*device=*/1));
    RANK_CHECK(isError(world.import(memory.address, 4096).status(),
                       StatusCode::invalidArgument, "is not of device 0"));
    TRY_STEP(release(memory));
    TRY_STEP(allocate(memory, {granule}, 0, /*handleTypes=*/0));
    RANK_CHECK(isError(world.import(memory.address, 4096).status(),
                       StatusCode::unavailable, "without a handle"));
    TRY_STEP(release(memory));
    TRY_STEP(allocate(memory, {granule}, 0, driver::handlePosixFd,
                      /*isCoarse=*/true));
    Expected<uint64_t> coarse = world.import(memory.address, 4096);
    RANK_CHECK(kind() == DeviceKind::cuda
                   ? coarse.ok()
                   : isError(coarse.status(), StatusCode::unavailable,
                             "coarse-grained"));
    if (coarse.ok())
      RANK_TRY(world.release(*coarse));
    TRY_STEP(release(memory));
    TRY_STEP(allocate(memory, {granule, granule}, 0));
    // The end of the memory is beyond its allocation.
    RANK_CHECK(
        isError(world.import(memory.address + 4096, 2 * granule).status(),
                StatusCode::invalidArgument, "there is no memory"));
    // A driver that fails on one rank, at each step, fails on all.
    for (const char *function :
         {"addressRange", "memoryRetain", "memoryProperties", "memoryExport",
          "memoryImport", "memoryMap", "memorySetAccess"}) {
      if (launch.rank == numRanks() - 1)
        control.failFunction = function;
      Expected<uint64_t> refused = world.import(memory.address, granule + 1);
      control.failFunction = nullptr;
      RANK_CHECK(!refused.ok() ||
                 (numRanks() == 1 && std::string(function) == "memoryImport"));
      if (refused.ok())
        RANK_TRY(world.release(*refused));
    }
    RANK_TRY(world.import(memory.address, granule + 1).status());
    RANK_TRY(world.sync());
    RANK_TRY(world.destroy());
    TRY_STEP(release(memory));
    return "";
  });
}

/// The memory of pools, which ncclMemAlloc returns; without mappings at chosen
/// addresses too.
TEST_P(GpuImports, Pools) {
  auto ends =
      runProcesses(numRanks(), [&](const LaunchInfo &launch) -> std::string {
        FakeGpuControl *control = findControl(library());
        for (bool virtualMemory : {true, false}) {
          control->virtualMemory = virtualMemory;
          RANK_ASSIGN(auto world, createWorld(launch));
          RANK_ASSIGN(auto pool, MemoryPool::create(kind(), 0, true));
          RANK_ASSIGN(uint64_t a, pool->allocate(100));
          RANK_ASSIGN(uint64_t b, pool->allocate(3 * granule));
          RANK_CHECK(pool->owns(a) && !pool->owns(a + 1));
          Expected<uint64_t> imported = world->import(b + 64, 2 * granule);
          RANK_CHECK(imported.ok() == virtualMemory);
          RANK_TRY(world->sync());
          RANK_TRY(pool->free(a));
          RANK_CHECK(
              isError(pool->free(a), StatusCode::invalidArgument, "freed"));
          RANK_CHECK(isError(pool->allocate(0).status(),
                             StatusCode::invalidArgument, "0 bytes"));
          RANK_TRY(world->destroy());
          pool.reset(); // frees the other one
          world.reset();
          RANK_CHECK(control->live() == 0);
          RANK_CHECK(control->misuses == 0);
        }
        return "";
      });
  EXPECT_EQ("", failures(ends));
}
