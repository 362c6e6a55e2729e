// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuApi.cpp - Function table of a driver library --------------------===//
#include "backends/gpu/GpuApi.h"

#include <cstring>
#include <dlfcn.h>

namespace iris::rt::gpu {

namespace {
enum class Need { required, optional };
} // namespace

const char *GpuApi::name() const {
  return kind == DeviceKind::cuda ? "CUDA" : "HIP";
}

std::string GpuApi::describe(Result error) const {
  const char *shortName = nullptr, *text = nullptr;
  if (cudaErrorName)
    (void)cudaErrorName(error, &shortName);
  else if (hipErrorName)
    shortName = hipErrorName(error);
  if (cudaErrorText)
    (void)cudaErrorText(error, &text);
  else if (hipErrorText)
    text = hipErrorText(error);
  // Old versions of HIP return the name as the text.
  if (!text || (shortName && std::strcmp(text, shortName) == 0))
    return formatString("%s (%d)", shortName ? shortName : "unknown error",
                        error);
  return formatString("%s (%s, %d)", text, shortName ? shortName : name(),
                      error);
}

Status GpuApi::check(Result result, const char *what) const {
  if (result == success)
    return Status::success();
  StatusCode code = StatusCode::deviceError;
  switch (result) {
  case errorInvalidValue:
    code = StatusCode::invalidArgument;
    break;
  case errorOutOfMemory:
    code = StatusCode::outOfMemory;
    break;
  case errorNoDevice:
  case errorInvalidDevice:
  case errorNotSupported:
    code = StatusCode::unavailable;
    break;
  }
  return makeStatus(code, "%s: cannot %s: %s", name(), what,
                    describe(result).c_str());
}

bool GpuApi::hasVirtualMemory() const {
  return granularity && addressReserve && addressFree && memoryCreate &&
         memoryRelease && memoryExport && memoryImport && memoryMap &&
         memoryUnmap && memorySetAccess;
}

bool GpuApi::hasGraphs() const {
  return beginCapture && endCapture && graphInstantiate && graphLaunch &&
         graphDestroy && graphExecDestroy && streamIsCapturing;
}

void *findGpuSymbol(void *library, const char *name) {
  return *name ? ::dlsym(library, name) : nullptr;
}

Expected<void *> openAnyLibrary(const std::vector<std::string> &candidates,
                                std::string &opened) {
  // Prefer the library that this process has already loaded: two versions of a
  // runtime in one process do not know each other's state.
  for (const std::string &candidate : candidates) {
    void *library =
        ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library) {
      opened = candidate;
      return library;
    }
  }
  std::string reasons;
  size_t numMissing = 0;
  for (const std::string &candidate : candidates) {
    void *library = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      opened = candidate;
      return library;
    }
    const char *text = ::dlerror();
    const std::string reason = text ? text : candidate;
    // Report why an existing library cannot be loaded, and only the first of
    // the missing ones.
    bool isMissing = reason.find("No such file") != std::string::npos &&
                     reason.rfind(candidate + ":", 0) == 0;
    if (isMissing && numMissing++ != 0)
      continue;
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  if (numMissing > 1)
    reasons +=
        formatString("; %zu other names do not exist either", numMissing - 1);
  return Status(StatusCode::unavailable, reasons);
}

Expected<void *> openGpuLibrary(GpuApi &api,
                                const std::vector<std::string> &candidates) {
  Expected<void *> opened = openAnyLibrary(candidates, api.library);
  if (!opened.ok())
    return opened.status().withContext(
        formatString("cannot open a %s driver library", api.name()));
  void *library = *opened;
  bool cuda = api.kind == DeviceKind::cuda;
  std::string missing;
  auto resolve = [&](auto &member, const char *cudaName, const char *hipName,
                     Need need) {
    const char *name = cuda ? cudaName : hipName;
    void *symbol = findGpuSymbol(library, name);
    member = reinterpret_cast<std::decay_t<decltype(member)>>(symbol);
    if (!symbol && *name && need == Need::required)
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
#define IRISRT_GPU_API(member, cuda, hip, need, parameters)                    \
  resolve(api.member, cuda, hip, Need::need);
#include "backends/gpu/GpuApiTable.inc"
#undef IRISRT_GPU_API
  if (!missing.empty())
    return makeStatus(StatusCode::unavailable,
                      "%s is too old for Iris: it does not export %s",
                      api.library.c_str(), missing.c_str());
  return library;
}

Status startGpuApi(const GpuApi &api) {
  // Without a device, cuInit fails; HIP fails either there or below.
  auto noDevice = [&](const std::string &reason) {
    return makeStatus(StatusCode::unavailable, "there is no %s device: %s",
                      api.name(), reason.c_str());
  };
  Result result = api.init(0);
  if (result != success)
    return noDevice(api.library + " reports: " + api.describe(result));
  int count = 0;
  result = api.deviceCount(&count);
  if (result != success)
    return noDevice(api.library + " reports: " + api.describe(result));
  if (count <= 0)
    return noDevice(api.library + " reports 0 devices");
  return Status::success();
}

} // namespace iris::rt::gpu
