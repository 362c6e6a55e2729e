// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlasLtApi.cpp - Function table of cuBLASLt or hipBLASLt ------------===//
#include "backends/gpu/BlasLtApi.h"

#include "backends/gpu/GpuApi.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace iris::rt::gpu {

size_t BlasLtHeuristic::workspaceBytes(const BlasLtDialect &dialect) const {
  size_t value = 0;
  std::memcpy(&value, bytes + dialect.algorithmBytes, sizeof(value));
  return value;
}

int BlasLtHeuristic::status(const BlasLtDialect &dialect) const {
  int value = 0;
  std::memcpy(&value, bytes + dialect.algorithmBytes + sizeof(size_t),
              sizeof(value));
  return value;
}

Status BlasLtApi::check(int status, const char *what) const {
  if (status == 0)
    return Status::success();
  return makeStatus(StatusCode::deviceError, "%s cannot %s: status %d",
                    dialect.name, what, status);
}

Status BlasLtApi::checkVersion(BlasLtObject handle) const {
  int version = 0;
  if (cublasVersion)
    version = static_cast<int>(cublasVersion());
  else
    IRISRT_RETURN_IF_ERROR(
        check(hipblasVersion(handle, &version), "tell its version"));
  if (version >= dialect.firstVersion && version < dialect.endVersion)
    return Status::success();
  return makeStatus(StatusCode::unavailable,
                    "%s has version %d; expected %d to %d", library.c_str(),
                    version, dialect.firstVersion, dialect.endVersion - 1);
}

Expected<std::shared_ptr<const BlasLtApi>>
loadBlasLtApi(DeviceKind kind, const std::string &path) {
  const bool cuda = kind == DeviceKind::cuda;
  auto api = std::make_shared<BlasLtApi>();
  api->dialect = cuda ? cublasLtDialect : hipblasLtDialect;
  std::vector<std::string> candidates = {
      "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};
  if (!cuda)
    candidates = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"};
  if (!path.empty())
    candidates = {path};
  Expected<void *> library = openAnyLibrary(candidates, api->library);
  if (!library.ok())
    return library.status().withContext(std::string("cannot open ") +
                                        api->dialect.name);
  std::string missing;
  auto resolve = [&](auto &member, const char *name) {
    void *symbol = findGpuSymbol(*library, name);
    member = reinterpret_cast<std::decay_t<decltype(member)>>(symbol);
    if (!symbol)
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
#define IRISRT_BLASLT_API(member, cudaName, hipName, parameters)               \
  resolve(api->member, cuda ? cudaName : hipName);
#include "backends/gpu/BlasLtApiTable.inc"
#undef IRISRT_BLASLT_API
  if (cuda)
    resolve(api->cublasVersion, "cublasLtGetVersion");
  else
    resolve(api->hipblasVersion, "hipblasLtGetVersion");
  if (!missing.empty())
    return makeStatus(StatusCode::unavailable,
                      "%s is too old for Iris: it does not export %s",
                      api->library.c_str(), missing.c_str());
  return std::shared_ptr<const BlasLtApi>(std::move(api));
}

} // namespace iris::rt::gpu
