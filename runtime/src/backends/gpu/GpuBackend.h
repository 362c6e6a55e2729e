// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuBackend.h - Back end for HIP and CUDA devices ---------*- C++ -*-===//
//
// Calls the driver through the table of GpuApi.h; only the table distinguishes
// HIP and CUDA.
//
//   GpuBackend.cpp   creation, destruction
//   GpuStreams.cpp   streams, events
//   GpuProbe.cpp     what the device can do: placed mappings, memory kind
//   GpuMemory.cpp    address space, chunks, sharing, copies
//   GpuImport.cpp    memory of the program
//   GpuLaunch.cpp    modules, launches, graphs
//   GpuLibraryMatmul.cpp  matmuls of cuBLASLt and hipBLASLt
#ifndef IRIS_RT_BACKENDS_GPU_GPUBACKEND_H
#define IRIS_RT_BACKENDS_GPU_GPUBACKEND_H

#include "backends/Backend.h"
#include "backends/gpu/DeviceBinding.h"
#include "backends/gpu/GpuApi.h"
#include "backends/gpu/RecentHandles.h"

#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace iris::rt::gpu {

/// Options that createGpuBackend leaves at their defaults; tests set them.
struct GpuOptions {
  DeviceKind kind = DeviceKind::cuda;
  int index = 0;
  /// The driver library to open instead of the installed one.
  std::string library;
  /// The library of matmuls to open instead of cuBLASLt or hipBLASLt.
  std::string matmulLibrary;
  /// Whether placed mappings (VMM) may be used. Otherwise memory is shared by
  /// IPC handles.
  bool allowPlacedMappings = true;
};

/// One device of one driver.  Records every resource of the driver, so that an
/// invalid handle is an error instead of a crash in the driver, and so that the
/// destructor can release all of them.
///
/// Every function makes the device current on the calling thread and restores
/// the previous one at its end (DeviceBinding).
class GpuBackend final : public Backend {
public:
  static Expected<std::unique_ptr<Backend>> create(const GpuOptions &options);
  ~GpuBackend() override;

  uint64_t granularity() const override { return granularity_; }
  Status enablePeer(int peer) override;
  Status letPeersAccess() override;
  Expected<uint64_t> reserve(uint64_t bytes, uint64_t alignment) override;
  Status unreserve(uint64_t address, uint64_t bytes) override;
  Expected<ChunkHandle> createChunk(uint64_t bytes) override;
  Expected<UniqueFd> exportChunk(ChunkHandle chunk) override;
  Expected<ChunkHandle> importChunk(UniqueFd fd, uint64_t bytes) override;
  Status map(ChunkHandle chunk, uint64_t address, uint64_t bytes) override;
  Status unmap(uint64_t address, uint64_t bytes) override;
  Status releaseChunk(ChunkHandle chunk) override;
  Expected<RetainedChunk> retainChunk(uint64_t address) override;
  Expected<uint64_t> allocateImportable(uint64_t bytes) override;
  Status freeImportable(uint64_t address) override;

  Expected<uint64_t> allocateShareable(uint64_t bytes) override;
  Status freeShareable(uint64_t address) override;
  Expected<IpcHandle> shareMemory(uint64_t address) override;
  Expected<uint64_t> openMemory(const IpcHandle &handle) override;
  Status closeMemory(uint64_t address) override;

  Expected<HostVisibleMemory> allocateHostVisible(uint64_t bytes) override;
  Status freeHostVisible(const HostVisibleMemory &memory) override;
  Expected<uint64_t> freeBytes() override;
  Expected<uint64_t> allocate(uint64_t bytes) override;
  Status free(uint64_t address) override;
  Status zero(StreamHandle stream, uint64_t address, uint64_t bytes) override;
  Status copyToDevice(StreamHandle stream, uint64_t to, const void *from,
                      uint64_t bytes) override;
  Status copyToHost(StreamHandle stream, void *to, uint64_t from,
                    uint64_t bytes) override;
  Status copyOnDevice(StreamHandle stream, uint64_t to, uint64_t from,
                      uint64_t bytes) override;

  Expected<StreamHandle> createStream(bool isHighPriority) override;
  Expected<StreamHandle> adoptStream(void *native) override;
  Status forgetStream(StreamHandle stream) override;
  Expected<void *> nativeStream(StreamHandle stream) override;
  Status useThread() override;
  Status checkDevice(StreamHandle stream) override;
  Status callOnDevice(const std::function<Status()> &function) override;
  Expected<bool> isCapturing(StreamHandle stream) override;
  std::optional<uint64_t> streamId(StreamHandle stream) override;
  using Backend::destroyStream;
  Status destroyStream(StreamHandle stream,
                       std::chrono::nanoseconds limit) override;
  Expected<bool> query(StreamHandle stream) override;
  Status synchronize(StreamHandle stream,
                     std::chrono::nanoseconds limit) override;
  using Backend::createEvent;
  Expected<EventHandle> createEvent(bool isTimed) override;
  Status destroyEvent(EventHandle event) override;
  Status record(EventHandle event, StreamHandle stream) override;
  Status wait(StreamHandle stream, EventHandle event) override;
  Status callOnHost(StreamHandle stream,
                    std::function<void()> function) override;
  Status waitEqual(StreamHandle stream, uint64_t address,
                   uint32_t value) override;
  Expected<double> elapsedMs(EventHandle start, EventHandle end) override;

  bool canLoadInCaptures() const override {
    return api_->threadCaptureMode != nullptr;
  }
  Expected<ModuleHandle> loadModule(const void *image, size_t bytes) override;
  Status unloadModule(ModuleHandle module) override;
  Expected<KernelHandle> findKernel(ModuleHandle module,
                                    const char *symbol) override;
  Expected<uint32_t> maxCoresident(KernelHandle kernel,
                                   const LaunchConfig &config) override;
  Expected<bool> encodeTensorMap(const TensorMapSpec &spec, void *out) override;
  Status launch(StreamHandle stream, KernelHandle kernel,
                const LaunchConfig &config, const void *args,
                size_t argBytes) override;

  Status beginCapture(StreamHandle stream) override;
  Expected<GraphHandle> endCapture(StreamHandle stream) override;
  Status launchGraph(GraphHandle graph, StreamHandle stream) override;
  Status destroyGraph(GraphHandle graph) override;

  Expected<std::unique_ptr<LibraryMatmul>>
  createLibraryMatmul(const LibraryMatmulSpec &spec) override;

private:
  friend class GpuLibraryMatmul;
  struct Mapping {
    uint64_t bytes;
    uint64_t chunk;
  };
  /// The driver's reservation, which is larger than requested if the driver
  /// ignores the alignment.
  struct Reservation {
    uint64_t bytes;
    uint64_t driverAddress;
    uint64_t driverBytes;
  };

  struct StreamState {
    /// The driver's handle.
    uint64_t driverStream;
    bool isHighPriority;
    /// The caller's: never destroyed or replaced.
    bool isAdopted;
  };

  GpuBackend(std::shared_ptr<const GpuApi> api, const GpuOptions &options)
      : api_(std::move(api)), options_(options) {}

  // GpuBackend.cpp
  Status initialize();
  void describeSpeed();
  void describeLinks(int numDevices);
  std::string identify(int numDevices) const;
  Status warmUp();
  /// Called first in every function; the caller may capture streams meanwhile.
  DeviceBinding bind() const {
    return DeviceBinding(*api_, context_, options_.index, /*isRelaxed=*/true);
  }
  /// The same, where all calls are of a stream: captures record them.
  DeviceBinding bindForStream() const {
    return DeviceBinding(*api_, context_, options_.index, /*isRelaxed=*/false);
  }
  bool waitForStreams();
  void releaseEverything();

  // GpuStreams.cpp
  Status checkStream(StreamHandle stream) const;
  /// The driver's stream for a valid handle.
  Stream driverStream(StreamHandle stream) const;
  Expected<uint64_t> createDriverStream(bool isHighPriority);
  StreamHandle addStream(const StreamState &state);
  Status checkDevice(Stream stream) const;
  bool isCaptured(Stream stream) const;
  bool isAdopted(StreamHandle stream) const;
  bool mayKernelRun();

  // GpuProbe.cpp
  void probeMemory();
  Status probePlacedMappings(int32_t allocationType);
  Status mapWhile(MemoryHandle handle, const char *what,
                  const std::function<Status(Address)> &use);
  Status probeMapping(const AllocationProperties &properties);
  Status probeImport(MemoryHandle handle);
  Status probeMappedKind(Address address);
  Status probeShareable(IrisRtMemoryKind kind);
  Expected<IrisRtMemoryKind> kindOf(Address address) const;
  AllocationProperties allocationProperties() const;

  // GpuMemory.cpp
  Status setAccess(uint64_t address, uint64_t bytes);
  Expected<MemoryHandle> importFd(int fd) const;
  Expected<uint64_t> allocateOfKind(IrisRtMemoryKind kind, uint64_t bytes);

  // GpuImport.cpp
  Status checkImportable(MemoryHandle handle, Address address) const;

  // GpuLaunch.cpp
  Status allowShared(KernelHandle kernel, uint32_t bytes);
  bool mayDepend(const LaunchConfig &config, StreamHandle stream) const;
  void leaveCapture(StreamHandle origin);

  Status checkDone(Result result, const char *what) const {
    return api_->check(result, what);
  }

  /// Fails unless `value` is one of `known`.
  template <typename Set>
  Status checkHandle(const Set &known, uint64_t value, const char *what) const;
  template <typename Set>
  Status checkHandle(const Set &known, const RecentHandles &recent,
                     uint64_t value, const char *what) const;

  std::shared_ptr<const GpuApi> api_;
  GpuOptions options_;
  Device device_ = 0;
  Context context_ = nullptr;
  uint64_t granularity_ = 2u << 20;
  int32_t allocationType_ = allocationPinned;
  /// The requested kind of shareable memory; info_.memoryKind is the actual
  /// one.
  IrisRtMemoryKind askedKind_ = IRISRT_MEMORY_COARSE;
  /// Why no memory can be shared; empty if some can.
  std::string sharingComplaint_;
  uint32_t sharedPerBlock_ = 0;
  bool canWaitForWords_ = true;

  /// Caches lookups in streams_ and kernels_ to avoid their lock.
  RecentHandles recentStreams_, recentKernels_;
  /// Whether a handle of streams_ is not the address of its driver stream:
  /// that of a stream that replaced another, or of HIP's default stream, null.
  std::atomic<bool> hasTranslatedHandles_{false};

  /// Guards the members below; never held while the driver may wait for a
  /// kernel.
  mutable std::mutex mutex_;
  std::map<uint64_t, Reservation> reservations_;
  std::map<uint64_t, uint64_t> chunks_; // handle -> bytes
  std::map<uint64_t, Mapping> mappings_;
  std::map<uint64_t, uint64_t> shareable_; // address -> bytes
  std::set<uint64_t> opened_;              // by IPC handle
  std::multiset<uint64_t> borrowed_;       // shared within this process
  std::map<uint64_t, void *> hostVisible_; // host address -> same
  std::set<uint64_t> allocations_;
  std::map<uint64_t, StreamState> streams_;
  /// Streams for which a wait has timed out, and those of them that could not
  /// be destroyed.
  std::set<uint64_t> late_, stuck_;
  std::set<uint64_t> events_, modules_, graphs_;
  struct KernelState {
    uint64_t module;
    /// The maximum dynamic shared memory of its launches, as set in the driver.
    uint32_t allowedShared;
  };
  std::map<uint64_t, KernelState> kernels_; // by function
  std::set<int> peers_;
  /// Devices that access this one's mappings; set before anything is mapped.
  std::vector<Device> accessingPeers_;
};

template <typename Set>
Status GpuBackend::checkHandle(const Set &known, uint64_t value,
                               const char *what) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (known.count(value))
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "0x%llx is not a valid %s of this %s device",
                    static_cast<unsigned long long>(value), what, api_->name());
}

/// The same, without a lock for recently used handles.
template <typename Set>
Status GpuBackend::checkHandle(const Set &known, const RecentHandles &recent,
                               uint64_t value, const char *what) const {
  if (recent.contains(value))
    return Status::success();
  IRISRT_RETURN_IF_ERROR(checkHandle(known, value, what));
  std::lock_guard<std::mutex> lock(mutex_);
  if (known.count(value))
    recent.add(value);
  return Status::success();
}

/// Conversion between the driver's pointers and the handles of Backend.h.
inline uint64_t fromPointer(void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}
inline void *toPointer(uint64_t value) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(value));
}

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_GPUBACKEND_H
