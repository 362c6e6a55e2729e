// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CopyEngine.cpp - Copies of the copy_engine matmuls -----------------===//
#include "ccl/CopyEngine.h"

#include <algorithm>
#include <utility>

using namespace iris::ccl;
using namespace iris::rt;

using Matrix = RowCopy::Matrix;

static constexpr uint64_t lineBytes = plan::FusedWorkspace::line;

//===----------------------------------------------------------------------===//
// Copy plan
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(const MatmulProblem &p, uint32_t rank, uint32_t size)
      : p(p), rank(rank), size(size), form(formOf(p)),
        shape(shapeOf(p, form, size)),
        layout(n, form, shape.aRows, shape.bColumns, size) {}

  void gatherChunks();
  void sendPartialSums();
  /// The group at index 0 is at index `firstGroup` of plan.tiles.
  void sendResults(int64_t firstGroup);
  void sendSums();
  CopyPlan plan;

private:
  /// The rank at a distance of 0 to `size` after this rank.
  uint32_t member(uint32_t distance) const { return (rank + distance) % size; }
  /// Whether a rank's chunk has rows in a group; the last chunks of an
  /// all-reduce may have none.
  bool hasRows(uint32_t owner, int64_t group) {
    const int64_t begin = layout.chunkBegin(owner);
    return p.kind != MatmulKind::matmulAllReduce ||
           (begin < shape.aRows &&
            layout.groupBegin(group) < layout.rowsOfChunk(begin));
  }
  uint64_t rowsOf(uint32_t owner, int64_t group) {
    return static_cast<uint64_t>(
        layout.rowsOfGroup(layout.chunkBegin(owner), group));
  }
  /// Tiles in a group of a rank's chunk; 0 if it has no rows.
  uint32_t tilesOf(uint32_t owner, int64_t group) {
    return hasRows(owner, group) ? static_cast<uint32_t>(layout.tilesOfGroup(
                                       layout.chunkBegin(owner), group))
                                 : 0;
  }
  /// Bytes before a row of a matrix whose rows have `rowBytes`.
  static uint64_t offsetOf(int64_t row, uint64_t rowBytes) {
    return static_cast<uint64_t>(row) * rowBytes;
  }

  const MatmulProblem &p;
  const uint32_t rank, size;
  const plan::MatmulForm form;
  const plan::MatmulShape<int64_t> shape;
  plan::IntegerArithmetic n;
  plan::CopyLayout<plan::IntegerArithmetic> layout;
};
} // namespace

/// Copies the peers' chunks of A to this rank. With shard k a tile needs all
/// chunks; with shard m it needs one.
void Planner::gatherChunks() {
  const uint64_t rowBytes = p.k * dtypeBytes(p.element);
  auto add = [&](uint32_t distance, int64_t group) {
    const uint32_t source = member(distance);
    const int64_t row = layout.groupBegin(group);
    RowCopy copy;
    copy.source = source;
    copy.target = rank;
    copy.fromOffset = offsetOf(row, rowBytes);
    copy.toOffset = offsetOf(layout.chunkBegin(source) + row, rowBytes);
    copy.bytes = rowsOf(source, group) * rowBytes;
    copy.flag = static_cast<uint64_t>(layout.gatheredFlag(source, group));
    plan.copies.push_back(copy);
  };
  if (p.config.shard == "k") {
    for (int64_t group = 0; group < layout.groups; ++group)
      for (uint32_t i = 1; i < size; ++i)
        add(i, group);
  } else {
    for (uint32_t i = 1; i < size; ++i)
      for (int64_t group = 0; group < layout.groups; ++group)
        add(i, group);
  }
  plan.barrierAfter = true;
}

/// Copies this rank's partial sums of the peers' chunks to their owners. The
/// owner at distance i sees this rank at distance size - i.
void Planner::sendPartialSums() {
  const uint32_t bytes = dtypeBytes(
      p.config.partialType == "result" ? p.result : sumType(p.element));
  const uint64_t rowBytes = p.n * bytes;
  plan.tiles.assign(static_cast<size_t>(size * layout.groups), 0);
  for (uint32_t i = 1; i <= size; ++i)
    for (int64_t group = 0; group < layout.groups; ++group) {
      const uint32_t owner = member(i);
      const auto count = static_cast<size_t>(layout.groupIndex(i, group));
      plan.tiles[count] = tilesOf(owner, group);
      if (i == size || plan.tiles[count] == 0)
        continue;
      const int64_t row = layout.groupBegin(group);
      const int64_t send = layout.sendSlice(i) * layout.rows;
      const int64_t receive = layout.receiveSlice(size - i) * layout.rows;
      RowCopy copy;
      copy.source = rank;
      copy.target = owner;
      copy.from = copy.to = Matrix::staging;
      copy.fromOffset = offsetOf(send + row, rowBytes);
      copy.toOffset = offsetOf(receive + row, rowBytes);
      copy.bytes = rowsOf(owner, group) * rowBytes;
      copy.missing = count;
      copy.flag = static_cast<uint64_t>(layout.groupIndex(size - i, group));
      plan.copies.push_back(copy);
    }
}

/// Copies this rank's rows of C to all peers, group by group.
void Planner::sendResults(int64_t firstGroup) {
  const uint64_t rowBytes = p.n * dtypeBytes(p.result);
  plan.tiles.resize(static_cast<size_t>(firstGroup + layout.groups));
  for (int64_t group = 0; group < layout.groups; ++group) {
    const auto count = static_cast<size_t>(firstGroup + group);
    plan.tiles[count] = tilesOf(rank, group);
    for (uint32_t i = 1; i < size && plan.tiles[count] != 0; ++i) {
      const int64_t row = layout.chunkBegin(rank) + layout.groupBegin(group);
      RowCopy copy;
      copy.source = rank;
      copy.target = member(i);
      copy.from = copy.to = Matrix::c;
      copy.fromOffset = copy.toOffset = offsetOf(row, rowBytes);
      copy.bytes = rowsOf(rank, group) * rowBytes;
      copy.missing = count;
      plan.copies.push_back(copy);
    }
  }
  plan.barrierAfter = true;
}

/// Copies this rank's sums of an all-reduce to all peers: its own chunk is the
/// one at distance `size`.
void Planner::sendSums() { sendResults(layout.groupIndex(size, 0)); }

CopyPlan iris::ccl::planCopies(const MatmulProblem &p, uint32_t rank,
                               uint32_t groupSize) {
  Planner planner(p, rank, groupSize);
  switch (p.kind) {
  case MatmulKind::matmulAllGather:
    planner.sendResults(0);
    break;
  case MatmulKind::matmulReduceScatter:
    planner.sendPartialSums();
    break;
  case MatmulKind::matmulAllReduce:
    planner.sendPartialSums();
    planner.sendSums();
    break;
  case MatmulKind::allGatherMatmul:
    planner.gatherChunks();
    break;
  case MatmulKind::matmul:
    break;
  }
  return std::move(planner.plan);
}

//===----------------------------------------------------------------------===//
// Construction and destruction
//===----------------------------------------------------------------------===//

CopyEngine::CopyEngine(World &world, const MatmulProblem &p)
    : world_(world), plan_(planCopies(p, world.rank(), world.numRanks())),
      layout_(copiedLayout(p, world.numRanks())), side_(world) {}

Expected<std::unique_ptr<CopyEngine>>
CopyEngine::create(World &world, const std::shared_ptr<KernelCache> &cache,
                   const MatmulProblem &problem, Agreement agreement) {
  std::unique_ptr<CopyEngine> copies(new CopyEngine(world, problem));
  Status status = copies->open(cache, agreement);
  if (status.ok())
    return copies;
  copies->destroy().ignore("the first error is reported");
  return status;
}

Status CopyEngine::open(const std::shared_ptr<KernelCache> &cache,
                        Agreement &agreement) {
  CommunicatorOptions options;
  options.cache = cache;
  // Its calls have a config.
  options.tuning.level = TuneLevel::off;
  IRISRT_ASSIGN_OR_RETURN(communicator_, Communicator::create(world_, options));
  IRISRT_RETURN_IF_ERROR(communicator_->prepare(Op::barrier));
  return agreement.succeeded(side_.open());
}

Status CopyEngine::destroy() {
  Status status = side_.close();
  if (communicator_) {
    Status destroyed = communicator_->destroy();
    if (status.ok())
      status = std::move(destroyed);
  }
  return status;
}

Status CopyEngine::prepare(uint64_t workspace, uint64_t staging) {
  words_ = workspace + plan::FusedWorkspace::flags;
  staging_ = staging;
  constexpr uint64_t lineWords = lineBytes / sizeof(uint32_t);
  std::vector<uint32_t> lines((1 + layout_.numFlags()) * lineWords);
  lines[0] = 1; // the value of a set flag
  for (size_t i = 0; i < plan_.tiles.size(); ++i)
    lines[(1 + layout_.missing() + i) * lineWords] = plan_.tiles[i];
  if (waits())
    lines[(1 + layout_.entered()) * lineWords] = 1;
  IRISRT_RETURN_IF_ERROR(world_.writeNow(word(layout_.flagValue()),
                                         lines.data(),
                                         lines.size() * sizeof(uint32_t)));
  if (!waits())
    return Status::success();
  // Run one stream wait now, so that the first call does not discover that the
  // driver cannot do it. No call has set the word yet.
  IRISRT_RETURN_IF_ERROR(
      world_.waitEqual(word(layout_.entered()), 0, side_.stream()));
  return world_.synchronize(side_.stream());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The flag is set by another copy along the same path, so that the same engine
/// does it. A copy within local memory may need a compute unit, and the kernel
/// occupies all of them.
Status CopyEngine::copy(const RowCopy &copy, uint64_t a, uint64_t c) {
  auto at = [&](Matrix matrix) {
    return matrix == Matrix::a ? a : matrix == Matrix::c ? c : staging_;
  };
  if (copy.missing)
    IRISRT_RETURN_IF_ERROR(world_.waitEqual(
        word(layout_.missing() + *copy.missing), 0, side_.stream()));
  IRISRT_ASSIGN_OR_RETURN(uint64_t from,
                          world_.translate(at(copy.from), copy.source));
  IRISRT_ASSIGN_OR_RETURN(uint64_t to,
                          world_.translate(at(copy.to), copy.target));
  IRISRT_RETURN_IF_ERROR(world_.copyOnDevice(
      to + copy.toOffset, from + copy.fromOffset, copy.bytes, side_.stream()));
  if (!copy.flag)
    return Status::success();
  uint64_t number =
      copy.missing ? layout_.done() + *copy.missing : layout_.flagValue();
  IRISRT_ASSIGN_OR_RETURN(uint64_t value,
                          world_.translate(word(number), copy.source));
  IRISRT_ASSIGN_OR_RETURN(uint64_t flag,
                          world_.translate(word(*copy.flag), copy.target));
  return world_.copyOnDevice(flag, value, sizeof(uint32_t), side_.stream());
}

Status CopyEngine::copyAll(uint64_t a, uint64_t c) {
  for (const RowCopy &each : plan_.copies)
    IRISRT_RETURN_IF_ERROR(copy(each, a, c));
  return plan_.barrierAfter ? communicator_->barrier(side_.stream())
                            : Status::success();
}

Status CopyEngine::begin(uint64_t a, uint64_t c, Stream stream) {
  if (world_.numRanks() == 1)
    return Status::success();
  IRISRT_RETURN_IF_ERROR(
      world_.copyOnDevice(words_, word(layout_.initialValues()),
                          layout_.numFlags() * lineBytes, stream));
  if (!waits())
    IRISRT_RETURN_IF_ERROR(communicator_->barrier(stream));
  IRISRT_RETURN_IF_ERROR(side_.fork(stream));
  if (waits())
    return Status::success();
  Status status = copyAll(a, c);
  if (!status.ok())
    abandon(stream);
  return status;
}

/// When the kernel ends, every count is zero, also after an abort or timeout,
/// so no stream wait outlives the kernel. The zeroing is submitted last:
/// streams may share a hardware queue, and the copies must not be queued after
/// work that waits for the kernel, because the kernel waits for the peers'
/// copies.
Status CopyEngine::end(uint64_t a, uint64_t c, Stream stream) {
  if (world_.numRanks() == 1)
    return Status::success();
  if (!waits())
    return side_.join(stream);
  Status status = world_.waitEqual(word(layout_.entered()), 0, side_.stream());
  if (status.ok())
    status = copyAll(a, c);
  Status cleared = world_.zero(word(layout_.missing()),
                               (layout_.numMissing() + 1) * lineBytes, stream);
  if (status.ok())
    status = std::move(cleared);
  if (status.ok())
    return side_.join(stream);
  abandon(stream);
  return status;
}

void CopyEngine::abandon(Stream stream) {
  if (world_.numRanks() != 1)
    side_.join(stream).ignore("the first error is reported");
}
