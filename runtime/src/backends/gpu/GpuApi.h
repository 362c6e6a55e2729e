// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver library, opened with dlopen: one table of functions for HIP and
// CUDA.
#ifndef IRIS_RT_BACKENDS_GPU_GPUAPI_H
#define IRIS_RT_BACKENDS_GPU_GPUAPI_H

#include "backends/gpu/GpuTypes.h"
#include "iris/rt/Device.h"
#include "iris/rt/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace iris::rt::gpu {

/// The functions of one driver library.  Libraries are never closed: drivers
/// keep threads and exit handlers of their own.
struct GpuApi {
  DeviceKind kind = DeviceKind::cuda;
  GpuDialect dialect = cudaDialect;
  /// The file that was opened, for messages.
  std::string library;
  /// As the driver says it: CUDA 12040, HIP 70200000 (two digits of minor
  /// version, five of patch level).
  int version = 0;
  /// HIP before 7.1 takes the address of a descriptor where CUDA (and later
  /// HIP) take the descriptor.
  bool importByPointer = false;

#define IRISRT_GPU_API(member, cuda, hip, need, parameters)                    \
  Result(*member) parameters = nullptr;
#include "backends/gpu/GpuApiTable.inc"
#undef IRISRT_GPU_API

  // The two APIs have different shapes here.
  Result (*cudaErrorName)(Result error, const char **name) = nullptr;
  Result (*cudaErrorText)(Result error, const char **text) = nullptr;
  const char *(*hipErrorName)(Result error) = nullptr;
  const char *(*hipErrorText)(Result error) = nullptr;
  /// hsa_amd_pointer_info, where HIP is built on ROCr: HIP remembers which kind
  /// of memory was asked for, ROCr knows which was given.  0 is success.
  int (*pointerInfo)(const void *address, PointerInfo *info,
                     void *(*allocate)(size_t), uint32_t *numAgents,
                     void **agents) = nullptr;

  /// "CUDA" or "HIP".
  const char *name() const;
  /// "out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)".
  std::string describe(Result error) const;
  /// Success, or a status that says which call failed, and how.
  Status check(Result result, const char *what) const;
  /// Whether the functions for reserving and mapping memory are all there.
  bool hasVirtualMemory() const;
  /// Whether the functions for graphs are all there.
  bool hasGraphs() const;

  /// Target name of a device as packages spell it: "sm_90a", "gfx942".
  Expected<std::string> targetName(Device device, int index) const;
};

/// Opens libcuda.so.1, or `path` where it is not empty, and starts it.
/// `unavailable` if there is no library, no driver or no device.
Expected<std::shared_ptr<const GpuApi>> loadCudaApi(const std::string &path);

/// The same with libamdhip64, whatever its version.
Expected<std::shared_ptr<const GpuApi>> loadHipApi(const std::string &path);

//===----------------------------------------------------------------------===//
// For the two loaders
//===----------------------------------------------------------------------===//

/// Opens the first of `candidates` that this process has loaded already, else
/// the first that can be opened, and fills the table.
Expected<void *> openGpuLibrary(GpuApi &api,
                                const std::vector<std::string> &candidates);

/// Calls init and counts devices; `unavailable` if there is none.
Status startGpuApi(const GpuApi &api);

/// The function `name` of an opened library, or null.
void *findGpuSymbol(void *library, const char *name);

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_GPUAPI_H
