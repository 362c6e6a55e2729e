// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nccl/NcclRanks.h"

#include "iris/rt/HostStream.h"

#include <cstdlib>
#include <cstring>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// Before main, so before the environment is read.
class HostDevice {
public:
  HostDevice() {
    ::setenv("IRIS_NCCL_DEVICE", "host", /*overwrite=*/1);
    ::setenv("IRIS_COMPILE", IRIS_TEST_COMPILER, /*overwrite=*/0);
    ::setenv("IRIS_CACHE_DIR", IRIS_TEST_CACHE, /*overwrite=*/1);
    // Short enough to report what is missing before ctest ends the test.
    ::setenv("IRIS_WAIT_LIMIT", "200", /*overwrite=*/0);
    ::setenv("IRIS_JOIN_LIMIT", "200", /*overwrite=*/0);
    ::setenv("IRIS_COLLECTIVE_LIMIT", "220", /*overwrite=*/0);
  }
} hostDevice;
} // namespace

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// A process of its own makes the id: the library reads the environment once,
/// and this process must not before the test has set it for its ranks.
std::string iris::rt::test::makeId(ncclUniqueId &id) {
  std::vector<RankEnd> ends =
      runProcesses(1, [](const LaunchInfo &) -> std::string {
        ncclUniqueId made;
        NCCL_TRY(ncclGetUniqueId(&made));
        std::string digits;
        for (char byte : made.internal)
          digits += formatString("%02x", static_cast<unsigned char>(byte));
        return digits;
      });
  if (ends[0].text.size() != 2 * sizeof(id))
    return ends[0].text;
  for (size_t i = 0; i < sizeof(id); ++i)
    id.internal[i] = static_cast<char>(
        std::stoi(ends[0].text.substr(2 * i, 2), nullptr, 16));
  return "";
}

std::string iris::rt::test::onRanks(
    RankKind kind, int size,
    const std::function<std::string(ncclUniqueId, int)> &body,
    const std::function<void()> &setUp) {
  constexpr double limitSeconds = 280;
  ncclUniqueId id;
  TRY_TEXT(makeId(id));
  auto run = [&](const LaunchInfo &launch) {
    return body(id, static_cast<int>(launch.rank));
  };
  const auto numRanks = static_cast<uint32_t>(size);
  if (kind == RankKind::processes)
    return failures(runProcesses(
        numRanks,
        [&](const LaunchInfo &launch) {
          if (setUp)
            setUp();
          return run(launch);
        },
        limitSeconds));
  // In a process of their own, so that this one has no threads when it forks.
  return failures(runProcesses(
      1,
      [&](const LaunchInfo &) {
        if (setUp)
          setUp();
        return failures(runThreads(numRanks, run));
      },
      limitSeconds));
}

std::string iris::rt::test::onComm(RankKind kind, int size,
                                   const NcclBody &body) {
  return onRanks(kind, size, [&](ncclUniqueId id, int rank) -> std::string {
    NcclRank mine = {nullptr, rank, size};
    NCCL_TRY(ncclCommInitRank(&mine.comm, size, id, rank));
    TRY_TEXT(body(mine));
    NCCL_TRY(ncclCommDestroy(mine.comm));
    return "";
  });
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

ncclDataType_t iris::rt::test::ncclTypeOf(DType dtype) {
  switch (dtype) {
  case DType::i8:
    return ncclInt8;
  case DType::u8:
    return ncclUint8;
  case DType::i32:
    return ncclInt32;
  case DType::u32:
    return ncclUint32;
  case DType::i64:
    return ncclInt64;
  case DType::u64:
    return ncclUint64;
  case DType::f16:
    return ncclFloat16;
  case DType::f32:
    return ncclFloat32;
  case DType::f64:
    return ncclFloat64;
  case DType::bf16:
    return ncclBfloat16;
  case DType::f8e4m3fn:
    return ncclFloat8e4m3;
  case DType::f8e5m2:
    return ncclFloat8e5m2;
  default:
    return ncclNumTypes;
  }
}

ncclRedOp_t iris::rt::test::ncclOpOf(ReduceOp reduce) {
  switch (reduce) {
  case ReduceOp::sum:
    return ncclSum;
  case ReduceOp::prod:
    return ncclProd;
  case ReduceOp::min:
    return ncclMin;
  case ReduceOp::max:
    return ncclMax;
  case ReduceOp::avg:
    return ncclAvg;
  }
  return ncclNumOps;
}

static ncclResult_t call(const Problem &p, ncclComm_t comm, const void *in,
                         void *out, cudaStream_t stream) {
  const ncclDataType_t type = ncclTypeOf(p.dtype);
  const ncclRedOp_t op = ncclOpOf(p.reduce);
  const int root = static_cast<int>(p.root);
  switch (p.op) {
  case Op::allReduce:
    return ncclAllReduce(in, out, p.count, type, op, comm, stream);
  case Op::reduce:
    return ncclReduce(in, out, p.count, type, op, root, comm, stream);
  case Op::reduceScatter:
    return ncclReduceScatter(in, out, p.count, type, op, comm, stream);
  case Op::broadcast:
    return in == out
               ? ncclBcast(out, p.count, type, root, comm, stream)
               : ncclBroadcast(in, out, p.count, type, root, comm, stream);
  case Op::allGather:
    return ncclAllGather(in, out, p.count, type, comm, stream);
  case Op::allToAll:
    return ncclAlltoAll(in, out, p.count, type, comm, stream);
  case Op::gather:
    return ncclGather(in, out, p.count, type, root, comm, stream);
  case Op::scatter:
    return ncclScatter(in, out, p.count, type, root, comm, stream);
  default:
    return ncclNumResults;
  }
}

std::string iris::rt::test::solve(const NcclRank &rank, const Problem &problem,
                                  InPlace inPlace, void *stream) {
  Problem p = problem;
  const auto me = static_cast<uint32_t>(rank.rank);
  for (uint32_t i = 0; i < static_cast<uint32_t>(rank.size); ++i)
    p.ranks.push_back(i);
  const uint64_t width = dtypeBytes(p.dtype);
  const uint64_t inCount = p.inCount(me), outCount = p.outCount(me);
  // Guards of other bytes around each buffer find writes beyond it.
  constexpr uint64_t guard = 64;
  std::vector<uint8_t> input(inCount * width + 2 * guard, 0xa5);
  std::vector<uint8_t> output(outCount * width + 2 * guard, 0x5a);
  uint8_t *in = input.data() + guard, *out = output.data() + guard;
  const bool isInPlace = inPlace == InPlace::yes;
  if (isInPlace && inCount != 0 && outCount != 0) {
    uint64_t chunk =
        getCollective(p.op).isChunkInPlace() ? me * p.count * width : 0;
    if (inCount <= outCount)
      in = out + chunk;
    else
      out = in + chunk;
  }
  for (uint64_t i = 0; i < inCount; ++i) {
    uint64_t bits = p.inBits(me, i);
    std::memcpy(in + i * width, &bits, width);
  }
  // Broadcast: only the root has an input.
  const void *passed = isInPlace && p.op == Op::broadcast ? out : in;
  NCCL_TRY(call(p, rank.comm, passed, out, static_cast<cudaStream_t>(stream)));
  if (stream)
    RANK_TRY(synchronizeHostStream(stream));
  auto where = [&](uint64_t i) {
    return formatString("%s %s %s x %llu%s: element %llu of rank %u",
                        std::string(opName(p.op)).c_str(),
                        std::string(reduceOpName(p.reduce)).c_str(),
                        std::string(dtypeName(p.dtype)).c_str(),
                        static_cast<unsigned long long>(p.count),
                        isInPlace ? " in place" : "",
                        static_cast<unsigned long long>(i), me);
  };
  for (uint64_t i = 0; i < outCount; ++i) {
    uint64_t got = 0, expected = p.outBits(me, i);
    std::memcpy(&got, out + i * width, width);
    if (got != expected)
      return where(i) + formatString(" is 0x%llx; expected 0x%llx",
                                     static_cast<unsigned long long>(got),
                                     static_cast<unsigned long long>(expected));
  }
  for (uint64_t i = 0; i < guard; ++i)
    if (input[i] != 0xa5 || input[input.size() - 1 - i] != 0xa5 ||
        output[i] != 0x5a || output[output.size() - 1 - i] != 0x5a)
      return where(i) + ": a byte beyond a buffer was written";
  return "";
}
