// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobCommunicatorImpl.h - State of a JobCommunicator -------*- C++ -*-===//
#ifndef IRIS_RT_CCL_JOBCOMMUNICATORIMPL_H
#define IRIS_RT_CCL_JOBCOMMUNICATORIMPL_H

#include "ccl/CheckCall.h"
#include "ccl/NodeMap.h"
#include "ccl/ProgramLimit.h"
#include "core/OsThread.h"
#include "internode/EngineStream.h"
#include "internode/InterNodeAccess.h"
#include "iris/ccl/JobCommunicator.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace iris::ccl {

/// The slices of a message: all but the last have the same length, in elements.
struct Slices {
  uint64_t count = 0, length = 1;

  uint64_t number() const { return (count + length - 1) / length; }
  uint64_t offsetOf(uint64_t slice) const { return slice * length; }
  uint64_t sizeOf(uint64_t slice) const {
    return std::min(length, count - offsetOf(slice));
  }
};

/// The counts and offsets of a rank's chunks, read from the device, in rows.
/// The input of an all-gather has none.
struct ChunkRows {
  std::vector<int64_t> inCounts, inOffsets, outCounts, outOffsets;
};

struct JobCommunicator::Impl {
  Impl(rt::Job &job, rt::World &world, Communicator &node,
       rt::InterNode &engine, const JobCommunicatorOptions &options)
      : job(job), world(world), node(node), engine(engine), options(options),
        map(job), me(job.rank()), myNode(map.nodeOf(me)),
        myLocal(map.localOf(me)),
        onStreams(rt::InterNodeAccess::onStreams(engine)), transfers(world) {}

  rt::Status open();
  rt::Status checkArguments() const;
  rt::Status same(const char *what, const std::string &mine);
  rt::Status compareOptions();
  rt::Status close();

  rt::Status checkUsable();
  rt::Status run(const Call &call);
  Call barrierOf(const Call &call) const;
  rt::Status start(const Call &call, const CheckedCall &checked);
  bool comparesCalls() const;
  rt::Status compareCalls(const Call &call, const CheckedCall &checked);
  rt::Status poll();
  /// An error of the engine, or of its time limit.
  rt::Status pollEngine();
  /// Looks for such errors while work is pending, on a thread of its own.
  void watchEngine();
  void endWatch();
  /// Work of the engine on streams is enqueued while this exists; it is
  /// watched, unless it is captured.
  class Enqueuing {
  public:
    Enqueuing(Impl &impl, const std::vector<rt::Stream> &streams);
    Enqueuing(const Enqueuing &) = delete;
    ~Enqueuing();

  private:
    Impl &impl_;
    bool isWatched_ = false;
  };
  void fail(const rt::Status &status);

  // Collectives of the engine (JobEngine.cpp).
  bool hasOneRankPerNode() const { return map.mostRanks() == 1; }
  /// Whether the engine's reduction among ranks has the results of combine().
  bool engineReduces(const Call &call) const;
  /// Enqueues out = the reduction of the rail's inputs, on the stream of
  /// transfers.
  rt::Status reduceOnRail(const Call &call, uint64_t in, uint64_t out,
                          uint64_t count);
  /// Whether the engine serves the whole call.
  bool isEngineCall(const Call &call, const CheckedCall &checked) const;
  rt::Status enqueueEngineCall(const Call &call, void *native);
  rt::Status
  runOnEngine(rt::Stream stream,
              const std::function<rt::Status(void *native)> &enqueue);

  // The operations (JobReductions.cpp, JobMoves.cpp, JobRooted.cpp,
  // JobExchanges.cpp).
  rt::Status allReduce(const Call &call);
  rt::Status reduceScatter(const Call &call);
  rt::Status allGather(const Call &call);
  rt::Status broadcast(const Call &call);
  rt::Status reduce(const Call &call);
  rt::Status gather(const Call &call);
  rt::Status scatter(const Call &call);
  rt::Status exchangeWithRoot(const Call &call, uint64_t chunks,
                              uint64_t chunk);
  rt::Status allToAll(const Call &call);
  rt::Status checkTransfer(const Call &call) const;
  rt::Status exchangeAll(const std::vector<Call> &calls,
                         const std::vector<rt::Stream> &streams,
                         const std::function<rt::Status()> &beside);

  // Operations with counts (JobCounted.cpp).
  rt::Status runCounted(const Call &call);
  rt::Expected<ChunkRows> readRows(const Call &call);
  rt::Expected<std::vector<ChunkRows>> exchangeRows(const Call &call,
                                                    const ChunkRows &mine);
  rt::Status allToAllV(const Call &call, const ChunkRows &rows);
  rt::Status allGatherV(const Call &call, const ChunkRows &rows);
  rt::Status exchangeInNode(const Call &call);

  // The measured model (JobModel.cpp).
  rt::Expected<InterNodeModel> measureModel();
  /// The model of the options or, without one, of such devices.
  InterNodeModel fixedModel() const;
  rt::Expected<double> timeExchange(uint64_t bytes, uint32_t number);
  rt::Status exchangeInRing(uint64_t bytes, uint32_t number);
  rt::Expected<double> largest(double mine);

  // Estimates (JobEstimate.cpp), in microseconds.
  rt::Expected<double> estimate(const Call &call);
  rt::Expected<double> estimateTransfer(const Call &call) const;
  /// Of a call among the ranks of the node, in memory of any kind.
  rt::Expected<double> estimateInNode(const Call &call, Op op,
                                      uint64_t count) const;

  /// The work of one operation for each slice; an empty function is none.
  struct Steps {
    using Step = std::function<rt::Status(uint64_t slice)>;
    /// On the caller's stream, before the slice's transfer.
    Step before;
    /// On the stream of transfers.
    Step transfer;
    /// On the caller's stream, at the same time as the transfer.
    Step beside;
    /// On the caller's stream, after the transfer.
    Step after;
  };
  /// Enqueues all steps. A slice's transfer and what comes before the next one
  /// overlap; steps of a slice start after all steps of the last but one.
  rt::Status runSlices(const Slices &slices, rt::Stream stream,
                       const Steps &steps);
  /// The slices of a call, of at most `most` elements each; a multiple of
  /// `unit` unless it is the whole, and of `unit` aligned pieces if it is
  /// longer than these. Kernels for slices of other lengths may add in another
  /// order, so those of reductions do not depend on what was measured.
  Slices slicesOf(const Call &call, uint64_t most, uint64_t unit) const;
  /// The staging buffer of a slice: every other slice has the same.
  uint64_t stageOf(uint64_t slice) const {
    return staging + slice % 2 * stageBytes();
  }
  uint64_t stageBytes() const { return options.stagingBytes / 2; }

  /// Enqueues an exchange between nodes, on the stream of transfers. Transfers
  /// of the same list run at the same time, the lists one after another.
  using Transfers = std::vector<rt::InterNode::Transfer>;
  rt::Status transfer(std::vector<Transfers> lists);
  /// Runs them on the thread of that stream, by an engine on the host.
  void exchange(const std::vector<Transfers> &lists);
  /// Enqueues transfers that start together, in the order of the streams;
  /// `beside` enqueues what runs at the same time.
  rt::Status exchangeList(const Transfers &list,
                          const std::vector<rt::Stream> &streams,
                          const std::function<rt::Status()> &beside);
  static void addSend(Transfers &list, uint32_t peer, uint64_t from,
                      uint64_t bytes);
  static void addRecv(Transfers &list, uint32_t peer, uint64_t to,
                      uint64_t bytes);

  /// Half of the processors, beside an engine whose kernels wait, too: each
  /// leaves room for the other. 0: no limit.
  int64_t maxNodePrograms() const;
  /// Enqueues a call among the ranks of the node.
  rt::Status inNode(const Call &call, Op op, uint64_t in, uint64_t out,
                    uint64_t count, uint32_t root = 0,
                    const Config *config = nullptr);
  /// Enqueues a copy on the caller's stream.
  rt::Status copy(const Call &call, uint64_t to, uint64_t from, uint64_t bytes);
  /// Gathers the pieces of rails, which are in place, inside of the node.
  rt::Status gatherPieces(const Call &call, uint64_t out, const Split &pieces);

  /// Loads the kernel that combines what nodes send.
  rt::Status loadCombine(const Call &call);
  /// Enqueues out[count] = the reduction of in[numNodes * count], on the stream
  /// of transfers.
  rt::Status combine(const Call &call, uint64_t in, uint64_t out,
                     uint64_t count);

  rt::Status reduceInNode(const Call &call, uint64_t in, uint64_t out,
                          const Split &pieces);
  rt::Status exchangePiece(const Call &call, uint64_t stage, uint64_t out,
                           uint64_t count);
  uint64_t pieceAt(const Call &call, uint64_t stage, uint64_t count) const;
  bool isDirect(const Call &call, uint64_t count) const;

  rt::Job &job;
  rt::World &world;
  Communicator &node;
  rt::InterNode &engine;
  const JobCommunicatorOptions options;
  const NodeMap map;
  const uint32_t me, myNode, myLocal;
  /// The engine, if it enqueues transfers on streams; else null.
  const std::shared_ptr<rt::NcclEngine> onStreams;

  /// Of the job's failure, which may come while this object ends.
  struct Watched {
    std::mutex mutex;
    rt::World *world = nullptr; ///< null: no more
  };
  std::shared_ptr<Watched> watched;

  InterNodeModel model;
  uint64_t staging = 0; ///< on the heap; the word of barriers follows
  rt::EngineStream transfers;
  /// Of an engine on streams, for which nothing waits with a limit.
  struct Watch {
    std::mutex mutex;
    std::condition_variable changed;
    bool isEnded = false;
    /// Calls that enqueue; they may wait for peers.
    uint32_t calls = 0;
    /// When work was last enqueued, if it may not be complete.
    std::optional<std::chrono::steady_clock::time_point> pendingSince;
  } watch;
  rt::OsThread watcher;
  rt::Event forked;
  std::array<rt::Event, 2> joined;
  std::map<std::string, rt::Kernel> kernels;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_JOBCOMMUNICATORIMPL_H
