// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CudaApi.cpp - Loads the CUDA driver library ------------------------===//
#include "backends/gpu/GpuApi.h"

namespace iris::rt::gpu {

Expected<std::shared_ptr<const GpuApi>> loadCudaApi(const std::string &path) {
  auto api = std::make_shared<GpuApi>();
  api->kind = DeviceKind::cuda;
  api->dialect = cudaDialect;
  std::vector<std::string> candidates = {"libcuda.so.1"};
  if (!path.empty())
    candidates = {path};
  IRISRT_ASSIGN_OR_RETURN(void *library, openGpuLibrary(*api, candidates));
  api->cudaErrorName = reinterpret_cast<decltype(api->cudaErrorName)>(
      findGpuSymbol(library, "cuGetErrorName"));
  api->cudaErrorText = reinterpret_cast<decltype(api->cudaErrorText)>(
      findGpuSymbol(library, "cuGetErrorString"));
  IRISRT_RETURN_IF_ERROR(startGpuApi(*api));
  IRISRT_RETURN_IF_ERROR(
      api->check(api->driverVersion(&api->version), "get the driver version"));
  return std::shared_ptr<const GpuApi>(std::move(api));
}

} // namespace iris::rt::gpu
