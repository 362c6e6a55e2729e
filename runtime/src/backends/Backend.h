// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backend.h - Device interface -----------------------------*- C++ -*-===//
//
// The interface to devices.  Implementations: the host back end
// (backends/host), which the emulated back end (backends/emulated) extends by
// AMD code that another process executes, and the GPU back end (backends/gpu),
// which calls HIP or CUDA through a table of symbols from dlopen.
// test/runtime/conformance tests all of them.
//
// Rules for implementers:
//   * a Backend belongs to one World; its methods may be called from any
//     thread, so a GPU back end makes its context current on entry;
//   * device addresses are uint64_t; on the host they are ordinary addresses;
//   * nothing throws, prints or exits; a missing device or library is
//     `unavailable` with the reason;
//   * stream-ordered functions return before the work is done;
//   * the destructor releases all resources, also after a failure.
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
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace iris::rt {

/// A typed opaque handle of a back end; zero is invalid.
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

/// The properties of a device; constant after creation.
struct DeviceInfo : DeviceAttributes {
  /// The device's index among the devices of its kind.
  int index = 0;
  uint64_t memoryBytes = 0;
  /// Ticks per second of the clock that measures waits in kernels.
  uint64_t clockHz = 0;
  /// The memory kind of heaps on this device.
  IrisRtMemoryKind memoryKind = IRISRT_MEMORY_HOST;
  /// Memory can be mapped at reserved addresses (VMM), so heaps have a uniform
  /// stride. Otherwise the heap uses shareMemory/openMemory and table
  /// translation.
  bool canPlaceMappings = false;
  /// Streams can be captured into graphs.
  bool canCapture = false;
  /// New chunks and new shareable memory are zero.
  bool memoryStartsZero = false;
};

/// A handle with which another rank maps memory without placement. `pid`,
/// `device` and `address` let a rank in the same process use the memory
/// directly, because drivers refuse to open their own handles.
struct IpcHandle {
  std::array<uint8_t, 64> bytes{};
  int32_t pid = 0;
  uint32_t device = 0;
  uint64_t address = 0;
};

/// Memory that another owner in this process has mapped: its handle, and the
/// whole mapping.
struct RetainedChunk {
  ChunkHandle chunk;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// Memory that is coherent between host and device; initially zero.
struct HostVisibleMemory {
  void *host = nullptr;
  uint64_t device = 0;
  uint64_t bytes = 0;
};

/// The parameters of a kernel launch.
struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t workgroup[3] = {1, 1, 1};
  /// Bytes of dynamic shared memory (GPU).
  uint32_t dynamicSharedBytes = 0;
  /// Bytes of IrisRtHostProgram.arena (host).
  uint64_t arenaBytes = 0;
  /// All programs must run concurrently.
  bool coresident = false;
  /// The kernel waits for the one in front of it in the stream itself.
  bool dependent = false;
  /// The stream is captured into a graph.
  bool isCaptured = false;
  /// Pointers to the kernel's parameters, if the driver must place them (GPU);
  /// null: the argument block has the layout that the kernel expects.
  void **parameters = nullptr;
};

/// A tensor map: a three-dimensional buffer whose first dimension is
/// contiguous.
struct TensorMapSpec {
  IrisRtElement element = IRISRT_ELT_F16;
  uint64_t address = 0;
  uint64_t sizes[3] = {1, 1, 1};
  /// Strides of the second and third dimension in bytes.
  uint64_t strides[2] = {16, 16};
  /// Elements per copy; 1 in the third dimension.
  uint32_t box[2] = {1, 1};
  /// Bytes of a swizzled row of shared memory: 32, 64 or 128.
  uint32_t swizzle = 128;
};

/// A matmul that a library of the device's vendor computes: c = scale * a * b,
/// row-major, with sums in f32 that are rounded once, to the result's type.
struct LibraryMatmulSpec {
  /// f16, bf16 or f32.
  IrisRtElement element = IRISRT_ELT_F16, result = IRISRT_ELT_F16;
  uint64_t m = 1, n = 1, k = 1;
  bool aIsColumnMajor = false, bIsColumnMajor = false;
};

/// One such matmul; destroyed before its back end. Calls are ordered on the
/// device, because they share a workspace.
class LibraryMatmul {
public:
  virtual ~LibraryMatmul();
  /// Stream-ordered, and can be captured.
  virtual Status run(StreamHandle stream, uint64_t a, uint64_t b, uint64_t c,
                     float scale) = 0;
  /// "cuBLASLt".
  virtual const char *name() const = 0;
};

/// The default time limit for a stream's work when the stream is destroyed.
constexpr std::chrono::seconds destroyStreamLimit(10);

class Backend {
public:
  virtual ~Backend();

  const DeviceInfo &info() const { return info_; }

  //===--------------------------------------------------------------------===//
  // Address space and chunks (info().canPlaceMappings)
  //===--------------------------------------------------------------------===//

  /// Lets this device access what the process allocates on another one, beside
  /// the heap. `unavailable` if it cannot; the host always can.
  virtual Status enablePeer(int /*device*/) { return Status::success(); }
  /// Lets all devices that have a link to this one access what is mapped from
  /// now on, at the addresses where it is mapped; the host always can.
  virtual Status letPeersAccess() { return Status::success(); }
  /// The granularity of chunk sizes and addresses; a power of two.
  virtual uint64_t granularity() const = 0;
  /// Reserves `bytes` of address space without memory, aligned to `alignment`.
  virtual Expected<uint64_t> reserve(uint64_t bytes, uint64_t alignment) = 0;
  /// Releases a reservation, in which nothing may be mapped.
  virtual Status unreserve(uint64_t address, uint64_t bytes) = 0;
  /// Creates physical memory that can be exported.
  virtual Expected<ChunkHandle> createChunk(uint64_t bytes) = 0;
  /// Returns a descriptor with which another rank imports the chunk.
  virtual Expected<UniqueFd> exportChunk(ChunkHandle chunk) = 0;
  /// Imports a chunk of `bytes` from a peer's descriptor. Checks what the
  /// platform can check (on the host, the file's size).
  virtual Expected<ChunkHandle> importChunk(UniqueFd fd, uint64_t bytes) = 0;
  /// Maps a whole chunk at `address`, readable and writable by this device.
  virtual Status map(ChunkHandle chunk, uint64_t address, uint64_t bytes) = 0;
  /// Unmaps a mapping of map(); the address range stays reserved.
  virtual Status unmap(uint64_t address, uint64_t bytes) = 0;
  /// Releases this rank's reference to a chunk; mappings keep the memory alive.
  virtual Status releaseChunk(ChunkHandle chunk) = 0;
  /// Takes a handle of memory that another owner in this process has mapped,
  /// such as the program; exportChunk and map accept it. The memory stays alive
  /// until releaseChunk, and longer if it is mapped.
  /// \param address an address in the mapping
  /// \retval invalidArgument there is no memory, or it is another device's
  /// \retval unavailable peers cannot map memory of this kind, or must not
  virtual Expected<RetainedChunk> retainChunk(uint64_t address);
  /// Allocates memory of its own handle, which retainChunk of any object for
  /// this device accepts if info().canPlaceMappings; not zeroed.
  virtual Expected<uint64_t> allocateImportable(uint64_t bytes) = 0;
  virtual Status freeImportable(uint64_t address) = 0;

  //===--------------------------------------------------------------------===//
  // Shared memory without placement (the fallback)
  //===--------------------------------------------------------------------===//

  /// Allocates memory that shareMemory can share as a whole.
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
  /// The bytes of the device's memory that no process has allocated.
  virtual Expected<uint64_t> freeBytes() = 0;
  /// Allocates small private device memory (tables).
  virtual Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual Status free(uint64_t address) = 0;
  /// Stream-ordered. The memory is this device's, or a peer's that is mapped.
  virtual Status zero(StreamHandle stream, uint64_t address,
                      uint64_t bytes) = 0;
  /// Stream-ordered. The host memory must stay valid until the copy is
  /// complete. It may be pageable; the call may then block.
  virtual Status copyToDevice(StreamHandle stream, uint64_t to,
                              const void *from, uint64_t bytes) = 0;
  virtual Status copyToHost(StreamHandle stream, void *to, uint64_t from,
                            uint64_t bytes) = 0;
  virtual Status copyOnDevice(StreamHandle stream, uint64_t to, uint64_t from,
                              uint64_t bytes) = 0;
  /// Calls a function on a thread of the host. Stream-ordered; in a graph, at
  /// every replay. The function uses no stream of any device. `unavailable` if
  /// the driver cannot call functions, or (GPU) the stream is captured.
  virtual Status callOnHost(StreamHandle stream,
                            std::function<void()> function) = 0;
  /// Copies and waits. The host memory can be reused when the call returns,
  /// even if the copy did not complete within the limit.
  Status writeNow(StreamHandle stream, uint64_t to, const void *from,
                  uint64_t bytes, std::chrono::nanoseconds limit);
  /// Keeps memory that pending work may use until the end, when no work can be
  /// left, and then frees it.
  void keepUntilEnd(std::unique_ptr<uint8_t[]> memory);

  //===--------------------------------------------------------------------===//
  // Streams and events
  //===--------------------------------------------------------------------===//

  /// Creates a stream without implicit synchronization with other streams.
  /// Devices may have fewer hardware queues than streams. Work of a
  /// high-priority stream starts first; with the default number of queues, it
  /// does not share a queue with other streams.
  virtual Expected<StreamHandle> createStream(bool isHighPriority = false) = 0;
  /// Takes a stream that the process created by other means, by the driver's
  /// handle; null is the device's default stream. The same stream has the same
  /// handle until destroyStream, which waits for the stream's work and destroys
  /// nothing. The stream must exist until then. Fails for another device's.
  virtual Expected<StreamHandle> adoptStream(void *native);
  /// Drops the handle of an adopted stream without touching the stream, which
  /// may no longer exist. `invalidArgument` for any other stream.
  virtual Status forgetStream(StreamHandle stream);
  /// Whether the stream's work is captured instead of run, whoever began that.
  virtual Expected<bool> isCapturing(StreamHandle stream) = 0;
  /// A number that no other stream of the process has or had; none if the
  /// driver does not tell, or if the handle is another stream on each thread.
  virtual std::optional<uint64_t> streamId(StreamHandle stream) = 0;
  /// The driver's handle of a stream, for libraries that enqueue work; the
  /// opposite of adoptStream. On the host, only streams of createHostStream
  /// have one; `unavailable` for the others.
  virtual Expected<void *> nativeStream(StreamHandle stream) = 0;
  /// Prepares a thread of the runtime that calls this object or other
  /// libraries: the device is current from then on, and calls do not break
  /// captures of the program's threads.
  virtual Status useThread() { return Status::success(); }
  /// Asks the device whether it has failed, without waiting, by a stream of
  /// this object. Breaks no captures of the program's threads.
  virtual Status checkDevice(StreamHandle /*stream*/) {
    return Status::success();
  }
  /// Calls a function with the device current on the calling thread.
  virtual Status callOnDevice(const std::function<Status()> &function) {
    return function();
  }
  /// Waits for the stream's work, then destroys it; `timeout` if the work does
  /// not end within the limit. Afterwards the memory and code that it may use
  /// stay allocated: functions that free or unmap memory or unload a module
  /// succeed without effect, and so does the destructor. On GPUs the same
  /// applies while work is running for which synchronize has timed out. A back
  /// end that can end the work does so, and returns `aborted`.
  virtual Status destroyStream(StreamHandle stream,
                               std::chrono::nanoseconds limit) = 0;
  Status destroyStream(StreamHandle stream) {
    return destroyStream(stream, destroyStreamLimit);
  }
  /// True if all work enqueued so far is done. A sticky device error is
  /// reported here or by synchronize.
  virtual Expected<bool> query(StreamHandle stream) = 0;
  /// Waits until the stream is idle; `timeout` if it is not within the limit.
  virtual Status synchronize(StreamHandle stream,
                             std::chrono::nanoseconds limit) = 0;

  /// An event without a time costs less; elapsedMs does not take it.
  virtual Expected<EventHandle> createEvent(bool isTimed) = 0;
  Expected<EventHandle> createEvent() { return createEvent(true); }
  virtual Status destroyEvent(EventHandle event) = 0;
  virtual Status record(EventHandle event, StreamHandle stream) = 0;
  /// Makes later work of `stream` wait for the event's last record.
  virtual Status wait(StreamHandle stream, EventHandle event) = 0;
  /// Makes later work of `stream` wait until the 32-bit word at `address`, in
  /// this device's memory, has the value. There is no time limit: the caller
  /// must ensure that the word is written, also after a failure.
  virtual Status waitEqual(StreamHandle stream, uint64_t address,
                           uint32_t value) = 0;
  /// Milliseconds between two completed events.
  virtual Expected<double> elapsedMs(EventHandle start, EventHandle end) = 0;

  //===--------------------------------------------------------------------===//
  // Modules and launches
  //===--------------------------------------------------------------------===//

  /// Loads an image; the bytes need not outlive the call.
  /// Whether modules can be loaded while a stream is captured.
  virtual bool canLoadInCaptures() const { return true; }
  virtual Expected<ModuleHandle> loadModule(const void *image,
                                            size_t bytes) = 0;
  virtual Status unloadModule(ModuleHandle module) = 0;
  virtual Expected<KernelHandle> findKernel(ModuleHandle module,
                                            const char *symbol) = 0;
  /// The maximum number of programs that run concurrently on the device.
  virtual Expected<uint32_t> maxCoresident(KernelHandle kernel,
                                           const LaunchConfig &config) = 0;
  /// Encodes a tensor map in the IRISRT_TENSOR_MAP_BYTES bytes at `out`; false
  /// if the device does not support tensor maps or rejects the buffer.
  /// Addresses and strides must be multiples of 16.
  virtual Expected<bool> encodeTensorMap(const TensorMapSpec &spec, void *out) {
    (void)spec, (void)out;
    return false;
  }
  /// Names the world's abort word (IRISRT_ABORT_*), in memory of
  /// allocateHostVisible. Where streams can end with an error, launches and
  /// copies do not start once the word is set, and streams of the caller end
  /// with `aborted`, once, if that or ended waits may have been because of
  /// another rank or the time limit.
  virtual void watchAbort(const uint32_t *word) { (void)word; }
  /// Whether this object can tell which work has ended, and still has some on
  /// the stream, which may be gone. Work in graphs of the program is not seen.
  virtual bool canTellWork() const { return false; }
  /// If it can tell: whether the abort word was set before some work had ended.
  virtual bool hasCutWorkShort() const { return false; }
  virtual bool hasWork(StreamHandle stream) { return (void)stream, true; }
  /// Stream-ordered; copies `args`, the packed block.
  virtual Status launch(StreamHandle stream, KernelHandle kernel,
                        const LaunchConfig &config, const void *args,
                        size_t argBytes) = 0;

  /// `unavailable` if there is no library, or if it has no algorithm.
  virtual Expected<std::unique_ptr<LibraryMatmul>>
  createLibraryMatmul(const LibraryMatmulSpec &spec);

  //===--------------------------------------------------------------------===//
  // Graphs (info().canCapture)
  //===--------------------------------------------------------------------===//

  /// Records later work of `stream` instead of running it.
  virtual Status beginCapture(StreamHandle stream) = 0;
  virtual Expected<GraphHandle> endCapture(StreamHandle stream) = 0;
  virtual Status launchGraph(GraphHandle graph, StreamHandle stream) = 0;
  virtual Status destroyGraph(GraphHandle graph) = 0;

protected:
  /// Leaks the kept memory, for destructors that leave work running.
  void leakKeptMemory();

  DeviceInfo info_;

private:
  std::mutex keptMutex_;
  std::vector<std::unique_ptr<uint8_t[]>> kept_;
};

/// Opens device `index` of a kind. Without `placeMappings` it shares memory by
/// handles even if it could place mappings, so that kernels translate addresses
/// through a table.
Expected<std::unique_ptr<Backend>>
createBackend(const DeviceSpec &device, int index, bool placeMappings = true);

/// DeviceTarget::translation of a device that can, or cannot, place mappings.
const char *translationOf(bool canPlaceMappings);

/// The number of devices of a kind; `unavailable` if the kind cannot be used at
/// all (no library, no driver, no emulator).
Expected<int> countDevices(const DeviceSpec &device);

// The factories of the back ends.
Expected<std::unique_ptr<Backend>> createHostBackend(int index,
                                                     bool placeMappings);
Expected<std::unique_ptr<Backend>>
createEmulatedBackend(const std::string &chip, int index, bool placeMappings);
Expected<int> countEmulatedDevices();
Expected<std::unique_ptr<Backend>> createGpuBackend(DeviceKind kind, int index,
                                                    bool placeMappings);
Expected<int> countGpuDevices(DeviceKind kind);
Expected<int> currentGpuDevice(DeviceKind kind);

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_BACKEND_H
