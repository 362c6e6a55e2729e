// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckCall.cpp - Argument checks of collective calls ----------------===//
#include "ccl/CheckCall.h"

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

static Shape shapeOf(Op op, uint32_t size, uint32_t index, uint32_t root) {
  bool isRoot = index == root;
  switch (op) {
  case Op::allGather:
    return {1, size, index};
  case Op::allReduce:
    return {1, 1, 0};
  case Op::reduceScatter:
    return {size, 1, index};
  case Op::allToAll:
    return {size, size, 0};
  case Op::broadcast:
    return {isRoot ? 1u : 0u, 1, 0};
  case Op::reduce:
    return {1, isRoot ? 1u : 0u, 0};
  case Op::gather:
    return {1, isRoot ? size : 0, root};
  case Op::scatter:
    return {isRoot ? size : 0, 1, root};
  case Op::send:
    return {1, 0, 0};
  case Op::recv:
    return {0, 1, 0};
  case Op::barrier:
    break;
  }
  return {0, 0, 0};
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

Expected<CheckedCall> iris::ccl::checkCall(const Call &call, uint32_t groupSize,
                                           uint32_t index) {
  uint64_t element = dtypeBytes(call.dtype);
  if (element == 0)
    return wrong(call, formatString("%d is no element type",
                                    static_cast<int>(call.dtype)));
  if (reduces(call.op) && reduceOpName(call.reduce) == "unknown")
    return wrong(call, formatString("%d is no reduction; expected sum, prod, "
                                    "min, max or avg",
                                    static_cast<int>(call.reduce)));
  if (hasRoot(call.op) && call.root >= groupSize)
    return wrong(
        call, formatString("the %s is member %u; expected less than %u",
                           call.op == Op::send || call.op == Op::recv ? "peer"
                                                                      : "root",
                           call.root, groupSize));
  if ((call.op == Op::send || call.op == Op::recv) && call.root == index)
    return wrong(call, formatString("member %u is this rank; expected another",
                                    call.root));
  if (call.config)
    IRISRT_RETURN_IF_ERROR(checkConfig(call.op, call.dtype, *call.config));

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
  Shape shape = shapeOf(call.op, groupSize, index, call.root);
  uint64_t chunk = call.count * element;
  CheckedCall checked;
  checked.in = {reinterpret_cast<uint64_t>(call.in), chunk * shape.inChunks};
  checked.out = {reinterpret_cast<uint64_t>(call.out), chunk * shape.outChunks};
  IRISRT_RETURN_IF_ERROR(checkBuffer(call, "in", checked.in));
  IRISRT_RETURN_IF_ERROR(checkBuffer(call, "out", checked.out));
  const Extent &in = checked.in, &out = checked.out;
  if (in.bytes == 0 || out.bytes == 0 ||
      in.address >= out.address + out.bytes ||
      out.address >= in.address + in.bytes)
    return checked;

  uint64_t offset = shape.chunkIndex * chunk;
  bool inputIsPart = in.bytes < out.bytes;
  checked.inPlace = inputIsPart ? in.address == out.address + offset
                                : out.address == in.address + offset;
  if (checked.inPlace)
    return checked;
  std::string expected = inputIsPart ? "in == out" : "out == in";
  if (offset != 0)
    expected += formatString(" + %u * %" PRIu64 " elements", shape.chunkIndex,
                             call.count);
  return wrong(call, formatString("'in' (0x%" PRIx64 ", %" PRIu64
                                  " bytes) and 'out' (0x%" PRIx64 ", %" PRIu64
                                  " bytes) overlap; expected %s, or apart",
                                  in.address, in.bytes, out.address, out.bytes,
                                  expected.c_str()));
}
