// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobEngine.cpp - Collectives of the engine between nodes ------------===//
//
// An engine on streams has collectives of its own, which know the network. They
// reduce among the ranks of a rail, and serve all calls where each node has one
// rank.
#include "ccl/JobCommunicatorImpl.h"

using namespace iris::ccl;
using namespace iris::rt;

using Ranks = NcclEngine::Ranks;

//===----------------------------------------------------------------------===//
// Types and reductions
//===----------------------------------------------------------------------===//

static std::optional<ncclDataType_t> ncclTypeOf(DType dtype) {
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
  case DType::bf16:
    return ncclBfloat16;
  case DType::f32:
    return ncclFloat32;
  case DType::f64:
    return ncclFloat64;
  default:
    return std::nullopt;
  }
}

static bool isFloat(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 ||
         dtype == DType::f64;
}

/// The engine's reduction, where its results are those of the combination: NCCL
/// ignores NaN in the smallest and largest number, averages by multiplying with
/// the reciprocal of the number of ranks, and rounds 8 bits in its own way.
static std::optional<ncclRedOp_t> ncclReductionOf(const Call &call,
                                                  uint32_t numRanks) {
  switch (call.reduce) {
  case ReduceOp::sum:
    return ncclSum;
  case ReduceOp::prod:
    return ncclProd;
  case ReduceOp::min:
    return isFloat(call.dtype) ? std::nullopt : std::optional(ncclMin);
  case ReduceOp::max:
    return isFloat(call.dtype) ? std::nullopt : std::optional(ncclMax);
  case ReduceOp::avg:
    return isFloat(call.dtype) && (numRanks & (numRanks - 1)) == 0
               ? std::optional(ncclAvg)
               : std::nullopt;
  }
  return std::nullopt;
}

bool JobCommunicator::Impl::engineReduces(const Call &call) const {
  // Of several ranks on each node, the engine would divide by the nodes.
  return onStreams && ncclTypeOf(call.dtype) &&
         (call.reduce == ReduceOp::avg
              ? hasOneRankPerNode() && ncclReductionOf(call, map.numRanks())
              : ncclReductionOf(call, map.numNodes()).has_value());
}

//===----------------------------------------------------------------------===//
// Rails
//===----------------------------------------------------------------------===//

Status JobCommunicator::Impl::reduceOnRail(const Call &call, uint64_t in,
                                           uint64_t out, uint64_t count) {
  IRISRT_ASSIGN_OR_RETURN(void *native,
                          nativeStreamOf(world, transfers.stream()));
  return onStreams->call("ncclAllReduce", Ranks::rail,
                         [&](const NcclLibrary &library, ncclComm_t comm) {
                           return library.ncclAllReduce(
                               reinterpret_cast<const void *>(in),
                               reinterpret_cast<void *>(out), count,
                               *ncclTypeOf(call.dtype),
                               *ncclReductionOf(call, map.numNodes()), comm,
                               static_cast<cudaStream_t>(native));
                         });
}

//===----------------------------------------------------------------------===//
// One rank on each node
//===----------------------------------------------------------------------===//

bool JobCommunicator::Impl::isEngineCall(const Call &call,
                                         const CheckedCall &checked) const {
  if (!onStreams || !hasOneRankPerNode())
    return false;
  if (reduces(call.op))
    return engineReduces(call);
  // Its chunks would be overwritten before they are sent.
  return call.op != Op::allToAll || !checked.inPlace;
}

/// The messages of a gather, a scatter or an all-to-all; those of this rank to
/// itself, too.
static NcclEngine::Transfers messagesOf(const Call &call, uint32_t me,
                                        uint32_t numRanks) {
  const uint64_t bytes = call.count * dtypeBytes(call.dtype);
  const auto *in = static_cast<const uint8_t *>(call.in);
  auto *out = static_cast<uint8_t *>(call.out);
  const bool isRoot = me == call.root, isGather = call.op == Op::gather;
  NcclEngine::Transfers list;
  auto exchange = [&](uint32_t peer, const uint8_t *from, uint8_t *to) {
    if (peer == me && from == to)
      return; // in place
    if (from)
      list.push_back(InterNode::send(peer, from, bytes));
    if (to)
      list.push_back(InterNode::recv(peer, to, bytes));
  };
  for (uint32_t peer = 0; peer < numRanks; ++peer) {
    const uint64_t offset = peer * bytes;
    if (call.op == Op::allToAll)
      exchange(peer, in + offset, out + offset);
    else if (isGather)
      exchange(peer, peer == call.root ? in : nullptr,
               isRoot ? out + offset : nullptr);
    else
      exchange(peer, isRoot ? in + offset : nullptr,
               peer == call.root ? out : nullptr);
  }
  return list;
}

Status JobCommunicator::Impl::enqueueEngineCall(const Call &call,
                                                void *native) {
  const auto stream = static_cast<cudaStream_t>(native);
  const uint64_t bytes = call.count * dtypeBytes(call.dtype);
  const int root = static_cast<int>(call.root);
  const auto type = ncclTypeOf(call.dtype);
  const auto reduction = ncclReductionOf(call, map.numRanks());
  auto run = [&](const char *what, const NcclEngine::Function &function) {
    return onStreams->call(what, Ranks::all, function);
  };
  using Library = const NcclLibrary &;
  switch (call.op) {
  case Op::allReduce:
    return run("ncclAllReduce", [&](Library library, ncclComm_t comm) {
      return library.ncclAllReduce(call.in, call.out, call.count, *type,
                                   *reduction, comm, stream);
    });
  case Op::reduceScatter:
    return run("ncclReduceScatter", [&](Library library, ncclComm_t comm) {
      return library.ncclReduceScatter(call.in, call.out, call.count, *type,
                                       *reduction, comm, stream);
    });
  case Op::reduce:
    return run("ncclReduce", [&](Library library, ncclComm_t comm) {
      return library.ncclReduce(call.in, call.out, call.count, *type,
                                *reduction, root, comm, stream);
    });
  case Op::allGather:
    return run("ncclAllGather", [&](Library library, ncclComm_t comm) {
      return library.ncclAllGather(call.in, call.out, bytes, ncclInt8, comm,
                                   stream);
    });
  case Op::broadcast:
    return run("ncclBroadcast", [&](Library library, ncclComm_t comm) {
      return library.ncclBroadcast(me == call.root ? call.in : call.out,
                                   call.out, bytes, ncclInt8, root, comm,
                                   stream);
    });
  default:
    return onStreams->transfer(messagesOf(call, me, map.numRanks()), native);
  }
}

/// On the caller's stream, if the engine knows it.
Status JobCommunicator::Impl::runOnEngine(
    Stream stream, const std::function<Status(void *native)> &enqueue) {
  Expected<void *> direct = nativeStreamOf(world, stream);
  if (direct.ok()) {
    IRISRT_RETURN_IF_ERROR(enqueue(*direct));
    if (world.isCaptured(stream))
      return Status::success();
    // The end of the work is that of this object's stream, too.
    IRISRT_RETURN_IF_ERROR(world.record(forked, stream));
    return world.waitFor(forked, transfers.stream());
  }
  IRISRT_ASSIGN_OR_RETURN(void *native,
                          nativeStreamOf(world, transfers.stream()));
  IRISRT_RETURN_IF_ERROR(world.record(forked, stream));
  IRISRT_RETURN_IF_ERROR(world.waitFor(forked, transfers.stream()));
  IRISRT_RETURN_IF_ERROR(enqueue(native));
  IRISRT_RETURN_IF_ERROR(world.record(joined[0], transfers.stream()));
  return world.waitFor(joined[0], stream);
}
