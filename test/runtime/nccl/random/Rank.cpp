// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Rank.h"

#include <cstdio>
#include <cstring>
#include <string>

using namespace nccl_random;

static constexpr uint64_t guardBytes = 256;
static constexpr uint8_t guardByte = 0x5a;

Rank::Rank(int number, int numStreams, uint64_t bytes, bool isBlocking,
           bool usesNullStream)
    : number_(number), isBlocking_(isBlocking), device_(number, bytes) {
  bind();
  for (int i = 0; i < numStreams; ++i)
    streams_.push_back(i == 0 && usesNullStream ? nullptr
                                                : device_.createStream());
}

Rank::~Rank() {
  bind();
  for (cudaStream_t stream : streams_)
    if (stream)
      device_.destroyStream(stream);
}

//===----------------------------------------------------------------------===//
// Communicators and windows
//===----------------------------------------------------------------------===//

void Rank::create(const Group &all, ncclUniqueId id) {
  bind();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = isBlocking_ ? 1 : 0;
  NCCL_RANDOM_TRY(ncclCommInitRankConfig(&comms_[all.id], all.size(), id,
                                         number_, &config));
}

void Rank::awaitIdle(int group) {
  auto found = comms_.find(group);
  if (isBlocking_ || found == comms_.end())
    return;
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress)
    NCCL_RANDOM_TRY(ncclCommGetAsyncError(found->second, &state));
  if (state != ncclSuccess)
    die("ncclCommGetAsyncError", ncclGetLastError(found->second));
}

void Rank::split(const Step &step, const Group &parent) {
  const int rank = parent.rankOf(number_);
  if (rank < 0)
    return;
  bind();
  made_ = nullptr;
  NCCL_RANDOM_TRY(ncclCommSplit(comms_[parent.id],
                                step.colors[static_cast<size_t>(rank)],
                                step.keys[static_cast<size_t>(rank)], &made_,
                                /*config=*/nullptr));
}

void Rank::adopt(const Step &step) {
  for (const Group &group : step.made) {
    const int expected = group.rankOf(number_);
    if (expected < 0)
      continue;
    comms_[group.id] = made_;
    awaitIdle(group.id);
    int size = 0, rank = 0;
    NCCL_RANDOM_TRY(ncclCommCount(made_, &size));
    NCCL_RANDOM_TRY(ncclCommUserRank(made_, &rank));
    if (size != group.size() || rank != expected)
      die("ncclCommSplit", "another rank or size than expected");
  }
}

void Rank::destroy(int group) {
  auto comm = comms_.find(group);
  if (comm == comms_.end())
    return;
  bind();
  if (auto found = windows_.find(group); found != windows_.end()) {
    NCCL_RANDOM_TRY(
        ncclCommWindowDeregister(comm->second, found->second.window));
    awaitIdle(group);
    NCCL_RANDOM_TRY(ncclMemFree(found->second.memory));
    windows_.erase(found);
  }
  if (!isBlocking_) {
    NCCL_RANDOM_TRY(ncclCommFinalize(comm->second));
    awaitIdle(group);
  }
  NCCL_RANDOM_TRY(ncclCommDestroy(comm->second));
  comms_.erase(comm);
}

void Rank::allocateWindow(int group, uint64_t bytes) {
  if (!comms_.count(group))
    return;
  bind();
  void *memory = nullptr;
  NCCL_RANDOM_TRY(ncclMemAlloc(&memory, bytes));
  windows_[group] = {static_cast<uint8_t *>(memory), bytes, nullptr};
}

void Rank::registerWindow(int group, uint64_t bytes) {
  auto found = windows_.find(group);
  if (found == windows_.end())
    return;
  bind();
  NCCL_RANDOM_TRY(ncclCommWindowRegister(
      comms_[group], found->second.memory, bytes, &found->second.window,
      group % 2 ? NCCL_WIN_COLL_SYMMETRIC : NCCL_WIN_DEFAULT));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// \param inWindow where the region begins if it is in a window
Rank::Region &Rank::makeRegion(const Operation &operation, uint64_t elements,
                               uint64_t offset, uint64_t inWindow) {
  const uint64_t bytes =
      2 * guardBytes + (offset + elements) * operation.type->bytes;
  regions_.push_back(std::make_unique<Region>());
  Region &region = *regions_.back();
  region.isOwn = operation.memory == Memory::own;
  region.base = region.isOwn ? device_.allocate(bytes)
                             : windows_.at(operation.group).memory + inWindow;
  region.before.assign(bytes, guardByte);
  region.of = operation.describe();
  return region;
}

ncclRedOp_t Rank::reductionOf(const Operation &operation, int rank,
                              ncclComm_t comm) {
  switch (operation.reduction.kind) {
  case Reduction::prod:
    return ncclProd;
  case Reduction::min:
    return ncclMin;
  case Reduction::max:
    return ncclMax;
  case Reduction::avg:
    return ncclAvg;
  case Reduction::preMulSum:
    break;
  default:
    return ncclSum;
  }
  uint8_t factor[8];
  operation.type->encode(Reduction::factor(rank), factor);
  void *scalar = factor;
  if (operation.factorOnDevice) {
    factors_.push_back(device_.allocate(sizeof(factor)));
    device_.copyToDevice(factors_.back(), factor, sizeof(factor));
    scalar = factors_.back();
  }
  ncclRedOp_t made;
  NCCL_RANDOM_TRY(ncclRedOpCreatePreMulSum(
      &made, scalar, operation.type->type,
      operation.factorOnDevice ? ncclScalarDevice : ncclScalarHostImmediate,
      comm));
  return made;
}

void Rank::callSend(const Group &group, const Operation &operation) {
  const int rank = group.rankOf(number_);
  const ncclComm_t comm = comms_[group.id];
  const Type &type = *operation.type;
  auto fill = [&](std::vector<uint8_t> &bytes, uint64_t offset) {
    for (uint64_t i = 0; i < operation.count; ++i)
      type.encode(operation.reduction.input(operation.root, i),
                  &bytes[guardBytes + (offset + i) * type.bytes]);
  };
  if (rank == operation.root) {
    Region &region =
        makeRegion(operation, operation.count, operation.inOffset, 0);
    fill(region.before, operation.inOffset);
    region.after = region.before;
    device_.copyToDevice(region.base, region.before.data(),
                         region.before.size());
    NCCL_RANDOM_TRY(
        ncclSend(region.base + guardBytes + operation.inOffset * type.bytes,
                 operation.count, type.type, operation.receiver, comm,
                 stream(operation.stream)));
  }
  if (rank == operation.receiver) {
    Region &region =
        makeRegion(operation, operation.count, operation.outOffset, 0);
    region.after = region.before;
    fill(region.after, operation.outOffset);
    device_.copyToDevice(region.base, region.before.data(),
                         region.before.size());
    NCCL_RANDOM_TRY(
        ncclRecv(region.base + guardBytes + operation.outOffset * type.bytes,
                 operation.count, type.type, operation.root, comm,
                 stream(operation.stream)));
  }
}

void Rank::call(const Group &group, const Operation &operation) {
  const int rank = group.rankOf(number_);
  if (rank < 0)
    return;
  bind();
  if (operation.op == Op::send)
    return callSend(group, operation);
  const Type &type = *operation.type;
  const Reduction &reduction = operation.reduction;
  const auto size = static_cast<uint64_t>(group.size());
  const auto me = static_cast<uint64_t>(rank);
  const auto root = static_cast<uint64_t>(operation.root);
  const bool isRoot = me == root;
  const uint64_t c = operation.count;
  // Elements of this rank's input and output; of the smaller one in the larger
  // one if the operation is in place.
  uint64_t in = c, out = c, inWithin = 0, outWithin = 0;
  switch (operation.op) {
  case Op::allReduce:
    break;
  case Op::allGather:
    out = size * c;
    inWithin = me * c;
    break;
  case Op::reduceScatter:
    in = size * c;
    outWithin = me * c;
    break;
  case Op::broadcast:
  case Op::bcast:
    in = isRoot ? c : 0;
    break;
  case Op::reduce:
    out = isRoot ? c : 0;
    break;
  case Op::allToAll:
    in = out = size * c;
    break;
  case Op::gather:
    out = isRoot ? size * c : 0;
    inWithin = isRoot ? me * c : 0;
    break;
  case Op::scatter:
    in = isRoot ? size * c : 0;
    outWithin = isRoot ? me * c : 0;
    break;
  case Op::send:
    break;
  }
  const bool inPlace = operation.inPlace || operation.op == Op::bcast;
  const uint64_t half =
      operation.memory == Memory::window ? windows_[group.id].bytes / 2 : 0;

  Region *input = nullptr, *output = nullptr;
  if (inPlace) {
    input = output =
        &makeRegion(operation, std::max(in, out), operation.outOffset, half);
  } else {
    input = &makeRegion(operation, in, operation.inOffset, 0);
    output = &makeRegion(operation, out, operation.outOffset, half);
    inWithin = outWithin = 0;
  }
  const uint64_t inAt =
      guardBytes +
      ((inPlace ? operation.outOffset : operation.inOffset) + inWithin) *
          type.bytes;
  const uint64_t outAt =
      guardBytes + (operation.outOffset + outWithin) * type.bytes;
  for (uint64_t i = 0; i < in; ++i)
    type.encode(reduction.input(rank, i),
                &input->before[inAt + i * type.bytes]);
  input->after = input->before;
  output->after = output->before;
  for (uint64_t i = 0; i < out; ++i) {
    int64_t value = 0;
    const int block = c ? static_cast<int>(i / c) : 0;
    switch (operation.op) {
    case Op::allReduce:
    case Op::reduce:
      value = reduction.reduced(i);
      break;
    case Op::reduceScatter:
      value = reduction.reduced(me * c + i);
      break;
    case Op::allGather:
    case Op::gather:
      value = reduction.input(block, i % c);
      break;
    case Op::broadcast:
    case Op::bcast:
      value = reduction.input(operation.root, i);
      break;
    case Op::allToAll:
      value = reduction.input(block, me * c + i % c);
      break;
    case Op::scatter:
      value = reduction.input(operation.root, me * c + i);
      break;
    case Op::send:
      break;
    }
    type.encode(value, &output->after[outAt + i * type.bytes]);
  }
  for (Region *region : {input, output})
    device_.copyToDevice(region->base, region->before.data(),
                         region->before.size());

  const ncclComm_t comm = comms_[group.id];
  uint8_t *const from = input->base + inAt, *const to = output->base + outAt;
  const cudaStream_t on = stream(operation.stream);
  const ncclDataType_t t = type.type;
  switch (operation.op) {
  case Op::allReduce:
  case Op::reduceScatter:
  case Op::reduce: {
    const ncclRedOp_t reduce = reductionOf(operation, rank, comm);
    if (operation.op == Op::allReduce)
      NCCL_RANDOM_TRY(ncclAllReduce(from, to, c, t, reduce, comm, on));
    else if (operation.op == Op::reduceScatter)
      NCCL_RANDOM_TRY(ncclReduceScatter(from, to, c, t, reduce, comm, on));
    else
      NCCL_RANDOM_TRY(
          ncclReduce(from, to, c, t, reduce, operation.root, comm, on));
    if (reduction.kind == Reduction::preMulSum) {
      if (!isBlocking_)
        awaitIdle(group.id);
      NCCL_RANDOM_TRY(ncclRedOpDestroy(reduce, comm));
    }
    break;
  }
  case Op::allGather:
    NCCL_RANDOM_TRY(ncclAllGather(from, to, c, t, comm, on));
    break;
  case Op::broadcast:
    NCCL_RANDOM_TRY(ncclBroadcast(from, to, c, t, operation.root, comm, on));
    break;
  case Op::bcast:
    NCCL_RANDOM_TRY(ncclBcast(to, c, t, operation.root, comm, on));
    break;
  case Op::allToAll:
    NCCL_RANDOM_TRY(ncclAlltoAll(from, to, c, t, comm, on));
    break;
  case Op::gather:
    NCCL_RANDOM_TRY(ncclGather(from, to, c, t, operation.root, comm, on));
    break;
  case Op::scatter:
    NCCL_RANDOM_TRY(ncclScatter(from, to, c, t, operation.root, comm, on));
    break;
  case Op::send:
    break;
  }
}

void Rank::refill() {
  bind();
  for (const std::unique_ptr<Region> &region : regions_)
    device_.copyToDevice(region->base, region->before.data(),
                         region->before.size());
}

void Rank::check() {
  bind();
  for (cudaStream_t stream : streams_)
    if (stream || !device_.isHost())
      device_.synchronize(stream);
  // A stream that ends says nothing of an operation that has failed.
  for (const auto &[id, comm] : comms_) {
    ncclResult_t state = ncclSuccess;
    NCCL_RANDOM_TRY(ncclCommGetAsyncError(comm, &state));
    if (state != ncclSuccess)
      die("ncclCommGetAsyncError", ncclGetLastError(comm));
  }
  for (const std::unique_ptr<Region> &region : regions_) {
    std::vector<uint8_t> got(region->after.size());
    device_.copyFromDevice(got.data(), region->base, got.size());
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != region->after[i]) {
        std::fprintf(stderr,
                     "nccl-random: rank %d: %s: byte %lld of the buffer is "
                     "0x%02x; expected 0x%02x (before 0x%02x)\n",
                     number_, region->of.c_str(),
                     static_cast<long long>(i) -
                         static_cast<long long>(guardBytes),
                     got[i], region->after[i], region->before[i]);
        die("a result", "wrong");
      }
    ++checked_;
    if (region->isOwn)
      device_.free(region->base);
  }
  regions_.clear();
  for (uint8_t *factor : factors_)
    device_.free(factor);
  factors_.clear();
}
