// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CApi.cpp - C API of the runtime ------------------------------------===//
//
// Every function is a thin wrapper around one C++ function.
#include "core/CApiImpl.h"

#include "iris/rt/HostStream.h"

#include <algorithm>
#include <cstring>

using namespace iris::rt;
using namespace iris::rt::capi;

static_assert(static_cast<int>(StatusCode::deviceError) ==
                      IRISRT_DEVICE_ERROR &&
                  static_cast<int>(StatusCode::timeout) == IRISRT_TIMEOUT,
              "the status codes of both APIs are equal");

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

static std::string &lastError() {
  static thread_local std::string text;
  return text;
}

IrisRtStatusCode iris::rt::capi::finish(const Status &status) {
  if (!status.ok())
    lastError() = status.toString();
  return static_cast<IrisRtStatusCode>(status.code());
}

const char *irisrtLastError(void) { return lastError().c_str(); }

const char *irisrtStatusName(IrisRtStatusCode code) {
  return statusCodeName(static_cast<StatusCode>(code)).data();
}

//===----------------------------------------------------------------------===//
// Worlds
//===----------------------------------------------------------------------===//

static Expected<WorldOptions> convert(const IrisRtWorldOptions &from) {
  if (from.structBytes != sizeof(IrisRtWorldOptions))
    return wrongSize("IrisRtWorldOptions", from.structBytes,
                     sizeof(IrisRtWorldOptions));
  if (from.device < IRISRT_DEVICE_HOST || from.device > IRISRT_DEVICE_EMULATED)
    return makeStatus(StatusCode::invalidArgument, "unknown device %d",
                      static_cast<int>(from.device));
  WorldOptions to;
  if ((from.device == IRISRT_DEVICE_EMULATED) != (from.emulatedChip != nullptr))
    return makeStatus(StatusCode::invalidArgument,
                      "IrisRtWorldOptions.emulatedChip is '%s' and .device %d; "
                      "expected a chip for IRISRT_DEVICE_EMULATED and NULL for "
                      "other devices",
                      from.emulatedChip ? from.emulatedChip : "NULL",
                      static_cast<int>(from.device));
  to.device = DeviceSpec(static_cast<DeviceKind>(from.device),
                         from.emulatedChip ? from.emulatedChip : "");
  if (from.deviceIndexPlusOne != 0)
    to.deviceIndex = from.deviceIndexPlusOne - 1;
  if (from.job || from.numRanks != 0) {
    if (!from.job || from.numRanks == 0)
      return makeStatus(StatusCode::invalidArgument,
                        "rank, numRanks and job must be given together");
    LaunchInfo launch;
    launch.launcher = "C API";
    launch.rank = launch.localRank = from.rank;
    launch.numRanks = from.numRanks;
    launch.job = from.job;
    launch.token = from.token;
    to.launch = launch;
  }
  if (from.name)
    to.name = from.name;
  to.heapBytes = from.heapBytes;
  if (from.waitLimit != 0)
    to.waitLimit = std::max(from.waitLimit, 0.0);
  if (from.joinLimit > 0)
    to.joinLimit = from.joinLimit;
  if (from.collectiveLimit > 0)
    to.collectiveLimit = from.collectiveLimit;
  if (from.refuseHostCode > 1 || from.reserved != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "IrisRtWorldOptions.refuseHostCode is %u and .reserved "
                      "%u; expected 0 or 1, and 0",
                      from.refuseHostCode, from.reserved);
  if (from.refuseHostCode != 0)
    to.refuseHostCode = true;
  return to;
}

IrisRtStatusCode irisrtWorldCreate(const IrisRtWorldOptions *options,
                                   IrisRtWorld **world) {
  IRISRT_REQUIRE(world);
  *world = nullptr;
  Expected<WorldOptions> converted =
      options ? convert(*options) : Expected<WorldOptions>(WorldOptions());
  if (!converted.ok())
    return finish(converted.status());
  Expected<std::unique_ptr<World>> created = World::create(*converted);
  if (!created.ok())
    return finish(created.status());
  *world = new IrisRtWorld;
  (*world)->world = created.take();
  return IRISRT_OK;
}

IrisRtStatusCode irisrtWorldDestroy(IrisRtWorld *world) {
  if (!world)
    return IRISRT_OK;
  Status status = world->world->destroy();
  delete world;
  return finish(status);
}

uint32_t irisrtWorldRank(const IrisRtWorld *world) {
  return world->world->rank();
}

uint32_t irisrtWorldNumRanks(const IrisRtWorld *world) {
  return world->world->numRanks();
}

const char *irisrtWorldTarget(const IrisRtWorld *world) {
  return world->world->target().c_str();
}

IrisRtStatusCode irisrtWorldContext(const IrisRtWorld *world,
                                    IrisRtContext *context) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(context);
  *context = world->world->context();
  return IRISRT_OK;
}

IrisRtStatusCode irisrtWorldFailure(const IrisRtWorld *world) {
  IRISRT_REQUIRE(world);
  return finish(world->world->failure());
}

IrisRtStatusCode irisrtWorldPoll(IrisRtWorld *world) {
  IRISRT_REQUIRE(world);
  return finish(world->world->poll());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

IrisRtStatusCode irisrtAlloc(IrisRtWorld *world, uint64_t bytes,
                             uint64_t *address) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(address);
  return finish(world->world->allocate(bytes), address);
}

IrisRtStatusCode irisrtFree(IrisRtWorld *world, uint64_t address) {
  IRISRT_REQUIRE(world);
  return finish(world->world->deallocate(address));
}

IrisRtStatusCode irisrtImport(IrisRtWorld *world, uint64_t address,
                              uint64_t bytes, uint64_t *imported) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(imported);
  return finish(world->world->import(address, bytes), imported);
}

IrisRtStatusCode irisrtRelease(IrisRtWorld *world, uint64_t imported) {
  IRISRT_REQUIRE(world);
  return finish(world->world->release(imported));
}

int irisrtIsSymmetric(const IrisRtWorld *world, uint64_t address,
                      uint64_t bytes) {
  return world && world->world->isSymmetric(address, bytes);
}

IrisRtStatusCode irisrtTranslate(const IrisRtWorld *world, uint64_t address,
                                 uint32_t rank, uint64_t *peerAddress) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(peerAddress);
  return finish(world->world->translate(address, rank), peerAddress);
}

IrisRtStatusCode irisrtCopyToDevice(IrisRtWorld *world, uint64_t to,
                                    const void *from, uint64_t bytes,
                                    uint64_t stream) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(from);
  return finish(world->world->copyToDevice(to, from, bytes, {stream}));
}

IrisRtStatusCode irisrtCopyToHost(IrisRtWorld *world, void *to, uint64_t from,
                                  uint64_t bytes, uint64_t stream) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(to);
  return finish(world->world->copyToHost(to, from, bytes, {stream}));
}

IrisRtStatusCode irisrtCopyOnDevice(IrisRtWorld *world, uint64_t to,
                                    uint64_t from, uint64_t bytes,
                                    uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->copyOnDevice(to, from, bytes, {stream}));
}

IrisRtStatusCode irisrtZero(IrisRtWorld *world, uint64_t address,
                            uint64_t bytes, uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->zero(address, bytes, {stream}));
}

//===----------------------------------------------------------------------===//
// Packages and kernels
//===----------------------------------------------------------------------===//

static IrisRtStatusCode adopt(Expected<Package> read, IrisRtPackage **package) {
  *package = nullptr;
  if (!read.ok())
    return finish(read.status());
  *package = new IrisRtPackage{read.take()};
  return IRISRT_OK;
}

IrisRtStatusCode irisrtPackageOpen(const char *path, IrisRtPackage **package) {
  IRISRT_REQUIRE(path);
  IRISRT_REQUIRE(package);
  return adopt(Package::fromFile(path), package);
}

IrisRtStatusCode irisrtPackageFromBytes(const void *bytes, uint64_t size,
                                        IrisRtPackage **package) {
  IRISRT_REQUIRE(bytes);
  IRISRT_REQUIRE(package);
  return adopt(Package::fromBytes(bytes, size), package);
}

void irisrtPackageClose(IrisRtPackage *package) { delete package; }

IrisRtStatusCode irisrtLoad(IrisRtWorld *world, const IrisRtPackage *package) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(package);
  Expected<Module> module = world->world->load(package->package);
  return module.ok() ? IRISRT_OK : finish(module.status());
}

IrisRtStatusCode irisrtKernelFind(IrisRtWorld *world, const char *name,
                                  IrisRtKernel **kernel) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(name);
  IRISRT_REQUIRE(kernel);
  Expected<Kernel> found = world->world->findKernel(name);
  if (!found.ok())
    return finish(found.status());
  std::lock_guard<std::mutex> lock(world->mutex);
  world->kernels.push_back({*found});
  *kernel = &world->kernels.back();
  return IRISRT_OK;
}

IrisRtStatusCode irisrtKernelMaxCoresident(IrisRtWorld *world,
                                           const IrisRtKernel *kernel,
                                           uint32_t *programs) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(kernel);
  IRISRT_REQUIRE(programs);
  return finish(world->world->maxCoresident(kernel->kernel), programs);
}

IrisRtStatusCode irisrtLaunch(IrisRtWorld *world, const IrisRtKernel *kernel,
                              const uint64_t programs[3], const IrisRtArg *args,
                              uint32_t numArgs, uint64_t stream) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(kernel);
  IRISRT_REQUIRE(programs);
  if (numArgs != 0)
    IRISRT_REQUIRE(args);
  return finish(
      world->world->launch(kernel->kernel, programs, args, numArgs, {stream}));
}

IrisRtArg irisrtContextArg(void) { return makeContextArg(); }

IrisRtArg irisrtMemrefArg(IrisRtElement element, uint64_t address,
                          uint32_t rank, const int64_t *sizes) {
  // irisrtLaunch rejects a rank beyond the maximum.
  uint32_t given = std::min<uint32_t>(rank, IRISRT_MAX_DIMS);
  IrisRtArg arg = makeMemrefArg(element, address,
                                std::vector<int64_t>(sizes, sizes + given));
  arg.rank = rank;
  return arg;
}

IrisRtArg irisrtScalarArg(IrisRtElement element, uint64_t bits) {
  return makeScalarArg(element, bits);
}

//===----------------------------------------------------------------------===//
// Streams, events and synchronization
//===----------------------------------------------------------------------===//

IrisRtStatusCode irisrtStreamCreate(IrisRtWorld *world, uint64_t *stream) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(stream);
  Expected<Stream> created = world->world->createStream();
  if (!created.ok())
    return finish(created.status());
  *stream = created->id;
  return IRISRT_OK;
}

IrisRtStatusCode irisrtStreamAdopt(IrisRtWorld *world, void *native,
                                   uint64_t *stream) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(stream);
  Expected<Stream> adopted = world->world->adoptStream(native);
  if (!adopted.ok())
    return finish(adopted.status());
  *stream = adopted->id;
  return IRISRT_OK;
}

IrisRtStatusCode irisrtStreamForget(IrisRtWorld *world, uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->forgetStream({stream}));
}

IrisRtStatusCode irisrtHostStreamCreate(void **stream) {
  IRISRT_REQUIRE(stream);
  Expected<void *> created = createHostStream();
  if (!created.ok())
    return finish(created.status());
  *stream = *created;
  return IRISRT_OK;
}

IrisRtStatusCode irisrtHostStreamSynchronize(void *stream) {
  return finish(synchronizeHostStream(stream));
}

IrisRtStatusCode irisrtHostStreamDestroy(void *stream) {
  return finish(destroyHostStream(stream));
}

IrisRtStatusCode irisrtStreamDestroy(IrisRtWorld *world, uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->destroyStream({stream}));
}

IrisRtStatusCode irisrtSynchronize(IrisRtWorld *world, uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->synchronize({stream}));
}

IrisRtStatusCode irisrtEventCreate(IrisRtWorld *world, uint64_t *event) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(event);
  Expected<Event> created = world->world->createEvent();
  if (!created.ok())
    return finish(created.status());
  *event = created->id;
  return IRISRT_OK;
}

IrisRtStatusCode irisrtEventDestroy(IrisRtWorld *world, uint64_t event) {
  IRISRT_REQUIRE(world);
  return finish(world->world->destroyEvent({event}));
}

IrisRtStatusCode irisrtEventRecord(IrisRtWorld *world, uint64_t event,
                                   uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->record({event}, {stream}));
}

IrisRtStatusCode irisrtStreamWaitEvent(IrisRtWorld *world, uint64_t stream,
                                       uint64_t event) {
  IRISRT_REQUIRE(world);
  return finish(world->world->waitFor({event}, {stream}));
}

IrisRtStatusCode irisrtEventElapsedMs(IrisRtWorld *world, uint64_t start,
                                      uint64_t end, double *milliseconds) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(milliseconds);
  return finish(world->world->elapsedMs({start}, {end}), milliseconds);
}

IrisRtStatusCode irisrtCaptureBegin(IrisRtWorld *world, uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->beginCapture({stream}));
}

IrisRtStatusCode irisrtCaptureEnd(IrisRtWorld *world, uint64_t stream,
                                  uint64_t *graph) {
  IRISRT_REQUIRE(world);
  IRISRT_REQUIRE(graph);
  Expected<Graph> captured = world->world->endCapture({stream});
  if (!captured.ok())
    return finish(captured.status());
  *graph = captured->id;
  return IRISRT_OK;
}

IrisRtStatusCode irisrtGraphLaunch(IrisRtWorld *world, uint64_t graph,
                                   uint64_t stream) {
  IRISRT_REQUIRE(world);
  return finish(world->world->launchGraph({graph}, {stream}));
}

IrisRtStatusCode irisrtGraphDestroy(IrisRtWorld *world, uint64_t graph) {
  IRISRT_REQUIRE(world);
  return finish(world->world->destroyGraph({graph}));
}

IrisRtStatusCode irisrtBarrier(IrisRtWorld *world) {
  IRISRT_REQUIRE(world);
  return finish(world->world->barrier());
}

IrisRtStatusCode irisrtSync(IrisRtWorld *world) {
  IRISRT_REQUIRE(world);
  return finish(world->world->sync());
}

IrisRtStatusCode irisrtVerify(IrisRtWorld *world) {
  IRISRT_REQUIRE(world);
  return finish(world->world->verify());
}

void irisrtExpects(const IrisRtWorld *world, uint64_t *checked,
                   uint64_t *failed) {
  ExpectReport report;
  if (world)
    report = world->world->expects();
  if (checked)
    *checked = report.checked;
  if (failed)
    *failed = report.failed;
}
