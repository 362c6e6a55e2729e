// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuApi.h - Function table of a driver library ------------*- C++ -*-===//
//
// The functions of HIP or CUDA, resolved with dlopen and dlsym.
#ifndef IRIS_RT_BACKENDS_GPU_GPUAPI_H
#define IRIS_RT_BACKENDS_GPU_GPUAPI_H

#include "backends/gpu/GpuTypes.h"
#include "iris/rt/Device.h"
#include "iris/rt/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace iris::rt::gpu {

/// The functions of one driver library. The library is never closed, because
/// drivers keep threads and exit handlers.
struct GpuApi {
  DeviceKind kind = DeviceKind::cuda;
  GpuDialect dialect = cudaDialect;
  /// The file name of the library, for messages.
  std::string library;
  /// As reported by the driver: CUDA 12040, HIP 70200000 (two digits of minor
  /// version, five of patch level).
  int version = 0;
  /// Whether memoryImport takes the address of a descriptor, as in HIP before
  /// 7.1, instead of the descriptor.
  bool importByPointer = false;

#define IRISRT_GPU_API(member, cuda, hip, need, parameters)                    \
  Result(*member) parameters = nullptr;
#include "backends/gpu/GpuApiTable.inc"
#undef IRISRT_GPU_API

  // Functions whose signatures differ between the two APIs.
  Result (*cudaErrorName)(Result error, const char **name) = nullptr;
  Result (*cudaErrorText)(Result error, const char **text) = nullptr;
  const char *(*hipErrorName)(Result error) = nullptr;
  const char *(*hipErrorText)(Result error) = nullptr;
  /// hsa_amd_pointer_info, if HIP uses ROCr: HIP reports the requested kind of
  /// memory, ROCr the actual one. 0 is success.
  int (*pointerInfo)(const void *address, PointerInfo *info,
                     void *(*allocate)(size_t), uint32_t *numAgents,
                     void **agents) = nullptr;

  /// "CUDA" or "HIP".
  const char *name() const;
  /// "out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)".
  std::string describe(Result error) const;
  /// Success, or an error that names the failed operation and the driver's
  /// error.
  Status check(Result result, const char *what) const;
  /// Whether all functions for reserving and mapping memory exist.
  bool hasVirtualMemory() const;
  /// Whether all functions for graphs exist.
  bool hasGraphs() const;

  /// The target name of a device as in packages: "sm_90a", "gfx942".
  Expected<std::string> targetName(Device device, int index) const;
};

/// Opens libcuda.so.1, or `path` if not empty, and initializes it.
/// `unavailable` if there is no library, no driver or no device.
Expected<std::shared_ptr<const GpuApi>> loadCudaApi(const std::string &path);

/// The same for libamdhip64 of any version.
Expected<std::shared_ptr<const GpuApi>> loadHipApi(const std::string &path);

//===----------------------------------------------------------------------===//
// Functions for the two loaders
//===----------------------------------------------------------------------===//

/// Opens one of `candidates` (openAnyLibrary), and resolves the functions.
Expected<void *> openGpuLibrary(GpuApi &api,
                                const std::vector<std::string> &candidates);

/// Opens the first of `candidates` that this process has already loaded, else
/// the first that can be opened; its name goes to `opened`. `unavailable` with
/// the reasons if there is none. Libraries are never closed.
Expected<void *> openAnyLibrary(const std::vector<std::string> &candidates,
                                std::string &opened);

/// Calls init and counts devices; `unavailable` if there are none.
Status startGpuApi(const GpuApi &api);

/// The address of a function of a library; null if it does not exist.
void *findGpuSymbol(void *library, const char *name);

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_GPUAPI_H
