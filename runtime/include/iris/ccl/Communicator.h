// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective operations among some ranks of a world.
//
//   auto comm = iris::ccl::Communicator::create(*world);
//   (*comm)->allReduce(in, out, count, DType::bf16, ReduceOp::sum, stream);
//
// `count` is that of NCCL: the elements that one rank contributes, or gets, as
// each operation says.  Every operation below is stream-ordered: it returns
// when the kernel is enqueued.  All members call the same operations in the
// same order with the same count, types, root and config.  The operations of
// one communicator share its workspace, so they must be ordered on the device:
// put them on one stream, or order the streams by events.  One thread at a time
// uses a communicator.
//
// Buffers are device memory, aligned to their element.
//  * Both on the symmetric heap: peers reach them directly, so they are at the
//    same offset of the heap on all members, as World::allocate gives them; the
//    chunk of a gather or scatter may be at another one.
//  * Otherwise the data goes through the workspace (a "staged" kernel).
//    Config::staged asks for that where members' buffers are on the heap, but
//    at different offsets.
// Either way all members must come to the same, and so must it be with "in
// place" below; but of a root these count for the buffer alone that every
// member has: the other one may be anywhere, and may be in place.  Buffers that
// overlap otherwise are an error.  A buffer that an operation does not use on
// this rank may be null.
//
// A call that is refused on one member alone (a null buffer, say) leaves the
// others waiting for it, until it is made or the wait limit is over.  With
// IRIS_CHECK_COLLECTIVES=1 it is refused on all of them.
//
// Kernels are compiled when they are first used (see KernelCache).  The first
// use of a kernel is therefore collective over the members: their host threads
// meet, the first member has it compiled, all load it, and a failure of one is
// returned by all.  Only send and recv, which two members call, load their
// kernel without meeting anybody.  prepare() loads ahead of time, and has to
// before a capture.
//
// Errors: invalidArgument for what is wrong in a call; failedPrecondition for a
// rank that is no member, a kernel that is missing during a capture, or members
// that differ; unavailable and invalidArgument from the compiler; and the
// failure of the world, if it has failed.  IRIS_CHECK_COLLECTIVES=1 makes the
// members compare every call on their host sides, and name what differs.
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

struct CommunicatorOptions {
  /// World ranks of the members, at most 8 in any order; member i is ranks[i].
  /// Empty: all ranks of the world.
  std::vector<uint32_t> ranks;
  /// Bytes of symmetric heap that the kernels share, a multiple of 4; what is
  /// generated takes 512 KiB to 1 GiB. Kernels are made for that size; those of
  /// packages that were compiled ahead must have been.
  uint64_t workspaceBytes = 56 << 20;
  /// Where kernels come from; null: KernelCache::shared().
  std::shared_ptr<KernelCache> cache;
  /// Whether members compare every call; by default IRIS_CHECK_COLLECTIVES.
  std::optional<bool> checkCalls;
  /// What to compile in place of a request, an .mlir module with one
  /// `iris.collective`: for kernels that stand in for the generated ones.
  std::function<std::string(const std::string &request)> rewrite;
};

/// Where the buffers lie of calls that prepare() is for.  The values are those
/// of the C API.
enum class Placement : int32_t {
  /// On the symmetric heap.
  onHeap = 0,
  /// Anywhere, also on the heap.
  anywhere,
};

/// How long the chunks of a buffer are, and where: in device memory, an entry
/// for every member.  Both are in rows of `rowElements` elements, which a call
/// names (1: in elements).  They are read when the kernel runs, so that they
/// may change between two replays of a graph.
struct ChunkTable {
  const int64_t *counts = nullptr;
  const int64_t *offsets = nullptr;
};

/// A call of any operation, for callers that go through tables of them.  What
/// the operation does not take is not used.
struct Call {
  Op op = Op::barrier;
  const void *in = nullptr;
  void *out = nullptr;
  uint64_t count = 0;
  DType dtype = DType::i8;
  ReduceOp reduce = ReduceOp::sum;
  /// The root, or the peer of send and recv.
  uint32_t root = 0;
  rt::Stream stream;
  const Config *config = nullptr;
  /// Of operations with counts, in the place of `count`: elements of the
  /// buffers, the same on all members.
  uint64_t inSize = 0, outSize = 0;
  ChunkTable inChunks, outChunks;
  uint64_t rowElements = 1;
};

class Communicator {
public:
  /// Collective over the world: all its ranks pass the same options, also those
  /// that are no members; the latter get a communicator whose operations fail.
  /// The world must outlive it.
  static rt::Expected<std::unique_ptr<Communicator>>
  create(rt::World &world, const CommunicatorOptions &options = {});
  /// Leaves the workspace to the world if destroy() was not called.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// Frees the workspace.  Collective over the world, as World::deallocate is;
  /// kernels that still run may finish.
  rt::Status destroy();

  /// The number of members.
  uint32_t size() const;
  /// The place of this rank among the members; -1 when it is none.
  int32_t index() const;
  bool isMember() const { return index() >= 0; }
  const rt::Group &group() const;

  /// Takes kernels from a package that was compiled ahead (for instance by
  /// CMake's iris_add_collectives) where it has them.  All members add the same
  /// ones, before the first use of what is in them.
  rt::Status addPackage(const std::string &path);
  rt::Status addPackage(const rt::Package &package);

  /// Loads what calls of `op` with this config will take, whatever their count:
  ///  * where no variant is named, every kernel that may be chosen for buffers
  ///    on the heap, in place or not;
  ///  * else the one kernel that is named.  Where it does not work in place,
  ///    calls in place take a staged one, which Placement::anywhere loads;
  ///  * with Placement::anywhere, also the staged kernels, which are as many
  ///    again.
  /// `dtype` and `reduce` matter for operations that reduce.  Collective over
  /// the members: what is wrong on one is returned by all.
  rt::Status prepare(Op op, DType dtype = DType::i8,
                     ReduceOp reduce = ReduceOp::sum,
                     const Config *config = nullptr,
                     Placement placement = Placement::onHeap);

  /// The operation of that name below.
  rt::Status run(const Call &call);

  /// out[size * count] holds every member's in[count], in the members' order.
  /// In place: in == out + index * count elements.
  rt::Status allGather(const void *in, void *out, size_t count, DType dtype,
                       rt::Stream stream = {}, const Config *config = nullptr);

  /// out[count] is the reduction of all members' in[count]; the same bits on
  /// all members, and in every run.  In place: in == out.
  rt::Status allReduce(const void *in, void *out, size_t count, DType dtype,
                       ReduceOp reduce, rt::Stream stream = {},
                       const Config *config = nullptr);

  /// out[count] is chunk `index` of the reduction of all members'
  /// in[size * count].  In place: out == in + index * count elements.
  rt::Status reduceScatter(const void *in, void *out, size_t count, DType dtype,
                           ReduceOp reduce, rt::Stream stream = {},
                           const Config *config = nullptr);

  /// Chunk i of out[size * count] is chunk `index` of member i's
  /// in[size * count].  In place: in == out.
  rt::Status allToAll(const void *in, void *out, size_t count, DType dtype,
                      rt::Stream stream = {}, const Config *config = nullptr);

  /// all_gather with counts, as MPI_Allgatherv: member i contributes
  /// outChunks.counts[i] rows, which go to `out` from outChunks.offsets[i]. All
  /// members pass the same counts; offsets may differ.  For the rest see
  /// allToAllV.
  rt::Status allGatherV(const void *in, size_t inSize, void *out,
                        size_t outSize, const ChunkTable &outChunks,
                        size_t rowElements, DType dtype, rt::Stream stream = {},
                        const Config *config = nullptr);

  /// all_to_all with counts, as MPI_Alltoallv: inChunks.counts[i] rows of `in`
  /// from inChunks.offsets[i] go to member i, outChunks.counts[i] rows of `out`
  /// from outChunks.offsets[i] come from it.  What a member sends is as long as
  /// what the other one expects, and chunks of `out` do not overlap.  `inSize`
  /// and `outSize` are the elements of the buffers, the same on all members: a
  /// count or an offset beyond them, or a pair of counts that differ, fails the
  /// world before anything is stored there.  The buffers are apart.
  rt::Status allToAllV(const void *in, size_t inSize,
                       const ChunkTable &inChunks, void *out, size_t outSize,
                       const ChunkTable &outChunks, size_t rowElements,
                       DType dtype, rt::Stream stream = {},
                       const Config *config = nullptr);

  /// out[count] is member `root`'s in[count]; `in` is not used elsewhere.  In
  /// place: in == out on the root.
  rt::Status broadcast(const void *in, void *out, size_t count, DType dtype,
                       uint32_t root, rt::Stream stream = {},
                       const Config *config = nullptr);

  /// On member `root`, out[count] is the reduction of all members' in[count];
  /// `out` is not used elsewhere.  In place: in == out on the root.
  rt::Status reduce(const void *in, void *out, size_t count, DType dtype,
                    ReduceOp reduce, uint32_t root, rt::Stream stream = {},
                    const Config *config = nullptr);

  /// On member `root`, out[size * count] holds every member's in[count]; `out`
  /// is not used elsewhere.  In place: in == out + root * count elements on the
  /// root.
  rt::Status gather(const void *in, void *out, size_t count, DType dtype,
                    uint32_t root, rt::Stream stream = {},
                    const Config *config = nullptr);

  /// out[count] is chunk `index` of member `root`'s in[size * count]; `in` is
  /// not used elsewhere.  In place: out == in + root * count elements on the
  /// root.
  rt::Status scatter(const void *in, void *out, size_t count, DType dtype,
                     uint32_t root, rt::Stream stream = {},
                     const Config *config = nullptr);

  /// Gives member `peer`, which calls recv, in[count].
  rt::Status send(const void *in, size_t count, DType dtype, uint32_t peer,
                  rt::Stream stream = {}, const Config *config = nullptr);

  /// out[count] is what member `peer` sends.
  rt::Status recv(void *out, size_t count, DType dtype, uint32_t peer,
                  rt::Stream stream = {}, const Config *config = nullptr);

  /// What members enqueued before it is done, and seen by all, when what they
  /// enqueue after it runs.
  rt::Status barrier(rt::Stream stream = {});

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::ccl

#pragma GCC visibility pop

#endif // IRIS_CCL_COMMUNICATOR_H
