// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collectives.cpp - Collectives, sends and receives ------------------===//
#include "Api.h"
#include "Group.h"
#include "Types.h"

#include <cinttypes>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

namespace {
/// The arguments of a call in NCCL's words.
struct Arguments {
  Op op;
  const void *in = nullptr;
  void *out = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t reduction = ncclSum;
  int root = 0;
  cudaStream_t stream = nullptr;
};
} // namespace

/// Fails if the bytes of all ranks' elements are no signed number of 64 bits,
/// on all ranks alike.
static Status checkCount(const Call &call, uint32_t numRanks) {
  const uint64_t most =
      static_cast<uint64_t>(INT64_MAX) / dtypeBytes(call.dtype) / numRanks;
  if (call.count <= most)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "%" PRIu64 " elements of %s; expected at most %" PRIu64,
                    call.count, std::string(dtypeName(call.dtype)).c_str(),
                    most);
}

static Expected<Operation> operationOf(const ncclComm &comm,
                                       const Arguments &arguments) {
  Operation operation;
  Call &call = operation.call;
  call.op = arguments.op;
  call.in = arguments.in;
  call.out = arguments.out;
  call.count = arguments.count;
  IRISRT_ASSIGN_OR_RETURN(call.dtype, typeOf(arguments.type));
  IRISRT_RETURN_IF_ERROR(checkCount(call, comm.options.numRanks));
  if (reduces(call.op)) {
    if (arguments.reduction >= ncclNumOps) {
      IRISRT_ASSIGN_OR_RETURN(
          operation.factor,
          comm.scaling.find(arguments.reduction - ncclNumOps, call.dtype));
    } else {
      IRISRT_ASSIGN_OR_RETURN(call.reduce, reductionOf(arguments.reduction));
    }
    IRISRT_RETURN_IF_ERROR(checkReduces(call.dtype, comm.options.device.kind));
  }
  if (arguments.root < 0 ||
      static_cast<uint32_t>(arguments.root) >= comm.options.numRanks)
    return makeStatus(StatusCode::invalidArgument,
                      "the root or peer is rank %d; expected 0 to %u",
                      arguments.root, comm.options.numRanks - 1);
  call.root = static_cast<uint32_t>(arguments.root);
  operation.stream = arguments.stream;
  return operation;
}

static ncclResult_t call(const char *function, ncclComm_t handle,
                         const Arguments &arguments) {
  Expected<std::shared_ptr<ncclComm>> comm = ncclComm::find(handle);
  if (!comm.ok())
    return reject(function, comm.status());
  Status usable = (*comm)->checkUsable();
  if (!usable.ok())
    return reject(function, usable);
  Expected<Operation> operation = operationOf(**comm, arguments);
  if (!operation.ok())
    return reject(function, operation.status());
  Task task;
  task.comm = *comm;
  task.operation = *operation;
  return submit(function, std::move(task));
}

ncclResult_t api::ncclAllReduce(const void *in, void *out, size_t count,
                                ncclDataType_t type, ncclRedOp_t op,
                                ncclComm_t comm, cudaStream_t stream) {
  return call("ncclAllReduce", comm,
              {Op::allReduce, in, out, count, type, op, 0, stream});
}

ncclResult_t api::ncclReduce(const void *in, void *out, size_t count,
                             ncclDataType_t type, ncclRedOp_t op, int root,
                             ncclComm_t comm, cudaStream_t stream) {
  return call("ncclReduce", comm,
              {Op::reduce, in, out, count, type, op, root, stream});
}

ncclResult_t api::ncclReduceScatter(const void *in, void *out, size_t count,
                                    ncclDataType_t type, ncclRedOp_t op,
                                    ncclComm_t comm, cudaStream_t stream) {
  return call("ncclReduceScatter", comm,
              {Op::reduceScatter, in, out, count, type, op, 0, stream});
}

ncclResult_t api::ncclBroadcast(const void *in, void *out, size_t count,
                                ncclDataType_t type, int root, ncclComm_t comm,
                                cudaStream_t stream) {
  return call("ncclBroadcast", comm,
              {Op::broadcast, in, out, count, type, ncclSum, root, stream});
}

ncclResult_t api::ncclBcast(void *buffer, size_t count, ncclDataType_t type,
                            int root, ncclComm_t comm, cudaStream_t stream) {
  return call(
      "ncclBcast", comm,
      {Op::broadcast, buffer, buffer, count, type, ncclSum, root, stream});
}

ncclResult_t api::ncclAllGather(const void *in, void *out, size_t count,
                                ncclDataType_t type, ncclComm_t comm,
                                cudaStream_t stream) {
  return call("ncclAllGather", comm,
              {Op::allGather, in, out, count, type, ncclSum, 0, stream});
}

ncclResult_t api::ncclAlltoAll(const void *in, void *out, size_t count,
                               ncclDataType_t type, ncclComm_t comm,
                               cudaStream_t stream) {
  return call("ncclAlltoAll", comm,
              {Op::allToAll, in, out, count, type, ncclSum, 0, stream});
}

ncclResult_t api::ncclAllToAll(const void *in, void *out, size_t count,
                               ncclDataType_t type, ncclComm_t comm,
                               cudaStream_t stream) {
  return call("ncclAllToAll", comm,
              {Op::allToAll, in, out, count, type, ncclSum, 0, stream});
}

ncclResult_t api::ncclGather(const void *in, void *out, size_t count,
                             ncclDataType_t type, int root, ncclComm_t comm,
                             cudaStream_t stream) {
  return call("ncclGather", comm,
              {Op::gather, in, out, count, type, ncclSum, root, stream});
}

ncclResult_t api::ncclScatter(const void *in, void *out, size_t count,
                              ncclDataType_t type, int root, ncclComm_t comm,
                              cudaStream_t stream) {
  return call("ncclScatter", comm,
              {Op::scatter, in, out, count, type, ncclSum, root, stream});
}

//===----------------------------------------------------------------------===//
// Point to point
//===----------------------------------------------------------------------===//

ncclResult_t api::ncclSend(const void *in, size_t count, ncclDataType_t type,
                           int peer, ncclComm_t comm, cudaStream_t stream) {
  return call("ncclSend", comm,
              {Op::send, in, nullptr, count, type, ncclSum, peer, stream});
}

ncclResult_t api::ncclRecv(void *out, size_t count, ncclDataType_t type,
                           int peer, ncclComm_t comm, cudaStream_t stream) {
  return call("ncclRecv", comm,
              {Op::recv, nullptr, out, count, type, ncclSum, peer, stream});
}

/// The address of an element of a buffer.
static void *elementAt(const void *buffer, size_t offset, DType dtype) {
  return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(buffer) +
                                  offset * dtypeBytes(dtype));
}

/// A group of a send to and a receive from every rank.
ncclResult_t api::ncclAllToAllv(const void *in, const size_t *sendCounts,
                                const size_t *sendOffsets, void *out,
                                const size_t *recvCounts,
                                const size_t *recvOffsets, ncclDataType_t type,
                                ncclComm_t comm, cudaStream_t stream) {
  const char *function = "ncclAllToAllv";
  Expected<std::shared_ptr<ncclComm>> found = ncclComm::find(comm);
  if (!found.ok())
    return reject(function, found.status());
  Expected<DType> dtype = typeOf(type);
  if (!dtype.ok())
    return reject(function, dtype.status());
  for (auto [array, name] : {std::pair(sendCounts, "sendcounts"),
                             {sendOffsets, "sdispls"},
                             {recvCounts, "recvcounts"},
                             {recvOffsets, "rdispls"}}) {
    Status given = checkPointer(array, name);
    if (!given.ok())
      return reject(function, given);
  }
  startGroup();
  ncclResult_t result = ncclSuccess;
  auto add = [&](const Arguments &arguments) {
    if (result == ncclSuccess)
      result = call(function, comm, arguments);
  };
  const int size = static_cast<int>((*found)->options.numRanks);
  for (int rank = 0; rank < size; ++rank) {
    add({Op::send, elementAt(in, sendOffsets[rank], *dtype), nullptr,
         sendCounts[rank], type, ncclSum, rank, stream});
    add({Op::recv, nullptr, elementAt(out, recvOffsets[rank], *dtype),
         recvCounts[rank], type, ncclSum, rank, stream});
  }
  const ncclResult_t ended = endGroup(function);
  return result == ncclSuccess ? ended : result;
}
