// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuLaunch.cpp - Modules, launches and graphs of GPU back ends ------===//
#include "backends/gpu/GpuBackend.h"
#include "iris/rt/Kernel.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <string_view>
#include <vector>

using namespace iris::rt;
using namespace iris::rt::gpu;

/// CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, hipErrorStreamCaptureUnmatched: another
/// stream began the capture, which continues.
static constexpr Result errorCaptureUnmatched = 903;

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Whether an image is PTX with line tables.
static bool isPtxWithLines(std::string_view image) {
  return image.substr(0, 4) != "\x7f"
                               "ELF" &&
         image.find("\n\t.loc\t") != std::string_view::npos;
}

Expected<ModuleHandle> GpuBackend::loadModule(const void *image, size_t bytes) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  // PTX must be null-terminated; the extra byte does not affect ELF images,
  // which encode their size.
  std::vector<char> copy(bytes + 1, '\0');
  if (bytes)
    std::memcpy(copy.data(), image, bytes);

  // Get the messages of the driver's PTX compiler.
  std::vector<char> log(8192, '\0');
  int options[] = {jitErrorLogBuffer, jitErrorLogBufferBytes,
                   jitGenerateLineInfo};
  void *values[] = {log.data(), toPointer(log.size() - 1), toPointer(1)};
  unsigned numOptions = 0;
  if (options_.kind == DeviceKind::cuda)
    numOptions = isPtxWithLines({copy.data(), bytes}) ? 3 : 2;
  Module module = nullptr;
  Result result = api_->moduleLoad(&module, copy.data(), numOptions,
                                   numOptions ? options : nullptr,
                                   numOptions ? values : nullptr);
  if (result != success) {
    Status status = checkDone(
        result,
        formatString("load an image for %s", info_.target.c_str()).c_str());
    std::string text(log.data(), strnlen(log.data(), log.size()));
    return text.empty() ? status
                        : Status(status.code(), status.message() + "; " + text);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  modules_.insert(fromPointer(module));
  return ModuleHandle{fromPointer(module)};
}

Status GpuBackend::unloadModule(ModuleHandle module) {
  IRISRT_RETURN_IF_ERROR(checkHandle(modules_, module.value, "module"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (mayKernelRun())
    return Status::success(); // leaked until the process ends
  {
    std::lock_guard<std::mutex> lock(mutex_);
    modules_.erase(module.value);
    for (auto it = kernels_.begin(); it != kernels_.end();)
      it = it->second.module == module.value ? kernels_.erase(it)
                                             : std::next(it);
    recentKernels_.clear();
  }
  return checkDone(api_->moduleUnload(toPointer(module.value)),
                   "unload a module");
}

Expected<KernelHandle> GpuBackend::findKernel(ModuleHandle module,
                                              const char *symbol) {
  IRISRT_RETURN_IF_ERROR(checkHandle(modules_, module.value, "module"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Function function = nullptr;
  // With lazy loading, this call loads the code, before any launch.
  Result result =
      api_->moduleFunction(&function, toPointer(module.value), symbol);
  if (result == errorNotFound)
    return makeStatus(StatusCode::invalidArgument,
                      "the image for %s has no kernel '%s'",
                      info_.target.c_str(), symbol);
  IRISRT_RETURN_IF_ERROR(
      checkDone(result, formatString("find kernel '%s'", symbol).c_str()));
  std::lock_guard<std::mutex> lock(mutex_);
  // The driver returns the same function for the same name.
  kernels_.emplace(fromPointer(function),
                   KernelState{module.value, /*allowedShared=*/0});
  return KernelHandle{fromPointer(function)};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Raises a kernel's limit of dynamic shared memory to `bytes`. On CUDA the
/// default is 48 KiB less what the kernel has without its launch's.
Status GpuBackend::allowShared(KernelHandle kernel, uint32_t bytes) {
  if (bytes > sharedPerBlock_)
    return makeStatus(StatusCode::invalidArgument,
                      "the kernel needs %" PRIu32 " bytes of shared memory; "
                      "this device has %" PRIu32 " per workgroup",
                      bytes, sharedPerBlock_);
  if (!api_->setFunctionAttribute || bytes == 0)
    return Status::success();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = kernels_.find(kernel.value);
    if (found != kernels_.end() && found->second.allowedShared >= bytes)
      return Status::success();
  }
  IRISRT_RETURN_IF_ERROR(
      checkDone(api_->setFunctionAttribute(toPointer(kernel.value),
                                           functionMaxDynamicShared,
                                           static_cast<int>(bytes)),
                "raise the limit of dynamic shared memory"));
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = kernels_.find(kernel.value);
  if (found != kernels_.end())
    found->second.allowedShared = bytes;
  return Status::success();
}

Expected<uint32_t> GpuBackend::maxCoresident(KernelHandle kernel,
                                             const LaunchConfig &config) {
  IRISRT_RETURN_IF_ERROR(
      checkHandle(kernels_, recentKernels_, kernel.value, "kernel"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  IRISRT_RETURN_IF_ERROR(allowShared(kernel, config.dynamicSharedBytes));
  uint64_t threads =
      uint64_t(config.workgroup[0]) * config.workgroup[1] * config.workgroup[2];
  if (threads == 0 || threads > 1024)
    return makeStatus(StatusCode::invalidArgument,
                      "a workgroup of %" PRIu64 " threads; expected 1 to 1024",
                      threads);
  int blocks = 0;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->occupancy(&blocks, toPointer(kernel.value),
                      static_cast<int>(threads), config.dynamicSharedBytes),
      "query the occupancy"));
  return static_cast<uint32_t>(std::max(blocks, 0)) * info_.processors;
}

static std::optional<int> tensorMapElement(IrisRtElement element) {
  switch (element) {
  case IRISRT_ELT_I8:
    return tensorMapU8;
  case IRISRT_ELT_F16:
    return tensorMapF16;
  case IRISRT_ELT_BF16:
    return tensorMapBF16;
  case IRISRT_ELT_F32:
    return tensorMapF32;
  default:
    return std::nullopt;
  }
}

Expected<bool> GpuBackend::encodeTensorMap(const TensorMapSpec &spec,
                                           void *out) {
  std::optional<int> element = tensorMapElement(spec.element);
  if (!api_->encodeTensorMap || !element)
    return false;
  // The driver looks up the address in the thread's context.
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  TensorMap map = {};
  const uint32_t box[3] = {spec.box[0], spec.box[1], 1};
  const uint32_t steps[3] = {1, 1, 1};
  int swizzle = spec.swizzle == 128  ? tensorMapSwizzle128
                : spec.swizzle == 64 ? tensorMapSwizzle64
                                     : tensorMapSwizzle32;
  Result result = api_->encodeTensorMap(
      &map, *element, /*rank=*/3, toPointer(spec.address), spec.sizes,
      spec.strides, box, steps, /*interleave=*/0, swizzle, tensorMapPromote256,
      /*oobFill=*/0);
  // The driver rejects the map; the kernel then copies without it.
  if (result == errorInvalidValue)
    return false;
  IRISRT_RETURN_IF_ERROR(checkDone(
      result, formatString("encode a tensor map of %" PRIu64 " x %" PRIu64
                           " x %" PRIu64 " %s at 0x%" PRIx64,
                           spec.sizes[0], spec.sizes[1], spec.sizes[2],
                           elementName(spec.element).data(), spec.address)
                  .c_str()));
  std::memcpy(out, &map, sizeof(map));
  return true;
}

/// Whether the kernel may be launched before the one in front of it has ended.
/// Graphs of the caller keep ordinary edges: cudaGraphGetEdges of CUDA 12 fails
/// for others.
bool GpuBackend::mayDepend(const LaunchConfig &config,
                           StreamHandle stream) const {
  return config.dependent && api_->launchWithAttributes &&
         info_.driverVersion >= dependentLaunchVersion &&
         !(config.isCaptured && isAdopted(stream));
}

Status GpuBackend::launch(StreamHandle stream, KernelHandle kernel,
                          const LaunchConfig &config, const void *args,
                          size_t argBytes) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  IRISRT_RETURN_IF_ERROR(
      checkHandle(kernels_, recentKernels_, kernel.value, "kernel"));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  IRISRT_RETURN_IF_ERROR(allowShared(kernel, config.dynamicSharedBytes));
  // The drivers copy the block before they return.
  void *extra[] = {toPointer(launchParamBuffer), const_cast<void *>(args),
                   toPointer(launchParamSize), &argBytes,
                   toPointer(api_->dialect.launchParamEnd)};
  void **block = argBytes && !config.parameters ? extra : nullptr;
  const uint32_t *grid = config.grid, *workgroup = config.workgroup;
  const Stream on = driverStream(stream);
  Result result;
  if (mayDepend(config, stream)) {
    LaunchAttribute dependent;
    dependent.id = launchAttributeDependent;
    dependent.value = 1;
    LaunchSpec spec = {{grid[0], grid[1], grid[2]},
                       {workgroup[0], workgroup[1], workgroup[2]},
                       config.dynamicSharedBytes,
                       on,
                       &dependent,
                       /*numAttributes=*/1};
    result = api_->launchWithAttributes(&spec, toPointer(kernel.value),
                                        config.parameters, block);
  } else {
    result =
        api_->launch(toPointer(kernel.value), grid[0], grid[1], grid[2],
                     workgroup[0], workgroup[1], workgroup[2],
                     config.dynamicSharedBytes, on, config.parameters, block);
  }
  if (result == success)
    return Status::success();
  return checkDone(result,
                   formatString("launch %ux%ux%u programs of %ux%ux%u threads",
                                grid[0], grid[1], grid[2], workgroup[0],
                                workgroup[1], workgroup[2])
                       .c_str());
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Status GpuBackend::beginCapture(StreamHandle stream) {
  if (!info_.canCapture)
    return Status(StatusCode::unavailable,
                  "this driver does not support graphs");
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  // Relaxed mode: other threads and worlds may allocate during the capture.
  return checkDone(api_->beginCapture(driverStream(stream), captureRelaxed),
                   "begin to capture a stream");
}

/// Ends the capture of the streams after a failed endCapture. CUDA does so
/// itself; HIP leaves streams capturing forever if their work was not joined,
/// so that nothing on them ever runs. Such streams are replaced; their handles
/// stay valid. Streams of the caller stay as they are.
void GpuBackend::leaveCapture(StreamHandle origin) {
  const uint64_t first = fromPointer(driverStream(origin));
  if (!isCaptured(toPointer(first)))
    return;
  // Skip the streams of another thread's capture.
  auto captureOf = [this](uint64_t stream) {
    int status = 0;
    unsigned long long id = 0;
    if (api_->streamCaptureInfo)
      (void)api_->streamCaptureInfo(toPointer(stream), &status, &id);
    return id;
  };
  const unsigned long long capture = captureOf(first);
  std::vector<std::pair<uint64_t, StreamState>> left;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto &[handle, state] : streams_)
      if (!state.isAdopted &&
          (handle == origin.value ||
           (capture != 0 && captureOf(state.driverStream) == capture)))
        left.emplace_back(handle, state);
  }
  // Destroy the joined streams before the origin, to which they refer.
  std::stable_partition(left.begin(), left.end(), [&](const auto &each) {
    return each.first != origin.value;
  });
  for (const auto &[handle, state] : left) {
    Expected<uint64_t> fresh = createDriverStream(state.isHighPriority);
    if (!fresh.ok())
      continue; // the caller's next operation fails
    (void)api_->streamDestroy(toPointer(state.driverStream));
    std::lock_guard<std::mutex> lock(mutex_);
    streams_[handle].driverStream = *fresh;
    hasTranslatedHandles_.store(true, std::memory_order_release);
  }
}

Expected<GraphHandle> GpuBackend::endCapture(StreamHandle stream) {
  if (!info_.canCapture)
    return Status(StatusCode::unavailable,
                  "this driver does not support graphs");
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Graph graph = nullptr;
  Result ended = api_->endCapture(driverStream(stream), &graph);
  if (ended != success && ended != errorCaptureUnmatched)
    leaveCapture(stream);
  IRISRT_RETURN_IF_ERROR(checkDone(ended, "end the capture of a stream"));
  GraphExec exec = nullptr;
  Result result = api_->graphInstantiate(&exec, graph, /*flags=*/0);
  (void)api_->graphDestroy(graph); // the executable graph is a copy
  IRISRT_RETURN_IF_ERROR(checkDone(result, "instantiate a graph"));
  std::lock_guard<std::mutex> lock(mutex_);
  graphs_.insert(fromPointer(exec));
  return GraphHandle{fromPointer(exec)};
}

Status GpuBackend::launchGraph(GraphHandle graph, StreamHandle stream) {
  IRISRT_RETURN_IF_ERROR(checkHandle(graphs_, graph.value, "graph"));
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  return checkDone(
      api_->graphLaunch(toPointer(graph.value), driverStream(stream)),
      "launch a graph");
}

Status GpuBackend::destroyGraph(GraphHandle graph) {
  IRISRT_RETURN_IF_ERROR(checkHandle(graphs_, graph.value, "graph"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    graphs_.erase(graph.value);
  }
  return checkDone(api_->graphExecDestroy(toPointer(graph.value)),
                   "destroy a graph");
}
