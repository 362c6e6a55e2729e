// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobMoves.cpp - Collectives between nodes without arithmetic --------===//
#include "ccl/JobCommunicatorImpl.h"

using namespace iris::ccl;
using namespace iris::rt;

Status JobCommunicator::Impl::gatherPieces(const Call &call, uint64_t out,
                                           const Split &pieces) {
  const uint64_t width = dtypeBytes(call.dtype);
  if (pieces.isEven() && pieces.numPieces == map.sizeOf(myNode))
    return inNode(call, Op::allGather, out + pieces.offsetOf(myLocal) * width,
                  out, pieces.sizeOf(0));
  for (uint32_t rail = 0; rail < pieces.numPieces; ++rail) {
    const uint64_t piece = out + pieces.offsetOf(rail) * width;
    IRISRT_RETURN_IF_ERROR(inNode(call, Op::broadcast,
                                  rail == myLocal ? piece : 0, piece,
                                  pieces.sizeOf(rail), rail));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// All-gather
//===----------------------------------------------------------------------===//

/// Each rank sends its chunk to its holder on every other node, which gives it
/// to the ranks of the node.
Status JobCommunicator::Impl::allGather(const Call &call) {
  const uint64_t width = dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  const Slices slices = slicesOf(call, call.count, 1);
  auto chunkOf = [&](uint32_t rank) { return out + rank * call.count * width; };
  Steps steps;
  steps.transfer = [&](uint64_t k) {
    const uint64_t offset = slices.offsetOf(k) * width,
                   bytes = slices.sizeOf(k) * width;
    Transfers list;
    for (uint32_t to = 0; to < map.numNodes(); ++to)
      if (to != myNode)
        addSend(list, map.rankAt(to, map.holderOf(me, to)), in + offset, bytes);
    for (uint32_t rank = 0; rank < map.numRanks(); ++rank)
      if (map.nodeOf(rank) != myNode && map.holderOf(rank, myNode) == myLocal)
        addRecv(list, rank, chunkOf(rank) + offset, bytes);
    return transfer({list});
  };
  // The chunks of the node, which cross no link between nodes.
  steps.beside = [&](uint64_t k) -> Status {
    if (k != 0)
      return Status::success();
    if (map.isContiguous(myNode))
      return inNode(call, Op::allGather, in, chunkOf(map.rankAt(myNode, 0)),
                    call.count);
    for (uint32_t rank : map.ranksOf(myNode))
      IRISRT_RETURN_IF_ERROR(inNode(call, Op::broadcast, rank == me ? in : 0,
                                    chunkOf(rank), call.count,
                                    map.localOf(rank)));
    return Status::success();
  };
  steps.after = [&](uint64_t k) -> Status {
    for (uint32_t from = 0; from < map.numNodes(); ++from) {
      if (from == myNode)
        continue;
      if (map.isUniform() && map.isContiguous(from) && slices.number() == 1) {
        IRISRT_RETURN_IF_ERROR(
            inNode(call, Op::allGather, chunkOf(map.rankAt(from, myLocal)),
                   chunkOf(map.rankAt(from, 0)), call.count));
        continue;
      }
      for (uint32_t rank : map.ranksOf(from)) {
        const uint32_t holder = map.holderOf(rank, myNode);
        const uint64_t data = chunkOf(rank) + slices.offsetOf(k) * width;
        IRISRT_RETURN_IF_ERROR(inNode(call, Op::broadcast,
                                      holder == myLocal ? data : 0, data,
                                      slices.sizeOf(k), holder));
      }
    }
    return Status::success();
  };
  return runSlices(slices, call.stream, steps);
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

/// The root's node has the data first. Each of its rails sends a piece to the
/// other nodes, which gather the pieces.
Status JobCommunicator::Impl::broadcast(const Call &call) {
  const uint64_t width = dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  const uint32_t rails = map.numRails(), numNodes = map.numNodes();
  const uint32_t rootNode = map.nodeOf(call.root);
  const Slices slices = slicesOf(call, call.count, rails);
  auto piecesOf = [&](uint64_t k) { return Split{slices.sizeOf(k), rails}; };
  Steps steps;
  if (myNode == rootNode)
    steps.before = [&](uint64_t k) {
      return inNode(call, Op::broadcast,
                    me == call.root ? in + slices.offsetOf(k) * width : 0,
                    out + slices.offsetOf(k) * width, piecesOf(k).count,
                    map.localOf(call.root));
    };
  steps.transfer = [&](uint64_t k) {
    const Split pieces = piecesOf(k);
    if (myLocal >= rails || pieces.sizeOf(myLocal) == 0)
      return Status::success();
    const uint64_t bytes = pieces.sizeOf(myLocal) * width;
    const uint64_t piece =
        out + (slices.offsetOf(k) + pieces.offsetOf(myLocal)) * width;
    const uint32_t position = (myNode + numNodes - rootNode) % numNodes;
    auto at = [&](uint32_t index) {
      return map.rankAt((rootNode + index) % numNodes, myLocal);
    };
    Transfers recvs, sends;
    if (model.chooseBroadcast(bytes, numNodes) == Exchange::direct) {
      for (uint32_t to = 1; position == 0 && to < numNodes; ++to)
        addSend(sends, at(to), piece, bytes);
      if (position != 0)
        addRecv(recvs, at(0), piece, bytes);
    } else {
      if (position != 0)
        addRecv(recvs, at(position - 1), piece, bytes);
      if (position + 1 < numNodes)
        addSend(sends, at(position + 1), piece, bytes);
    }
    return transfer({recvs, sends});
  };
  if (myNode != rootNode)
    steps.after = [&](uint64_t k) {
      return gatherPieces(call, out + slices.offsetOf(k) * width, piecesOf(k));
    };
  return runSlices(slices, call.stream, steps);
}
