// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobEstimate.cpp - Estimated time of collectives between nodes ------===//
//
// The time of a call follows from that of its steps (runSlices): those inside
// of a node by the node's cost model, transfers by the model between nodes.
#include "ccl/JobCommunicatorImpl.h"

using namespace iris::ccl;
using namespace iris::rt;

namespace {
/// Microseconds of the steps of one slice, and of what runs once beside the
/// transfers.
struct StepTimes {
  double before = 0, transfer = 0, after = 0, beside = 0;
};
} // namespace

Expected<double> JobCommunicator::Impl::estimateInNode(const Call &call, Op op,
                                                       uint64_t count) const {
  Call inner;
  inner.op = op;
  // Any memory that is aligned and apart: nothing is enqueued.
  inner.in = reinterpret_cast<const void *>(uint64_t(1) << 20);
  inner.out = reinterpret_cast<void *>(uint64_t(1) << 62);
  inner.count = count;
  inner.dtype = call.dtype;
  inner.reduce = call.reduce == ReduceOp::avg ? ReduceOp::sum : call.reduce;
  inner.maxPrograms = smallerLimit(call.maxPrograms, maxNodePrograms());
  return node.estimate(inner);
}

/// The times of a slice of `count` elements.
static Expected<StepTimes>
stepTimesOf(const Call &call, const NodeMap &map, uint32_t myNode,
            const InterNodeModel &model, uint64_t count,
            const std::function<Expected<double>(Op, uint64_t)> &inNode) {
  const uint64_t bytes = count * dtypeBytes(call.dtype);
  const uint32_t rails = map.numRails(), numNodes = map.numNodes();
  // Of a slice that every rail has a piece of.
  const uint64_t piece = (count + rails - 1) / rails;
  const uint64_t pieceBytes = piece * dtypeBytes(call.dtype);
  StepTimes times;
  auto set = [&](double &time, Op op, uint64_t elements,
                 double number = 1) -> Status {
    IRISRT_ASSIGN_OR_RETURN(double us, inNode(op, elements));
    time = number * us;
    return Status::success();
  };
  switch (call.op) {
  case Op::allReduce:
    IRISRT_RETURN_IF_ERROR(set(times.before, Op::reduceScatter, piece));
    times.transfer = model.reduceUs(model.chooseReduce(pieceBytes, numNodes),
                                    pieceBytes, numNodes);
    IRISRT_RETURN_IF_ERROR(set(times.after, Op::allGather, piece));
    break;
  case Op::reduceScatter:
    IRISRT_RETURN_IF_ERROR(
        set(times.before, Op::reduceScatter, count, numNodes));
    times.transfer = model.sendUs(bytes, numNodes - 1);
    break;
  case Op::allGather:
    times.transfer = model.sendUs(bytes, numNodes - 1);
    IRISRT_RETURN_IF_ERROR(set(times.beside, Op::allGather, count));
    IRISRT_RETURN_IF_ERROR(
        set(times.after, Op::allGather, count, numNodes - 1));
    break;
  case Op::broadcast:
    IRISRT_RETURN_IF_ERROR(set(times.before, Op::broadcast, count));
    times.transfer = model.broadcastUs(
        model.chooseBroadcast(pieceBytes, numNodes), pieceBytes, numNodes);
    IRISRT_RETURN_IF_ERROR(set(times.after, Op::allGather, piece));
    break;
  case Op::reduce:
    IRISRT_RETURN_IF_ERROR(set(times.before, Op::reduceScatter, piece));
    times.transfer = model.sendUs(pieceBytes, numNodes - 1);
    IRISRT_RETURN_IF_ERROR(set(times.after, Op::gather, piece));
    break;
  case Op::gather:
  case Op::scatter:
    times.transfer =
        model.sendUs(bytes, map.numRanks() - map.sizeOf(map.nodeOf(call.root)));
    IRISRT_RETURN_IF_ERROR(set(times.beside, call.op, count));
    break;
  default: // all-to-all
    times.transfer = model.sendUs(bytes, map.numRanks() - map.sizeOf(myNode));
    IRISRT_RETURN_IF_ERROR(set(times.beside, call.op, count));
  }
  return times;
}

Expected<double>
JobCommunicator::Impl::estimateTransfer(const Call &call) const {
  if (map.nodeOf(call.root) != myNode)
    return model.sendUs(call.count * dtypeBytes(call.dtype), 1);
  Call inner = call;
  inner.root = map.localOf(call.root);
  return node.estimate(inner);
}

Expected<double> JobCommunicator::Impl::estimate(const Call &call) {
  IRISRT_RETURN_IF_ERROR(checkUsable());
  const plan::Collective *row = findCollective(call.op);
  if (!row || !row->hasBuffers() || row->hasCounts() || call.config)
    return Status(StatusCode::invalidArgument,
                  "estimate: expected an operation that has buffers and no "
                  "counts, without a config");
  IRISRT_RETURN_IF_ERROR(checkCall(call, map.numRanks(), me).status());
  if (call.count == 0)
    return 0.0;
  if (row->isPointToPoint())
    return estimateTransfer(call);
  if (map.numNodes() == 1)
    return node.estimate(call);
  const uint64_t width = dtypeBytes(call.dtype);
  const uint64_t most = stageBytes() / width / (map.numNodes() + 1);
  const Slices slices = slicesOf(call, most, map.numRails());
  auto inNode = [&](Op op, uint64_t count) {
    return estimateInNode(call, op, count);
  };
  IRISRT_ASSIGN_OR_RETURN(
      StepTimes slice,
      stepTimesOf(call, map, myNode, model, slices.sizeOf(0), inNode));
  // All slices but one hide the shorter of the two: kernels or transfers.
  const double kernels = slice.before + slice.after;
  const auto hidden = static_cast<double>(slices.number() - 1);
  return kernels + slice.transfer + hidden * std::max(kernels, slice.transfer) +
         std::max(0.0, slice.beside - slice.transfer);
}

Expected<double> JobCommunicator::estimate(const Call &call) {
  return impl_->estimate(call);
}
