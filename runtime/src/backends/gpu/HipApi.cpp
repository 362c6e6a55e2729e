// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads HIP's library, and asks devices for their target.
#include "backends/gpu/GpuApi.h"

#include <cstring>
#include <dlfcn.h>

namespace iris::rt::gpu {
namespace {

/// More than any version of hipDeviceProp_t has (792 bytes in HIP 5, 1472 in
/// HIP 6).
constexpr size_t propertiesBytes = 16384;
/// All versions start with `char name[256]`.
constexpr size_t propertiesNameBytes = 256;

bool isTargetChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
}

/// gcnArchName moved between versions of hipDeviceProp_t, and a program cannot
/// know which version the library fills in.  It is however the only text after
/// the device's name, so it is found by its form: "gfx942:sramecc+:xnack-".
std::string findTargetName(const char *properties) {
  const char *end = properties + propertiesBytes;
  for (const char *at = properties + propertiesNameBytes; at + 4 < end; ++at) {
    if (std::memcmp(at, "gfx", 3) != 0 || at[-1] != '\0')
      continue;
    const char *stop = at;
    while (stop < end && isTargetChar(*stop))
      ++stop;
    // Target features follow after a colon; packages do not name them.
    if (stop < end && stop - at > 3 && (*stop == '\0' || *stop == ':'))
      return std::string(at, stop);
  }
  return {};
}

constexpr int oldestHip = 5;
/// The table holds for 5 to 7.  Later ones are tried as well: what they lack or
/// do otherwise shows when the table is filled, or when the device is probed.
constexpr int newestHip = 12;

/// What the loader finds by the name of a development package, whatever its
/// version, then the newest; then the same where ROCm is installed by itself.
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
              "ask for the compute capability"));
    IRISRT_RETURN_IF_ERROR(
        check(deviceAttribute(&minor, cudaAttributeCapabilityMinor, device),
              "ask for the compute capability"));
    // From Hopper on, tensor instructions are tied to one architecture: "a".
    return formatString("sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
  }
  std::vector<char> properties(propertiesBytes, '\0');
  auto *query = deviceProperties6 ? deviceProperties6 : deviceProperties;
  IRISRT_RETURN_IF_ERROR(
      check(query(properties.data(), index), "ask for the device properties"));
  std::string target = findTargetName(properties.data());
  if (target.empty())
    return makeStatus(StatusCode::unavailable,
                      "HIP: %s does not name the target of device %d",
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
      api->check(api->driverVersion(&api->version), "ask for the version"));
  api->importByPointer = api->version < 70100000;
  findPointerInfo(*api, library);
  return std::shared_ptr<const GpuApi>(std::move(api));
}

} // namespace iris::rt::gpu
