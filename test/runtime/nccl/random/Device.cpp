// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

using namespace nccl_random;

void nccl_random::die(const char *what, const char *why) {
  std::fprintf(stderr, "nccl-random: %s: %s\n", what, why);
  std::fflush(stderr);
  std::_Exit(1);
}

/// A function of the library that the program is linked to.
template <typename Function>
static Function *ours(const char *name) {
  auto *function = reinterpret_cast<Function *>(::dlsym(RTLD_DEFAULT, name));
  if (!function)
    die(name, "expected a library with the host's streams");
  return function;
}

template <typename... Args>
void Device::call(const char *name, Args... args) const {
  auto *function = reinterpret_cast<int (*)(Args...)>(::dlsym(library_, name));
  const int result = function ? function(args...) : -1;
  if (result != 0)
    die(name, ("error " + std::to_string(result)).c_str());
}

bool nccl_random::isOnHost() {
  const char *device = std::getenv("IRIS_NCCL_DEVICE");
  return device && std::strcmp(device, "host") == 0;
}

Device::Device(int rank, uint64_t bytes) : bytes_(bytes) {
  if (isOnHost())
    return;
  library_ = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (!library_)
    die("libcuda.so.1", "no NVIDIA GPU; on the host set IRIS_NCCL_DEVICE=host");
  int devices = 0, index = 0;
  call("cuInit", 0u);
  call("cuDeviceGetCount", &devices);
  call("cuDeviceGet", &index, rank % devices);
  call("cuDevicePrimaryCtxRetain", &context_, index);
  bind();
  call("cuMemAlloc_v2", &memory_, bytes_);
}

Device::~Device() {
  bind();
  if (library_)
    call("cuMemFree_v2", reinterpret_cast<uint64_t>(memory_));
}

void Device::bind() const {
  if (library_)
    call("cuCtxSetCurrent", context_);
}

cudaStream_t Device::createStream() const {
  void *stream = nullptr;
  if (library_)
    call("cuStreamCreate", &stream, /*CU_STREAM_NON_BLOCKING*/ 1u);
  else if (ours<int(void **)>("irisrtHostStreamCreate")(&stream) != 0)
    die("irisrtHostStreamCreate", "failed");
  return static_cast<cudaStream_t>(stream);
}

void Device::destroyStream(cudaStream_t stream) const {
  if (library_)
    call("cuStreamDestroy_v2", stream);
  else if (ours<int(void *)>("irisrtHostStreamDestroy")(stream) != 0)
    die("irisrtHostStreamDestroy", "failed");
}

void Device::synchronize(cudaStream_t stream) const {
  if (library_)
    call("cuStreamSynchronize", stream);
  else if (ours<int(void *)>("irisrtHostStreamSynchronize")(stream) != 0)
    die("irisrtHostStreamSynchronize", "failed");
}

uint8_t *Device::allocate(uint64_t bytes) {
  if (!library_) {
    void *memory = std::malloc(bytes);
    if (!memory)
      die("allocate", "no memory");
    return static_cast<uint8_t *>(memory);
  }
  constexpr uint64_t alignment = 256;
  uint8_t *memory = memory_ + used_;
  used_ += (bytes + alignment - 1) / alignment * alignment;
  if (used_ > bytes_)
    die("allocate", "too little memory was taken before");
  ++live_;
  return memory;
}

void Device::free(uint8_t *memory) {
  if (!library_)
    std::free(memory);
  else if (--live_ == 0)
    used_ = 0;
}

void Device::copyToDevice(uint8_t *to, const void *from, uint64_t bytes) const {
  if (!library_) {
    std::memcpy(to, from, bytes);
    return;
  }
  call("cuMemcpyHtoD_v2", reinterpret_cast<uint64_t>(to), from, bytes);
  // The copy returns while the default stream still writes.
  call("cuStreamSynchronize", static_cast<void *>(nullptr));
}

void Device::copyFromDevice(void *to, const uint8_t *from,
                            uint64_t bytes) const {
  if (library_)
    call("cuMemcpyDtoH_v2", to, reinterpret_cast<uint64_t>(from), bytes);
  else
    std::memcpy(to, from, bytes);
}

void Device::beginCapture(cudaStream_t stream) const {
  call("cuStreamBeginCapture_v2", stream, /*relaxed*/ 2);
}

void *Device::endCapture(cudaStream_t stream) const {
  void *graph = nullptr, *executable = nullptr;
  call("cuStreamEndCapture", stream, &graph);
  call("cuGraphInstantiateWithFlags", &executable, graph, uint64_t(0));
  call("cuGraphDestroy", graph);
  return executable;
}

void Device::launch(void *graph, cudaStream_t stream) const {
  call("cuGraphLaunch", graph, stream);
}

void Device::destroyGraph(void *graph) const {
  call("cuGraphExecDestroy", graph);
}
