// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backend.cpp - Functions common to all back ends --------------------===//
#include "backends/Backend.h"

#include "iris/Chips/ChipTable.h"

#include <algorithm>
#include <cstring>

using namespace iris::rt;

Backend::~Backend() = default;

LibraryMatmul::~LibraryMatmul() = default;

Expected<std::unique_ptr<LibraryMatmul>>
Backend::createLibraryMatmul(const LibraryMatmulSpec &) {
  return makeStatus(StatusCode::unavailable,
                    "there is no library of a vendor for matmuls on %s",
                    info_.name.c_str());
}

Expected<StreamHandle> Backend::adoptStream(void *) {
  return Status(StatusCode::unavailable,
                "this device has no streams but those that World::createStream "
                "returns");
}

Expected<RetainedChunk> Backend::retainChunk(uint64_t) {
  return Status(StatusCode::unavailable,
                "this device cannot map memory at a second address");
}

void Backend::keepUntilEnd(std::unique_ptr<uint8_t[]> memory) {
  std::lock_guard<std::mutex> lock(keptMutex_);
  kept_.push_back(std::move(memory));
}

void Backend::leakKeptMemory() {
  for (std::unique_ptr<uint8_t[]> &memory : kept_)
    (void)memory.release();
}

Status Backend::forgetStream(StreamHandle) {
  return Status(StatusCode::invalidArgument, "the stream is not adopted");
}

Status Backend::writeNow(StreamHandle stream, uint64_t to, const void *from,
                         uint64_t bytes, std::chrono::nanoseconds limit) {
  auto staged = std::make_unique<uint8_t[]>(bytes);
  std::memcpy(staged.get(), from, bytes);
  Status status = copyToDevice(stream, to, staged.get(), bytes);
  if (status.ok())
    status = synchronize(stream, limit);
  if (!status.ok())
    keepUntilEnd(std::move(staged));
  return status;
}

static constexpr DeviceKind allKinds[] = {
    DeviceKind::host, DeviceKind::hip, DeviceKind::cuda, DeviceKind::emulated};

std::string_view iris::rt::deviceKindName(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::host:
    return "host";
  case DeviceKind::hip:
    return "hip";
  case DeviceKind::cuda:
    return "cuda";
  case DeviceKind::emulated:
    return "emulated";
  }
  return "unknown";
}

std::string iris::rt::deviceName(const DeviceSpec &device) {
  std::string name(deviceKindName(device.kind));
  return device.chip.empty() ? name : name + ":" + device.chip;
}

Expected<DeviceSpec> iris::rt::parseDevice(std::string_view name) {
  size_t colon = std::min(name.find(':'), name.size());
  std::string chip(name.substr(std::min(colon + 1, name.size())));
  for (DeviceKind kind : allKinds)
    if (name.substr(0, colon) == deviceKindName(kind) &&
        (colon < name.size()) == (kind == DeviceKind::emulated) &&
        chip.empty() == (kind != DeviceKind::emulated))
      return DeviceSpec(kind, std::move(chip));
  return makeStatus(StatusCode::invalidArgument,
                    "unknown device '%.*s'; expected host, hip, cuda, or "
                    "emulated:CHIP, such as emulated:%s",
                    static_cast<int>(name.size()), name.data(),
                    irischips::getKnownChips().begin()->name.data());
}

Expected<std::unique_ptr<Backend>>
iris::rt::createBackend(const DeviceSpec &device, int index,
                        bool placeMappings) {
  switch (device.kind) {
  case DeviceKind::host:
    return createHostBackend(index, placeMappings);
  case DeviceKind::emulated:
    return createEmulatedBackend(device.chip, index, placeMappings);
  case DeviceKind::hip:
  case DeviceKind::cuda:
    break;
  }
  return createGpuBackend(device.kind, index, placeMappings);
}

Expected<int> iris::rt::countDevices(const DeviceSpec &device) {
  switch (device.kind) {
  case DeviceKind::host:
    return 1;
  case DeviceKind::emulated:
    return countEmulatedDevices();
  case DeviceKind::hip:
  case DeviceKind::cuda:
    break;
  }
  return countGpuDevices(device.kind);
}

Expected<int> iris::rt::currentDevice(const DeviceSpec &device) {
  switch (device.kind) {
  case DeviceKind::host:
  case DeviceKind::emulated:
    return 0;
  case DeviceKind::hip:
  case DeviceKind::cuda:
    break;
  }
  return currentGpuDevice(device.kind);
}

Expected<int> iris::rt::deviceCount(const DeviceSpec &device) {
  return countDevices(device);
}

Expected<DeviceAttributes> iris::rt::deviceAttributes(const DeviceSpec &device,
                                                      int index) {
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                          createBackend(device, index));
  return static_cast<const DeviceAttributes &>(backend->info());
}

const char *iris::rt::translationOf(bool canPlaceMappings) {
  return canPlaceMappings ? "stride" : "table";
}

Expected<DeviceTarget> iris::rt::deviceTarget(const DeviceSpec &device,
                                              int index) {
  // Known without starting an emulator.
  if (device.kind == DeviceKind::emulated)
    return DeviceTarget{device.chip, translationOf(true)};
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                          createBackend(device, index));
  const DeviceInfo &info = backend->info();
  return DeviceTarget{info.target, translationOf(info.canPlaceMappings)};
}
