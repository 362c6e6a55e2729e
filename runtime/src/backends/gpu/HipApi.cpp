// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HipApi.cpp - Loads HIP and queries device targets ------------------===//
#include "backends/gpu/GpuApi.h"
#include "iris/Chips/ChipTable.h"

#include <cstring>
#include <dlfcn.h>

namespace iris::rt::gpu {
namespace {

/// Larger than any version of hipDeviceProp_t (792 bytes in HIP 5, 1472 in HIP
/// 6).
constexpr size_t propertiesBytes = 16384;
/// All versions start with `char name[256]`.
constexpr size_t propertiesNameBytes = 256;

bool isTargetChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
}

/// Finds gcnArchName, whose offset differs between versions of hipDeviceProp_t;
/// a program cannot know which version the library fills in. It is the only
/// text after the device's name, so it is recognized by its form:
/// "gfx942:sramecc+:xnack-".
std::string findTargetName(const char *properties) {
  const char *end = properties + propertiesBytes;
  for (const char *at = properties + propertiesNameBytes; at + 4 < end; ++at) {
    if (std::memcmp(at, "gfx", 3) != 0 || at[-1] != '\0')
      continue;
    const char *stop = at;
    while (stop < end && isTargetChar(*stop))
      ++stop;
    // Target features follow a colon; packages do not include them.
    if (stop < end && stop - at > 3 && (*stop == '\0' || *stop == ':'))
      return std::string(at, stop);
  }
  return {};
}

constexpr int oldestHip = 5;
/// The table is valid for 5 to 7. Later versions are also tried;
/// incompatibilities are detected when functions are resolved or the device is
/// probed.
constexpr int newestHip = 12;

/// The unversioned name, then versions from newest to oldest, first in the
/// loader's search path, then in ROCm's default directory.
std::vector<std::string> libraryCandidates() {
  std::vector<std::string> candidates;
  for (const char *folder : {"", "/opt/rocm/lib/"}) {
    const std::string name = std::string(folder) + "libamdhip64.so";
    candidates.push_back(name);
    for (int version = newestHip; version >= oldestHip; --version)
      candidates.push_back(name + "." + std::to_string(version));
  }
  return candidates;
}

/// ROCr is linked by HIP, or HIP has opened it by now.
void findPointerInfo(GpuApi &api, void *library) {
  constexpr const char *symbol = "hsa_amd_pointer_info";
  void *found = findGpuSymbol(library, symbol);
  for (const char *name : {"libhsa-runtime64.so.1", "libhsa-runtime64.so"})
    if (void *rocr = found
                         ? nullptr
                         : ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))
      found = findGpuSymbol(rocr, symbol);
  api.pointerInfo = reinterpret_cast<decltype(api.pointerInfo)>(found);
}

} // namespace

Expected<std::string> GpuApi::targetName(Device device, int index) const {
  if (kind == DeviceKind::cuda) {
    int major = 0, minor = 0;
    IRISRT_RETURN_IF_ERROR(
        check(deviceAttribute(&major, cudaAttributeCapabilityMajor, device),
              "get the compute capability"));
    IRISRT_RETURN_IF_ERROR(
        check(deviceAttribute(&minor, cudaAttributeCapabilityMinor, device),
              "get the compute capability"));
    // The table's name of the chip, which has an "a" where its lowering uses
    // instructions of one architecture. An unknown one runs code for older
    // chips.
    std::string name = formatString("sm_%d%d", major, minor);
    return irischips::findChip(name + "a") ? name + "a" : name;
  }
  std::vector<char> properties(propertiesBytes, '\0');
  auto *query = deviceProperties6 ? deviceProperties6 : deviceProperties;
  IRISRT_RETURN_IF_ERROR(
      check(query(properties.data(), index), "get the device properties"));
  std::string target = findTargetName(properties.data());
  if (target.empty())
    return makeStatus(StatusCode::unavailable,
                      "HIP: %s does not report the target of device %d",
                      library.c_str(), index);
  return target;
}

Expected<std::shared_ptr<const GpuApi>> loadHipApi(const std::string &path) {
  auto api = std::make_shared<GpuApi>();
  api->kind = DeviceKind::hip;
  api->dialect = hipDialect;
  std::vector<std::string> candidates = {path};
  if (path.empty())
    candidates = libraryCandidates();
  IRISRT_ASSIGN_OR_RETURN(void *library, openGpuLibrary(*api, candidates));
  api->hipErrorName = reinterpret_cast<decltype(api->hipErrorName)>(
      findGpuSymbol(library, "hipGetErrorName"));
  api->hipErrorText = reinterpret_cast<decltype(api->hipErrorText)>(
      findGpuSymbol(library, "hipGetErrorString"));
  IRISRT_RETURN_IF_ERROR(startGpuApi(*api));
  IRISRT_RETURN_IF_ERROR(
      api->check(api->driverVersion(&api->version), "get the runtime version"));
  api->importByPointer = api->version < 70100000;
  findPointerInfo(*api, library);
  return std::shared_ptr<const GpuApi>(std::move(api));
}

} // namespace iris::rt::gpu
