// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobReductions.cpp - Reductions between nodes -----------------------===//
#include "ccl/JobCommunicatorImpl.h"

#include <algorithm>

using namespace iris::ccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// All-reduce
//===----------------------------------------------------------------------===//

/// Reduces a slice inside of the node: `out` gets the piece of this rank's
/// rail.
Status JobCommunicator::Impl::reduceInNode(const Call &call, uint64_t in,
                                           uint64_t out, const Split &pieces) {
  if (pieces.isEven() && pieces.numPieces == map.sizeOf(myNode))
    return inNode(call, Op::reduceScatter, in, out, pieces.sizeOf(0));
  const uint64_t width = dtypeBytes(call.dtype);
  for (uint32_t rail = 0; rail < pieces.numPieces; ++rail)
    IRISRT_RETURN_IF_ERROR(
        inNode(call, Op::reduce, in + pieces.offsetOf(rail) * width,
               rail == myLocal ? out : 0, pieces.sizeOf(rail), rail));
  return Status::success();
}

bool JobCommunicator::Impl::isDirect(const Call &call, uint64_t count) const {
  return model.chooseReduce(count * dtypeBytes(call.dtype), map.numNodes()) ==
         Exchange::direct;
}

/// Where the node's result of a piece is in the staging buffer. The results of
/// all nodes that this rank combines come first, in the order of the nodes.
uint64_t JobCommunicator::Impl::pieceAt(const Call &call, uint64_t stage,
                                        uint64_t count) const {
  const uint64_t width = dtypeBytes(call.dtype);
  if (engineReduces(call))
    return stage;
  if (isDirect(call, count))
    return stage + myNode * count * width;
  const Split chunks = {count, map.numNodes()};
  return stage + map.numNodes() * chunks.sizeOf(myNode) * width;
}

/// Reduces a piece among the ranks of this rail, to `out` on all of them. Each
/// element is combined in the order of the nodes: the results are bitwise
/// equal.
Status JobCommunicator::Impl::exchangePiece(const Call &call, uint64_t stage,
                                            uint64_t out, uint64_t count) {
  const uint64_t width = dtypeBytes(call.dtype);
  const uint64_t piece = pieceAt(call, stage, count);
  if (engineReduces(call))
    return reduceOnRail(call, piece, out, count);
  auto forPeers = [&](auto each) {
    for (uint32_t peer = 0; peer < map.numNodes(); ++peer)
      if (peer != myNode)
        each(peer, map.rankAt(peer, myLocal));
  };
  Transfers first, second;
  if (isDirect(call, count)) {
    forPeers([&](uint32_t peer, uint32_t rank) {
      addSend(first, rank, piece, count * width);
      addRecv(first, rank, stage + peer * count * width, count * width);
    });
    IRISRT_RETURN_IF_ERROR(transfer({first}));
    return combine(call, stage, out, count);
  }
  const Split chunks = {count, map.numNodes()};
  const uint64_t mine = chunks.sizeOf(myNode) * width;
  const uint64_t result = out + chunks.offsetOf(myNode) * width;
  forPeers([&](uint32_t peer, uint32_t rank) {
    addSend(first, rank, piece + chunks.offsetOf(peer) * width,
            chunks.sizeOf(peer) * width);
    addRecv(first, rank, stage + peer * mine, mine);
    addSend(second, rank, result, mine);
    addRecv(second, rank, out + chunks.offsetOf(peer) * width,
            chunks.sizeOf(peer) * width);
  });
  IRISRT_RETURN_IF_ERROR(world.copyOnDevice(
      stage + myNode * mine, piece + chunks.offsetOf(myNode) * width, mine,
      transfers.stream()));
  IRISRT_RETURN_IF_ERROR(transfer({first}));
  IRISRT_RETURN_IF_ERROR(combine(call, stage, result, chunks.sizeOf(myNode)));
  return transfer({second});
}

Status JobCommunicator::Impl::allReduce(const Call &call) {
  const uint64_t width = dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  const uint32_t rails = map.numRails();
  // A stage has room for the pieces of all nodes, or for one and all chunks;
  // the engine reduces from one.
  const uint64_t piecesOfStage = engineReduces(call) ? 1 : map.numNodes() + 1;
  const uint64_t most = stageBytes() / width / piecesOfStage * rails - rails;
  const Slices slices = slicesOf(call, most, rails);
  auto piecesOf = [&](uint64_t k) { return Split{slices.sizeOf(k), rails}; };
  auto countOf = [&](const Split &pieces) {
    return myLocal < rails ? pieces.sizeOf(myLocal) : 0;
  };
  Steps steps;
  steps.before = [&](uint64_t k) {
    const Split pieces = piecesOf(k);
    return reduceInNode(call, in + slices.offsetOf(k) * width,
                        pieceAt(call, stageOf(k), countOf(pieces)), pieces);
  };
  steps.transfer = [&](uint64_t k) {
    const Split pieces = piecesOf(k);
    if (countOf(pieces) == 0)
      return Status::success();
    return exchangePiece(call, stageOf(k),
                         out + (slices.offsetOf(k) + pieces.offsetOf(myLocal)) *
                                   width,
                         countOf(pieces));
  };
  steps.after = [&](uint64_t k) {
    return gatherPieces(call, out + slices.offsetOf(k) * width, piecesOf(k));
  };
  return runSlices(slices, call.stream, steps);
}

//===----------------------------------------------------------------------===//
// Reduce-scatter
//===----------------------------------------------------------------------===//

/// Each node reduces its inputs of every rank's chunk at the rank's holder,
/// which sends the result to the rank.
Status JobCommunicator::Impl::reduceScatter(const Call &call) {
  const uint64_t width = dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  // What nodes send for this rank's chunk, then what this rank sends.
  const uint32_t numNodes = map.numNodes();
  uint64_t most = stageBytes() / width;
  for (uint32_t each = 0; each < numNodes; ++each)
    most =
        std::min(most, stageBytes() / width / (numNodes + map.mostHeld(each)));
  const Slices slices = slicesOf(call, most, 1);
  // The ranks of other nodes that this rank is the holder of.
  std::vector<uint32_t> held;
  for (uint32_t rank = 0; rank < map.numRanks(); ++rank)
    if (map.nodeOf(rank) != myNode && map.holderOf(rank, myNode) == myLocal)
      held.push_back(rank);
  auto slotOf = [&](uint64_t k, uint32_t rank) {
    const auto index = std::find(held.begin(), held.end(), rank);
    const uint64_t slot =
        rank == me ? myNode
                   : numNodes + static_cast<uint64_t>(index - held.begin());
    return stageOf(k) + slot * slices.sizeOf(k) * width;
  };
  Steps steps;
  steps.before = [&](uint64_t k) -> Status {
    for (uint32_t to = 0; to < numNodes; ++to) {
      if (map.isUniform() && map.isContiguous(to) && slices.number() == 1) {
        IRISRT_RETURN_IF_ERROR(
            inNode(call, Op::reduceScatter,
                   in + map.rankAt(to, 0) * call.count * width,
                   slotOf(k, map.rankAt(to, myLocal)), call.count));
        continue;
      }
      for (uint32_t rank : map.ranksOf(to)) {
        const uint32_t holder = map.holderOf(rank, myNode);
        IRISRT_RETURN_IF_ERROR(inNode(
            call, Op::reduce,
            in + (rank * call.count + slices.offsetOf(k)) * width,
            holder == myLocal ? slotOf(k, rank) : 0, slices.sizeOf(k), holder));
      }
    }
    return Status::success();
  };
  steps.transfer = [&](uint64_t k) -> Status {
    const uint64_t bytes = slices.sizeOf(k) * width;
    Transfers list;
    for (uint32_t rank : held)
      addSend(list, rank, slotOf(k, rank), bytes);
    for (uint32_t from = 0; from < numNodes; ++from)
      if (from != myNode)
        addRecv(list, map.rankAt(from, map.holderOf(me, from)),
                stageOf(k) + from * bytes, bytes);
    IRISRT_RETURN_IF_ERROR(transfer({list}));
    return combine(call, stageOf(k), out + slices.offsetOf(k) * width,
                   slices.sizeOf(k));
  };
  return runSlices(slices, call.stream, steps);
}
