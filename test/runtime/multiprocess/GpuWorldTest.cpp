// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole worlds on the GPU back end, with the fake driver: the tests of worlds
// run their kernels as host code through cuLaunchKernel and
// hipModuleLaunchKernel. CTest puts a folder first in the library path in which
// libcuda.so.1 and libamdhip64.so are the fake; without it, the tests are
// skipped.
#include "ccl/MeasureCalls.h"
#include "iris/ccl/Communicator.h"
#include "iris/ccl/Matmul.h"
#include "support/Ranks.h"
#include "support/TestKernels.h"
#include "support/ccl/CacheFolder.h"
#include "support/fake_gpu/FakeGpu.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {

struct Shape {
  DeviceKind kind;
  uint32_t numRanks;
  bool threads;
  bool table;
};

std::string nameOf(const testing::TestParamInfo<Shape> &info) {
  return std::string(deviceKindName(info.param.kind)) +
         std::to_string(info.param.numRanks) +
         (info.param.threads ? "threads" : "processes") +
         (info.param.table ? "_table" : "");
}

/// The fake driver, if the library of this name is the fake.
FakeGpuControl *findFake(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  auto *get = reinterpret_cast<FakeGpuControl *(*)()>(
      handle ? dlsym(handle, "fakeGpuControl") : nullptr);
  return get ? get() : nullptr;
}

class GpuWorlds : public testing::TestWithParam<Shape> {
protected:
  void SetUp() override {
    if (!findFake("libcuda.so.1") || !findFake("libamdhip64.so"))
      GTEST_SKIP() << "the fake driver is not first in the library path";
    package = testPackageBytes(
        "", GetParam().kind == DeviceKind::cuda ? "sm_90a" : "gfx942");
  }

  std::vector<RankEnd> run(const RankBody &body) {
    return runRanks(GetParam().numRanks, GetParam().threads, body);
  }

  Expected<std::unique_ptr<World>> createWorld(const LaunchInfo &launch) {
    return World::create(optionsFor(launch));
  }

  WorldOptions optionsFor(const LaunchInfo &launch) const {
    WorldOptions options;
    options.launch = launch;
    options.device = GetParam().kind;
    options.heapBytes = 64 << 20;
    options.heapChunkBytes = 2 << 20;
    options.forceTable = GetParam().table;
    options.joinLimit = 30;
    options.collectiveLimit = 60;
    options.waitLimit = 1;
    return options;
  }

  std::string package;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::hip})
    for (uint32_t numRanks : {1u, 2u, 4u})
      for (bool threads : {false, true})
        for (bool table : {false, true})
          all.push_back({kind, numRanks, threads, table});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Fake, GpuWorlds, testing::ValuesIn(shapes()), nameOf);

TEST_P(GpuWorlds, GatherWhileTheHeapGrows) {
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, createWorld(launch));
    RANK_CHECK(world->translation() ==
               std::string(GetParam().table ? "table" : "stride"));
    RANK_ASSIGN(Package loaded,
                Package::fromBytes(package.data(), package.size()));
    RANK_ASSIGN(Module module, world->load(loaded));
    RANK_ASSIGN(Kernel fill, module.kernel("fill"));
    RANK_ASSIGN(Kernel gather, module.kernel("all_gather"));
    RANK_ASSIGN(Kernel check, module.kernel("check_gathered"));
    uint64_t checked = 0;
    for (int64_t count : {1, 1000, 100000, 300000}) {
      int64_t total = count * world->numRanks();
      RANK_ASSIGN(uint64_t a, world->allocate(count * 4));
      RANK_ASSIGN(uint64_t b, world->allocate(total * 4));
      auto args = testArgs(a, count, b, total);
      RANK_TRY(world->launch(fill, {3, 1, 1}, args));
      RANK_TRY(world->launch(gather, {2, 2, 1}, args));
      RANK_TRY(world->sync());
      RANK_TRY(world->launch(check, {2, 1, 1}, args));
      RANK_TRY(world->verify());
      checked += total;
    }
    RANK_CHECK(world->expects().checked == checked);
    RANK_TRY(world->destroy());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

/// Kernels that fill different parts of a buffer, measured in graphs: the ranks
/// get the same times, and every call has run.
TEST_P(GpuWorlds, MeasureCalls) {
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, createWorld(launch));
    RANK_ASSIGN(Package loaded,
                Package::fromBytes(package.data(), package.size()));
    RANK_ASSIGN(Module module, world->load(loaded));
    RANK_ASSIGN(Kernel fill, module.kernel("fill"));
    std::vector<uint32_t> all;
    for (uint32_t rank = 0; rank < launch.numRanks; ++rank)
      all.push_back(rank);
    RANK_ASSIGN(Group group, world->makeGroup(all));
    iris::ccl::Agreement agreement(*world, group, world->makeChannel());
    std::vector<iris::ccl::MeasuredCall> calls;
    std::vector<uint64_t> buffers;
    for (int64_t count : {100, 2000, 300}) {
      RANK_ASSIGN(uint64_t buffer, world->allocate(count * 4));
      buffers.push_back(buffer);
      calls.push_back({[&, buffer, count](Stream stream) {
                         return world->launch(
                             fill, {3, 1, 1},
                             testArgs(buffer, count, buffer, count), stream);
                       },
                       10});
    }
    iris::ccl::TuningClock clock;
    RANK_ASSIGN(iris::ccl::MeasuredTimes times,
                measureCalls(*world, agreement, calls, {1000, 5}, clock));
    RANK_CHECK(times.tried == 3 && times.best().has_value());
    std::string mine;
    for (double us : times.us)
      mine += formatString("%.17g ", us);
    RANK_TRY(agreement.same("the times", mine));
    for (uint64_t buffer : buffers) {
      uint32_t last = 0;
      RANK_TRY(world->readNow(&last, buffer + 99 * 4, sizeof(last)));
      RANK_CHECK(last != 0);
    }
    RANK_TRY(world->sync());
    RANK_ASSIGN(uint64_t free, world->freeDeviceBytes());
    RANK_CHECK(free != 0 && world->deviceAttributes().driverVersion != 0);
    RANK_CHECK(!world->deviceAttributes().link.empty());
    RANK_TRY(world->destroy());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

/// A GPU without a cost model: the first communicator finds no compiled kernels
/// and compiles none, prepare() measures what it has loaded, and later
/// communicators know it.
TEST_P(GpuWorlds, MeasureCollectives) {
  if (GetParam().numRanks != 2)
    GTEST_SKIP() << "two ranks tell";
  CacheFolder folder;
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    // The stand-in kernels, whose waits time out silently, run on busy
    // machines.
    WorldOptions waiting = optionsFor(launch);
    waiting.waitLimit = 60;
    RANK_ASSIGN(auto world, World::create(waiting));
    RANK_ASSIGN(uint64_t in, world->allocate(1 << 20));
    RANK_ASSIGN(uint64_t out, world->allocate(1 << 20));
    iris::ccl::Call call;
    call.op = iris::ccl::Op::allReduce;
    call.in = reinterpret_cast<void *>(in);
    call.out = reinterpret_cast<void *>(out);
    call.count = 1024;
    call.dtype = iris::ccl::DType::i32;
    iris::ccl::CommunicatorOptions options;
    options.cache = std::make_shared<iris::ccl::KernelCache>(folder.options());
    auto startsWith = [](const std::string &text, const char *start) {
      return text.rfind(start, 0) == 0;
    };
    auto has = [](const std::string &text, const char *part) {
      return text.find(part) != std::string::npos;
    };
    auto destroy = [&](iris::ccl::Communicator &comm) -> Status {
      IRISRT_RETURN_IF_ERROR(world->sync());
      IRISRT_RETURN_IF_ERROR(comm.destroy());
      return world->sync();
    };
    // Nothing is measured by default, nor quickly if nothing is compiled.
    RANK_ASSIGN(auto comm, iris::ccl::Communicator::create(*world, options));
    RANK_ASSIGN(std::string text, comm->explain(call));
    if (!startsWith(text, "model: ") || !has(text, "no cost model for 'Fake") ||
        has(text, "not measured"))
      return text;
    RANK_TRY(destroy(*comm));
    options.tuning.level = TuneLevel::quick;
    RANK_ASSIGN(comm, iris::ccl::Communicator::create(*world, options));
    RANK_ASSIGN(text, comm->explain(call));
    if (!startsWith(text, "model: ") ||
        !has(text, "not measured: fewer than two of its kernels are compiled"))
      return text;
    RANK_TRY(destroy(*comm));
    RANK_CHECK(folder.compilations() == 0);
    // The stand-in kernels add integers.
    options.tuning.limitMs = 1e6;
    RANK_ASSIGN(comm, iris::ccl::Communicator::create(*world, options));
    RANK_TRY(comm->prepare(iris::ccl::Op::allReduce, iris::ccl::DType::i32));
    RANK_ASSIGN(text, comm->explain(call));
    if (!startsWith(text, "measured: ") || !has(text, "the next one takes "))
      return text;
    std::vector<int32_t> values(1024, static_cast<int32_t>(launch.rank + 1));
    RANK_TRY(world->writeNow(in, values.data(), values.size() * 4));
    RANK_TRY(world->sync());
    RANK_TRY(comm->run(call));
    RANK_TRY(world->readNow(values.data(), out, values.size() * 4));
    for (int32_t value : values)
      RANK_CHECK(value == 3);
    RANK_TRY(destroy(*comm));
    const size_t compilations = folder.compilations();
    RANK_CHECK(compilations > 1);
    RANK_TRY(world->barrier());
    RANK_ASSIGN(comm, iris::ccl::Communicator::create(*world, options));
    RANK_ASSIGN(text, comm->explain(call));
    if (!startsWith(text, "table: "))
      return text;
    RANK_CHECK(folder.compilations() == compilations);
    RANK_TRY(destroy(*comm));
    RANK_TRY(world->destroy());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

/// A matmul that the vendor's library computes, called and captured.
TEST_P(GpuWorlds, MultiplyByTheVendorsLibrary) {
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, createWorld(launch));
    iris::ccl::MatmulProblem p;
    p.element = p.result = iris::ccl::DType::f32;
    p.m = 6, p.n = 5, p.k = 4;
    p.bIsColumnMajor = true;
    p.hasScale = true;
    p.config.library = "vendor";
    iris::ccl::MatmulTuning tuning;
    tuning.level = TuneLevel::off;
    RANK_ASSIGN(auto matmul,
                iris::ccl::Matmul::create(*world, p, nullptr, tuning));
    const bool isCuda = GetParam().kind == DeviceKind::cuda;
    if (matmul->explain().find(isCuda ? "matmul by cuBLASLt"
                                      : "matmul by hipBLASLt") ==
        std::string::npos)
      return matmul->explain();
    RANK_CHECK(matmul->config().library == "vendor");
    RANK_ASSIGN(auto a, world->allocate<float>(p.m * p.k));
    RANK_ASSIGN(auto b, world->allocate<float>(p.k * p.n));
    RANK_ASSIGN(auto c, world->allocate<float>(p.m * p.n));
    std::vector<float> left, right, got(p.m * p.n);
    for (uint64_t i = 0; i < p.m * p.k; ++i)
      left.push_back(static_cast<float>((i * 7 + launch.rank) % 5));
    for (uint64_t i = 0; i < p.k * p.n; ++i)
      right.push_back(static_cast<float>((i * 3 + launch.rank) % 7));
    RANK_TRY(world->writeNow(a.address(), left.data(), left.size() * 4));
    RANK_TRY(world->writeNow(b.address(), right.data(), right.size() * 4));
    auto at = [](uint64_t address) {
      return reinterpret_cast<void *>(address);
    };
    for (bool isCaptured : {false, true}) {
      RANK_TRY(world->zero(c.address(), got.size() * 4));
      if (isCaptured)
        RANK_TRY(world->beginCapture());
      RANK_TRY(matmul->run(at(a.address()), at(b.address()), at(c.address()),
                           {nullptr, 2}));
      if (isCaptured) {
        RANK_ASSIGN(Graph graph, world->endCapture());
        RANK_TRY(world->launchGraph(graph));
        RANK_TRY(world->synchronize());
        RANK_TRY(world->destroyGraph(graph));
      }
      RANK_TRY(world->readNow(got.data(), c.address(), got.size() * 4));
      for (uint64_t i = 0; i < p.m; ++i)
        for (uint64_t j = 0; j < p.n; ++j) {
          float sum = 0;
          for (uint64_t k = 0; k < p.k; ++k)
            sum += left[i * p.k + k] * right[j * p.k + k];
          RANK_CHECK(got[i * p.n + j] == 2 * sum);
        }
    }
    // What a library computes differently is refused, on all ranks.
    p.activation = iris::ccl::Activation::gelu;
    Status status =
        iris::ccl::Matmul::create(*world, p, nullptr, tuning).status();
    RANK_CHECK(status.code() == StatusCode::unavailable);
    RANK_TRY(matmul->destroy());
    RANK_TRY(world->sync());
    RANK_TRY(world->destroy());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST_P(GpuWorlds, SynchronizeInBarriers) {
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, createWorld(launch));
    RANK_ASSIGN(Package loaded,
                Package::fromBytes(package.data(), package.size()));
    RANK_ASSIGN(Module module, world->load(loaded));
    for (int round = 0; round < 20; ++round) {
      RANK_TRY(world->deviceBarrier());
      RANK_TRY(world->barrier());
    }
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

/// Kernels of ranks on one device wait for each other: all of them must run at
/// once. Processes alternate.
TEST_P(GpuWorlds, DivideDevicesAmongRanks) {
  const uint32_t devices = 2;
  const uint32_t ranks =
      GetParam().threads ? (GetParam().numRanks + devices - 1) / devices : 1;
  auto most = [&](World &world) -> Expected<uint32_t> {
    IRISRT_ASSIGN_OR_RETURN(Package loaded,
                            Package::fromBytes(package.data(), package.size()));
    IRISRT_ASSIGN_OR_RETURN(Module module, world.load(loaded));
    IRISRT_ASSIGN_OR_RETURN(Kernel kernel, module.kernel("wait_flag"));
    return world.maxCoresident(kernel);
  };
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    LaunchInfo single;
    single.job = launch.job + "-alone-" + std::to_string(launch.rank);
    RANK_ASSIGN(auto alone, createWorld(single));
    RANK_ASSIGN(uint32_t all, most(*alone));
    RANK_ASSIGN(auto world, createWorld(launch));
    RANK_ASSIGN(uint32_t mine, most(*world));
    RANK_CHECK(mine == all / ranks);
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST_P(GpuWorlds, ReportWaitsThatTimeOut) {
  auto begin = std::chrono::steady_clock::now();
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, createWorld(launch));
    RANK_ASSIGN(Package loaded,
                Package::fromBytes(package.data(), package.size()));
    RANK_ASSIGN(Module module, world->load(loaded));
    RANK_ASSIGN(Kernel wait, module.kernel("wait_flag"));
    RANK_ASSIGN(uint64_t flags, world->allocate(1024));
    if (world->rank() == 0)
      RANK_TRY(
          world->launch(wait, {1, 1, 1}, testArgs(flags, 64, flags, 64, 0, 7)));
    Status status = world->sync();
    RANK_CHECK(!status.ok());
    RANK_CHECK(!world->sync().ok());
    return status.message();
  });
  for (const RankEnd &end : ends)
    EXPECT_NE(end.text.find("rank 0"), std::string::npos) << end.text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

/// The streams of the program, which it captures by itself.
TEST_P(GpuWorlds, UseStreamsOfTheProgram) {
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, createWorld(launch));
    const bool isCuda = GetParam().kind == DeviceKind::cuda;
    void *fakeDriver = dlopen(isCuda ? "libcuda.so.1" : "libamdhip64.so",
                              RTLD_NOW | RTLD_LOCAL);
    auto find = [&](auto *&function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(fakeDriver, name));
    };
    decltype(fakeGpuBindDevice) *bind;
    decltype(fakeGpuCreateStream) *create;
    decltype(fakeGpuDestroyStream) *destroy;
    decltype(fakeGpuBeginCapture) *begin;
    decltype(fakeGpuReplayCapture) *replay;
    find(bind, "fakeGpuBindDevice");
    find(create, "fakeGpuCreateStream");
    find(destroy, "fakeGpuDestroyStream");
    find(begin, "fakeGpuBeginCapture");
    find(replay, "fakeGpuReplayCapture");
    bind(static_cast<int>(launch.localRank) % 2);
    RANK_ASSIGN(int current, currentDevice(world->device()));
    RANK_CHECK(current == static_cast<int>(launch.localRank) % 2);
    void *native = create();
    RANK_ASSIGN(Stream stream, world->adoptStream(native));
    RANK_ASSIGN(Package loaded,
                Package::fromBytes(package.data(), package.size()));
    RANK_ASSIGN(Module module, world->load(loaded));
    RANK_ASSIGN(Kernel fill, module.kernel("fill"));
    RANK_ASSIGN(Kernel gather, module.kernel("all_gather"));
    RANK_ASSIGN(Kernel check, module.kernel("check_gathered"));
    const int64_t count = 1000, total = count * world->numRanks();
    RANK_ASSIGN(uint64_t a, world->allocate(count * 4));
    RANK_ASSIGN(uint64_t b, world->allocate(total * 4));
    auto args = testArgs(a, count, b, total);
    RANK_TRY(world->launch(fill, {3, 1, 1}, args, stream));
    RANK_TRY(world->sync()); // waits for this stream, too
    begin(native);
    RANK_CHECK(world->capturing());
    RANK_TRY(world->launch(gather, {2, 2, 1}, args, stream));
    RANK_CHECK(world->sync().code() == StatusCode::failedPrecondition);
    RANK_CHECK(world->synchronize(stream).code() ==
               StatusCode::failedPrecondition);
    RANK_CHECK(world->destroyStream(stream).code() ==
               StatusCode::failedPrecondition);
    RANK_TRY(world->failure()); // the world goes on
    RANK_CHECK(replay(native, 2));
    RANK_CHECK(!world->capturing());
    RANK_TRY(world->sync());
    RANK_TRY(world->launch(check, {2, 1, 1}, args));
    RANK_TRY(world->verify());
    RANK_CHECK(world->expects().checked == static_cast<uint64_t>(total));
    RANK_TRY(world->destroyStream(stream));
    RANK_TRY(world->destroy());
    destroy(native);
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

/// A copy that runs after the call timed out touches none of the caller's
/// memory.
TEST_P(GpuWorlds, CopyIntoMemoryOfTheirOwn) {
  if (GetParam().threads || GetParam().numRanks != 2)
    return; // one world size is enough
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    WorldOptions options = optionsFor(launch);
    options.collectiveLimit = 4;
    options.waitLimit = 60;
    RANK_ASSIGN(auto world, World::create(options));
    RANK_ASSIGN(Package loaded,
                Package::fromBytes(package.data(), package.size()));
    RANK_ASSIGN(Module module, world->load(loaded));
    RANK_ASSIGN(Kernel wait, module.kernel("wait_flag"));
    RANK_ASSIGN(uint64_t flags, world->allocate(1024));
    std::vector<uint32_t> words(256, launch.rank + 1);
    RANK_TRY(world->writeNow(flags, words.data(), 1024));
    std::fill(words.begin(), words.end(), 0);
    RANK_TRY(world->readNow(words.data(), flags, 1024));
    for (uint32_t word : words)
      RANK_CHECK(word == launch.rank + 1);
    RANK_TRY(world->barrier());
    RANK_TRY(world->launch(wait, {1, 1, 1},
                           testArgs(flags, 64, flags + 256, 64, 0, 1000)));
    // A page that is unmapped when the kernel has ended and the copies run.
    void *page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RANK_CHECK(page != MAP_FAILED);
    RANK_CHECK(!world->readNow(page, flags, 1024).ok());
    RANK_CHECK(!world->writeNow(flags, page, 1024).ok());
    ::munmap(page, 4096);
    Status status = world->destroy();
    RANK_CHECK(!status.ok());
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST_P(GpuWorlds, OutliveAKilledRank) {
  if (GetParam().threads || GetParam().numRanks == 1)
    return; // no rank to kill
  auto ends = run([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, createWorld(launch));
    RANK_TRY(world->barrier());
    if (world->rank() == 1)
      ::kill(::getpid(), SIGKILL);
    Status status = world->sync();
    RANK_CHECK(!status.ok());
    return status.message();
  });
  EXPECT_EQ(ends[1].signal, SIGKILL);
  EXPECT_NE(ends[0].text.find("rank 1"), std::string::npos) << ends[0].text;
}

} // namespace

//===----------------------------------------------------------------------===//
// iris-run
//===----------------------------------------------------------------------===//

/// Whether heaps are placed is known when the device is asked, and the program
/// is compiled before any rank opens it.
TEST(GpuRun, CompilesForTheTranslationThatTheDeviceNeeds) {
  if (!findFake("libcuda.so.1") || !findFake("libamdhip64.so"))
    GTEST_SKIP() << "the fake driver is not first in the library path";
  char folder[] = "/tmp/iris-run-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  std::string directory = folder, source = directory + "/a.mlir",
              compiler = directory + "/cc";
  std::ofstream(source) << "// source\n";
  // A stand-in for iris-compile: its packages have the translation that it is
  // asked for, stride by default.
  std::ofstream(compiler) << "#!/bin/sh\ntarget=none translation=stride\n"
                             "for word in \"$@\"; do case \"$word\" in\n"
                             "--target=*) target=${word#*=};; --translation=*) "
                             "translation=${word#*=};;\nesac; done\n"
                             "cat \"" +
                                 directory + "/$target.$translation\"\n";
  ::chmod(compiler.c_str(), 0700);
  struct Device {
    const char *name, *target;
  };
  for (Device device : {Device{"hip", "gfx942"}, Device{"cuda", "sm_90a"}})
    for (bool canPlace : {true, false}) {
      for (const char *translation : {"stride", "table"})
        std::ofstream(directory + "/" + device.target + "." + translation,
                      std::ios::binary)
            << testPackageBytes(IRIS_TEST_MAIN_PREFIX "0.so", device.target,
                                {translation});
      std::string command =
          std::string("IRIS_FAKE_GPU_VIRTUAL_MEMORY=") +
          (canPlace ? "1" : "0") + " IRIS_COMPILE=" + compiler +
          " " IRIS_TEST_IRIS_RUN " -n 2 --heap=64M --device=" + device.name +
          " " + source + " 2>&1";
      FILE *pipe = ::popen(command.c_str(), "r");
      ASSERT_NE(pipe, nullptr);
      std::string text;
      char buffer[4096];
      for (size_t got; (got = ::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
        text.append(buffer, got);
      EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << text;
      EXPECT_NE(text.find("checks passed"), std::string::npos) << text;
    }
  std::filesystem::remove_all(directory);
}
