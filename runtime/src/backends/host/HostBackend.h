// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostBackend.h - Back end for the host --------------------*- C++ -*-===//
//
// Ranks are processes (or threads) of one machine, device memory is anonymous
// shared memory, and kernels are shared objects.
#ifndef IRIS_RT_BACKENDS_HOST_HOSTBACKEND_H
#define IRIS_RT_BACKENDS_HOST_HOSTBACKEND_H

#include "backends/Backend.h"
#include "backends/host/HostStream.h"
#include "backends/host/ThreadTeam.h"
#include "core/SharedImage.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace iris::rt {

/// The maximum number of programs of a launch that can run concurrently.
constexpr uint32_t maxHostCoresident = 1024;

/// A derived back end may execute kernels in another process (the hooks below).
class HostBackend : public Backend {
public:
  /// Without `placeMappings` the back end behaves like a device that cannot
  /// place mappings, to test table translation anywhere.
  explicit HostBackend(bool placeMappings);
  ~HostBackend() override;

  uint64_t granularity() const override;
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
  Status callOnHost(StreamHandle stream,
                    std::function<void()> function) override;

  Expected<StreamHandle> createStream(bool isHighPriority) override;
  Expected<StreamHandle> adoptStream(void *native) override;
  Status forgetStream(StreamHandle stream) override;
  Expected<void *> nativeStream(StreamHandle stream) override;
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
  Status waitEqual(StreamHandle stream, uint64_t address,
                   uint32_t value) override;
  Expected<double> elapsedMs(EventHandle start, EventHandle end) override;

  Expected<ModuleHandle> loadModule(const void *image, size_t bytes) override;
  Status unloadModule(ModuleHandle module) override;
  Expected<KernelHandle> findKernel(ModuleHandle module,
                                    const char *symbol) override;
  Expected<uint32_t> maxCoresident(KernelHandle kernel,
                                   const LaunchConfig &config) override;
  void watchAbort(const uint32_t *word) override { abortWord_ = word; }
  bool canTellWork() const override { return true; }
  bool hasCutWorkShort() const override { return cutShort_->load(); }
  bool hasWork(StreamHandle stream) override;
  Status launch(StreamHandle stream, KernelHandle kernel,
                const LaunchConfig &config, const void *args,
                size_t argBytes) override;

  Status beginCapture(StreamHandle stream) override;
  Expected<GraphHandle> endCapture(StreamHandle stream) override;
  Status launchGraph(GraphHandle graph, StreamHandle stream) override;
  Status destroyGraph(GraphHandle graph) override;

protected:
  // Hooks for a back end whose kernels run in another process, which must have
  // the same memory at the same addresses. They are called for all memory that
  // kernels may use, after it is mapped here and before it is unmapped.

  /// False if the other process already uses the addresses; the back end then
  /// chooses others.
  virtual Expected<bool> reserved(uint64_t address, uint64_t bytes) {
    (void)address, (void)bytes;
    return true;
  }
  virtual Expected<bool> mapped(int fd, uint64_t address, uint64_t bytes) {
    (void)fd, (void)address, (void)bytes;
    return true;
  }
  virtual void unmapping(uint64_t address, uint64_t bytes) {
    (void)address, (void)bytes;
  }
  virtual void unreserving(uint64_t address, uint64_t bytes) {
    (void)address, (void)bytes;
  }
  /// Whether kernels run in this process.
  virtual bool runsKernelsHere() const { return true; }

  /// Appends work to a stream.
  Status enqueue(StreamHandle stream, HostTask task);
  /// The task, which does not start once the world's waits have ended.
  HostTask unlessAborted(StreamHandle stream, HostTask task);
  /// Ends all streams; for destructors.
  void destroyStreams();
  /// A launch failed; shared with the tasks that wait for memory values.
  const std::shared_ptr<std::atomic<bool>> launchFailed_ =
      std::make_shared<std::atomic<bool>>(false);

private:
  /// Whether a task that has ended on a stream had what it needs.
  std::function<Status()> checkOfStream(StreamHandle stream);
  const uint32_t *abortWord_ = nullptr;
  std::shared_ptr<std::atomic<bool>> cutShort_ =
      std::make_shared<std::atomic<bool>>(false);
  /// By stream: the number of tasks that have not ended. Guarded by mutex_.
  std::map<uint64_t, std::shared_ptr<std::atomic<uint64_t>>> work_;

  /// The mark of an event's last record, shared with the tasks that set and
  /// read it.
  struct EventState {
    explicit EventState(bool isTimed) : isTimed(isTimed) {}
    const bool isTimed;
    std::mutex mutex;
    std::shared_ptr<HostMark> last;
    /// The capture of the last record, if it was captured.
    std::shared_ptr<HostCapture> capture;
    std::shared_ptr<HostPoint> point;
  };

  /// A table of live objects; its keys are the handles.
  template <typename T>
  struct Table {
    std::map<uint64_t, T> entries;
    uint64_t next = 1;
    uint64_t add(T value) {
      entries.emplace(next, std::move(value));
      return next++;
    }
  };

  Expected<uint64_t> mapAnywhere(int fd, uint64_t bytes);
  Expected<std::shared_ptr<HostStream>> findStream(StreamHandle stream);
  bool isAdopted(StreamHandle stream);
  /// Drops a stream's handle.
  void eraseStream(StreamHandle stream);
  Expected<std::shared_ptr<EventState>> findEvent(EventHandle event);

  std::mutex mutex_; // guards the tables and maps
  Table<UniqueFd> chunks_;
  Table<std::shared_ptr<HostStream>> streams_;
  /// The handles of adopted streams in streams_.
  std::map<void *, uint64_t> adopted_;
  Table<std::shared_ptr<EventState>> events_;
  Table<SharedImage> modules_;
  Table<std::shared_ptr<HostGraph>> graphs_;
  /// Shared mappings at addresses that the system chose: address -> size, and
  /// the descriptor if this rank owns the memory.
  struct Mapping {
    uint64_t bytes = 0;
    UniqueFd fd;
  };
  std::map<uint64_t, Mapping> mappings_;
  std::multiset<uint64_t> borrowed_; // from other ranks in this process
  std::map<uint64_t, uint64_t> reservations_;
  std::shared_ptr<ThreadTeam> team_;
  uint32_t workers_ = 1;
  /// A kernel did not end, so the memory that it may use must stay.
  bool stuck_ = false;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_HOSTBACKEND_H
