// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckCall.cpp - Argument checks of collective calls ----------------===//
#include "ccl/CheckCall.h"

#include <algorithm>
#include <cinttypes>

using namespace iris::ccl;
using namespace iris::rt;

namespace {
/// The number of chunks of `count` elements that this rank reads and writes. In
/// place, the smaller buffer is chunk `chunkIndex` of the larger one.
struct Shape {
  uint32_t inChunks = 0;
  uint32_t outChunks = 0;
  uint32_t chunkIndex = 0;
};
} // namespace

static Shape shapeOf(const plan::Collective &collective, uint32_t size,
                     uint32_t index, uint32_t root) {
  auto chunksOf = [&](const plan::Buffer &buffer) -> uint32_t {
    if (buffer.chunks == plan::Chunks::none ||
        (buffer.isOnlyOnRoot && index != root))
      return 0;
    return buffer.chunks == plan::Chunks::all ? size : 1;
  };
  Shape shape = {chunksOf(collective.in), chunksOf(collective.out), 0};
  if (collective.isChunkInPlace())
    shape.chunkIndex = collective.hasRoot() ? root : index;
  return shape;
}

static bool isReduction(ReduceOp reduce) {
  return reduce >= ReduceOp::sum && reduce <= ReduceOp::avg;
}

static Status wrong(const Call &call, const std::string &what) {
  return makeStatus(StatusCode::invalidArgument, "%s: %s",
                    opName(call.op).data(), what.c_str());
}

static Status checkBuffer(const Call &call, const char *name,
                          const Extent &buffer) {
  if (buffer.bytes == 0)
    return Status::success();
  if (buffer.address == 0)
    return wrong(call, formatString("'%s' is null; expected %" PRIu64
                                    " bytes of device memory",
                                    name, buffer.bytes));
  uint32_t align = dtypeBytes(call.dtype);
  if (buffer.address % align != 0)
    return wrong(call,
                 formatString("'%s' is 0x%" PRIx64 "; expected a multiple of "
                              "%u, the size of an element of %s",
                              name, buffer.address, align,
                              dtypeName(call.dtype).data()));
  if (buffer.address + buffer.bytes < buffer.address)
    return wrong(call, formatString("%" PRIu64 " bytes at 0x%" PRIx64
                                    " ('%s') end beyond the address space",
                                    buffer.bytes, buffer.address, name));
  return Status::success();
}

static bool overlap(const Extent &a, const Extent &b) {
  return a.bytes != 0 && b.bytes != 0 && a.address < b.address + b.bytes &&
         b.address < a.address + a.bytes;
}

static Status checkTable(const Call &call, const char *name,
                         const int64_t *table) {
  auto address = reinterpret_cast<uint64_t>(table);
  if (address != 0 && address % sizeof(int64_t) == 0)
    return Status::success();
  return wrong(call, formatString("the %s are at 0x%" PRIx64 "; expected "
                                  "device memory that is aligned to 8 bytes",
                                  name, address));
}

/// Counts themselves are in device memory; kernels check them.
static Expected<CheckedCall> checkCounted(const Call &call,
                                          const plan::Collective &collective,
                                          uint32_t groupSize) {
  uint64_t element = dtypeBytes(call.dtype);
  constexpr uint64_t most = uint64_t(1) << 48;
  if (call.rowElements == 0 || call.rowElements > most)
    return wrong(call, formatString("rows of %" PRIu64 " elements; expected 1 "
                                    "to %" PRIu64,
                                    call.rowElements, most));
  for (uint64_t size : {call.inSize, call.outSize})
    if (size > most)
      return wrong(call, formatString("a buffer of %" PRIu64
                                      " elements; expected at most %" PRIu64,
                                      size, most));
  CheckedCall checked;
  checked.in = {reinterpret_cast<uint64_t>(call.in), call.inSize * element};
  checked.out = {reinterpret_cast<uint64_t>(call.out), call.outSize * element};
  IRISRT_RETURN_IF_ERROR(checkBuffer(call, "in", checked.in));
  IRISRT_RETURN_IF_ERROR(checkBuffer(call, "out", checked.out));
  if (overlap(checked.in, checked.out))
    return wrong(call, "'in' and 'out' overlap; expected them apart");
  bool isEmpty = checked.in.bytes + checked.out.bytes == 0;
  auto check = [&](const plan::Buffer &buffer, const ChunkTable &table,
                   const Extent &extent, bool isInput) -> Status {
    uint64_t chunks = buffer.chunks == plan::Chunks::all ? groupSize : 1;
    checked.chunkBytes = std::max(checked.chunkBytes, extent.bytes / chunks);
    if (!buffer.hasCounts || isEmpty)
      return Status::success();
    IRISRT_RETURN_IF_ERROR(checkTable(
        call, isInput ? "input's counts" : "output's counts", table.counts));
    return checkTable(call, isInput ? "input's offsets" : "output's offsets",
                      table.offsets);
  };
  IRISRT_RETURN_IF_ERROR(
      check(collective.in, call.inChunks, checked.in, /*isInput=*/true));
  IRISRT_RETURN_IF_ERROR(
      check(collective.out, call.outChunks, checked.out, /*isInput=*/false));
  return checked;
}

Expected<CheckedCall> iris::ccl::checkCall(const Call &call, uint32_t groupSize,
                                           uint32_t index) {
  const plan::Collective &collective = getCollective(call.op);
  uint64_t element = dtypeBytes(call.dtype);
  if (element == 0)
    return wrong(call, formatString("%d is no element type",
                                    static_cast<int>(call.dtype)));
  if (reduces(call.op) && !isReduction(call.reduce))
    return wrong(call, formatString("%d is no reduction; expected sum, prod, "
                                    "min, max or avg",
                                    static_cast<int>(call.reduce)));
  if (hasRoot(call.op) && call.root >= groupSize)
    return wrong(call,
                 formatString("the %s is member %u; expected less than %u",
                              collective.isPointToPoint() ? "peer" : "root",
                              call.root, groupSize));
  if (collective.isPointToPoint() && call.root == index)
    return wrong(call, formatString("member %u is this rank; expected another",
                                    call.root));
  if (call.maxPrograms < 0)
    return wrong(call, formatString("at most %" PRId64
                                    " programs; expected at least 0",
                                    call.maxPrograms));
  if (call.config)
    IRISRT_RETURN_IF_ERROR(checkConfig(call.op, call.dtype, *call.config));
  if (collective.hasCounts())
    return checkCounted(call, collective, groupSize);

  // The limit is the same on all ranks, whatever this rank reads and writes.
  // Sizes must fit in 63 bits because kernels compute with signed integers.
  constexpr uint64_t surelyFits = uint64_t(1) << 48; // for any type and group
  if (call.count > surelyFits) {
    uint64_t most = static_cast<uint64_t>(INT64_MAX) / element / groupSize;
    if (call.count > most)
      return wrong(call, formatString("%" PRIu64 " elements of %s; expected at "
                                      "most %" PRIu64,
                                      call.count, dtypeName(call.dtype).data(),
                                      most));
  }
  Shape shape = shapeOf(collective, groupSize, index, call.root);
  uint64_t chunk = call.count * element;
  CheckedCall checked;
  checked.chunkBytes = chunk;
  checked.in = {reinterpret_cast<uint64_t>(call.in), chunk * shape.inChunks};
  checked.out = {reinterpret_cast<uint64_t>(call.out), chunk * shape.outChunks};
  IRISRT_RETURN_IF_ERROR(checkBuffer(call, "in", checked.in));
  IRISRT_RETURN_IF_ERROR(checkBuffer(call, "out", checked.out));
  const Extent &in = checked.in, &out = checked.out;
  if (!overlap(in, out))
    return checked;

  uint64_t offset = shape.chunkIndex * chunk;
  bool isInputChunk = in.bytes < out.bytes;
  checked.inPlace = isInputChunk ? in.address == out.address + offset
                                 : out.address == in.address + offset;
  if (checked.inPlace)
    return checked;
  std::string expected = isInputChunk ? "in == out" : "out == in";
  if (offset != 0)
    expected += formatString(" + %u * %" PRIu64 " elements", shape.chunkIndex,
                             call.count);
  return wrong(call, formatString("'in' (0x%" PRIx64 ", %" PRIu64
                                  " bytes) and 'out' (0x%" PRIx64 ", %" PRIu64
                                  " bytes) overlap; expected %s, or apart",
                                  in.address, in.bytes, out.address, out.bytes,
                                  expected.c_str()));
}
