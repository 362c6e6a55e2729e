// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.h - Ranks that share a symmetric heap --------------*- C++ -*-===//
//
// A world is a set of ranks, each with a device, that share a symmetric heap.
//
//   auto world = iris::rt::World::create({});
//   auto in = (*world)->allocate<float>(count);      // zeroed, on every rank
//   auto module = (*world)->load(package);
//   auto kernel = module->kernel("all_gather");
//   (*world)->launch(*kernel, {64, 1, 1}, {makeContextArg(), in->arg()});
//   (*world)->sync();                                // stream, then all ranks
//
// "Collective" means that every rank calls the function, in the same order.
// After an error the world is *failed*: all later calls return that error
// immediately, on every rank, except that the world can be destroyed.
//
// A world belongs to the process that created it.  After fork, every call in
// the child fails with failedPrecondition (queries return false or 0),
// including calls of its communicators, streams and events.  The child's copies
// of the connections are closed, so that peers notice the end of the parent
// whatever the child does.  Destroying the world in the child frees only memory
// of the child.  Writes of the child to host heap memory are visible to peers.
//
// load() and runProgram() execute code of a package; see Package.h.
//
// Addresses are 64-bit addresses of this rank's device, and sizes are in bytes
// unless a comment says otherwise.
//
// \param stream the stream; default: the default stream
// \param bytes the number of bytes
// \retval invalidArgument a handle, an address or a size is not one that the
//   call accepts
// \retval failedPrecondition the call is not possible now: in a forked child,
//   during a capture, or because ranks differ
// \retval unavailable the device or the driver lacks what the call needs
// \retval timeout a time limit expired, on this rank or a peer
// \retval aborted another rank failed or ended
// \retval deviceError the device failed: a call of its driver, or a kernel, by
//   a fault or a trap
// \retval internal the system failed
#ifndef IRIS_RT_WORLD_H
#define IRIS_RT_WORLD_H

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Device.h"
#include "iris/rt/Env.h"
#include "iris/rt/Kernel.h"
#include "iris/rt/Package.h"
#include "iris/rt/Status.h"
#include "iris/rt/Trace.h"
#include "iris/rt/TypedBuffer.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// An ordered set of ranks that work together in a launch; equal on all of
/// them.
struct Group {
  /// World ranks; at most IRISRT_MAX_GROUP. Those of more than
  /// IRISRT_MAX_ANY_GROUP are less than 16.
  std::vector<uint32_t> ranks;
  /// The index of this rank in `ranks`; -1 if it is not part of the group.
  int32_t index = -1;

  /// \return whether this rank is part of the group
  bool contains() const { return index >= 0; }
};

class World;
struct ClockSample;
struct __attribute__((visibility("hidden"))) WorldAccess;

/// Options of World::create. All ranks pass the same, except deviceIndex and
/// the rank in `launch`.
struct WorldOptions {
  /// The kind of device on which the ranks run.
  DeviceSpec device;
  /// The device index; default: the launcher's local rank modulo the number of
  /// devices.
  std::optional<int> deviceIndex;
  /// Rank, size and job; default: from the environment.
  std::optional<LaunchInfo> launch;
  /// Distinguishes worlds that the same ranks have at the same time. By default
  /// worlds are numbered in the order of creation, which must be equal on all
  /// ranks.
  std::string name;
  /// Bytes of one rank's heap; 0: IRIS_HEAP_SIZE, else the device's memory.
  uint64_t heapBytes = 0;
  /// Bytes of addresses that each rank's heap has for imports, beside
  /// heapBytes; 0: none. Default: IRIS_IMPORT_SIZE, else the device's memory,
  /// and on the host what the heap has, at most 4 GiB. The smallest value of
  /// all ranks holds. Addresses cost no memory.
  std::optional<uint64_t> importBytes;
  /// The minimum number of bytes by which the heap grows.
  uint64_t heapChunkBytes = 64 << 20;
  /// The time limit of one wait in a kernel, in seconds; 0: unlimited. Default:
  /// IRIS_WAIT_LIMIT, else 30.
  std::optional<double> waitLimit;
  /// The time limit for all ranks to join, in seconds. Default:
  /// IRIS_JOIN_LIMIT, else 60.
  std::optional<double> joinLimit;
  /// The time limit of sync and other collectives, in seconds. Default:
  /// IRIS_COLLECTIVE_LIMIT, else 300.
  std::optional<double> collectiveLimit;
  /// Never execute code of packages in this process: neither host images nor
  /// `@main`. Default: IRIS_REFUSE_HOST_CODE.
  std::optional<bool> refuseHostCode;
  /// Ends create() with `aborted`, while it waits for other ranks, when another
  /// thread sets it; null: never. Must exist until create() returns.
  const std::atomic<bool> *cancelled = nullptr;
  /// Translate addresses through a table even if a uniform stride would work.
  bool forceTable = false;
  /// Let all devices that have a link to this one access the heap at its own
  /// addresses, also those of no rank: as NCCL does with the memory of
  /// ncclMemAlloc. Memory that is shared by IPC handles is not affected; there,
  /// enablePeerAccess serves.
  bool letPeersAccess = false;
};

/// A stream of a world; the default stream has id 0.
struct Stream {
  /// The number of the stream in its world.
  uint64_t id = 0;
};

/// An event of a world.
struct Event {
  /// The number of the event in its world.
  uint64_t id = 0;
};

/// A captured graph of a world.
struct Graph {
  /// The number of the graph in its world.
  uint64_t id = 0;
};

/// A kernel that is loaded on a world's device; valid as long as the world.
class Kernel {
public:
  /// \return the kernel's metadata: arguments, shared memory, limits
  const KernelInfo &info() const { return *info_; }

private:
  friend class World;
  friend class Module;
  const KernelInfo *info_ = nullptr;
  uint64_t handle_ = 0;
  /// The maximum number of programs that run concurrently, for kernels whose
  /// programs wait for each other; 0: unknown.
  uint32_t maxCoresident_ = 0;
};

/// A package that is loaded on a world's device; valid as long as the world.
class Module {
public:
  /// Finds a kernel.
  /// \param name "module::name", or just "name" if that is unique
  /// \return the kernel
  /// \retval invalidArgument there is none; the message has the names of the
  ///   package's kernels
  Expected<Kernel> kernel(std::string_view name) const;

private:
  friend class World;
  World *world_ = nullptr;
  const PackageImage *image_ = nullptr;
  uint64_t handle_ = 0;
};

/// The results of the `iris.expect_eq` of this rank's kernels so far.
struct ExpectReport {
  /// The number of compared elements.
  uint64_t checked = 0;
  /// The number of mismatches.
  uint64_t failed = 0;
  /// Describes the first mismatch; empty if there is none.
  std::string first;
};

/// A set of ranks that share a symmetric heap, seen from one of them.
class World {
public:
  /// Joins the other ranks of the job and reserves the heap. Collective.
  /// \param options the options
  /// \return the world
  /// \retval invalidArgument ranks request heaps of different sizes
  /// \retval unavailable there is no usable device
  /// \retval timeout not all ranks join within WorldOptions::joinLimit
  static Expected<std::unique_ptr<World>> create(const WorldOptions &options);
  /// Destroys the world if destroy() was not called.
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  /// Leaves the world and frees its heap.
  /// Collective unless the world has failed; bounded in time. Returns the
  /// world's failure, if any.
  Status destroy();

  /// \return this rank, from 0
  uint32_t rank() const;
  /// \return the number of ranks, at least 1
  uint32_t numRanks() const;
  /// \return the kind of the device that the options named
  DeviceKind deviceKind() const;
  /// \return the device that the options named
  const DeviceSpec &device() const;
  /// \return target name of the device: "host", "gfx942", "sm_90a"
  const std::string &target() const;
  /// \return the marketing name of the device
  const std::string &deviceName() const;
  /// \return the attributes of the device
  const DeviceAttributes &deviceAttributes() const;
  /// \return how kernels compute addresses on peers: "stride" or "table"
  const char *translation() const;

  /// The error that made the world fail, or success.
  Status failure() const;
  /// Like failure(), and also looks for errors that kernels have recorded since
  /// the last synchronization: a wait that timed out, a failed check. Does not
  /// wait for kernels.
  /// \return the error that made the world fail, or success
  Status poll();
  /// Like failure(), and also asks the device whether it has failed, by a fault
  /// or a trap of a kernel, also one that the program launched by itself. Waits
  /// for nothing, and breaks no captures.
  /// \return the error that made the world fail, or success
  Status checkDevice();
  /// Makes the world fail, on this rank and all peers.
  /// \param status the error that all calls return from then on
  void fail(const Status &status);
  /// Like fail(), for a rank that leaves: other ranks' work that needs nothing
  /// more of it can end first. The same holds of a rank whose process ends.
  /// \param status the error that all calls return from then on
  void leave(const Status &status);
  /// The ranks that left, or whose processes ended.
  /// \return one bit for each; 0 also after any other failure
  uint64_t ranksThatLeft() const;

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Allocates zeroed memory on the symmetric heap. Every rank makes the same
  /// calls of allocate and deallocate in the same order; the next sync reports
  /// differences.
  /// \param alignment a power of two that divides the address
  /// \return the address on this rank
  /// \retval outOfMemory the heap or the device's memory is full
  Expected<uint64_t> allocate(uint64_t bytes, uint64_t alignment = 256);
  /// The same for elements of type T.
  /// \param count the number of elements
  /// \return the buffer on this rank
  template <typename T>
  Expected<TypedBuffer<T>> allocate(size_t count) {
    if (count > SIZE_MAX / sizeof(T))
      return makeStatus(StatusCode::invalidArgument,
                        "%zu elements of %zu bytes; expected less than 2^64 "
                        "bytes",
                        count, sizeof(T));
    IRISRT_ASSIGN_OR_RETURN(uint64_t address, allocate(count * sizeof(T)));
    return TypedBuffer<T>(address, address - context().heapBase, count);
  }
  /// Frees what allocate returned, on every rank in the same order. The memory
  /// is given out again after the next sync.
  /// \param address the address on this rank
  /// \retval invalidArgument there is no allocation at the address
  Status deallocate(uint64_t address);
  /// Finds out whether bytes are within one allocation on this rank's heap, or
  /// within one import at the address that import() returned.
  /// \param address the address of the first byte
  /// \return whether they are
  bool isSymmetric(uint64_t address, uint64_t bytes = 1) const;
  /// Computes where a peer's copy of memory on the heap is.
  /// \param address an address on this rank's heap
  /// \param rank the peer
  /// \return the address of the copy, on this rank
  /// \retval invalidArgument the address is not on the heap, or there is no
  ///   such rank
  Expected<uint64_t> translate(uint64_t address, uint32_t rank) const;
  /// \return the reserved bytes of one rank's heap
  uint64_t heapBytes() const;
  /// \return the allocated bytes of one rank's heap
  uint64_t heapUsed() const;
  /// \return the bytes of this rank's device that no process has allocated now
  /// \retval unavailable the driver does not tell
  Expected<uint64_t> freeDeviceBytes() const;
  /// Maps memory that the program allocated at an address of the heap, a second
  /// time, and on all peers, so that kernels use it where it is. Collective:
  /// every rank passes memory of its own. It is of this rank's device, and of
  /// the driver's functions for virtual memory with handles that are POSIX file
  /// descriptors: cuMemCreate, or hipMemCreate of the uncached type;
  /// ncclMemAlloc; or MemoryPool, on the host too. Other memory, as that of
  /// cudaMalloc, cannot be mapped where peers need it.
  ///
  /// Launches, matmuls and copies between ranks take the result. Collectives of
  /// a Communicator also take addresses of the program within the memory. One
  /// kernel must not use both addresses of the same bytes, of which the device
  /// keeps no order. The memory stays alive until release(), also if the
  /// program frees it; but its own address may then become other memory's, so
  /// release it before.
  ///
  /// An error is the same on all ranks; nothing is mapped then, and the world
  /// goes on, unless a rank ended or was late.
  /// \param address the program's address of the memory
  /// \param bytes the same on all ranks; the memory may be a part of an
  ///   allocation, and span several whose sizes are the same on all ranks
  /// \return the address on this rank's heap, at the same offset on every rank
  /// \retval invalidArgument there is no such memory, it was freed, it is
  ///   another device's or on the heap, it overlaps an import, or its
  ///   allocations are not multiples of the granularity of mappings
  /// \retval failedPrecondition ranks pass different sizes, memory at different
  ///   offsets of its allocations, or have released different imports
  /// \retval unavailable peers cannot map memory of this kind, or not
  ///   coherently, or the device cannot map at chosen addresses; the message
  ///   says how to allocate
  /// \retval outOfMemory WorldOptions::importBytes do not suffice
  /// \retval timeout a rank did not come within WorldOptions::collectiveLimit
  Expected<uint64_t> import(uint64_t address, uint64_t bytes);
  /// Ends an import: waits for this rank's work and unmaps the memory on this
  /// rank. Every rank makes the same calls, in the same order, after all work
  /// that uses the memory was enqueued; it does not wait for peers. The end of
  /// the world releases what is left.
  /// \param imported what import() returned
  /// \retval invalidArgument it is not, or was released
  /// \retval failedPrecondition a stream is captured
  Status release(uint64_t imported);
  /// Computes the heap's address of memory that is on the heap or imported.
  /// \param address an address on this rank's heap, or one of the program in
  ///   memory that was imported
  /// \return the address on the heap; none if not all of the bytes are in one
  ///   allocation or import
  std::optional<uint64_t> symmetricAddress(uint64_t address,
                                           uint64_t bytes = 1) const;

  /// Copies bytes. Stream-ordered; host memory must stay valid until the copy
  /// is
  /// complete.
  /// \param to where the bytes go
  /// \param from where the bytes are
  Status copyToDevice(uint64_t to, const void *from, uint64_t bytes,
                      Stream stream = {});
  Status copyToHost(void *to, uint64_t from, uint64_t bytes,
                    Stream stream = {});
  Status copyOnDevice(uint64_t to, uint64_t from, uint64_t bytes,
                      Stream stream = {});
  /// Copies and waits for the stream. Host memory can be reused when the call
  /// returns, even if it fails and the copy is still pending; safe for local
  /// variables.
  /// \param to where the bytes go
  /// \param from where the bytes are
  Status writeNow(uint64_t to, const void *from, uint64_t bytes,
                  Stream stream = {});
  Status readNow(void *to, uint64_t from, uint64_t bytes, Stream stream = {});
  /// Sets bytes to 0, stream-ordered.
  /// Also works in a failed world, whose error it then returns, so that a
  /// pending stream wait (waitEqual) can be released.
  /// \param address the address of the first byte
  Status zero(uint64_t address, uint64_t bytes, Stream stream = {});

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// Finds out whether a `@main` may run.
  /// \retval failedPrecondition WorldOptions::refuseHostCode forbids it
  Status checkMayRunMain() const;
  /// \return the device context that kernels receive; constant after creation
  IrisRtContext context() const;
  /// Loads the package's image for this device. The world keeps the package.
  /// Packages with equal bytes are loaded once.
  /// \param package the package
  /// \return the loaded package
  /// \retval failedPrecondition it has no image for the device, or one of the
  ///   host, which WorldOptions::refuseHostCode forbids
  Expected<Module> load(const Package &package);
  /// Finds a kernel among all loaded packages, as Module::kernel does.
  /// \param name "module::name", or just "name" if that is unique
  /// \return the kernel
  /// \retval invalidArgument there is none
  Expected<Kernel> findKernel(std::string_view name) const;
  /// Enqueues programs of the kernel on this rank; stream-ordered. Checks the
  /// arguments against the kernel's metadata. A generated collective is limited
  /// to the programs of its config.
  /// \param kernel the kernel, loaded by this world
  /// \param programs the extents x, y and z of the grid, in programs, at least
  ///   1
  /// \param args the arguments, in the order of the kernel's
  /// \param numArgs the number of arguments
  /// \param group the group of the kernel's group ops and group barriers; null:
  ///   the world, if it has at most as many ranks as the kernel's groups may
  ///   (KernelInfo::maxGroup)
  /// \retval invalidArgument an argument differs from the metadata, symmetric
  ///   memory is not on the heap, or programs that wait for each other are more
  ///   than the device runs at once (maxCoresident)
  Status launch(const Kernel &kernel, const std::array<uint64_t, 3> &programs,
                const std::vector<IrisRtArg> &args, Stream stream = {},
                const Group *group = nullptr);
  Status launch(const Kernel &kernel, const uint64_t programs[3],
                const IrisRtArg *args, size_t numArgs, Stream stream = {},
                const Group *group = nullptr);
  /// Like launch(), without the check that symmetric arguments are on the heap,
  /// which the caller has done with isSymmetric.
  /// \param kernel the kernel, loaded by this world
  /// \param programs the extents x, y and z of the grid, in programs, at least
  ///   1
  /// \param args the arguments, in the order of the kernel's
  /// \param numArgs the number of arguments
  /// \param group as in launch()
  Status launchOnHeap(const Kernel &kernel, const uint64_t programs[3],
                      const IrisRtArg *args, size_t numArgs, Stream stream = {},
                      const Group *group = nullptr);
  /// Creates a group of distinct world ranks. Involves no communication.
  /// \param ranks the ranks, at most IRISRT_MAX_GROUP; the one with index i is
  ///   ranks[i]
  /// \return the group
  /// \retval invalidArgument a rank is not in the world, or twice in the group,
  ///   or 16 or more in a group of more than IRISRT_MAX_ANY_GROUP
  Expected<Group> makeGroup(const std::vector<uint32_t> &ranks) const;
  /// Finds out how many programs of the kernel run concurrently. Where a
  /// process has several ranks of the world on one device, each rank has an
  /// equal part.
  /// \param kernel the kernel, loaded by this world
  /// \return the maximum number of programs
  Expected<uint32_t> maxCoresident(const Kernel &kernel) const;
  /// \return the most ranks of the world that one process has on one GPU: their
  ///   kernels run at once, and where a driver loads a kernel only when those
  ///   of the GPU have ended, a rank that loads waits for what the others run
  uint32_t ranksOnDevice() const;

  //===--------------------------------------------------------------------===//
  // Streams, events and synchronization
  //===--------------------------------------------------------------------===//

  /// Work of a high-priority stream starts before other pending work, and does
  /// not queue behind it if the device has the usual number of hardware queues
  /// (Env::deviceQueues).
  /// \param isHighPriority whether it is a high-priority stream
  /// \return the stream
  Expected<Stream> createStream(bool isHighPriority = false);
  /// Takes a stream that the program created by CUDA's or HIP's API, or by
  /// createHostStream() for a world on the host. Functions with a stream accept
  /// the result, also while the program captures the stream into a graph of its
  /// own. The same stream has the same result, so that adopting it before every
  /// call is cheap. The stream must exist until destroyStream, which then only
  /// waits for its work, until forgetStream, or until the world ends.
  /// \param native a `cudaStream_t`, CUstream or `hipStream_t` of the world's
  ///   device; null and cudaStreamLegacy are the default stream,
  ///   cudaStreamPerThread is that of the thread that makes each call. On the
  ///   host: a stream of createHostStream(), not null
  /// \return the stream
  /// \retval invalidArgument there is no such stream, or it is another device's
  /// \retval unavailable the device has no streams that can be adopted
  Expected<Stream> adoptStream(void *native);
  /// Ends the use of an adopted stream without touching it, so that the program
  /// may already have destroyed it. sync() and the end of the world no longer
  /// wait for its work (see follow()).
  /// \param stream the stream
  /// \retval invalidArgument it is no adopted stream
  Status forgetStream(Stream stream);
  /// Between its uses, an adopted stream need not exist. While it is not in
  /// use, it is not asked whether it is captured, and sync() and the end of the
  /// world do not wait for its work (see follow()); a program that creates
  /// another stream with its handle may use that one then. Costs less than
  /// adopting it again. An adopted stream is in use at first.
  /// \param stream an adopted stream; others are always in use
  /// \param isInUse whether it is in use from now on
  void setInUse(Stream stream, bool isInUse);
  /// Waits for the work of a stream and destroys it.
  /// \retval invalidArgument it is the default stream, or no stream
  Status destroyStream(Stream stream);
  /// Waits for the work of one stream of this rank, within the time limits of
  /// its kernels.
  Status synchronize(Stream stream = {});
  /// Creates an event.
  /// \param isTimed whether elapsedMs() takes it; an event that only orders
  ///   streams costs less without a time
  /// \return the event
  Expected<Event> createEvent(bool isTimed = true);
  /// Destroys an event.
  /// \param event the event
  Status destroyEvent(Event event);
  /// Records an event: it is complete when the stream's work so far is done.
  /// \param event the event
  Status record(Event event, Stream stream = {});
  /// Makes later work of the stream wait for the event's last record.
  /// \param event the event
  Status waitFor(Event event, Stream stream = {});
  /// Records the event on the stream and makes later work of the default stream
  /// wait for it: sync() and the end of the world then wait for the stream's
  /// work so far, also after forgetStream. Also works in a failed world, whose
  /// error it then returns.
  /// \param event the event
  Status follow(Event event, Stream stream);
  /// Makes later work of the stream wait until a 32-bit word on this rank's
  /// heap
  /// has a value. There is no time limit: make sure that the word is written,
  /// also after a failure.
  /// \param address the address of the word
  /// \param value the value
  Status waitEqual(uint64_t address, uint32_t value, Stream stream = {});
  /// Calls a function on a thread of this process when the stream's work so far
  /// is done; later work of the stream waits until it returns. In a graph of
  /// the host it is called at every replay. It may wait for other ranks, but
  /// must not use streams, events or graphs, or wait for them.
  /// \param function the function
  /// \retval unavailable the driver cannot call functions, or the stream of a
  ///   GPU is captured
  Status callOnHost(std::function<void()> function, Stream stream = {});
  /// A number that no other stream of the process has or had, which a handle of
  /// the device's API may.
  /// \return the number; none if the driver does not tell, for
  ///   cudaStreamPerThread, and if there is no such stream
  std::optional<uint64_t> streamId(Stream stream = {}) const;
  /// Whether the work of one stream is captured in place of run, also by its
  /// owner.
  /// \return whether it is captured; false if there is no such stream
  bool isCaptured(Stream stream = {}) const;
  /// Measures the time between two events.
  /// \param start the earlier event, which is complete
  /// \param end the later event, which is complete
  /// \return the time in milliseconds
  /// \retval failedPrecondition an event is not complete
  Expected<double> elapsedMs(Event start, Event end) const;

  /// Records later work of the stream in a graph instead of running it, until
  /// endCapture. Kernels that the work needs must be loaded before.
  /// \return of endCapture: the graph
  /// \retval unavailable the driver does not support graphs
  Status beginCapture(Stream stream = {});
  Expected<Graph> endCapture(Stream stream = {});
  /// \return whether a stream of this rank is being captured, also by the
  ///   program that owns an adopted stream
  bool capturing() const;
  /// \return whether packages can be loaded now: not while a stream is captured
  ///   by a driver that cannot permit it
  bool canLoad() const;
  /// Enqueues the graph's work once more. Stream-ordered.
  /// \param graph the graph
  Status launchGraph(Graph graph, Stream stream = {});
  /// Destroys a graph.
  /// \param graph the graph
  Status destroyGraph(Graph graph);

  /// Waits until the host threads of all ranks have arrived. Collective.
  Status barrier();
  /// \return a number for exchange(), equal on all ranks if they make the same
  ///   calls in the same order
  uint32_t makeChannel();
  /// Gathers a text of every rank of the group. Called by the ranks of the
  /// group
  /// only, in the same order for each channel.
  /// \param group the group
  /// \param channel from makeChannel()
  /// \param mine the text of this rank, at most 1024 bytes
  /// \return the texts, ordered by index
  Expected<std::vector<std::string>>
  exchange(const Group &group, uint32_t channel, const std::string &mine);
  /// Lets kernels and copies of this rank's device access memory that this
  /// process allocates on another one, as cudaDeviceEnablePeerAccess does. The
  /// symmetric heap does not need it.
  /// \param device the number of the device in this process
  /// \retval unavailable the devices have no link
  Status enablePeerAccess(int device);
  /// Waits until the stream's work is done on all ranks. Collective.
  Status deviceBarrier(Stream stream = {});
  /// Waits until all streams' work is done on all ranks, and checks that no
  /// kernel hung and all ranks made the same heap calls. Freed memory becomes
  /// available. Collective.
  /// \retval failedPrecondition the ranks' heap calls differ
  /// \retval timeout a wait in a kernel took longer than
  ///   WorldOptions::waitLimit, or a rank did not come within
  ///   WorldOptions::collectiveLimit
  Status sync();

  //===--------------------------------------------------------------------===//
  // Traces
  //===--------------------------------------------------------------------===//

  /// Makes kernels that were compiled with traces record them in a buffer on
  /// the heap. Call it before loading their packages, so that loading can
  /// sample the device's clock. Collective.
  /// \param options the size of the buffer
  Status startTrace(const TraceOptions &options = {});
  /// Calls sync(); rank 0 then writes the traces of all ranks. The trace ends.
  /// All ranks get the summary, or the same error. Collective.
  /// \param path the path of the file, in Chrome's trace format
  /// \return the summary
  /// \retval invalidArgument the file cannot be written
  Expected<TraceSummary> writeTrace(const std::string &path);

  //===--------------------------------------------------------------------===//
  // Checks
  //===--------------------------------------------------------------------===//

  /// \return the check results of this rank's kernels; call it after sync()
  ExpectReport expects() const;
  /// Calls sync(), then fails on every rank if a check failed on any.
  /// Collective.
  /// \retval failedPrecondition a check failed; the message describes the first
  Status verify();

private:
  friend class WorldOperation;
  friend class Module;
  friend struct WorldAccess;
  /// Samples the device's clock, if a kernel that reads it is loaded.
  Expected<std::optional<ClockSample>> sampleDeviceClock();
  /// Takes the first clock sample.
  Status compareClocks();
  /// The trace buffers of all ranks.
  Status readTraces(std::vector<std::vector<uint8_t>> &buffers);
  struct __attribute__((visibility("hidden"))) Impl;
  explicit World(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// An operation, on the thread that enqueues it. While it lives, the thread's
/// calls work although other ranks have left (World::ranksThatLeft), since what
/// they sent may be there. If it is not, waits end soon, and so do calls.
class WorldOperation {
public:
  /// For kernels that may wait for any rank.
  static constexpr uint64_t allRanks = ~uint64_t(0);
  /// Begins an operation.
  /// \param world the world of its kernels
  /// \param peers the ranks that its kernels may wait for, one bit for each
  WorldOperation(World &world, uint64_t peers);
  ~WorldOperation();
  WorldOperation(const WorldOperation &) = delete;
  WorldOperation &operator=(const WorldOperation &) = delete;

private:
  const void *outerWorld_;
  uint64_t outerPeers_;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_WORLD_H
