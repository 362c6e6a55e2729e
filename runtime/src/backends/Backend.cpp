// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backend.cpp - Functions common to all back ends --------------------===//
#include "backends/Backend.h"

#include <cstring>

using namespace iris::rt;

Backend::~Backend() = default;

void Backend::keepUntilEnd(std::unique_ptr<uint8_t[]> memory) {
  std::lock_guard<std::mutex> lock(keptMutex_);
  kept_.push_back(std::move(memory));
}

void Backend::leakKeptMemory() {
  for (std::unique_ptr<uint8_t[]> &memory : kept_)
    (void)memory.release();
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

std::string_view iris::rt::deviceKindName(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::host:
    return "host";
  case DeviceKind::hip:
    return "hip";
  case DeviceKind::cuda:
    return "cuda";
  }
  return "unknown";
}

Expected<DeviceKind> iris::rt::parseDeviceKind(std::string_view name) {
  for (DeviceKind kind : {DeviceKind::host, DeviceKind::hip, DeviceKind::cuda})
    if (name == deviceKindName(kind))
      return kind;
  return makeStatus(StatusCode::invalidArgument,
                    "unknown device '%.*s'; expected host, hip or cuda",
                    static_cast<int>(name.size()), name.data());
}

Expected<std::unique_ptr<Backend>>
iris::rt::createBackend(DeviceKind kind, int index, bool placeMappings) {
  if (kind == DeviceKind::host)
    return createHostBackend(index, placeMappings);
  return createGpuBackend(kind, index, placeMappings);
}

Expected<int> iris::rt::countDevices(DeviceKind kind) {
  if (kind == DeviceKind::host)
    return 1;
  return countGpuDevices(kind);
}

Expected<int> iris::rt::deviceCount(DeviceKind kind) {
  return countDevices(kind);
}

Expected<DeviceAttributes> iris::rt::deviceAttributes(DeviceKind kind,
                                                      int index) {
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                          createBackend(kind, index));
  return static_cast<const DeviceAttributes &>(backend->info());
}

Expected<std::string> iris::rt::deviceTarget(DeviceKind kind, int index) {
  IRISRT_ASSIGN_OR_RETURN(DeviceAttributes attributes,
                          deviceAttributes(kind, index));
  return attributes.target;
}
