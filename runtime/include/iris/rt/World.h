// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A world: some ranks, each with a device, that share a symmetric heap.
//
//   auto world = iris::rt::World::create({});
//   auto address = (*world)->allocate(bytes);        // zeroed, on every rank
//   auto module = (*world)->load(package);
//   auto kernel = module->kernel("all_gather");
//   (*world)->launch(*kernel, {64, 1, 1}, {makeContextArg(), ...});
//   (*world)->sync();                                // stream, then all ranks
//
// "Collective" below means: every rank calls it, in the same order.  A world in
// which something went wrong is *failed*: all later calls return that error at
// once, on every rank, and destroying it works.
//
// A world belongs to the process that created it.  After fork, every call of it
// in the child fails at once with failedPrecondition (queries say no or 0),
// also those of its communicators, streams and events; its connections are
// closed there, so that the others notice the parent's end whatever the child
// does. Destroying it in the child frees memory of the child and touches
// nothing of the parent.  What the child writes to heap memory of the host,
// peers see.
//
// load() and runProgram() execute code of a package; see Package.h.
#ifndef IRIS_RT_WORLD_H
#define IRIS_RT_WORLD_H

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Device.h"
#include "iris/rt/Env.h"
#include "iris/rt/Kernel.h"
#include "iris/rt/Package.h"
#include "iris/rt/Status.h"
#include "iris/rt/Trace.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// Ranks that work together in a launch, in an order that all of them share.
struct Group {
  /// World ranks; at most IRISRT_MAX_GROUP.
  std::vector<uint32_t> ranks;
  /// The place of this rank among them; -1 when it is none of them.
  int32_t index = -1;

  bool contains() const { return index >= 0; }
};

class World;
struct ClockSample;

struct WorldOptions {
  DeviceKind device = DeviceKind::host;
  /// Which device; by default the launcher's local rank, modulo their number.
  std::optional<int> deviceIndex;
  /// Rank, size and job; by default from the environment.
  std::optional<LaunchInfo> launch;
  /// Tells worlds apart that the same ranks have at the same time.  By default
  /// they are counted, which works when all ranks create them in one order.
  std::string name;
  /// Bytes of one rank's heap; 0: IRIS_HEAP_SIZE, else the device's memory.
  uint64_t heapBytes = 0;
  /// Least number of bytes that the heap grows by.
  uint64_t heapChunkBytes = 64 << 20;
  /// Seconds that one wait of a kernel may take, 0 for ever; by default
  /// IRIS_WAIT_LIMIT, else 30.
  std::optional<double> waitLimit;
  /// Seconds to wait for all ranks to appear; by default IRIS_JOIN_LIMIT, else
  /// 60.
  std::optional<double> joinLimit;
  /// Seconds that sync and other collectives may take; by default
  /// IRIS_COLLECTIVE_LIMIT, else 300.
  std::optional<double> collectiveLimit;
  /// Execute nothing of packages in this process: neither images for the host
  /// nor `@main`.  By default IRIS_REFUSE_HOST_CODE.
  std::optional<bool> refuseHostCode;
  /// Translate through a table even where a uniform stride would work.
  bool forceTable = false;
};

/// A stream of a world; the default one has id 0.
struct Stream {
  uint64_t id = 0;
};

/// An event of a world.
struct Event {
  uint64_t id = 0;
};

/// A captured graph of a world.
struct Graph {
  uint64_t id = 0;
};

/// A kernel that is loaded on a world's device; valid while the world lives.
class Kernel {
public:
  const KernelInfo &info() const { return *info_; }

private:
  friend class World;
  friend class Module;
  const KernelInfo *info_ = nullptr;
  uint64_t handle_ = 0;
  /// Of a kernel whose programs wait for each other: how many of them fit; 0:
  /// not known yet.
  uint32_t mostCoresident_ = 0;
};

/// A package that is loaded on a world's device; valid while the world lives.
class Module {
public:
  /// The kernel called "module::name", or just "name" where that is clear.
  Expected<Kernel> kernel(std::string_view name) const;

private:
  friend class World;
  World *world_ = nullptr;
  const PackageImage *image_ = nullptr;
  uint64_t handle_ = 0;
};

/// What the `iris.expect_eq` of this rank's kernels found so far.
struct ExpectReport {
  uint64_t checked = 0;
  uint64_t failed = 0;
  /// The first mismatch in words; empty when there is none.
  std::string first;
};

class World {
public:
  /// Collective.
  static Expected<std::unique_ptr<World>> create(const WorldOptions &options);
  /// Destroys the world if destroy() was not called.
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  /// Collective unless the world has failed; bounded in time.
  Status destroy();

  uint32_t rank() const;
  uint32_t numRanks() const;
  DeviceKind deviceKind() const;
  /// Target name of the device: "host", "gfx942", "sm_90a".
  const std::string &target() const;
  const std::string &deviceName() const;
  const DeviceAttributes &deviceAttributes() const;
  /// "stride" or "table".
  const char *translation() const;

  /// The error that made the world fail, or success.
  Status failure() const;
  /// Makes the world fail, here and on all other ranks.
  void fail(const Status &status);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Zeroed memory on the symmetric heap.  Every rank makes the same calls of
  /// allocate and deallocate in the same order; ranks that differ are found out
  /// at the next sync.
  Expected<uint64_t> allocate(uint64_t bytes, uint64_t alignment = 256);
  Status deallocate(uint64_t address);
  /// Whether the bytes lie in one allocation of this rank's heap.
  bool isSymmetric(uint64_t address, uint64_t bytes = 1) const;
  /// Address of this rank's heap as kernels on this rank see rank `rank`'s.
  Expected<uint64_t> translate(uint64_t address, uint32_t rank) const;
  /// Bytes reserved for, and in use on, one rank's heap.
  uint64_t heapBytes() const;
  uint64_t heapUsed() const;
  /// Memory that was allocated elsewhere cannot join the heap; the status says
  /// why and what to do instead.
  Status importExternal(uint64_t address, uint64_t bytes) const;

  /// Stream-ordered; the host's bytes must stay until the stream got there.
  Status copyToDevice(uint64_t to, const void *from, uint64_t bytes,
                      Stream stream = {});
  Status copyToHost(void *to, uint64_t from, uint64_t bytes,
                    Stream stream = {});
  Status copyOnDevice(uint64_t to, uint64_t from, uint64_t bytes,
                      Stream stream = {});
  /// Copies and waits for the stream.  The host's bytes are the caller's again
  /// when the call returns, also where it fails and the copy may yet come: fit
  /// for local variables.
  Status writeNow(uint64_t to, const void *from, uint64_t bytes,
                  Stream stream = {});
  Status readNow(void *to, uint64_t from, uint64_t bytes, Stream stream = {});
  /// Done also in a failed world, whose error it returns: what waits on a
  /// stream (waitEqual) can be ended.
  Status zero(uint64_t address, uint64_t bytes, Stream stream = {});

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// An error where WorldOptions::refuseHostCode forbids to run a `@main`.
  Status checkMayRunMain() const;
  /// The device context that kernels get; it never goes stale.
  IrisRtContext context() const;
  /// Loads the package's image for this device; the world keeps the package.
  /// A package with the same bytes is loaded once, whoever asks.
  Expected<Module> load(const Package &package);
  /// Finds a kernel among all loaded packages.
  Expected<Kernel> findKernel(std::string_view name) const;
  /// Stream-ordered.  The arguments are checked against the kernel's metadata.
  /// `group` is what the kernel's group ops and group barriers see; by default
  /// the world, if it has at most IRISRT_MAX_GROUP ranks.  A generated
  /// collective takes no more programs than its config says.
  Status launch(const Kernel &kernel, const std::array<uint64_t, 3> &programs,
                const std::vector<IrisRtArg> &args, Stream stream = {},
                const Group *group = nullptr);
  Status launch(const Kernel &kernel, const uint64_t programs[3],
                const IrisRtArg *args, size_t numArgs, Stream stream = {},
                const Group *group = nullptr);
  /// The same for callers that know by isSymmetric that the buffers lie on the
  /// heap which have to: that is not looked up again.
  Status launchOnHeap(const Kernel &kernel, const uint64_t programs[3],
                      const IrisRtArg *args, size_t numArgs, Stream stream = {},
                      const Group *group = nullptr);
  /// The group of these world ranks, which must be different and in range;
  /// member i is ranks[i].  No other rank needs to be asked.
  Expected<Group> makeGroup(const std::vector<uint32_t> &ranks) const;
  /// How many programs of a kernel can run at once on this device.
  Expected<uint32_t> maxCoresident(const Kernel &kernel) const;

  //===--------------------------------------------------------------------===//
  // Order
  //===--------------------------------------------------------------------===//

  /// What is urgent goes before what is not, where both could start, and does
  /// not queue up behind it where the device has its usual queues
  /// (Env::deviceQueues).
  Expected<Stream> createStream(bool isHighPriority = false);
  Status destroyStream(Stream stream);
  /// Waits for one stream of this rank only.
  Status synchronize(Stream stream = {});
  Expected<Event> createEvent();
  Status destroyEvent(Event event);
  Status record(Event event, Stream stream = {});
  Status waitFor(Event event, Stream stream = {});
  /// The stream goes on when the word at `address`, on this rank, has the
  /// value.  Nothing limits how long that takes: make sure that something
  /// writes it, also after a failure.
  Status waitEqual(uint64_t address, uint32_t value, Stream stream = {});
  Expected<double> elapsedMs(Event start, Event end) const;

  Status beginCapture(Stream stream = {});
  Expected<Graph> endCapture(Stream stream = {});
  /// Whether a stream of this rank is being captured.
  bool capturing() const;
  Status launchGraph(Graph graph, Stream stream = {});
  Status destroyGraph(Graph graph);

  /// All ranks' host threads have arrived.  Collective.
  Status barrier();
  /// A number for exchange().  All ranks get the same one if they ask in the
  /// same order.
  uint32_t makeChannel();
  /// What every member of the group passes, in its order; at most 1024 bytes
  /// each.  Only the members call it, in the same order for each channel.
  Expected<std::vector<std::string>>
  exchange(const Group &group, uint32_t channel, const std::string &mine);
  /// The stream's work is done on all ranks.  Collective.
  Status deviceBarrier(Stream stream = {});
  /// All streams' work is done on all ranks, nothing hung, and all ranks used
  /// the heap alike; memory that was freed becomes available.  Collective.
  Status sync();

  //===--------------------------------------------------------------------===//
  // Traces
  //===--------------------------------------------------------------------===//

  /// From now on launched kernels that were compiled with traces record them,
  /// in a buffer on the heap.  Comes before their packages are loaded, so that
  /// the device's clock can be compared with the host's early.  Collective.
  Status startTrace(const TraceOptions &options = {});
  /// sync(), then rank 0 writes what all ranks have recorded to `path`; the
  /// trace ends.  All ranks get the summary, or the reason why there is none.
  /// Collective.
  Expected<TraceSummary> writeTrace(const std::string &path);

  //===--------------------------------------------------------------------===//
  // Checks
  //===--------------------------------------------------------------------===//

  /// What kernels' checks found on this rank; after sync().
  ExpectReport expects() const;
  /// sync(), then an error on every rank if a check failed on any.  Collective.
  Status verify();

private:
  friend class Module;
  /// The device's time, if a kernel that tells it is loaded.
  Expected<std::optional<ClockSample>> askClock();
  /// Remembers the first answer.
  Status compareClocks();
  /// The trace buffers of all ranks.
  Status readTraces(std::vector<std::vector<uint8_t>> &buffers);
  struct __attribute__((visibility("hidden"))) Impl;
  explicit World(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_WORLD_H
