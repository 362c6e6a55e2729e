// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and kernels of the fake driver (for tests only). An image is either
// the text `fakeGpuImage`, which selects a few built-in kernels, or a shared
// object for the host target, so that whole worlds can run on the fake device.
#include "FakeDriver.h"

#include "iris-c/RuntimeABI.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <set>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace fakegpu;

namespace {

/// Shared memory that every kernel has without its launch's.
constexpr int staticShared = 8 * 1024;

struct FakeFunction {
  std::string name;
  IrisRtHostKernel host = nullptr;
  /// CUDA: the limit of a launch until more is allowed.
  int dynamicShared = 48 * 1024 - staticShared;
};

struct FakeModule {
  void *library = nullptr;
  /// The library's file. Open while it is loaded: the dynamic linker identifies
  /// libraries by name, which is the descriptor's number.
  int file = -1;
  std::vector<std::unique_ptr<FakeFunction>> functions;
  int device = currentDevice();

  FakeModule() = default;
  FakeModule(const FakeModule &) = delete;
  ~FakeModule() {
    if (library)
      dlclose(library);
    if (file >= 0)
      close(file);
  }
};

using Block = std::vector<char>;

template <typename T>
T argument(const Block &block, size_t at) {
  T value = {};
  if (at + sizeof(T) <= block.size())
    std::memcpy(&value, block.data() + at, sizeof(T));
  else
    misuse("argument block too short");
  return value;
}

/// The built-in kernels; false: the launch failed.
bool runBuiltIn(const std::string &name, const Block &block,
                const std::vector<unsigned> &grid) {
  if (name == "store_ids") {
    auto *out = argument<uint32_t *>(block, 0);
    auto value = argument<uint32_t>(block, 8);
    for (unsigned i = 0; i < grid[0]; ++i)
      out[i] = value + i;
    return true;
  }
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
  if (name == "spin_until_set") {
    auto *a = argument<uint32_t *>(block, 0),
         *b = argument<uint32_t *>(block, 16);
    while (__atomic_load_n(a, __ATOMIC_ACQUIRE) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    __atomic_store_n(b, 1, __ATOMIC_RELEASE);
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

/// In ticks of the device's clock, in which the runtime gives limits.
template <uint64_t hz>
uint64_t clockNow() {
  static_assert(1000000000 % hz == 0);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
             .count() /
         (1000000000 / hz);
}

void yieldNow() { std::this_thread::yield(); }

/// Runs a host kernel as a GPU would: every program of the grid at once.
bool runHost(IrisRtHostKernel kernel, const Block &block,
             const std::vector<unsigned> &grid, bool cuda) {
  constexpr size_t arenaBytes = 1 << 20;
  std::vector<uint64_t> words((block.size() + 7) / 8);
  std::memcpy(words.data(), block.data(), block.size());
  auto run = [&](unsigned x, unsigned y, unsigned z) {
    void *arena = mmap(nullptr, arenaBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    IrisRtHostProgram program = {{x, y, z},
                                 {grid[0], grid[1], grid[2]},
                                 arena,
                                 cuda ? clockNow<IRISRT_CLOCK_HZ_NVPTX>
                                      : clockNow<IRISRT_CLOCK_HZ_AMDGPU>,
                                 yieldNow};
    kernel(words.data(), &program);
    munmap(arena, arenaBytes);
  };
  std::vector<std::thread> threads;
  for (unsigned z = 0; z < grid[2]; ++z)
    for (unsigned y = 0; y < grid[1]; ++y)
      for (unsigned x = 0; x < grid[0]; ++x)
        threads.emplace_back(run, x, y, z);
  for (std::thread &thread : threads)
    thread.join();
  return true;
}

/// Loads a shared object in memory, whose size only its headers give.
void loadSharedObject(const void *image, FakeModule &module) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  size_t bytes = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
  module.file = memfd_create("fake-gpu-image", MFD_CLOEXEC);
  if (module.file < 0 || write(module.file, image, bytes) != ssize_t(bytes))
    return;
  std::string path = "/proc/self/fd/" + std::to_string(module.file);
  module.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Copies parameters like a driver that knows the sizes of the kernel's
/// parameters.
bool placeParameters(const std::string &kernel, void **parameters,
                     Block &block) {
  static const std::map<std::string, std::vector<size_t>> sizes = {
      {"fill_u32", {8, 8, 4}}, {"store_ids", {8, 4}}};
  auto found = sizes.find(kernel);
  if (found == sizes.end())
    return false;
  for (size_t size : found->second) {
    auto *bytes = static_cast<const char *>(*parameters++);
    block.insert(block.end(), bytes, bytes + size);
  }
  return true;
}

Result launch(Function function, const std::vector<unsigned> &grid,
              unsigned threads, unsigned dynamicShared, Stream stream,
              void **parameters, void **extra, uintptr_t endOfExtra) {
  FAKE_ENTER_BOUND("launch");
  if ((parameters && extra) || grid[0] * grid[1] * grid[2] == 0 ||
      threads == 0 || threads > 1024)
    return misuse("launch");
  auto *f = static_cast<FakeFunction *>(function);
  Block block;
  if (parameters && !placeParameters(f->name, parameters, block))
    return misuse("launch with parameters of a kernel that is not known");
  if (extra) {
    auto word = [&](int i) { return reinterpret_cast<uintptr_t>(extra[i]); };
    if (word(0) != 1 || word(2) != 2 || word(4) != endOfExtra)
      return misuse("launch with wrong extra parameters");
    auto *bytes = static_cast<const char *>(extra[1]);
    block.assign(bytes, bytes + *static_cast<size_t *>(extra[3]));
  }
  bool cuda = endOfExtra == 0;
  if (int(dynamicShared) > (cuda ? f->dynamicShared : 64 * 1024 - staticShared))
    return errorInvalidValue;
  return enqueue(stream, [name = f->name, host = f->host, block, grid, cuda,
                          device = currentDevice()] {
    FakeGpuControl &control = *fakeGpuControl();
    ++control.kernelsRunning;
    ++control.kernelsRunningOn[device];
    bool ok =
        host ? runHost(host, block, grid, cuda) : runBuiltIn(name, block, grid);
    --control.kernelsRunningOn[device];
    --control.kernelsRunning;
    return ok;
  });
}

} // namespace

extern "C" {

Result fake_module_load(Module *module, const void *image, unsigned numOptions,
                        int *options, void **values) {
  FAKE_ENTER_BOUND("moduleLoad");
  if (!mayDisturbCaptures("moduleLoad during a capture"))
    return errorCaptureUnsupported;
  if (fakeGpuControl()->loadsWhenIdle) {
    // A while, in which other threads launch.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    while (fakeGpuControl()->kernelsRunning)
      std::this_thread::yield();
  }
  auto loaded = std::make_unique<FakeModule>();
  bool elf = std::memcmp(image, ELFMAG, SELFMAG) == 0;
  auto *header = static_cast<const Elf64_Ehdr *>(image);
  constexpr int machineAmdGpu = 224;
  bool amd = elf && header->e_machine == machineAmdGpu;
  if (elf && !amd)
    loadSharedObject(image, *loaded);
  // The conformance suite's images also select the built-in kernels.
  auto *text = static_cast<const char *>(image);
  bool known = amd || !std::strcmp(text, fakeGpuImage) ||
               std::strstr(text, ".visible .entry store_ids(");
  if (!loaded->library && !known) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == jitErrorLogBuffer)
        std::strcpy(static_cast<char *>(values[i]), "line 1: not an image");
    return errorInvalidImage;
  }
  *module = loaded.release();
  ++fakeGpuControl()->modules;
  return success;
}

Result fake_module_unload(Module module) {
  if (fakeGpuControl()->unloadsWhenIdle) {
    const int device = static_cast<FakeModule *>(module)->device;
    while (fakeGpuControl()->kernelsRunningOn[device])
      std::this_thread::yield();
  } else if (takesFromKernels()) {
    return success;
  }
  delete static_cast<FakeModule *>(module);
  --fakeGpuControl()->modules;
  return success;
}

Result fake_module_function(Function *function, Module module,
                            const char *name) {
  static const std::set<std::string> builtIn = {"fill_u32",       "spin_until",
                                                "spin_until_set", "stamp_all",
                                                "store_ids",      "trap"};
  if (!mayDisturbCaptures("moduleFunction during a capture"))
    return errorCaptureUnsupported;
  auto *m = static_cast<FakeModule *>(module);
  void *host = m->library ? dlsym(m->library, name) : nullptr;
  if (!host && (m->library || !builtIn.count(name)))
    return errorNotFound;
  m->functions.push_back(std::make_unique<FakeFunction>());
  m->functions.back()->name = name;
  m->functions.back()->host = reinterpret_cast<IrisRtHostKernel>(host);
  *function = m->functions.back().get();
  return success;
}

Result fake_set_function_attribute(Function function, int attribute,
                                   int value) {
  if (attribute != functionMaxDynamicShared)
    return misuse("unknown function attribute");
  ++fakeGpuControl()->attributeCalls;
  static_cast<FakeFunction *>(function)->dynamicShared = value;
  return success;
}

Result fake_occupancy(int *blocks, Function function, int threads, size_t) {
  FAKE_ENTER_BOUND("occupancy");
  const char *large = fakeGpuControl()->largeKernels;
  const std::string &name = static_cast<FakeFunction *>(function)->name;
  *blocks = large && name.rfind(large, 0) == 0 ? 1 : 2048 / threads;
  return success;
}

/// The map's words record its parameters: address, sizes, strides, box, element
/// and swizzle.
Result fake_encode_tensor_map(TensorMap *map, int element, unsigned rank,
                              void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *elementStrides, int interleave,
                              int swizzle, int /*l2Promotion*/, int oobFill) {
  FAKE_ENTER_BOUND("encodeTensorMap");
  auto base = reinterpret_cast<uintptr_t>(address);
  if (reinterpret_cast<uintptr_t>(map) % 128 != 0 || rank != 3 ||
      base % 16 != 0 || interleave != 0 || oobFill != 0)
    return misuse("encode a tensor map");
  for (unsigned dim = 0; dim < rank; ++dim)
    if (sizes[dim] == 0 || sizes[dim] > uint64_t(1) << 32 || box[dim] == 0 ||
        box[dim] > 256 || elementStrides[dim] != 1 ||
        (dim > 0 &&
         (strides[dim - 1] % 16 != 0 || strides[dim - 1] >= uint64_t(1) << 40)))
      return misuse("encode a tensor map");
  *map = {{base, sizes[0], sizes[1], sizes[2], strides[0], strides[1], box[0],
           box[1], uint64_t(element), uint64_t(swizzle)}};
  return success;
}

Result fake_cuda_launch(Function function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned dynamicShared, Stream stream,
                        void **parameters, void **extra) {
  return launch(function, {gridX, gridY, gridZ}, blockX * blockY * blockZ,
                dynamicShared, stream, parameters, extra, 0);
}

Result fake_launch_with_attributes(const LaunchSpec *spec, Function function,
                                   void **parameters, void **extra) {
  for (unsigned i = 0; i < spec->numAttributes; ++i)
    if (spec->attributes[i].id != launchAttributeDependent)
      return misuse("launch with an attribute that is not known");
    else if (spec->attributes[i].value == 1)
      ++fakeGpuControl()->dependentLaunches;
  const unsigned *grid = spec->grid, *workgroup = spec->workgroup;
  return launch(function, {grid[0], grid[1], grid[2]},
                workgroup[0] * workgroup[1] * workgroup[2],
                spec->dynamicSharedBytes, spec->stream, parameters, extra, 0);
}

Result fake_hip_launch(Function function, unsigned gridX, unsigned gridY,
                       unsigned gridZ, unsigned blockX, unsigned blockY,
                       unsigned blockZ, unsigned dynamicShared, Stream stream,
                       void **parameters, void **extra) {
  return launch(function, {gridX, gridY, gridZ}, blockX * blockY * blockZ,
                dynamicShared, stream, parameters, extra, 3);
}

} // extern "C"

FAKE_EXPORT(fake_module_load, cuModuleLoadDataEx)
FAKE_EXPORT(fake_module_load, hipModuleLoadDataEx)
FAKE_EXPORT(fake_module_unload, cuModuleUnload)
FAKE_EXPORT(fake_module_unload, hipModuleUnload)
FAKE_EXPORT(fake_module_function, cuModuleGetFunction)
FAKE_EXPORT(fake_module_function, hipModuleGetFunction)
FAKE_EXPORT(fake_set_function_attribute, cuFuncSetAttribute)
FAKE_EXPORT(fake_encode_tensor_map, cuTensorMapEncodeTiled)
FAKE_EXPORT(fake_occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)
FAKE_EXPORT(fake_occupancy, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)
FAKE_EXPORT(fake_cuda_launch, cuLaunchKernel)
FAKE_EXPORT(fake_launch_with_attributes, cuLaunchKernelEx)
FAKE_EXPORT(fake_hip_launch, hipModuleLaunchKernel)
