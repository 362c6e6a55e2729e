// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Communicator.h - Collective operations -------------------*- C++ -*-===//
//
// Collective operations among a group of ranks of a world.
//
//   auto comm = iris::ccl::Communicator::create(*world);
//   (*comm)->allReduce(in, out, count, DType::bf16, ReduceOp::sum, stream);
//
// `count` has NCCL's meaning: the number of elements that one rank contributes
// or receives, as documented for each operation.  Every operation below is
// stream-ordered: it returns when the kernel is enqueued.  All ranks of the
// group call the same operations in the same order with the same count, types,
// root and config.  The operations of one communicator share its workspace, so
// they must be ordered on the device: use one stream, or order the streams by
// events.  One thread at a time uses a communicator.
//
// Buffers are device memory, aligned to their element.
//  * If both buffers are on the symmetric heap, peers access them directly.
//    Each buffer must be at the same heap offset on all ranks, as
//    World::allocate returns it; the chunk of a gather or scatter may be at
//    different offsets.
//  * Otherwise the data goes through the workspace (a "staged" kernel).
//    Config::staged requests that for buffers on the heap at different offsets.
// All ranks must be in the same case, and all or none call in place (see the
// operations).  For operations with a root this applies only to the buffer that
// every rank passes: the root's other buffer may be anywhere, and may be in
// place.  Any other overlap of the buffers is an error.  A buffer that an
// operation does not use on this rank may be null.
//
// If a call fails on one rank only (because of a null buffer, say), its peers
// wait until that rank makes the call or the wait limit expires.  With
// IRIS_CHECK_COLLECTIVES=1 the call fails on all ranks.
//
// Kernels are compiled on first use (see KernelCache).  The first use of a
// kernel is therefore collective over the group: the host threads synchronize,
// the first rank runs the compiler, all ranks load the kernel, and an error on
// one rank is returned on all of them.  send and recv involve two ranks; the
// first of them loads the kernels of both, without synchronization.  prepare()
// loads kernels ahead of time, which is required before a capture.
//
// A failed world returns its error from every call.  With
// IRIS_CHECK_COLLECTIVES=1 the ranks compare every call on the host and report
// the difference.  Of a send and its receive, the later call compares their
// lengths: it returns invalidArgument if they differ, and the world fails.
//
// \param in the input; null if this rank has none
// \param out the output; null if this rank has none
// \param count the number of elements that one rank contributes or receives
// \param dtype the type of the elements
// \param reduce how the elements are combined
// \param root the index in the group of the rank that has or gets the data
// \param peer the index in the group of the other rank
// \param stream the stream on which the kernel is enqueued
// \param config the config, the same on all ranks; null: selected
// \retval invalidArgument an argument is invalid: a buffer that is null, not
//   aligned or overlaps the other one, an index beyond the group, a config that
//   no kernel supports
// \retval failedPrecondition this rank is not part of the group, a kernel is
//   missing during a capture, or the ranks' calls differ
// \retval unavailable the kernel is in no package, and there is no compiler
// \retval timeout a time limit expired, on this rank or a peer
// \retval aborted another rank failed or ended
// \retval deviceError the device of this rank failed
#ifndef IRIS_CCL_COMMUNICATOR_H
#define IRIS_CCL_COMMUNICATOR_H

#include "iris/ccl/KernelCache.h"
#include "iris/ccl/Types.h"
#include "iris/rt/World.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace iris::ccl {

class TuningClock;

/// How kernels are selected where a call leaves that open: by times that are
/// measured on the device (docs/guides/tuning.md), or by the cost model. The
/// same on all ranks.
struct CollectiveTuning {
  /// How much is measured; default: IRIS_TUNE, else `off`. `quick` measures
  /// only on a GPU that has no cost model of its own, and only kernels that are
  /// compiled already; `full` compiles them.
  std::optional<rt::TuneLevel> level;
  /// The maximum time of all measurements of a create() or prepare() in
  /// milliseconds, with the loading of kernels but without compilation; 0: 300
  /// for `quick`, 5000 for `full`.
  double limitMs = 0;
  /// Replaces the clock; for tests.
  std::shared_ptr<TuningClock> clock;
};

/// Options of Communicator::create.
struct CommunicatorOptions {
  /// World ranks of the group, at most 16, in any order; the rank with index i
  /// is ranks[i]. More than 8 are among the ranks 0 to 15. Empty: all ranks of
  /// the world.
  std::vector<uint32_t> ranks;
  /// Bytes of the workspace on the symmetric heap, which the kernels share: a
  /// multiple of 4, 512 KiB to 1 GiB. Kernels are compiled for that size;
  /// packages that are compiled ahead of time must use the same.
  uint64_t workspaceBytes = 56 << 20;
  /// The most programs that are selected for a call, as NCCL's maxCTAs; 0: no
  /// limit.
  int64_t maxPrograms = 0;
  /// The source of kernels; null: KernelCache::shared().
  std::shared_ptr<KernelCache> cache;
  /// Whether the ranks compare every call; default: IRIS_CHECK_COLLECTIVES.
  std::optional<bool> checkCalls;
  /// How kernels are selected.
  CollectiveTuning tuning;
  /// Replaces a request, an .mlir module with one `iris.collective`, before its
  /// compilation. For tests that substitute the generated kernels.
  std::function<std::string(const std::string &request)> rewrite;
};

/// The placement of the buffers in the calls that prepare() loads kernels for.
/// The values are those of the C API.
enum class Placement : int32_t {
  /// Both buffers are on the symmetric heap.
  onHeap = 0,
  /// The buffers are any device memory.
  anywhere,
};

/// The counts and offsets of a buffer's chunks: arrays in device memory with
/// one entry per rank of the group.  The unit is a row of `rowElements`
/// elements, which the call passes (1: elements).  The kernel reads them when
/// it runs, so they may change between two replays of a graph.
struct ChunkTable {
  /// Rows of each chunk.
  const int64_t *counts = nullptr;
  /// The first row of each chunk in the buffer.
  const int64_t *offsets = nullptr;
};

/// The arguments of any operation, for callers that select the operation at run
/// time.  Fields that the operation does not have are ignored.
struct Call {
  /// The operation.
  Op op = Op::barrier;
  /// The buffers, in device memory.
  const void *in = nullptr;
  void *out = nullptr;
  /// Elements that one rank contributes or receives.
  uint64_t count = 0;
  /// The type of the elements, and how they are combined.
  DType dtype = DType::i8;
  ReduceOp reduce = ReduceOp::sum;
  /// The root, or the peer of send and recv.
  uint32_t root = 0;
  /// The stream on which the kernel is enqueued.
  rt::Stream stream;
  /// The config, the same on all members; null: selected.
  const Config *config = nullptr;
  /// The most programs that are selected, beside that of the communicator, the
  /// same on all members; 0: no limit.
  int64_t maxPrograms = 0;
  /// Operations with counts: the elements of the buffers, equal on all ranks of
  /// the group; `count` is ignored.
  uint64_t inSize = 0, outSize = 0;
  /// The chunks of the buffers, for such operations.
  ChunkTable inChunks = {}, outChunks = {};
  /// Elements of a row.
  uint64_t rowElements = 1;
};

/// Collective operations of one rank with the other ranks of a group.
class Communicator {
public:
  /// Collective over the world: all its ranks pass the same options, also ranks
  /// outside the group, which get a communicator whose operations fail. A
  /// measurement (CommunicatorOptions::tuning) waits for the work of all
  /// streams.
  /// \param world the world, which must outlive the communicator
  /// \param options the options, the same on all ranks
  /// \return the communicator
  /// \retval outOfMemory the heap has no room for the workspace
  static rt::Expected<std::unique_ptr<Communicator>>
  create(rt::World &world, const CommunicatorOptions &options = {});
  /// Without destroy(), the workspace stays allocated until the world ends.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// Frees the workspace. Collective over the world, as World::deallocate is.
  /// Kernels that still run can finish.
  rt::Status destroy();

  /// \return the number of ranks of the group
  uint32_t size() const;
  /// \return the index of this rank in the group; -1 if it is not part of it
  int32_t index() const;
  /// \return whether this rank is part of the group
  bool isMember() const { return index() >= 0; }
  /// \return the ranks of the group
  const rt::Group &group() const;

  /// Adds the kernels of a package that was compiled ahead of time, for
  /// instance by CMake's iris_add_collectives. All ranks add the same packages
  /// before the first use of their kernels.
  /// \param path the path of its file
  /// \param package the package in memory
  rt::Status addPackage(const std::string &path);
  rt::Status addPackage(const rt::Package &package);

  /// Loads the kernels for calls of `op` with this config and any count:
  ///  * without a variant in the config, every kernel that may be selected for
  ///    buffers on the heap, in place or not;
  ///  * with a variant, that kernel.  If it does not support in-place calls,
  ///    they use a staged kernel, which Placement::anywhere loads;
  ///  * with Placement::anywhere, also the staged form of each kernel.
  /// `dtype` and `reduce` matter only for operations that reduce.  Collective
  /// over the group: an error on one rank is returned on all of them.
  /// Without a variant, the kernels may be measured (CommunicatorOptions::
  /// tuning) if the group is the whole world; that waits for all streams.
  /// \param op the operation
  /// \param placement where the buffers of the calls are
  rt::Status prepare(Op op, DType dtype = DType::i8,
                     ReduceOp reduce = ReduceOp::sum,
                     const Config *config = nullptr,
                     Placement placement = Placement::onHeap);

  /// Runs the operation `call.op`, as the method of that name below.
  /// \param call the operation and its arguments
  rt::Status run(const Call &call);
  /// Tells whether one thread can run the calls of several ranks one after the
  /// other.
  /// \param call the operation and its arguments
  /// \return true if run() would not wait for other ranks: it fails, or the
  ///   kernel was used before and the ranks do not compare their calls
  bool onlyEnqueues(const Call &call) const;
  /// Loads the kernels of sends and receives, as their first call does on each
  /// rank for itself. A driver may load only when the device's kernels have
  /// ended: load first what starts together, on several communicators.
  /// \param call a send or receive
  /// \retval unavailable a kernel is in no package, and there is no compiler
  rt::Status load(const Call &call);
  /// Runs sends and receives that start together, in one kernel: none waits for
  /// another one, except those with the same peer in the same direction, whose
  /// messages are in order. A peer may receive and send them one by one, or in
  /// groups of its own. Of one peer and direction at least two start together,
  /// in groups of two ranks eight; what exceeds that starts when the others
  /// have ended. Where the device runs fewer programs at once than there are
  /// peers and directions, some of these follow others, in an order in which
  /// ranks that have all of their transfers in one group do not block each
  /// other.
  /// \param transfers sends and receives; their streams are unused
  /// \param stream the stream that they are enqueued on
  /// \retval invalidArgument there is another operation, or run() would refuse
  ///   the arguments of one
  /// \retval failedPrecondition a config or cost model asks for other tiles
  ///   than those of groups
  rt::Status runGroup(const std::vector<Call> &transfers, rt::Stream stream);
  /// Estimates the time of a call with the kernel that run() selects, by the
  /// cost model.
  /// \param call an operation that has buffers and no counts, without a config
  /// \return the time in microseconds; 0 where no rank sends data
  /// \retval invalidArgument it is another operation, run() would refuse the
  ///   arguments, or there is a config
  /// \retval unavailable the model has no time
  rt::Expected<double> estimate(const Call &call) const;
  /// Explains which kernel run() selects for a call, and why.
  /// \param call an operation that has buffers and no counts, without a config
  /// \return where the choice comes from, the config and the reason, in one
  ///   line: "measured: " by times that were measured by this communicator,
  ///   "table: " by those of an earlier one on this machine, "model: " by the
  ///   cost model, with the source of its constants and, if something should
  ///   have been measured, why it was not
  /// \retval invalidArgument it is another operation, run() would refuse the
  ///   arguments, or there is a config
  rt::Expected<std::string> explain(const Call &call) const;

  /// out[size * count] gets all ranks' in[count], ordered by index.
  /// In place: in == out + index * count elements.
  rt::Status allGather(const void *in, void *out, size_t count, DType dtype,
                       rt::Stream stream = {}, const Config *config = nullptr);

  /// out[count] gets the reduction of all ranks' in[count], bitwise equal on
  /// all ranks and in every run. In place: in == out.
  rt::Status allReduce(const void *in, void *out, size_t count, DType dtype,
                       ReduceOp reduce, rt::Stream stream = {},
                       const Config *config = nullptr);

  /// out[count] gets chunk `index` of the reduction of all ranks' in[size *
  /// count]. In place: out == in + index * count elements.
  rt::Status reduceScatter(const void *in, void *out, size_t count, DType dtype,
                           ReduceOp reduce, rt::Stream stream = {},
                           const Config *config = nullptr);

  /// Chunk i of out[size * count] gets chunk `index` of in[size * count] of the
  /// rank with index i. In place: in == out.
  rt::Status allToAll(const void *in, void *out, size_t count, DType dtype,
                      rt::Stream stream = {}, const Config *config = nullptr);

  /// allGather with counts, as MPI_Allgatherv: the rank with index i
  /// contributes outChunks.counts[i] rows, which are stored in `out` at
  /// outChunks.offsets[i].  All ranks pass the same counts; offsets may differ.
  /// The rest is as in allToAllV.
  /// \param inSize the elements of the input, equal on all ranks
  /// \param outSize the elements of the output, equal on all ranks
  /// \param outChunks the rows of the output's chunks
  /// \param rowElements the elements of a row
  rt::Status allGatherV(const void *in, size_t inSize, void *out,
                        size_t outSize, const ChunkTable &outChunks,
                        size_t rowElements, DType dtype, rt::Stream stream = {},
                        const Config *config = nullptr);

  /// allToAll with counts, as MPI_Alltoallv: inChunks.counts[i] rows of `in` at
  /// inChunks.offsets[i] are sent to the rank with index i, and
  /// outChunks.counts[i] rows from it are stored in `out` at
  /// outChunks.offsets[i].  The sender's count equals the receiver's, and the
  /// chunks of `out` do not overlap.  A count or an offset beyond the buffers,
  /// or a pair of counts that differ, fails the world before anything is stored
  /// there.  The buffers do not overlap.
  /// \param inSize the elements of the input, equal on all ranks
  /// \param inChunks the rows of the input's chunks
  /// \param outSize the elements of the output, equal on all ranks
  /// \param outChunks the rows of the output's chunks
  /// \param rowElements the elements of a row
  rt::Status allToAllV(const void *in, size_t inSize,
                       const ChunkTable &inChunks, void *out, size_t outSize,
                       const ChunkTable &outChunks, size_t rowElements,
                       DType dtype, rt::Stream stream = {},
                       const Config *config = nullptr);

  /// out[count] gets in[count] of the rank with index `root`; the other ranks
  /// do not use `in`.  In place: in == out on the root.
  rt::Status broadcast(const void *in, void *out, size_t count, DType dtype,
                       uint32_t root, rt::Stream stream = {},
                       const Config *config = nullptr);

  /// On the rank with index `root`, out[count] gets the reduction of all ranks'
  /// in[count]; the other ranks do not use `out`. In place: in == out on the
  /// root.
  rt::Status reduce(const void *in, void *out, size_t count, DType dtype,
                    ReduceOp reduce, uint32_t root, rt::Stream stream = {},
                    const Config *config = nullptr);

  /// On the rank with index `root`, out[size * count] gets every rank's
  /// in[count]; the other ranks do not use `out`. In place: in == out + root *
  /// count elements on the root.
  rt::Status gather(const void *in, void *out, size_t count, DType dtype,
                    uint32_t root, rt::Stream stream = {},
                    const Config *config = nullptr);

  /// out[count] gets chunk `index` of in[size * count] of the rank with index
  /// `root`; the other ranks do not use `in`. In place: out == in + root *
  /// count elements on the root.
  rt::Status scatter(const void *in, void *out, size_t count, DType dtype,
                     uint32_t root, rt::Stream stream = {},
                     const Config *config = nullptr);

  /// Sends in[count] to the rank with index `peer`, which calls recv.
  rt::Status send(const void *in, size_t count, DType dtype, uint32_t peer,
                  rt::Stream stream = {}, const Config *config = nullptr);

  /// out[count] gets the data that the rank with index `peer` sends.
  rt::Status recv(void *out, size_t count, DType dtype, uint32_t peer,
                  rt::Stream stream = {}, const Config *config = nullptr);

  /// Work that any rank enqueued before the barrier is complete and visible to
  /// all ranks when work that is enqueued after the barrier runs.
  rt::Status barrier(rt::Stream stream = {});

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::ccl

#pragma GCC visibility pop

#endif // IRIS_CCL_COMMUNICATOR_H
