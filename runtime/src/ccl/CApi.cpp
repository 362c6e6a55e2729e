// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CApi.cpp - C API of the collectives --------------------------------===//
//
// Every function is a thin wrapper around one C++ function.
#include "iris/ccl.h"

#include "ccl/MakeCall.h"
#include "core/CApiImpl.h"
#include "iris/ccl/Communicator.h"

#include <optional>
#include <type_traits>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::capi;

struct IrisCclComm {
  std::unique_ptr<Communicator> comm;
};

// The enumerators of both APIs agree.
#define IRIS_COLLECTIVE(Name, name, NAME, ...)                                 \
  static_assert(static_cast<int>(Op::name) == IRISCCL_##NAME, #NAME);
#include "iris/Plan/Collectives.def"
static_assert(static_cast<int>(DType::f8e5m2fnuz) == IRISCCL_F8E5M2FNUZ &&
              static_cast<int>(DType::u64) == IRISCCL_U64 &&
              static_cast<int>(ReduceOp::avg) == IRISCCL_AVG &&
              static_cast<int>(Placement::anywhere) == IRISCCL_ANYWHERE);

static DType typeOf(IrisCclType type) { return static_cast<DType>(type); }
static ReduceOp reductionOf(IrisCclReduction reduction) {
  return static_cast<ReduceOp>(reduction);
}

/// Runs `call` with the config converted to C++, or with nullptr.
template <typename Body>
static IrisRtStatusCode withConfig(const IrisCclConfig *from, Body call) {
  if (!from)
    return finish(call(nullptr));
  if (from->structBytes != sizeof(IrisCclConfig))
    return finish(
        wrongSize("IrisCclConfig", from->structBytes, sizeof(IrisCclConfig)));
  Config config;
  if (from->variant)
    config.variant = from->variant;
  config.tile = from->tile;
  config.warps = from->warps;
  config.programs = from->programs;
  config.xcds = from->xcds;
  config.staged = from->staged != 0;
  return finish(call(&config));
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

static Expected<CommunicatorOptions> convert(const IrisCclCommOptions &from) {
  if (from.structBytes != sizeof(IrisCclCommOptions))
    return wrongSize("IrisCclCommOptions", from.structBytes,
                     sizeof(IrisCclCommOptions));
  if ((from.ranks != nullptr) != (from.numRanks != 0))
    return makeStatus(StatusCode::invalidArgument,
                      "ranks and numRanks must be given together");
  CommunicatorOptions to;
  if (from.ranks)
    to.ranks.assign(from.ranks, from.ranks + from.numRanks);
  if (from.workspaceBytes != 0)
    to.workspaceBytes = from.workspaceBytes;
  if (from.checkCalls != 0)
    to.checkCalls = true;
  if (from.cacheDirectory || from.compiler) {
    KernelCacheOptions cache;
    cache.directory = from.cacheDirectory ? from.cacheDirectory : "";
    cache.compiler = from.compiler ? from.compiler : "";
    to.cache = std::make_shared<KernelCache>(cache);
  }
  return to;
}

IrisRtStatusCode iriscclCommCreate(IrisRtWorld *world,
                                   const IrisCclCommOptions *options,
                                   IrisCclComm **comm) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(comm);
  *comm = nullptr;
  Expected<CommunicatorOptions> converted =
      options ? convert(*options)
              : Expected<CommunicatorOptions>(CommunicatorOptions());
  if (!converted.ok())
    return finish(converted.status());
  Expected<std::unique_ptr<Communicator>> created =
      Communicator::create(*world->world, *converted);
  if (!created.ok())
    return finish(created.status());
  *comm = new IrisCclComm{created.take()};
  return IRISRT_OK;
}

IrisRtStatusCode iriscclCommDestroy(IrisCclComm *comm) {
  if (!comm)
    return IRISRT_OK;
  Status status = comm->comm->destroy();
  delete comm;
  return finish(status);
}

uint32_t iriscclCommSize(const IrisCclComm *comm) {
  return comm ? comm->comm->size() : 0;
}

int32_t iriscclCommIndex(const IrisCclComm *comm) {
  return comm ? comm->comm->index() : -1;
}

IrisRtStatusCode iriscclAddPackage(const IrisRtPackage *package) {
  IRISRT_REQUIRE(package);
  KernelCache::shared()->add(package->package);
  return IRISRT_OK;
}

IrisRtStatusCode iriscclCommAddPackage(IrisCclComm *comm,
                                       const IrisRtPackage *package) {
  IRISRT_REQUIRE(comm);
  IRISRT_REQUIRE(package);
  return finish(comm->comm->addPackage(package->package));
}

IrisRtStatusCode iriscclPrepare(IrisCclComm *comm, IrisCclOp op,
                                IrisCclType type, IrisCclReduction reduction,
                                const IrisCclConfig *config,
                                IrisCclPlacement placement) {
  IRISRT_REQUIRE(comm);
  return withConfig(config, [&](const Config *converted) {
    return comm->comm->prepare(static_cast<Op>(op), typeOf(type),
                               reductionOf(reduction), converted,
                               static_cast<Placement>(placement));
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static IrisRtStatusCode runCall(IrisCclComm *comm, Call call,
                                const IrisCclConfig *config) {
  IRISRT_REQUIRE(comm);
  return withConfig(config, [&](const Config *converted) {
    call.config = converted;
    return comm->comm->run(call);
  });
}

IrisRtStatusCode iriscclAllGather(IrisCclComm *comm, const void *in, void *out,
                                  size_t count, IrisCclType type,
                                  uint64_t stream,
                                  const IrisCclConfig *config) {
  Call call = makeCall(Op::allGather, in, out, typeOf(type), Stream{stream});
  call.count = count;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclAllReduce(IrisCclComm *comm, const void *in, void *out,
                                  size_t count, IrisCclType type,
                                  IrisCclReduction reduction, uint64_t stream,
                                  const IrisCclConfig *config) {
  Call call = makeCall(Op::allReduce, in, out, typeOf(type), Stream{stream});
  call.count = count;
  call.reduce = reductionOf(reduction);
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclReduceScatter(IrisCclComm *comm, const void *in,
                                      void *out, size_t count, IrisCclType type,
                                      IrisCclReduction reduction,
                                      uint64_t stream,
                                      const IrisCclConfig *config) {
  Call call =
      makeCall(Op::reduceScatter, in, out, typeOf(type), Stream{stream});
  call.count = count;
  call.reduce = reductionOf(reduction);
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclAllToAll(IrisCclComm *comm, const void *in, void *out,
                                 size_t count, IrisCclType type,
                                 uint64_t stream, const IrisCclConfig *config) {
  Call call = makeCall(Op::allToAll, in, out, typeOf(type), Stream{stream});
  call.count = count;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclBroadcast(IrisCclComm *comm, const void *in, void *out,
                                  size_t count, IrisCclType type, uint32_t root,
                                  uint64_t stream,
                                  const IrisCclConfig *config) {
  Call call = makeCall(Op::broadcast, in, out, typeOf(type), Stream{stream});
  call.count = count;
  call.root = root;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclReduce(IrisCclComm *comm, const void *in, void *out,
                               size_t count, IrisCclType type,
                               IrisCclReduction reduction, uint32_t root,
                               uint64_t stream, const IrisCclConfig *config) {
  Call call = makeCall(Op::reduce, in, out, typeOf(type), Stream{stream});
  call.count = count;
  call.reduce = reductionOf(reduction);
  call.root = root;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclGather(IrisCclComm *comm, const void *in, void *out,
                               size_t count, IrisCclType type, uint32_t root,
                               uint64_t stream, const IrisCclConfig *config) {
  Call call = makeCall(Op::gather, in, out, typeOf(type), Stream{stream});
  call.count = count;
  call.root = root;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclScatter(IrisCclComm *comm, const void *in, void *out,
                                size_t count, IrisCclType type, uint32_t root,
                                uint64_t stream, const IrisCclConfig *config) {
  Call call = makeCall(Op::scatter, in, out, typeOf(type), Stream{stream});
  call.count = count;
  call.root = root;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclSend(IrisCclComm *comm, const void *in, size_t count,
                             IrisCclType type, uint32_t peer, uint64_t stream,
                             const IrisCclConfig *config) {
  Call call = makeCall(Op::send, in, nullptr, typeOf(type), Stream{stream});
  call.count = count;
  call.root = peer;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclRecv(IrisCclComm *comm, void *out, size_t count,
                             IrisCclType type, uint32_t peer, uint64_t stream,
                             const IrisCclConfig *config) {
  Call call = makeCall(Op::recv, nullptr, out, typeOf(type), Stream{stream});
  call.count = count;
  call.root = peer;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclAllToAllV(IrisCclComm *comm, const void *in,
                                  size_t inSize, const int64_t *inCounts,
                                  const int64_t *inOffsets, void *out,
                                  size_t outSize, const int64_t *outCounts,
                                  const int64_t *outOffsets, size_t rowElements,
                                  IrisCclType type, uint64_t stream,
                                  const IrisCclConfig *config) {
  Call call = makeCall(Op::allToAllV, in, out, typeOf(type), Stream{stream});
  call.inSize = inSize;
  call.inChunks = {inCounts, inOffsets};
  call.outSize = outSize;
  call.outChunks = {outCounts, outOffsets};
  call.rowElements = rowElements;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclAllGatherV(IrisCclComm *comm, const void *in,
                                   size_t inSize, void *out, size_t outSize,
                                   const int64_t *counts,
                                   const int64_t *offsets, size_t rowElements,
                                   IrisCclType type, uint64_t stream,
                                   const IrisCclConfig *config) {
  Call call = makeCall(Op::allGatherV, in, out, typeOf(type), Stream{stream});
  call.inSize = inSize;
  call.outSize = outSize;
  call.outChunks = {counts, offsets};
  call.rowElements = rowElements;
  return runCall(comm, call, config);
}

IrisRtStatusCode iriscclBarrier(IrisCclComm *comm, uint64_t stream) {
  Call call;
  call.op = Op::barrier;
  call.stream = Stream{stream};
  return runCall(comm, call, nullptr);
}

// Every collective of the table has a function.
#define IRIS_COLLECTIVE(Name, ...)                                             \
  static_assert(std::is_function_v<decltype(irisccl##Name)>);
#include "iris/Plan/Collectives.def"
