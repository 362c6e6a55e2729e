// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobCounted.cpp - Collectives with counts between nodes -------------===//
//
// An engine gets the length of a message when it is enqueued, so the host reads
// the counts, and the ranks compare them before anything is enqueued.
#include "ccl/JobCommunicatorImpl.h"

#include <cinttypes>
#include <cstring>

using namespace iris::ccl;
using namespace iris::rt;

namespace {
/// What the ranks compare.
struct CallShape {
  int64_t op = 0, dtype = 0;
  uint64_t rowElements = 0, inSize = 0, outSize = 0;

  bool operator!=(const CallShape &other) const {
    return op != other.op || dtype != other.dtype ||
           rowElements != other.rowElements || inSize != other.inSize ||
           outSize != other.outSize;
  }
};
} // namespace

static CallShape callShapeOf(const Call &call) {
  return {static_cast<int64_t>(call.op), static_cast<int64_t>(call.dtype),
          call.rowElements, call.inSize, call.outSize};
}

static std::string encodeRows(const CallShape &shape, const ChunkRows &rows) {
  std::string text(reinterpret_cast<const char *>(&shape), sizeof(shape));
  for (const std::vector<int64_t> *each :
       {&rows.inCounts, &rows.inOffsets, &rows.outCounts, &rows.outOffsets})
    text.append(reinterpret_cast<const char *>(each->data()),
                each->size() * sizeof(int64_t));
  return text;
}

/// The rows in a text of encodeRows(); `like` has the length of each list.
static ChunkRows decodeRows(const std::string &text, const ChunkRows &like) {
  ChunkRows rows = like;
  size_t at = sizeof(CallShape);
  for (std::vector<int64_t> *each :
       {&rows.inCounts, &rows.inOffsets, &rows.outCounts, &rows.outOffsets}) {
    std::memcpy(each->data(), text.data() + at, each->size() * sizeof(int64_t));
    at += each->size() * sizeof(int64_t);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Status wrongCounts(const Call &call, const std::string &what) {
  return makeStatus(StatusCode::invalidArgument, "%s: %s",
                    std::string(opName(call.op)).c_str(), what.c_str());
}

static Status checkChunk(const Call &call, uint32_t rank, uint32_t chunk,
                         const char *buffer, int64_t count, int64_t offset,
                         uint64_t size) {
  const auto rows = static_cast<int64_t>(size / call.rowElements);
  if (count >= 0 && offset >= 0 && count <= rows && offset <= rows - count)
    return Status::success();
  return wrongCounts(call,
                     formatString("chunk %u of the %s of rank %u has %" PRId64
                                  " rows at row %" PRId64
                                  "; expected rows of its %" PRId64,
                                  chunk, buffer, rank, count, offset, rows));
}

/// All ranks get the same result.
static Status checkRows(const Call &call, const std::vector<ChunkRows> &all) {
  const auto numRanks = static_cast<uint32_t>(all.size());
  const bool isGather = call.op == Op::allGatherV;
  for (uint32_t rank = 0; rank < numRanks; ++rank)
    for (uint32_t peer = 0; peer < numRanks; ++peer) {
      const ChunkRows &mine = all[rank];
      IRISRT_RETURN_IF_ERROR(checkChunk(call, rank, peer, "output",
                                        mine.outCounts[peer],
                                        mine.outOffsets[peer], call.outSize));
      const int64_t sent =
          isGather ? all[peer].outCounts[peer] : all[peer].inCounts[rank];
      IRISRT_RETURN_IF_ERROR(
          checkChunk(call, peer, rank, "input", sent,
                     isGather ? 0 : all[peer].inOffsets[rank], call.inSize));
      if (sent != mine.outCounts[peer])
        return wrongCounts(call, formatString("rank %u has %" PRId64
                                              " rows for rank %u, which "
                                              "expects %" PRId64,
                                              peer, sent, rank,
                                              mine.outCounts[peer]));
    }
  return Status::success();
}

Expected<ChunkRows> JobCommunicator::Impl::readRows(const Call &call) {
  ChunkRows rows;
  auto read = [&](std::vector<int64_t> &to, const int64_t *from) {
    to.resize(map.numRanks());
    return world.readNow(to.data(), reinterpret_cast<uint64_t>(from),
                         to.size() * sizeof(int64_t), call.stream);
  };
  if (call.op == Op::allToAllV) {
    IRISRT_RETURN_IF_ERROR(read(rows.inCounts, call.inChunks.counts));
    IRISRT_RETURN_IF_ERROR(read(rows.inOffsets, call.inChunks.offsets));
  }
  IRISRT_RETURN_IF_ERROR(read(rows.outCounts, call.outChunks.counts));
  IRISRT_RETURN_IF_ERROR(read(rows.outOffsets, call.outChunks.offsets));
  return rows;
}

/// The rows of all ranks; collective, on the host.
Expected<std::vector<ChunkRows>>
JobCommunicator::Impl::exchangeRows(const Call &call, const ChunkRows &mine) {
  const std::string text = encodeRows(callShapeOf(call), mine);
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> texts, job.allGather(text));
  std::vector<ChunkRows> all;
  for (uint32_t rank = 0; rank < map.numRanks(); ++rank) {
    CallShape shape;
    if (texts[rank].size() == text.size())
      std::memcpy(&shape, texts[rank].data(), sizeof(shape));
    if (shape != callShapeOf(call))
      return makeStatus(StatusCode::failedPrecondition,
                        "the ranks' calls differ: rank %u has another "
                        "operation, type, row or size of a buffer than rank %u",
                        rank, me);
    all.push_back(decodeRows(texts[rank], mine));
  }
  return all;
}

Status JobCommunicator::Impl::runCounted(const Call &call) {
  if (call.inSize + call.outSize == 0)
    return Status::success(); // on all ranks
  if (world.isCaptured(call.stream))
    return makeStatus(StatusCode::failedPrecondition,
                      "%s between nodes reads its counts when it is called, "
                      "and cannot be captured",
                      std::string(opName(call.op)).c_str());
  // Peers wait for this rank in the exchange.
  Expected<ChunkRows> mine = readRows(call);
  Expected<std::vector<ChunkRows>> all = mine.status();
  if (mine.ok())
    all = exchangeRows(call, *mine);
  if (!all.ok()) {
    fail(all.status());
    return all.status();
  }
  IRISRT_RETURN_IF_ERROR(checkRows(call, *all));
  const Enqueuing enqueuing(*this, {call.stream});
  Status status = call.op == Op::allToAllV ? allToAllV(call, *mine)
                                           : allGatherV(call, *mine);
  if (!status.ok())
    fail(status);
  return status;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The tables of the node's ranks, whose entries the kernel of the node reads.
/// They follow each other, or are copied.
Status JobCommunicator::Impl::exchangeInNode(const Call &call) {
  Call inner = call;
  inner.maxPrograms = smallerLimit(call.maxPrograms, maxNodePrograms());
  const uint32_t size = map.sizeOf(myNode), first = map.rankAt(myNode, 0);
  uint32_t numTables = 0;
  for (const int64_t **table :
       {&inner.inChunks.counts, &inner.inChunks.offsets,
        &inner.outChunks.counts, &inner.outChunks.offsets}) {
    const uint64_t copied = staging + size * sizeof(int64_t) * numTables++;
    if (map.isContiguous(myNode)) {
      *table += first;
      continue;
    }
    for (uint32_t rank : map.ranksOf(myNode))
      IRISRT_RETURN_IF_ERROR(
          copy(call, copied + map.localOf(rank) * sizeof(int64_t),
               reinterpret_cast<uint64_t>(*table + rank), sizeof(int64_t)));
    *table = reinterpret_cast<const int64_t *>(copied);
  }
  return node.run(inner);
}

/// Each pair of ranks of different nodes exchanges its chunks; the ranks of a
/// node have a call of their own.
Status JobCommunicator::Impl::allToAllV(const Call &call,
                                        const ChunkRows &rows) {
  const uint64_t rowBytes = call.rowElements * dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  auto bytesOf = [&](int64_t numRows) {
    return static_cast<uint64_t>(numRows) * rowBytes;
  };
  Transfers list;
  for (uint32_t rank = 0; rank < map.numRanks(); ++rank) {
    if (map.nodeOf(rank) == myNode)
      continue;
    addSend(list, rank, in + bytesOf(rows.inOffsets[rank]),
            bytesOf(rows.inCounts[rank]));
    addRecv(list, rank, out + bytesOf(rows.outOffsets[rank]),
            bytesOf(rows.outCounts[rank]));
  }
  return exchangeList(list, {call.stream}, [&] {
    return map.sizeOf(myNode) == 1
               ? copy(call, out + bytesOf(rows.outOffsets[me]),
                      in + bytesOf(rows.inOffsets[me]),
                      bytesOf(rows.inCounts[me]))
               : exchangeInNode(call);
  });
}

/// Each rank sends its chunk to its holder on every other node, which gives it
/// to the ranks of the node.
Status JobCommunicator::Impl::allGatherV(const Call &call,
                                         const ChunkRows &rows) {
  const uint64_t width = dtypeBytes(call.dtype);
  const auto in = reinterpret_cast<uint64_t>(call.in);
  const auto out = reinterpret_cast<uint64_t>(call.out);
  auto countOf = [&](uint32_t rank) {
    return static_cast<uint64_t>(rows.outCounts[rank]) * call.rowElements;
  };
  auto chunkOf = [&](uint32_t rank) {
    return out + static_cast<uint64_t>(rows.outOffsets[rank]) *
                     call.rowElements * width;
  };
  // Offsets differ among ranks, so that buffers on the heap do not match.
  Config anywhere;
  anywhere.staged = true;
  auto give = [&](uint32_t rank, uint32_t holder, uint64_t from) -> Status {
    if (countOf(rank) == 0)
      return Status::success();
    return inNode(call, Op::broadcast, holder == myLocal ? from : 0,
                  chunkOf(rank), countOf(rank), holder, &anywhere);
  };
  Transfers list;
  for (uint32_t to = 0; to < map.numNodes(); ++to)
    if (to != myNode)
      addSend(list, map.rankAt(to, map.holderOf(me, to)), in,
              countOf(me) * width);
  for (uint32_t rank = 0; rank < map.numRanks(); ++rank)
    if (map.nodeOf(rank) != myNode && map.holderOf(rank, myNode) == myLocal)
      addRecv(list, rank, chunkOf(rank), countOf(rank) * width);
  IRISRT_RETURN_IF_ERROR(exchangeList(list, {call.stream}, [&]() -> Status {
    if (map.sizeOf(myNode) == 1)
      return copy(call, chunkOf(me), in, countOf(me) * width);
    for (uint32_t rank : map.ranksOf(myNode))
      IRISRT_RETURN_IF_ERROR(give(rank, map.localOf(rank), in));
    return Status::success();
  }));
  for (uint32_t rank = 0; map.sizeOf(myNode) > 1 && rank < map.numRanks();
       ++rank)
    if (map.nodeOf(rank) != myNode)
      IRISRT_RETURN_IF_ERROR(
          give(rank, map.holderOf(rank, myNode), chunkOf(rank)));
  return Status::success();
}
