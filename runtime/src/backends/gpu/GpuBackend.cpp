// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuBackend.cpp - Creation and destruction of GPU back ends ---------===//
#include "backends/gpu/GpuBackend.h"

#include <algorithm>
#include <array>
#include <vector>

using namespace iris::rt;
using namespace iris::rt::gpu;

//===----------------------------------------------------------------------===//
// Factories
//===----------------------------------------------------------------------===//

static Expected<std::shared_ptr<const GpuApi>>
loadApi(DeviceKind kind, const std::string &library) {
  if (kind == DeviceKind::cuda)
    return loadCudaApi(library);
  if (kind == DeviceKind::hip)
    return loadHipApi(library);
  return Status(StatusCode::invalidArgument, "the host is not a GPU");
}

Expected<int> iris::rt::countGpuDevices(DeviceKind kind) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<const GpuApi> api, loadApi(kind, ""));
  int count = 0;
  IRISRT_RETURN_IF_ERROR(api->check(api->deviceCount(&count), "count devices"));
  return count;
}

Expected<int> iris::rt::currentGpuDevice(DeviceKind kind) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<const GpuApi> api, loadApi(kind, ""));
  int index = 0;
  if (api->deviceCurrent) {
    IRISRT_RETURN_IF_ERROR(api->check(api->deviceCurrent(&index),
                                      "get the thread's current device"));
    return index;
  }
  // CUDA's runtime makes device 0 current at a thread's first call.
  Context context = nullptr;
  IRISRT_RETURN_IF_ERROR(api->check(api->contextCurrent(&context),
                                    "get the thread's current context"));
  if (!context)
    return 0;
  // Its devices are their indices.
  Device device = 0;
  IRISRT_RETURN_IF_ERROR(
      api->check(api->contextDevice(&device), "get the device of a context"));
  return static_cast<int>(device);
}

Expected<std::unique_ptr<Backend>>
iris::rt::createGpuBackend(DeviceKind kind, int index, bool placeMappings) {
  GpuOptions options;
  options.kind = kind;
  options.index = index;
  options.allowPlacedMappings = placeMappings;
  return GpuBackend::create(options);
}

Expected<std::unique_ptr<Backend>>
GpuBackend::create(const GpuOptions &options) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<const GpuApi> api,
                          loadApi(options.kind, options.library));
  std::unique_ptr<GpuBackend> backend(new GpuBackend(std::move(api), options));
  IRISRT_RETURN_IF_ERROR(backend->initialize());
  return std::unique_ptr<Backend>(std::move(backend));
}

Status GpuBackend::initialize() {
  int count = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(api_->deviceCount(&count), "count devices"));
  if (options_.index < 0 || options_.index >= count)
    return makeStatus(StatusCode::unavailable,
                      "there is no %s device %d; this process has %d of them",
                      api_->name(), options_.index, count);
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->deviceGet(&device_, options_.index), "open a device"));
  if (api_->primaryContextRetain)
    IRISRT_RETURN_IF_ERROR(
        checkDone(api_->primaryContextRetain(&context_, device_),
                  "retain the device's primary context"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());

  info_.index = options_.index;
  IRISRT_ASSIGN_OR_RETURN(info_.target,
                          api_->targetName(device_, options_.index));
  char name[256] = {};
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->deviceName(name, sizeof(name) - 1, device_),
                "get the device's name"));
  info_.name = name;
  size_t bytes = 0;
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->deviceMemory(&bytes, device_), "get the memory size"));
  info_.memoryBytes = bytes;
  int value = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->deviceAttribute(&value, api_->dialect.attributeProcessors, device_),
      "get the number of processors"));
  info_.processors = static_cast<uint32_t>(std::max(value, 0));
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->deviceAttribute(
                    &value, api_->dialect.attributeSharedPerBlock, device_),
                "get the shared memory size"));
  sharedPerBlock_ = static_cast<uint32_t>(std::max(value, 0));
  describeSpeed();
  describeLinks(count);
  info_.identity = identify(count);
  info_.clockHz = options_.kind == DeviceKind::cuda ? IRISRT_CLOCK_HZ_NVPTX
                                                    : IRISRT_CLOCK_HZ_AMDGPU;
  info_.canCapture = api_->hasGraphs();
  probeMemory();
  return warmUp();
}

/// For cost models of GPUs that have none. Drivers need not tell any of it.
void GpuBackend::describeSpeed() {
  auto ask = [this](int attribute) -> uint64_t {
    int value = 0;
    bool isKnown = attribute != 0 &&
                   api_->deviceAttribute(&value, attribute, device_) == 0;
    return isKnown && value > 0 ? static_cast<uint64_t>(value) : 0;
  };
  const GpuDialect &dialect = api_->dialect;
  info_.warpSize = static_cast<uint32_t>(ask(dialect.attributeWarpSize));
  info_.clockMHz = static_cast<uint32_t>(ask(dialect.attributeClock) / 1000);
  info_.memoryBytesPerUs = ask(dialect.attributeMemoryClock) * 2 *
                           (ask(dialect.attributeMemoryBits) / 8) / 1000;
}

/// A device's UUID and place on the bus: partitions of a GPU may have one of
/// them in common.
static std::string describeIdentity(const GpuApi &api, Device device) {
  std::array<uint8_t, 16> uuid{};
  std::array<char, 32> bus{};
  if (!api.deviceUuid || !api.devicePciBusId ||
      api.deviceUuid(uuid.data(), device) != success ||
      api.devicePciBusId(bus.data(), static_cast<int>(bus.size() - 1),
                         device) != success)
    return "";
  std::string text;
  for (uint8_t byte : uuid)
    text += formatString("%02x", byte);
  return text + "@" + bus.data();
}

/// Drivers of virtual devices may say the same of all of them.
std::string GpuBackend::identify(int numDevices) const {
  std::string mine = describeIdentity(*api_, device_);
  for (int index = 0; index < numDevices; ++index) {
    Device other = 0;
    if (index != options_.index && api_->deviceGet(&other, index) == success &&
        describeIdentity(*api_, other) == mine)
      return "";
  }
  return mine;
}

/// For keys of what was measured. Drivers need not tell any of it.
void GpuBackend::describeLinks(int numDevices) {
  info_.driverVersion = api_->version;
  const GpuDialect &dialect = api_->dialect;
  int peers = 0, atomics = 0, worstRank = 0;
  for (int index = 0; api_->peerAttribute && index < numDevices; ++index) {
    Device peer = 0;
    int canAccess = 0, hasAtomics = 0, rank = 0;
    auto ask = [&](int &value, int attribute) {
      return api_->peerAttribute(&value, attribute, device_, peer) == success;
    };
    if (index == options_.index || api_->deviceGet(&peer, index) != success ||
        !ask(canAccess, dialect.peerAccess) || canAccess == 0 ||
        !ask(hasAtomics, dialect.peerAtomics) || !ask(rank, dialect.peerRank))
      continue;
    ++peers;
    atomics += hasAtomics != 0;
    worstRank = std::max(worstRank, rank);
  }
  if (peers != 0)
    info_.link =
        formatString("%d peers, %d with native atomics, performance rank %d",
                     peers, atomics, worstRank);
}

/// The first memset or copy of a process loads code to the device, which may
/// wait for running kernels: forever, if one of them waits for the host's next
/// step. So each operation that may run concurrently with kernels runs once
/// here.
Status GpuBackend::warmUp() {
  constexpr uint64_t bytes = 4096;
  IRISRT_ASSIGN_OR_RETURN(StreamHandle stream,
                          createStream(/*isHighPriority=*/false));
  IRISRT_ASSIGN_OR_RETURN(uint64_t address, allocate(2 * bytes));
  // Not on the stack, because after an error the copy may still be pending.
  IRISRT_ASSIGN_OR_RETURN(HostVisibleMemory host, allocateHostVisible(bytes));
  auto *probe = static_cast<volatile uint32_t *>(host.host);
  *probe = 1;
  IRISRT_RETURN_IF_ERROR(zero(stream, address, bytes));
  // HIP documents that stream waits need memory of a special kind; only some
  // versions require it.
  canWaitForWords_ = waitEqual(stream, address, 0).ok();
  IRISRT_RETURN_IF_ERROR(copyOnDevice(stream, address + bytes, address, bytes));
  IRISRT_RETURN_IF_ERROR(copyToHost(stream, host.host, address + bytes, bytes));
  IRISRT_RETURN_IF_ERROR(synchronize(stream, destroyStreamLimit));
  bool good = *probe == 0;
  IRISRT_RETURN_IF_ERROR(freeHostVisible(host));
  IRISRT_RETURN_IF_ERROR(free(address));
  IRISRT_RETURN_IF_ERROR(destroyStream(stream));
  if (!good)
    return makeStatus(StatusCode::deviceError,
                      "%s: data copied from device %d differs from the data "
                      "written",
                      api_->name(), options_.index);
  return Status::success();
}

/// Enables access to the memory of another device of this process, once.
Status GpuBackend::enablePeer(int peer) {
  if (peer == options_.index)
    return Status::success();
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (peers_.count(peer))
      return Status::success();
  }
  int yes = 0;
  Device peerDevice = 0;
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->deviceGet(&peerDevice, peer), "open the peer device"));
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->canAccessPeer(&yes, device_, peerDevice), "query peer access"));
  if (!yes)
    return makeStatus(StatusCode::unavailable,
                      "%s: device %d cannot access the memory of device %d",
                      api_->name(), options_.index, peer);
  Result result;
  if (api_->enablePeerContext) {
    Context context = nullptr;
    IRISRT_RETURN_IF_ERROR(
        checkDone(api_->primaryContextRetain(&context, peerDevice),
                  "retain the peer's primary context"));
    result = api_->enablePeerContext(context, 0);
    // The context stays alive, because the peer's back end retains it.
    (void)api_->primaryContextRelease(peerDevice);
  } else {
    result = api_->enablePeerDevice(peer, 0);
  }
  if (result != errorPeerAccessAlreadyEnabled)
    IRISRT_RETURN_IF_ERROR(checkDone(result, "enable peer access"));
  std::lock_guard<std::mutex> lock(mutex_);
  peers_.insert(peer);
  return Status::success();
}

Status GpuBackend::letPeersAccess() {
  int count = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(api_->deviceCount(&count), "count devices"));
  for (int index = 0; index < count; ++index) {
    int yes = 0;
    Device peer = 0;
    IRISRT_RETURN_IF_ERROR(
        checkDone(api_->deviceGet(&peer, index), "open a peer device"));
    IRISRT_RETURN_IF_ERROR(checkDone(api_->canAccessPeer(&yes, peer, device_),
                                     "query peer access"));
    if (yes && peer != device_)
      accessingPeers_.push_back(peer);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Destruction
//===----------------------------------------------------------------------===//

GpuBackend::~GpuBackend() {
  const DeviceBinding bound = bind();
  if (!bound.status().ok())
    return; // the driver has shut down and released everything
  // Freeing memory waits for kernels, and unmapping removes it from them. If a
  // kernel does not end, everything stays until the process ends.
  if (!waitForStreams()) {
    leakKeptMemory();
    return;
  }
  releaseEverything();
  if (api_->primaryContextRelease && context_)
    (void)api_->primaryContextRelease(device_);
}

/// Destroys the streams; false if the work of one does not end in time.
bool GpuBackend::waitForStreams() {
  using std::chrono::nanoseconds;
  const auto end = std::chrono::steady_clock::now() + destroyStreamLimit;
  std::vector<uint64_t> handles;
  for (const auto &[handle, state] : streams_)
    handles.push_back(handle);
  for (uint64_t handle : handles) {
    // Do not wait again for streams that have timed out.
    nanoseconds left = stuck_.count(handle) != 0
                           ? nanoseconds(0)
                           : end - std::chrono::steady_clock::now();
    destroyStream({handle}, std::max(left, nanoseconds(0)))
        .ignore("stuck_ records a timeout");
  }
  return !mayKernelRun();
}

/// Ignores errors: a destructor cannot return them, and after a device failure
/// every call fails.
void GpuBackend::releaseEverything() {
  auto drain = [](auto &container, auto &&release) {
    while (!container.empty()) {
      auto first = *container.begin();
      (void)release(first);
      container.erase(container.begin());
    }
  };
  auto inMap = [](auto &&release) {
    return [release](const auto &entry) { return release(entry.first); };
  };
  const GpuApi &api = *api_;
  drain(graphs_,
        [&](uint64_t v) { return api.graphExecDestroy(toPointer(v)); });
  drain(modules_, [&](uint64_t v) { return api.moduleUnload(toPointer(v)); });
  drain(events_, [&](uint64_t v) { return api.eventDestroy(toPointer(v)); });
  drain(opened_, [&](uint64_t v) { return api.ipcClose(v); });
  drain(mappings_, [&](const auto &entry) {
    return api.memoryUnmap(entry.first, entry.second.bytes);
  });
  drain(chunks_, inMap([&](uint64_t v) { return api.memoryRelease(v); }));
  drain(reservations_, [&](const auto &entry) {
    return api.addressFree(entry.second.driverAddress,
                           entry.second.driverBytes);
  });
  drain(shareable_, inMap([&](uint64_t v) { return api.free(v); }));
  drain(allocations_, [&](uint64_t v) { return api.free(v); });
  drain(hostVisible_,
        [&](const auto &entry) { return api.hostFree(entry.second); });
}
