// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a World is made of; shared by the files that implement it.
#ifndef IRIS_RT_CORE_WORLDIMPL_H
#define IRIS_RT_CORE_WORLDIMPL_H

#include "backends/Backend.h"
#include "bootstrap/Bootstrap.h"
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

struct World::Impl {
  /// A loaded package.
  struct Loaded {
    Package package;
    const PackageImage *image = nullptr;
    ModuleHandle module;
  };

  /// What kernels tell about their time.
  struct TraceState {
    uint64_t buffer = 0; ///< on the heap; 0: off
    TraceShape shape;
    std::optional<ClockSample> first;
  };

  Impl(const WorldOptions &options, const LaunchInfo &launch)
      : options(options), launch(launch), log(launch.rank, launch.numRanks) {}
  ~Impl();

  /// A package with the same bytes that is loaded, or nullptr.
  const Loaded *findLoaded(const Package &package) const;

  Status open();
  Status openControl();
  /// An error where code of packages must not run in this process; `what` is
  /// what would.
  Status checkHostCode(const char *what) const;
  Status synchronizeStream(StreamHandle stream);
  Status synchronizeAll();
  Status agreeAcrossRanks();
  /// Runs `status` past fail() if it is an error.
  Status failing(Status status);
  /// failing(), after which the failure is final: later calls return it without
  /// waiting for anything.
  Status recordFailure(Status status);
  void fail(const Status &status, bool remote);
  Status failure() const;
  /// The failure, once recordFailure() has returned it.
  Status finalFailure() const;
  Status checkHang();
  void checkChecks();
  void setAbort(uint32_t reason);
  Status destroy();
  /// In a forked child: leaves everything as it is, which is the parent's.
  void abandon();
  ExpectReport expects() const;
  const KernelInfo *findByHash(uint64_t hash) const;
  /// An image with the kernel that tells the device's time, or nullptr.
  const PackageImage *findClock() const;
  Expected<uint32_t> maxCoresident(const Kernel &kernel);
  /// Checks all of a launch but its arguments, and says its shape.
  Status checkLaunch(const Kernel &kernel, const uint64_t programs[3],
                     const Group *group, LaunchConfig &config);
  /// Lays out checked arguments and launches.
  Status launchChecked(const Kernel &kernel, LaunchConfig &config,
                       const IrisRtArg *args, size_t numArgs, Stream stream,
                       const Group *group);
  StreamHandle handleOf(Stream stream) const {
    return stream.id == 0 ? mainStream : StreamHandle{stream.id};
  }

  /// Comes before any lock: in a forked child it may be held for ever.
  const ProcessOwner owner;
  const WorldOptions options;
  const LaunchInfo launch;
  const Log log;
  double waitSeconds = 30;
  std::chrono::nanoseconds limit{};

  // In the order of creation; the destructor goes backwards.
  std::unique_ptr<Bootstrap> bootstrap;
  std::unique_ptr<Backend> backend;
  HostVisibleMemory control;
  StreamHandle mainStream;
  std::unique_ptr<SymmetricHeap> heap;
  IrisRtContext context{};

  /// Changed by the collective calls that start and end traces.
  TraceState trace;

  /// One load at a time, taken before `mutex`: loading takes long, and what two
  /// threads ask for shall be loaded once.
  std::mutex loadMutex;

  mutable std::mutex mutex; // guards all that follows
  /// Changed with both mutexes held.
  std::vector<std::unique_ptr<Loaded>> modules;
  std::set<uint64_t> streams;                    // besides mainStream
  std::map<uint64_t, uint32_t> coresidentLimits; // by kernel handle
  std::set<uint64_t> captures;                   // streams, by handle
  uint32_t channels = 0;
  Status failure_;
  /// Whether failure_ is one, for calls that look without the mutex.
  std::atomic<bool> hasFailed{false};
  bool failureIsRemote = false;
  bool hasFinalFailure = false;
  bool destroyed = false;
  mutable bool expectsRead = false;

  /// Guards what a launch fills.  Apart from `mutex`, because a launch may wait
  /// for a hung queue while a failure must get through to end it.
  std::mutex launchMutex;
  std::vector<uint8_t> argBlock;
  std::vector<void *> parameters; // into the block
  uint32_t launchCount = 0;

  IrisRtControl *block() const {
    return static_cast<IrisRtControl *>(control.host);
  }
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_WORLDIMPL_H
