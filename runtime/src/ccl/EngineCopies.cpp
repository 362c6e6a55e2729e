// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EngineCopies.cpp - Copies of the copy_engine matmuls ---------------===//
#include "ccl/EngineCopies.h"

#include <algorithm>
#include <utility>

using namespace iris::ccl;
using namespace iris::rt;

using Matrix = EngineCopy::Matrix;

static constexpr uint64_t lineBytes = plan::FusedWorkspace::line;

//===----------------------------------------------------------------------===//
// Copy plan
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(const MatmulProblem &p, uint32_t rank, uint32_t size)
      : p(p), rank(rank), size(size), parts(copiedLayout(p, size)),
        columnTiles(plan::ceilDiv(p.n, static_cast<uint64_t>(p.config.tileN))) {
  }

  void gatherParts();
  void sendPartialSums();
  void sendResults(uint64_t firstCount);
  EnginePlan plan;

private:
  /// The rank at a distance of 0 to `size` after this rank.
  uint32_t member(uint32_t distance) const { return (rank + distance) % size; }
  /// The rows of a rank's part. In an all-reduce the last parts may have fewer.
  uint64_t rowsOf(uint32_t owner) const {
    if (p.kind != MatmulKind::matmulAllReduce)
      return parts.rows;
    uint64_t start = owner * parts.rows;
    return std::min(parts.rows, p.m - std::min(p.m, start));
  }
  /// The first row of a group of rows in a part, and the rows of that group.
  uint64_t firstOf(uint64_t group) const { return group * parts.groupRows; }
  uint64_t rowsOf(uint32_t owner, uint64_t group) const {
    uint64_t rows = rowsOf(owner);
    return std::min(parts.groupRows, rows - std::min(rows, firstOf(group)));
  }
  uint32_t tilesOf(uint32_t owner, uint64_t group) const {
    auto tileRows = static_cast<uint64_t>(p.config.tileM);
    return static_cast<uint32_t>(plan::ceilDiv(rowsOf(owner, group), tileRows) *
                                 columnTiles);
  }

  const MatmulProblem &p;
  const uint32_t rank, size;
  const CopiedLayout parts;
  const uint64_t columnTiles;
};
} // namespace

/// Copies the peers' parts of A to this rank. With shard k a tile needs all
/// parts; with shard m it needs one.
void Planner::gatherParts() {
  const uint64_t rowBytes = p.k * dtypeBytes(p.element);
  auto add = [&](uint32_t distance, uint64_t group) {
    EngineCopy copy;
    copy.source = member(distance);
    copy.target = rank;
    copy.fromOffset = firstOf(group) * rowBytes;
    copy.toOffset = copy.source * parts.rows * rowBytes + copy.fromOffset;
    copy.bytes = rowsOf(copy.source, group) * rowBytes;
    copy.flag = copy.source * parts.groups + group;
    plan.copies.push_back(copy);
  };
  if (p.config.shard == "k") {
    for (uint64_t group = 0; group < parts.groups; ++group)
      for (uint32_t i = 1; i < size; ++i)
        add(i, group);
  } else {
    for (uint32_t i = 1; i < size; ++i)
      for (uint64_t group = 0; group < parts.groups; ++group)
        add(i, group);
  }
  plan.barrierAfter = true;
}

/// Copies this rank's partial sums of the peers' parts to their owners. The
/// owner at distance i sees this rank at distance size - i.
void Planner::sendPartialSums() {
  uint32_t bytes = dtypeBytes(
      p.config.partialType == "result" ? p.result : sumType(p.element));
  const uint64_t rowBytes = p.n * bytes, sliceBytes = parts.rows * rowBytes;
  plan.tiles.assign(parts.numMissing(), 0);
  for (uint32_t i = 1; i <= size; ++i)
    for (uint64_t group = 0; group < parts.groups; ++group) {
      const uint32_t owner = member(i);
      const uint64_t count = (i - 1) * parts.groups + group;
      plan.tiles[count] = tilesOf(owner, group);
      if (i == size || plan.tiles[count] == 0)
        continue;
      EngineCopy copy;
      copy.source = rank;
      copy.target = owner;
      copy.from = copy.to = Matrix::staging;
      const uint64_t begin = firstOf(group) * rowBytes;
      copy.fromOffset = (i - 1) * sliceBytes + begin;
      copy.toOffset = (size - 1 + size - i - 1) * sliceBytes + begin;
      copy.bytes = rowsOf(owner, group) * rowBytes;
      copy.missing = count;
      copy.flag = (size - i - 1) * parts.groups + group;
      plan.copies.push_back(copy);
    }
}

/// Copies this rank's rows of C to all peers, group by group.
void Planner::sendResults(uint64_t firstCount) {
  const uint64_t rowBytes = p.n * dtypeBytes(p.result);
  plan.tiles.resize(parts.numMissing());
  for (uint64_t group = 0; group < parts.groups; ++group) {
    const uint32_t tiles = tilesOf(rank, group);
    plan.tiles[firstCount + group] = tiles;
    for (uint32_t i = 1; i < size && tiles != 0; ++i) {
      EngineCopy copy;
      copy.source = rank;
      copy.target = member(i);
      copy.from = copy.to = Matrix::c;
      copy.fromOffset = copy.toOffset =
          (rank * parts.rows + firstOf(group)) * rowBytes;
      copy.bytes = rowsOf(rank, group) * rowBytes;
      copy.missing = firstCount + group;
      plan.copies.push_back(copy);
    }
  }
  plan.barrierAfter = true;
}

EnginePlan iris::ccl::planEngineCopies(const MatmulProblem &p, uint32_t rank,
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
    planner.sendResults((groupSize - 1) * copiedLayout(p, groupSize).groups);
    break;
  default:
    planner.gatherParts();
  }
  return std::move(planner.plan);
}

//===----------------------------------------------------------------------===//
// Construction and destruction
//===----------------------------------------------------------------------===//

EngineCopies::EngineCopies(World &world, const MatmulProblem &p)
    : world_(world), plan_(planEngineCopies(p, world.rank(), world.numRanks())),
      layout_(copiedLayout(p, world.numRanks())), side_(world) {}

Expected<std::unique_ptr<EngineCopies>>
EngineCopies::create(World &world, const std::shared_ptr<KernelCache> &cache,
                     const MatmulProblem &problem, Agreement agreement) {
  std::unique_ptr<EngineCopies> copies(new EngineCopies(world, problem));
  Status status = copies->open(cache, agreement);
  if (status.ok())
    return copies;
  copies->destroy().ignore("the first error is reported");
  return status;
}

Status EngineCopies::open(const std::shared_ptr<KernelCache> &cache,
                          Agreement &agreement) {
  CommunicatorOptions options;
  options.cache = cache;
  IRISRT_ASSIGN_OR_RETURN(communicator_, Communicator::create(world_, options));
  IRISRT_RETURN_IF_ERROR(communicator_->prepare(Op::barrier));
  return agreement.succeeded(side_.open());
}

Status EngineCopies::destroy() {
  Status status = side_.close();
  if (communicator_) {
    Status destroyed = communicator_->destroy();
    if (status.ok())
      status = std::move(destroyed);
  }
  return status;
}

Status EngineCopies::prepare(uint64_t workspace, uint64_t staging) {
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
Status EngineCopies::copy(const EngineCopy &copy, uint64_t a, uint64_t c) {
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

Status EngineCopies::copyAll(uint64_t a, uint64_t c) {
  for (const EngineCopy &each : plan_.copies)
    IRISRT_RETURN_IF_ERROR(copy(each, a, c));
  return plan_.barrierAfter ? communicator_->barrier(side_.stream())
                            : Status::success();
}

Status EngineCopies::begin(uint64_t a, uint64_t c, Stream stream) {
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
Status EngineCopies::end(uint64_t a, uint64_t c, Stream stream) {
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

void EngineCopies::abandon(Stream stream) {
  if (world_.numRanks() != 1)
    side_.join(stream).ignore("the first error is reported");
}
