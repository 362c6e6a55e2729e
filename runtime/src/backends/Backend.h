// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device interface: all that the rest of the runtime asks of a device
// family.  Two classes implement it: the host back end (backends/host) and the
// one GPU back end (backends/gpu), which reaches HIP or CUDA through a table of
// symbols opened with dlopen.  test/runtime/conformance holds for both.
//
// Rules for implementers:
//   * a Backend belongs to one World; its methods may be called from any
//     thread, so a GPU back end makes its context current on entry;
//   * device addresses are uint64_t; on the host they are ordinary addresses;
//   * nothing throws, prints or exits; a missing device or library is
//     `unavailable` with the reason;
//   * stream-ordered functions return before the work is done;
//   * the destructor releases everything still held, also after a failure.
#ifndef IRIS_RT_BACKENDS_BACKEND_H
#define IRIS_RT_BACKENDS_BACKEND_H

#include "core/UniqueFd.h"
#include "iris-c/RuntimeABI.h"
#include "iris/rt/Device.h"
#include "iris/rt/Status.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace iris::rt {

/// A typed opaque handle of a back end; zero is "none".
template <typename Tag>
struct Handle {
  uint64_t value = 0;
  bool valid() const { return value != 0; }
  friend bool operator==(Handle a, Handle b) { return a.value == b.value; }
};
using ChunkHandle = Handle<struct ChunkTag>;
using StreamHandle = Handle<struct StreamTag>;
using EventHandle = Handle<struct EventTag>;
using ModuleHandle = Handle<struct ModuleTag>;
using KernelHandle = Handle<struct KernelTag>;
using GraphHandle = Handle<struct GraphTag>;

/// What a device is and can do; constant after creation.
struct DeviceInfo : DeviceAttributes {
  /// Ordinal among the devices of its kind.
  int index = 0;
  uint64_t memoryBytes = 0;
  /// Ticks per second of the clock that kernels time their waits with.
  uint64_t clockHz = 0;
  /// Memory kind that heaps on this device get.
  IrisRtMemoryKind memoryKind = IRISRT_MEMORY_HOST;
  /// Reservation and placed mappings (VMM) work: the heap gets a uniform
  /// stride.  Otherwise shareMemory/openMemory and table translation serve.
  bool canPlaceMappings = false;
  /// Streams can be captured into graphs.
  bool canCapture = false;
  /// New chunks and new shareable memory are zero without our doing.
  bool memoryStartsZero = false;
};

/// A handle that lets another rank map memory where mappings cannot be placed.
/// `pid`, `device` and `address` let a rank in the same process use the memory
/// as it is: drivers refuse to open their own handles.
struct IpcHandle {
  std::array<uint8_t, 64> bytes{};
  int32_t pid = 0;
  uint32_t device = 0;
  uint64_t address = 0;
};

/// Memory that host and device see coherently, zero at first.
struct HostVisibleMemory {
  void *host = nullptr;
  uint64_t device = 0;
  uint64_t bytes = 0;
};

/// How a kernel is launched.
struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t workgroup[3] = {1, 1, 1};
  /// Dynamic shared memory to ask for (GPU).
  uint32_t dynamicSharedBytes = 0;
  /// Bytes of IrisRtHostProgram.arena (host).
  uint64_t arenaBytes = 0;
  /// All programs must run at once.
  bool coresident = false;
  /// Pointers to the kernel's parameters, where the driver is to place them
  /// itself (GPU); null: they lie in the block as the kernel expects them.
  void **parameters = nullptr;
};

/// A buffer as a copy engine for tensors sees it: three dimensions, the first
/// one contiguous.
struct TensorMapSpec {
  IrisRtElement element = IRISRT_ELT_F16;
  uint64_t address = 0;
  uint64_t sizes[3] = {1, 1, 1};
  /// Bytes between neighbours of the second and of the third dimension.
  uint64_t strides[2] = {16, 16};
  /// Elements that one copy moves; 1 of the third dimension.
  uint32_t box[2] = {1, 1};
  /// Bytes of a row of shared memory: 32, 64 or 128.
  uint32_t swizzle = 128;
};

/// How long destroying a stream waits for its work where nobody says otherwise.
constexpr std::chrono::seconds destroyStreamLimit(10);

class Backend {
public:
  virtual ~Backend();

  const DeviceInfo &info() const { return info_; }

  //===--------------------------------------------------------------------===//
  // Address space and chunks (info().canPlaceMappings)
  //===--------------------------------------------------------------------===//

  /// Sizes and addresses of chunks are multiples of this (a power of two).
  virtual uint64_t granularity() const = 0;
  /// Reserves `bytes` of address space, aligned to `alignment`, no memory.
  virtual Expected<uint64_t> reserve(uint64_t bytes, uint64_t alignment) = 0;
  /// Gives a reservation back; everything in it must be unmapped.
  virtual Status unreserve(uint64_t address, uint64_t bytes) = 0;
  /// Creates physical memory that can be exported.
  virtual Expected<ChunkHandle> createChunk(uint64_t bytes) = 0;
  /// A descriptor by which another rank imports the chunk.
  virtual Expected<UniqueFd> exportChunk(ChunkHandle chunk) = 0;
  /// Takes a peer's descriptor, which holds a chunk of `bytes`; the back end
  /// checks what it can (the host: the file's size) before use.
  virtual Expected<ChunkHandle> importChunk(UniqueFd fd, uint64_t bytes) = 0;
  /// Maps a whole chunk at `address`, readable and writable for this device.
  virtual Status map(ChunkHandle chunk, uint64_t address, uint64_t bytes) = 0;
  /// Unmaps what map() mapped; the address range stays reserved.
  virtual Status unmap(uint64_t address, uint64_t bytes) = 0;
  /// Gives up this rank's hold on a chunk; a mapping keeps the memory alive.
  virtual Status releaseChunk(ChunkHandle chunk) = 0;

  //===--------------------------------------------------------------------===//
  // Shared memory at addresses of the driver's choice (the fallback)
  //===--------------------------------------------------------------------===//

  /// Allocates memory that shareMemory can share, in one piece.
  virtual Expected<uint64_t> allocateShareable(uint64_t bytes) = 0;
  virtual Status freeShareable(uint64_t address) = 0;
  virtual Expected<IpcHandle> shareMemory(uint64_t address) = 0;
  virtual Expected<uint64_t> openMemory(const IpcHandle &handle) = 0;
  virtual Status closeMemory(uint64_t address) = 0;

  //===--------------------------------------------------------------------===//
  // Other memory
  //===--------------------------------------------------------------------===//

  /// For the control block: coherent at system scope while kernels run.
  virtual Expected<HostVisibleMemory> allocateHostVisible(uint64_t bytes) = 0;
  virtual Status freeHostVisible(const HostVisibleMemory &memory) = 0;
  /// Small private device memory (tables).
  virtual Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual Status free(uint64_t address) = 0;
  /// Stream-ordered; both ranges are this device's or mapped peers' memory.
  virtual Status zero(StreamHandle stream, uint64_t address,
                      uint64_t bytes) = 0;
  /// Stream-ordered.  The host range must stay valid until the stream got
  /// there; pageable memory is allowed and may make the call wait.
  virtual Status copyToDevice(StreamHandle stream, uint64_t to,
                              const void *from, uint64_t bytes) = 0;
  virtual Status copyToHost(StreamHandle stream, void *to, uint64_t from,
                            uint64_t bytes) = 0;
  virtual Status copyOnDevice(StreamHandle stream, uint64_t to, uint64_t from,
                              uint64_t bytes) = 0;
  /// Copies, and waits for it: the host range is the caller's again when the
  /// call returns, also where the copy did not end within the limit.
  Status writeNow(StreamHandle stream, uint64_t to, const void *from,
                  uint64_t bytes, std::chrono::nanoseconds limit);
  /// Takes memory that work of a stream may still use, and frees it when no
  /// work can be left: at the end.
  void keepUntilEnd(std::unique_ptr<uint8_t[]> memory);

  //===--------------------------------------------------------------------===//
  // Streams and events
  //===--------------------------------------------------------------------===//

  /// A stream that no other stream synchronises with implicitly.  Devices may
  /// have fewer queues than there are streams; one that is urgent goes first,
  /// and with as many queues as usual does not share one with those that are
  /// not.
  virtual Expected<StreamHandle> createStream(bool isHighPriority = false) = 0;
  /// Waits for the stream's work, then destroys it; `timeout` when it does not
  /// end within the limit.  From then on, whatever it may use stays: functions
  /// that free or unmap memory or unload a module succeed and leave it to the
  /// end of the process, and so does the destructor.  On GPUs they do so too
  /// while work runs that synchronize has waited for in vain.
  virtual Status destroyStream(StreamHandle stream,
                               std::chrono::nanoseconds limit) = 0;
  Status destroyStream(StreamHandle stream) {
    return destroyStream(stream, destroyStreamLimit);
  }
  /// True when all work enqueued so far is done; a sticky device error shows
  /// here or in synchronize.
  virtual Expected<bool> query(StreamHandle stream) = 0;
  /// Waits until the stream is idle; `timeout` status when it is not in time.
  virtual Status synchronize(StreamHandle stream,
                             std::chrono::nanoseconds limit) = 0;

  virtual Expected<EventHandle> createEvent() = 0;
  virtual Status destroyEvent(EventHandle event) = 0;
  virtual Status record(EventHandle event, StreamHandle stream) = 0;
  /// Makes later work of `stream` wait for the event's last record.
  virtual Status wait(StreamHandle stream, EventHandle event) = 0;
  /// Makes later work of `stream` wait until the word at `address`, in memory
  /// of this device, has the value.  Nothing limits how long that takes: who
  /// enqueues it knows what will write the word, whatever happens.
  virtual Status waitEqual(StreamHandle stream, uint64_t address,
                           uint32_t value) = 0;
  /// Milliseconds between two completed events.
  virtual Expected<double> elapsedMs(EventHandle start, EventHandle end) = 0;

  //===--------------------------------------------------------------------===//
  // Modules and launches
  //===--------------------------------------------------------------------===//

  /// Loads an image; the bytes need not outlive the call.
  virtual Expected<ModuleHandle> loadModule(const void *image,
                                            size_t bytes) = 0;
  virtual Status unloadModule(ModuleHandle module) = 0;
  virtual Expected<KernelHandle> findKernel(ModuleHandle module,
                                            const char *symbol) = 0;
  /// How many programs of this kernel can run at once on the whole device.
  virtual Expected<uint32_t> maxCoresident(KernelHandle kernel,
                                           const LaunchConfig &config) = 0;
  /// Writes the IRISRT_TENSOR_MAP_BYTES bytes of a map to `out`; false where
  /// the device has no such engine, or it refuses the buffer.  Addresses and
  /// strides are multiples of 16.
  virtual Expected<bool> encodeTensorMap(const TensorMapSpec &spec, void *out) {
    (void)spec, (void)out;
    return false;
  }
  /// Stream-ordered launch; `args` (the packed block) is copied.
  virtual Status launch(StreamHandle stream, KernelHandle kernel,
                        const LaunchConfig &config, const void *args,
                        size_t argBytes) = 0;

  //===--------------------------------------------------------------------===//
  // Graphs (info().canCapture)
  //===--------------------------------------------------------------------===//

  /// From here on work for `stream` is recorded instead of run.
  virtual Status beginCapture(StreamHandle stream) = 0;
  virtual Expected<GraphHandle> endCapture(StreamHandle stream) = 0;
  virtual Status launchGraph(GraphHandle graph, StreamHandle stream) = 0;
  virtual Status destroyGraph(GraphHandle graph) = 0;

protected:
  /// For destructors that leave work running.
  void leakKeptMemory();

  DeviceInfo info_;

private:
  std::mutex keptMutex_;
  std::vector<std::unique_ptr<uint8_t[]>> kept_;
};

/// Opens device `index` of `kind`.  Without `placeMappings` it shares memory by
/// handles even where it could place mappings, so that kernels translate
/// addresses through a table.
Expected<std::unique_ptr<Backend>> createBackend(DeviceKind kind, int index,
                                                 bool placeMappings = true);

/// How many devices of `kind` there are; `unavailable` when the kind cannot be
/// used at all (no library, no driver).
Expected<int> countDevices(DeviceKind kind);

// The factories behind the two, one pair per back end.
Expected<std::unique_ptr<Backend>> createHostBackend(int index,
                                                     bool placeMappings);
Expected<std::unique_ptr<Backend>> createGpuBackend(DeviceKind kind, int index,
                                                    bool placeMappings);
Expected<int> countGpuDevices(DeviceKind kind);

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_BACKEND_H
