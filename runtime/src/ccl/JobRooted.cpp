// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobRooted.cpp - Reduce, gather and scatter between nodes -----------===//
#include "ccl/JobCommunicatorImpl.h"

using namespace iris::ccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// Each node reduces, so that each rail has its piece. The rails of the root's
/// node combine the pieces, and the root gathers them.
Status JobCommunicator::Impl::reduce(const Call &call) {
  const uint64_t width = dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  const uint32_t rails = map.numRails(), numNodes = map.numNodes();
  const uint32_t rootNode = map.nodeOf(call.root);
  const uint32_t rootLocal = map.localOf(call.root);
  // A stage has the pieces of all nodes, the result, and what the root gathers.
  const uint64_t most =
      stageBytes() / width / (numNodes + 1 + map.mostRanks()) * rails - rails;
  const Slices slices = slicesOf(call, most, rails);
  auto piecesOf = [&](uint64_t k) { return Split{slices.sizeOf(k), rails}; };
  auto countOf = [&](const Split &pieces) {
    return myLocal < rails ? pieces.sizeOf(myLocal) : 0;
  };
  auto resultAt = [&](uint64_t k) {
    return stageOf(k) + numNodes * piecesOf(k).sizeOf(0) * width;
  };
  Steps steps;
  steps.before = [&](uint64_t k) {
    const Split pieces = piecesOf(k);
    return reduceInNode(call, in + slices.offsetOf(k) * width,
                        stageOf(k) + myNode * countOf(pieces) * width, pieces);
  };
  steps.transfer = [&](uint64_t k) -> Status {
    const uint64_t count = countOf(piecesOf(k)), bytes = count * width;
    Transfers list;
    if (count == 0)
      return Status::success();
    if (myNode != rootNode) {
      addSend(list, map.rankAt(rootNode, myLocal), stageOf(k) + myNode * bytes,
              bytes);
      return transfer({list});
    }
    for (uint32_t from = 0; from < numNodes; ++from)
      if (from != myNode)
        addRecv(list, map.rankAt(from, myLocal), stageOf(k) + from * bytes,
                bytes);
    IRISRT_RETURN_IF_ERROR(transfer({list}));
    return combine(call, stageOf(k), resultAt(k), count);
  };
  if (myNode == rootNode)
    steps.after = [&](uint64_t k) -> Status {
      const Split pieces = piecesOf(k);
      const uint64_t longest = pieces.sizeOf(0);
      const uint64_t to = out + slices.offsetOf(k) * width;
      const bool isWhole = pieces.isEven() && rails == map.sizeOf(myNode);
      const uint64_t gathered = isWhole ? to : resultAt(k) + longest * width;
      IRISRT_RETURN_IF_ERROR(inNode(call, Op::gather, resultAt(k),
                                    me == call.root ? gathered : 0, longest,
                                    rootLocal));
      for (uint32_t rail = 0; rail < rails && !isWhole && me == call.root;
           ++rail)
        IRISRT_RETURN_IF_ERROR(copy(call, to + pieces.offsetOf(rail) * width,
                                    gathered + rail * longest * width,
                                    pieces.sizeOf(rail) * width));
      return Status::success();
    };
  return runSlices(slices, call.stream, steps);
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// Every rank of another node exchanges its chunk with the root, whose node
/// does what remains. `chunks` is the root's buffer of all chunks, and `chunk`
/// that of every rank.
Status JobCommunicator::Impl::exchangeWithRoot(const Call &call,
                                               uint64_t chunks,
                                               uint64_t chunk) {
  const uint64_t width = dtypeBytes(call.dtype);
  const bool isGather = call.op == Op::gather;
  const bool isRoot = me == call.root;
  const uint32_t rootLocal = map.localOf(call.root);
  const uint64_t most = stageBytes() / width / map.mostRanks();
  const Slices slices = slicesOf(call, most, 1);
  auto chunkOf = [&](uint32_t rank) {
    return chunks + rank * call.count * width;
  };
  Steps steps;
  steps.transfer = [&](uint64_t k) {
    const uint64_t offset = slices.offsetOf(k) * width,
                   bytes = slices.sizeOf(k) * width;
    Transfers list;
    auto add = [&](uint32_t peer, uint64_t address, bool isSend) {
      if (isSend)
        addSend(list, peer, address, bytes);
      else
        addRecv(list, peer, address, bytes);
    };
    if (myNode != map.nodeOf(call.root))
      add(call.root, chunk + offset, isGather);
    for (uint32_t rank = 0; isRoot && rank < map.numRanks(); ++rank)
      if (map.nodeOf(rank) != myNode)
        add(rank, chunkOf(rank) + offset, !isGather);
    return transfer({list});
  };
  // Inside of the node the chunks must follow each other.
  auto inside = [&](uint64_t node, uint64_t own, uint64_t count) {
    const uint64_t all = isRoot ? node : 0;
    return isGather ? inNode(call, Op::gather, own, all, count, rootLocal)
                    : inNode(call, Op::scatter, all, own, count, rootLocal);
  };
  auto pack = [&](uint64_t k, bool isBack) -> Status {
    const uint64_t bytes = slices.sizeOf(k) * width;
    for (uint32_t rank : map.ranksOf(myNode)) {
      const uint64_t at = chunkOf(rank) + slices.offsetOf(k) * width;
      const uint64_t packed = stageOf(k) + map.localOf(rank) * bytes;
      IRISRT_RETURN_IF_ERROR(isBack ? copy(call, at, packed, bytes)
                                    : copy(call, packed, at, bytes));
    }
    return Status::success();
  };
  if (myNode == map.nodeOf(call.root))
    steps.beside = [&](uint64_t k) -> Status {
      if (map.isContiguous(myNode))
        return k == 0
                   ? inside(chunkOf(map.rankAt(myNode, 0)), chunk, call.count)
                   : Status::success();
      if (isRoot && !isGather)
        IRISRT_RETURN_IF_ERROR(pack(k, /*isBack=*/false));
      IRISRT_RETURN_IF_ERROR(inside(
          stageOf(k), chunk + slices.offsetOf(k) * width, slices.sizeOf(k)));
      return isRoot && isGather ? pack(k, /*isBack=*/true) : Status::success();
    };
  return runSlices(slices, call.stream, steps);
}

Status JobCommunicator::Impl::gather(const Call &call) {
  return exchangeWithRoot(call, reinterpret_cast<uint64_t>(call.out),
                          reinterpret_cast<uint64_t>(call.in));
}

Status JobCommunicator::Impl::scatter(const Call &call) {
  return exchangeWithRoot(call, reinterpret_cast<uint64_t>(call.in),
                          reinterpret_cast<uint64_t>(call.out));
}
