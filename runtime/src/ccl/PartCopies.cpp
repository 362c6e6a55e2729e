// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/PartCopies.h"

#include <algorithm>

using namespace iris::ccl;
using namespace iris::rt;

std::vector<PartCopy> iris::ccl::partCopies(const MatmulProblem &p,
                                            uint32_t rank, uint32_t groupSize) {
  const uint64_t groups = copiedGroups(p);
  const auto groupRows = static_cast<uint64_t>(p.config.groupM) *
                         static_cast<uint64_t>(p.config.tileM);
  const uint64_t rowBytes = p.k * dtypeBytes(p.element);
  std::vector<PartCopy> copies;
  auto add = [&](uint32_t i, uint64_t group) {
    uint64_t first = group * groupRows;
    uint64_t last = std::min(p.m, first + groupRows);
    PartCopy copy;
    copy.source = (rank + i) % groupSize;
    copy.offset = first * rowBytes;
    copy.bytes = (last - first) * rowBytes;
    copy.flag = copy.source * groups + group;
    copies.push_back(copy);
  };
  // With shard k a tile needs all parts, with shard m one.
  if (p.config.shard == "k") {
    for (uint64_t group = 0; group < groups; ++group)
      for (uint32_t i = 1; i < groupSize; ++i)
        add(i, group);
    return copies;
  }
  for (uint32_t i = 1; i < groupSize; ++i)
    for (uint64_t group = 0; group < groups; ++group)
      add(i, group);
  return copies;
}

PartCopies::PartCopies(World &world, const MatmulProblem &p)
    : world_(world), copies_(partCopies(p, world.rank(), world.numRanks())),
      partBytes_(p.m * p.k * dtypeBytes(p.element)),
      numFlags_(copiedFlags(p, world.numRanks())), side_(world) {}

Expected<std::unique_ptr<PartCopies>>
PartCopies::create(World &world, const std::shared_ptr<KernelCache> &cache,
                   const MatmulProblem &problem, Agreement agreement) {
  std::unique_ptr<PartCopies> copies(new PartCopies(world, problem));
  Status status = copies->open(cache, agreement);
  if (status.ok())
    return copies;
  copies->destroy().ignore("what went wrong first says more");
  return status;
}

Status PartCopies::open(const std::shared_ptr<KernelCache> &cache,
                        Agreement &agreement) {
  CommunicatorOptions options;
  options.cache = cache;
  IRISRT_ASSIGN_OR_RETURN(communicator_, Communicator::create(world_, options));
  IRISRT_RETURN_IF_ERROR(communicator_->prepare(Op::barrier));
  return agreement.succeeded(side_.open());
}

Status PartCopies::destroy() {
  Status status = side_.close();
  if (communicator_) {
    Status destroyed = communicator_->destroy();
    if (status.ok())
      status = std::move(destroyed);
  }
  return status;
}

/// Behind the flags lies what they are raised with: 1.
Status PartCopies::prepare(uint64_t workspace) {
  flags_ = workspace + matmulWorkspaceBase;
  static const uint32_t raised = 1;
  IRISRT_RETURN_IF_ERROR(world_.copyToDevice(
      flags_ + numFlags_ * matmulFlagBytes, &raised, sizeof raised));
  return world_.synchronize();
}

/// A flag is raised by a copy as well.  It comes from the peer, so that the
/// same engine does it: copies in own memory may need a processor, and the
/// kernel has them all.
Status PartCopies::copy(const PartCopy &part, uint64_t a, uint64_t staging) {
  IRISRT_ASSIGN_OR_RETURN(uint64_t from, world_.translate(a, part.source));
  IRISRT_RETURN_IF_ERROR(
      world_.copyOnDevice(staging + part.source * partBytes_ + part.offset,
                          from + part.offset, part.bytes, side_.stream()));
  IRISRT_ASSIGN_OR_RETURN(
      uint64_t raised,
      world_.translate(flags_ + numFlags_ * matmulFlagBytes, part.source));
  return world_.copyOnDevice(flags_ + part.flag * matmulFlagBytes, raised,
                             sizeof(uint32_t), side_.stream());
}

Status PartCopies::begin(uint64_t a, uint64_t staging, Stream stream) {
  if (copies_.empty())
    return Status::success();
  IRISRT_RETURN_IF_ERROR(
      world_.zero(flags_, numFlags_ * matmulFlagBytes, stream));
  IRISRT_RETURN_IF_ERROR(communicator_->barrier(stream));
  IRISRT_RETURN_IF_ERROR(side_.fork(stream));
  for (const PartCopy &part : copies_)
    IRISRT_RETURN_IF_ERROR(copy(part, a, staging));
  return communicator_->barrier(side_.stream());
}

Status PartCopies::end(Stream stream) {
  return copies_.empty() ? Status::success() : side_.join(stream);
}
