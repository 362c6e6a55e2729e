// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/ccl/Solve.h"

#include "support/Devices.h"
#include "support/Ranks.h"
#include "support/ccl/Kernels.h"

#include <cstring>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

//===----------------------------------------------------------------------===//
// Worlds and data
//===----------------------------------------------------------------------===//

WorldOptions iris::rt::test::worldOptions(DeviceKind kind,
                                          const LaunchInfo &launch) {
  WorldOptions options;
  options.device = kind;
  options.launch = launch;
  options.deviceIndex = deviceIndexOf(kind, launch.rank);
  options.heapBytes = 256 << 20;
  options.heapChunkBytes = 64 << 20;
  // On the host, many programs run on few cores.
  options.waitLimit = kind == DeviceKind::host ? 60 : 20;
  options.collectiveLimit = 250;
  return options;
}

std::vector<uint8_t> iris::rt::test::inputOf(const Problem &p, uint32_t me) {
  uint32_t width = dtypeBytes(p.dtype);
  std::vector<uint8_t> bytes(p.inCount(me) * width);
  for (uint64_t i = 0; i < p.inCount(me); ++i) {
    uint64_t bits = p.inBits(me, i);
    std::memcpy(&bytes[i * width], &bits, width);
  }
  return bytes;
}

std::vector<uint8_t> iris::rt::test::outputOf(const Problem &p, uint32_t me) {
  uint32_t width = dtypeBytes(p.dtype);
  std::vector<uint8_t> bytes(p.outCount(me) * width);
  for (uint64_t i = 0; i < p.outCount(me); ++i) {
    uint64_t bits = p.outBits(me, i);
    std::memcpy(&bytes[i * width], &bits, width);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The tuning key of a call, as far as it affects the selected kernel.
static TuningKey tuningKeyOf(World &world, const Communicator &comm,
                             const Problem &p, uint64_t in, uint64_t out) {
  auto me = static_cast<uint32_t>(comm.index());
  uint32_t width = dtypeBytes(p.dtype);
  TuningKey tuningKey;
  tuningKey.op = p.op;
  tuningKey.dtype = p.dtype;
  tuningKey.bytes = p.count * width;
  tuningKey.groupSize = comm.size();
  tuningKey.onHeap = (in == 0 || world.isSymmetric(in)) &&
                     (out == 0 || world.isSymmetric(out));
  tuningKey.inPlace = in != 0 && out != 0 &&
                      in < out + p.outCount(me) * width &&
                      out < in + p.inCount(me) * width;
  return tuningKey;
}

Status iris::rt::test::call(World &world, Communicator &comm, const Problem &p,
                            uint64_t in, uint64_t out, const Config *config,
                            Stream stream) {
  if (isRecording()) {
    Problem whole = p;
    whole.ranks = comm.group().ranks;
    recordCall(tuningKeyOf(world, comm, whole, in, out), p.reduce, config,
               world.translation());
  }
  IRISRT_RETURN_IF_ERROR(comm.run({p.op, toPointer(in), toPointer(out), p.count,
                                   p.dtype, p.reduce, p.root, stream, config}));
  return missingKernels();
}

Status iris::rt::test::deviceBarrier(World &world, Communicator &comm,
                                     Stream stream) {
  Problem p;
  p.op = Op::barrier;
  p.dtype = DType::i8;
  p.count = 0;
  return call(world, comm, p, 0, 0, nullptr, stream);
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

std::string iris::rt::test::describe(const Problem &p, BufferLocation location,
                                     const Config *config) {
  std::string text =
      std::string(opName(p.op)) + " " + std::string(dtypeName(p.dtype)) + " " +
      (reduces(p.op) ? std::string(reduceOpName(p.reduce)) : "") + " x " +
      std::to_string(p.count) + ", root " + std::to_string(p.root) + ", " +
      std::to_string(p.ranks.size()) + " members";
  if (location != BufferLocation::heap)
    text += location == BufferLocation::inPlace ? ", in place"
            : location == BufferLocation::ordinary
                ? ", ordinary memory"
                : ", ordinary memory of the root";
  if (config)
    text += " " + config->variant + (config->staged ? " staged" : "");
  return text + ": ";
}

std::string iris::rt::test::compare(const Problem &p,
                                    const std::vector<uint8_t> &got,
                                    const std::vector<uint8_t> &want) {
  uint32_t width = dtypeBytes(p.dtype);
  if (want.empty() || std::memcmp(got.data(), want.data(), want.size()) == 0)
    return "";
  uint64_t i = 0, wrong = 0;
  auto differs = [&](uint64_t at) {
    return std::memcmp(&got[at * width], &want[at * width], width) != 0;
  };
  while (!differs(i))
    ++i;
  for (uint64_t at = i; at < want.size() / width; ++at)
    wrong += differs(at);
  uint64_t is = 0, shouldBe = 0;
  std::memcpy(&is, &got[i * width], width);
  std::memcpy(&shouldBe, &want[i * width], width);
  return "element " + std::to_string(i) + " is " + std::to_string(is) +
         ", not " + std::to_string(shouldBe) + " (" + std::to_string(wrong) +
         " of " + std::to_string(want.size() / width) + " are wrong)";
}

CallBuffers iris::rt::test::buffersAt(BufferLocation location, const Problem &p,
                                      uint32_t me, const Buffers &buffers,
                                      uint64_t offset) {
  const CallBuffers heap{buffers.in + offset, buffers.out + offset};
  const CallBuffers ordinary{buffers.ordinaryIn + offset,
                             buffers.ordinaryOut + offset};
  switch (location) {
  case BufferLocation::heap:
    return heap;
  case BufferLocation::ordinary:
    return ordinary;
  case BufferLocation::ordinaryOnRoot:
    if (p.op == Op::broadcast || p.op == Op::scatter)
      return {ordinary.in, heap.out};
    return {heap.in, ordinary.out};
  case BufferLocation::inPlace:
    break;
  }
  uint64_t mine = heap.in + me * p.count * dtypeBytes(p.dtype);
  switch (p.op) {
  case Op::allGather:
    return {mine, heap.in};
  case Op::reduceScatter:
    return {heap.in, mine};
  // Only the root has its chunk in the larger buffer; all other ranks have
  // separate buffers.
  case Op::gather:
    return {me == p.root ? mine : heap.out, heap.in};
  case Op::scatter:
    return {heap.in, me == p.root ? mine : heap.out};
  default:
    return {heap.in, heap.in};
  }
}

/// Copies on the default stream; the bytes must outlive the copy.
static Status upload(World &world, uint64_t to,
                     const std::vector<uint8_t> &bytes) {
  if (bytes.empty())
    return Status::success();
  return world.copyToDevice(to, bytes.data(), bytes.size());
}

static Status download(World &world, std::vector<uint8_t> &bytes,
                       uint64_t from) {
  if (bytes.empty())
    return Status::success();
  return world.copyToHost(bytes.data(), from, bytes.size());
}

std::string iris::rt::test::solve(World &world, Communicator &comm,
                                  const Buffers &buffers, Problem p,
                                  BufferLocation location,
                                  const Config *config) {
  p.ranks = comm.group().ranks;
  auto me = static_cast<uint32_t>(comm.index());
  bool inPlace = location == BufferLocation::inPlace;
  auto [in, out] = buffersAt(location, p, me, buffers);
  const std::vector<uint8_t> input = inputOf(p, me), want = outputOf(p, me);
  const std::vector<uint8_t> fresh(want.size() + guardBytes, guard);
  RANK_TRY(upload(world, out, fresh));
  RANK_TRY(upload(world, in, input));
  RANK_TRY(deviceBarrier(
      world, comm)); // no rank writes to an output before it is reset
  RANK_TRY(world.synchronize());
  // All ranks but the root pass null for the root's buffer.
  Status status = call(world, comm, p, input.empty() ? 0 : in,
                       want.empty() ? 0 : out, config);
  if (!status.ok())
    return describe(p, location, config) + status.message();
  std::vector<uint8_t> output(fresh.size()), inputAfter(input.size());
  RANK_TRY(download(world, output, out));
  RANK_TRY(download(world, inputAfter, in));
  RANK_TRY(world.synchronize());
  std::string wrong = compare(p, output, want);
  if (!wrong.empty())
    return describe(p, location, config) + wrong;
  if (!inPlace && inputAfter != input)
    return describe(p, location, config) + "input changed";
  for (uint64_t i = want.size(); !inPlace && i < output.size(); ++i)
    if (output[i] != guard)
      return describe(p, location, config) + "written past the output";
  RANK_TRY(deviceBarrier(world, comm));
  RANK_TRY(world.synchronize());
  return "";
}
