// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorldImpl.h - Implementation of World --------------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_WORLDIMPL_H
#define IRIS_RT_CORE_WORLDIMPL_H

#include "backends/Backend.h"
#include "bootstrap/Bootstrap.h"
#include "core/FollowedEvents.h"
#include "core/ForkGuard.h"
#include "core/Log.h"
#include "core/SymmetricHeap.h"
#include "iris/rt/World.h"
#include "trace/Clock.h"
#include "trace/Spans.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace iris::rt {

struct ClockReport;
struct RankTrace;

struct World::Impl {
  /// A loaded package.
  struct Loaded {
    Package package;
    const PackageImage *image = nullptr;
    ModuleHandle module;
  };

  /// The buffer and the first clock sample of a trace.
  struct TraceState {
    uint64_t buffer = 0; ///< on the heap; 0: off
    TraceShape shape;
    std::optional<ClockSample> first;
  };

  Impl(const WorldOptions &options, const LaunchInfo &launch)
      : options(options), launch(launch), log(launch.rank, launch.numRanks) {}
  ~Impl();

  /// The loaded package with the same bytes, or nullptr.
  const Loaded *findLoaded(const Package &package) const;

  Status open();
  Status openControl();
  Status countRanksOnDevice();
  /// Fails if code of packages must not run in this process; `what` names the
  /// code.
  Status checkHostCode(const char *what) const;
  Status synchronizeStream(StreamHandle stream);
  Status synchronizeAll();
  std::vector<StreamHandle> allStreams() const;
  /// Whether one of the streams is captured, also by its owner.
  bool isAnyCaptured(const std::vector<StreamHandle> &among) const;
  /// Refuses to wait for captured streams, which does not fail the world.
  Status checkNotCaptured(const std::vector<StreamHandle> &among) const;
  Status agreeAcrossRanks();
  /// Passes an error to fail(), and returns the world's failure.
  Status failOnError(Status status);
  /// failOnError(), after which the failure is final: later calls return it
  /// immediately.
  Status recordFailure(Status status);
  /// \param leaves the error is only that this rank leaves
  void fail(const Status &status, bool remote, bool leaves = false);
  /// Success also if ranks have left and this thread is in a WorldOperation.
  Status failure() const;
  bool isAborted() const;
  /// Whether this thread is in a WorldOperation that goes on without the
  /// ranks that left. The caller holds `mutex`.
  bool goesOn() const;
  /// False for an unknown stream, or if the device cannot tell: the next
  /// operation returns the error.
  bool isCapturing(StreamHandle stream) const;
  /// Remembers that kernels, enqueued or captured, may wait for the operation's
  /// peers.
  void notePending(StreamHandle stream, bool isCaptured);
  /// Remembers that the main stream waits for a stream's kernels.
  void noteFollowed(StreamHandle stream);
  /// Whether kernels may wait for one of the ranks, one bit for each.
  bool mayNeed(uint64_t ranks);
  bool mayNeedLeavers();
  /// Whether all kernels of this rank have ended, as far as the host can tell.
  bool hasEnded();
  /// After ranks have left: ends waits that may need them after a grace period.
  void limitWaits();
  void endLimitedWaits();
  /// Whether an error only repeats that other ranks have left.
  bool repeatsLeaver(const Status &status) const;
  /// Ends the waits of this rank: that ranks have left is a failure now.
  void failForLeavers();
  /// Whether the failure is an error of this rank, which no other one replaces.
  bool hasLocalFailure() const;
  /// The failure, after recordFailure() has returned it.
  Status finalFailure() const;
  Status checkHang();
  /// checkHang() after work has ended: no error if no wait of it was ended.
  Status checkEnded();
  void checkChecks();
  void setAbort(uint32_t reason);
  Status destroy();
  /// In a forked child: leaks everything, because it belongs to the parent.
  void abandon();
  ExpectReport expects() const;
  const KernelInfo *findByHash(uint64_t hash) const;
  RankTrace makeRankTrace(const ClockReport &clock,
                          const TraceEvents &events) const;
  Status endTrace();
  Status writeTraceFile(const std::string &path,
                        const std::vector<RankTrace> &ranks);
  /// An image with the kernel that reads the device's clock, or nullptr.
  const PackageImage *findClock() const;
  Expected<uint32_t> maxCoresident(const Kernel &kernel);
  /// The group of a launch: without one the world, if it is small enough for
  /// the kernel; else null.
  const Group *groupOf(const KernelInfo &info, const Group *group) const;
  /// Checks everything about a launch except its arguments, and fills in
  /// `config`.
  Status checkLaunch(const Kernel &kernel, const uint64_t programs[3],
                     const Group *group, LaunchConfig &config);
  /// Packs checked arguments and launches.
  Status launchChecked(const Kernel &kernel, LaunchConfig &config,
                       const IrisRtArg *args, size_t numArgs, Stream stream,
                       const Group *group);
  /// The stream, to ask for its state.
  StreamHandle handleOf(Stream stream) const {
    return stream.id == 0 ? mainStream : StreamHandle{stream.id};
  }
  /// The stream, to enqueue work or to wait: mainStream is ordered behind the
  /// events that it follows.
  StreamHandle joinedHandleOf(Stream stream) {
    if (stream.id == 0)
      followed.join(*backend, mainStream);
    return handleOf(stream);
  }

  /// Checked before any lock, which a forked child may have inherited locked.
  const ProcessOwner owner;
  const WorldOptions options;
  const LaunchInfo launch;
  const Log log;
  double waitSeconds = 30;
  std::chrono::nanoseconds limit{};
  /// The most ranks that a process has on one device of the world: their
  /// kernels run at once, and wait for each other.
  uint32_t ranksOnDevice = 1;

  // In the order of creation; the destructor uses the reverse order.
  std::unique_ptr<Bootstrap> bootstrap;
  std::unique_ptr<Backend> backend;
  HostVisibleMemory control;
  StreamHandle mainStream;
  FollowedEvents followed;
  std::unique_ptr<SymmetricHeap> heap;
  /// Without a group's fields.
  IrisRtContext context{};
  /// All ranks; empty if they are too many for a group.
  Group worldGroup;

  /// Changed by the collective calls that start and end traces.
  TraceState trace;

  /// Serializes loads, which take long, so that concurrent threads load a
  /// package once. Taken before `mutex`.
  std::mutex loadMutex;

  mutable std::mutex mutex; // guards the members below
  /// Changed only with both mutexes held.
  std::vector<std::unique_ptr<Loaded>> modules;
  /// Besides mainStream; those of the caller too, while they are in use.
  std::set<uint64_t> streams;
  /// Those of the caller, also while they are not in use.
  std::set<uint64_t> adopted;
  std::map<uint64_t, uint32_t> coresidentLimits; // by kernel handle
  uint32_t channels = 0;
  Status failure_;
  /// Whether failure_ is set, for calls that check it without the mutex.
  std::atomic<bool> hasFailed{false};
  bool failureIsRemote = false;
  /// The ranks that left, one bit for each, if failure_ is only that.
  uint64_t leftRanks = 0;
  bool hasFinalFailure = false;
  bool destroyed = false;
  mutable bool expectsRead = false;

  /// Guards `pending`; no other mutex of the world is taken with it held.
  std::mutex pendingMutex;
  /// By stream: the ranks that its kernels may wait for, since it was last
  /// known to be idle.
  std::map<uint64_t, uint64_t> pending;
  /// Those that kernels in graphs may wait for.
  uint64_t capturedPeers = 0;

  /// Guards the members that a launch modifies. Separate from `mutex`, because
  /// a launch may block on a hung queue that only a reported failure can end.
  std::mutex launchMutex;
  std::vector<uint8_t> argBlock;
  std::vector<void *> parameters; // into the block
  /// Atomic, because a peer may ask for it while a launch blocks.
  std::atomic<uint32_t> launchCount{0};

  IrisRtControl *block() const {
    return static_cast<IrisRtControl *>(control.host);
  }
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_WORLDIMPL_H
