// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobExchanges.cpp - All-to-all, send and receive between nodes ------===//
#include "ccl/JobCommunicatorImpl.h"

using namespace iris::ccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// All-to-all
//===----------------------------------------------------------------------===//

/// Each pair of ranks of different nodes exchanges its chunks; the ranks of a
/// node have an all-to-all of their own.
Status JobCommunicator::Impl::allToAll(const Call &call) {
  const uint64_t width = dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  const uint32_t numRanks = map.numRanks(), mySize = map.sizeOf(myNode);
  const bool isInPlace = in == out;
  // A stage has a copy of what is sent, if that is overwritten, then the chunks
  // of the node before and after their exchange.
  const uint64_t most = stageBytes() / width / (numRanks + 2 * map.mostRanks());
  const Slices slices = slicesOf(call, most, 1);
  auto offsetOf = [&](uint64_t k, uint32_t rank) {
    return (rank * call.count + slices.offsetOf(k)) * width;
  };
  auto sentAt = [&](uint64_t k, uint32_t rank) {
    return isInPlace ? stageOf(k) + rank * slices.sizeOf(k) * width
                     : in + offsetOf(k, rank);
  };
  auto isRemote = [&](uint32_t rank) { return map.nodeOf(rank) != myNode; };
  Steps steps;
  if (isInPlace)
    steps.before = [&](uint64_t k) -> Status {
      for (uint32_t rank = 0; rank < numRanks; ++rank)
        if (isRemote(rank))
          IRISRT_RETURN_IF_ERROR(copy(call, sentAt(k, rank),
                                      in + offsetOf(k, rank),
                                      slices.sizeOf(k) * width));
      return Status::success();
    };
  steps.transfer = [&](uint64_t k) {
    const uint64_t bytes = slices.sizeOf(k) * width;
    Transfers list;
    for (uint32_t rank = 0; rank < numRanks; ++rank) {
      if (!isRemote(rank))
        continue;
      addSend(list, rank, sentAt(k, rank), bytes);
      addRecv(list, rank, out + offsetOf(k, rank), bytes);
    }
    return transfer({list});
  };
  steps.beside = [&](uint64_t k) -> Status {
    if (map.isContiguous(myNode)) {
      const uint64_t first = offsetOf(0, map.rankAt(myNode, 0));
      return k == 0 ? inNode(call, Op::allToAll, in + first, out + first,
                             call.count)
                    : Status::success();
    }
    const uint64_t bytes = slices.sizeOf(k) * width;
    const uint64_t packed = stageOf(k) + numRanks * bytes;
    const uint64_t exchanged = packed + mySize * bytes;
    for (uint32_t rank : map.ranksOf(myNode))
      IRISRT_RETURN_IF_ERROR(copy(call, packed + map.localOf(rank) * bytes,
                                  in + offsetOf(k, rank), bytes));
    IRISRT_RETURN_IF_ERROR(
        inNode(call, Op::allToAll, packed, exchanged, slices.sizeOf(k)));
    for (uint32_t rank : map.ranksOf(myNode))
      IRISRT_RETURN_IF_ERROR(copy(call, out + offsetOf(k, rank),
                                  exchanged + map.localOf(rank) * bytes,
                                  bytes));
    return Status::success();
  };
  return runSlices(slices, call.stream, steps);
}

//===----------------------------------------------------------------------===//
// Send and receive
//===----------------------------------------------------------------------===//

Status JobCommunicator::Impl::checkTransfer(const Call &call) const {
  if (call.op != Op::send && call.op != Op::recv)
    return makeStatus(StatusCode::invalidArgument,
                      "%s among transfers; expected send or recv",
                      std::string(opName(call.op)).c_str());
  IRISRT_RETURN_IF_ERROR(checkCall(call, map.numRanks(), me).status());
  if (map.nodeOf(call.root) == myNode)
    return makeStatus(StatusCode::invalidArgument,
                      "%s with rank %u, which is on this node; expected a rank "
                      "of another one",
                      std::string(opName(call.op)).c_str(), call.root);
  return Status::success();
}

Status
JobCommunicator::Impl::exchangeAll(const std::vector<Call> &calls,
                                   const std::vector<Stream> &streams,
                                   const std::function<Status()> &beside) {
  Transfers list;
  for (const Call &call : calls) {
    const uint64_t bytes = call.count * dtypeBytes(call.dtype);
    if (call.op == Op::send)
      addSend(list, call.root, reinterpret_cast<uint64_t>(call.in), bytes);
    else
      addRecv(list, call.root, reinterpret_cast<uint64_t>(call.out), bytes);
  }
  const Enqueuing enqueuing(*this, streams);
  return exchangeList(list, streams, beside);
}

Status
JobCommunicator::Impl::exchangeList(const Transfers &list,
                                    const std::vector<Stream> &streams,
                                    const std::function<Status()> &beside) {
  // No other work of the engine is on another stream, with which it could wait
  // for itself.
  if (onStreams && hasOneRankPerNode() && streams.size() == 1 && !list.empty())
    return runOnEngine(streams[0], [&](void *native) -> Status {
      IRISRT_RETURN_IF_ERROR(onStreams->transfer(list, native));
      return beside ? beside() : Status::success();
    });
  for (Stream stream : streams) {
    IRISRT_RETURN_IF_ERROR(world.record(forked, stream));
    IRISRT_RETURN_IF_ERROR(world.waitFor(forked, transfers.stream()));
  }
  IRISRT_RETURN_IF_ERROR(transfer({list}));
  IRISRT_RETURN_IF_ERROR(world.record(joined[0], transfers.stream()));
  if (beside)
    IRISRT_RETURN_IF_ERROR(beside());
  for (Stream stream : streams)
    IRISRT_RETURN_IF_ERROR(world.waitFor(joined[0], stream));
  return Status::success();
}

Status JobCommunicator::transfer(const std::vector<Call> &calls,
                                 const std::vector<Stream> &streams,
                                 const std::function<Status()> &beside) {
  IRISRT_RETURN_IF_ERROR(impl_->checkUsable());
  bool isCaptured = false;
  for (const Call &call : calls)
    IRISRT_RETURN_IF_ERROR(impl_->checkTransfer(call));
  for (Stream stream : streams)
    isCaptured = isCaptured || impl_->world.isCaptured(stream);
  Status status = impl_->exchangeAll(calls, streams, beside);
  if (!status.ok() && !isCaptured)
    fail(status);
  return status;
}
