// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Operations.cpp - The operations of a communicator ------------------===//
#include "ccl/CommunicatorImpl.h"
#include "ccl/MakeCall.h"

#include <type_traits>

using namespace iris::ccl;
using namespace iris::rt;

Status Communicator::run(const Call &call) {
  if (!findCollective(call.op))
    return makeStatus(StatusCode::invalidArgument, "%d is no operation",
                      static_cast<int>(call.op));
  return impl_->run(call);
}

bool Communicator::onlyEnqueues(const Call &call) const {
  return !findCollective(call.op) || impl_->onlyEnqueues(call);
}

Status Communicator::load(const Call &call) {
  if (!findCollective(call.op) || !getCollective(call.op).isPointToPoint())
    return Status(StatusCode::invalidArgument,
                  "load: expected a send or receive; prepare() loads the "
                  "kernels of other operations");
  return impl_->load(call);
}

Status Communicator::runGroup(const std::vector<Call> &transfers,
                              Stream stream) {
  for (const Call &call : transfers)
    if (!findCollective(call.op) || !getCollective(call.op).isPointToPoint())
      return Status(
          StatusCode::invalidArgument,
          "runGroup: a group has another operation; expected sends and "
          "receives");
  return impl_->runGroup(transfers, stream);
}

/// A call whose kernel is selected by its length.
static Status checkSelected(const char *what, const Call &call) {
  if (!findCollective(call.op) || getCollective(call.op).hasCounts() ||
      !getCollective(call.op).hasBuffers() || call.config)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: expected an operation that has buffers and no "
                      "counts, without a config",
                      what);
  return Status::success();
}

Expected<double> Communicator::estimate(const Call &call) const {
  IRISRT_RETURN_IF_ERROR(checkSelected("estimate", call));
  IRISRT_ASSIGN_OR_RETURN(std::optional<Selection> selection,
                          impl_->selectionOf(call));
  return selection ? selection->us : 0;
}

Expected<std::string> Communicator::explain(const Call &call) const {
  IRISRT_RETURN_IF_ERROR(checkSelected("explain", call));
  IRISRT_ASSIGN_OR_RETURN(std::optional<Selection> selection,
                          impl_->selectionOf(call));
  return selection ? selection->text : "model: no rank sends data";
}

Status Communicator::allGather(const void *in, void *out, size_t count,
                               DType dtype, Stream stream,
                               const Config *config) {
  Call call = makeCall(Op::allGather, in, out, dtype, stream, config);
  call.count = count;
  return impl_->run(call);
}

Status Communicator::allReduce(const void *in, void *out, size_t count,
                               DType dtype, ReduceOp reduce, Stream stream,
                               const Config *config) {
  Call call = makeCall(Op::allReduce, in, out, dtype, stream, config);
  call.count = count;
  call.reduce = reduce;
  return impl_->run(call);
}

Status Communicator::reduceScatter(const void *in, void *out, size_t count,
                                   DType dtype, ReduceOp reduce, Stream stream,
                                   const Config *config) {
  Call call = makeCall(Op::reduceScatter, in, out, dtype, stream, config);
  call.count = count;
  call.reduce = reduce;
  return impl_->run(call);
}

Status Communicator::allToAll(const void *in, void *out, size_t count,
                              DType dtype, Stream stream,
                              const Config *config) {
  Call call = makeCall(Op::allToAll, in, out, dtype, stream, config);
  call.count = count;
  return impl_->run(call);
}

Status Communicator::broadcast(const void *in, void *out, size_t count,
                               DType dtype, uint32_t root, Stream stream,
                               const Config *config) {
  Call call = makeCall(Op::broadcast, in, out, dtype, stream, config);
  call.count = count;
  call.root = root;
  return impl_->run(call);
}

Status Communicator::reduce(const void *in, void *out, size_t count,
                            DType dtype, ReduceOp reduce, uint32_t root,
                            Stream stream, const Config *config) {
  Call call = makeCall(Op::reduce, in, out, dtype, stream, config);
  call.count = count;
  call.reduce = reduce;
  call.root = root;
  return impl_->run(call);
}

Status Communicator::gather(const void *in, void *out, size_t count,
                            DType dtype, uint32_t root, Stream stream,
                            const Config *config) {
  Call call = makeCall(Op::gather, in, out, dtype, stream, config);
  call.count = count;
  call.root = root;
  return impl_->run(call);
}

Status Communicator::scatter(const void *in, void *out, size_t count,
                             DType dtype, uint32_t root, Stream stream,
                             const Config *config) {
  Call call = makeCall(Op::scatter, in, out, dtype, stream, config);
  call.count = count;
  call.root = root;
  return impl_->run(call);
}

Status Communicator::send(const void *in, size_t count, DType dtype,
                          uint32_t peer, Stream stream, const Config *config) {
  Call call = makeCall(Op::send, in, nullptr, dtype, stream, config);
  call.count = count;
  call.root = peer;
  return impl_->run(call);
}

Status Communicator::recv(void *out, size_t count, DType dtype, uint32_t peer,
                          Stream stream, const Config *config) {
  Call call = makeCall(Op::recv, nullptr, out, dtype, stream, config);
  call.count = count;
  call.root = peer;
  return impl_->run(call);
}

Status Communicator::allGatherV(const void *in, size_t inSize, void *out,
                                size_t outSize, const ChunkTable &outChunks,
                                size_t rowElements, DType dtype, Stream stream,
                                const Config *config) {
  Call call = makeCall(Op::allGatherV, in, out, dtype, stream, config);
  call.inSize = inSize;
  call.outSize = outSize;
  call.outChunks = outChunks;
  call.rowElements = rowElements;
  return impl_->run(call);
}

Status Communicator::allToAllV(const void *in, size_t inSize,
                               const ChunkTable &inChunks, void *out,
                               size_t outSize, const ChunkTable &outChunks,
                               size_t rowElements, DType dtype, Stream stream,
                               const Config *config) {
  Call call = makeCall(Op::allToAllV, in, out, dtype, stream, config);
  call.inSize = inSize;
  call.inChunks = inChunks;
  call.outSize = outSize;
  call.outChunks = outChunks;
  call.rowElements = rowElements;
  return impl_->run(call);
}

Status Communicator::barrier(Stream stream) {
  Call call;
  call.op = Op::barrier;
  call.stream = stream;
  return impl_->run(call);
}

// Every collective of the table has a method.
#define IRIS_COLLECTIVE(Name, name, ...)                                       \
  static_assert(                                                               \
      std::is_member_function_pointer_v<decltype(&Communicator::name)>);
#include "iris/Plan/Collectives.def"
