// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares GpuTypes.h and GpuApiTable.inc with CUDA's own header; compiled if
// it is installed. Everything is checked at compile time.
#include "DriverSignatures.h"

#include <cuda.h>

using namespace iris::rt::gpu;

SAME(success, CUDA_SUCCESS);
SAME(errorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(errorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(errorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(errorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(errorNotReady, CUDA_ERROR_NOT_READY);
SAME(errorPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(errorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(locationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(allocationPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(handlePosixFd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME(granularityRecommended, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
SAME(accessReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(ipcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(captureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(eventDefault, CU_EVENT_DEFAULT);
SAME(eventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(streamWaitValueEqual, CU_STREAM_WAIT_VALUE_EQ);
SAME(jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME(jitErrorLogBufferBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(jitGenerateLineInfo, CU_JIT_GENERATE_LINE_INFO);
SAME(functionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(launchParamBuffer, CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
SAME(launchParamSize, CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);
SAME(cudaDialect.launchParamEnd, CU_LAUNCH_PARAM_END_AS_INT);
SAME(cudaDialect.attributeProcessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(cudaDialect.attributeSharedPerBlock,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(cudaDialect.attributeWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(cudaDialect.attributeClock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(cudaDialect.attributeMemoryClock, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(cudaDialect.attributeMemoryBits,
     CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(cudaDialect.peerRank, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK);
SAME(cudaDialect.peerAccess, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
SAME(cudaDialect.peerAtomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
SAME(cudaDialect.hostAllocFlags,
     CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
SAME(cudaAttributeCapabilityMajor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(cudaAttributeCapabilityMinor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(cudaAttributePosixFdHandles,
     CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME(cudaAttributeVirtualMemory,
     CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);

SAME(tensorMapU8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(tensorMapF16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(tensorMapF32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(tensorMapBF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(tensorMapSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(tensorMapSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(tensorMapSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(tensorMapPromote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(sizeof(TensorMap), sizeof(CUtensorMap));
static_assert(alignof(TensorMap) >= alignof(CUtensorMap),
              "64 up to CUDA 12, 128 since");

SAME(sizeof(Address), sizeof(CUdeviceptr));
SAME(sizeof(Device), sizeof(CUdevice));
SAME(sizeof(MemoryHandle), sizeof(CUmemGenericAllocationHandle));
SAME(sizeof(IpcBytes), sizeof(CUipcMemHandle));
SAME(sizeof(AllocationProperties), sizeof(CUmemAllocationProp));
SAME(offsetof(AllocationProperties, type), offsetof(CUmemAllocationProp, type));
SAME(offsetof(AllocationProperties, requestedHandleTypes),
     offsetof(CUmemAllocationProp, requestedHandleTypes));
SAME(offsetof(AllocationProperties, location),
     offsetof(CUmemAllocationProp, location));
SAME(offsetof(AllocationProperties, compressionType),
     offsetof(CUmemAllocationProp, allocFlags));
SAME(sizeof(AccessDescription), sizeof(CUmemAccessDesc));
SAME(launchAttributeDependent,
     CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(sizeof(LaunchAttribute), sizeof(CUlaunchAttribute));
SAME(offsetof(LaunchAttribute, value), offsetof(CUlaunchAttribute, value));
SAME(sizeof(LaunchSpec), sizeof(CUlaunchConfig));
SAME(offsetof(LaunchSpec, stream), offsetof(CUlaunchConfig, hStream));
SAME(offsetof(LaunchSpec, numAttributes), offsetof(CUlaunchConfig, numAttrs));
SAME(offsetof(AccessDescription, flags), offsetof(CUmemAccessDesc, flags));

// cuda.h declares most functions under names without the version; those that
// the table calls by an older or explicit version are listed here as well.
CHECK((unsigned), cuInit);
CHECK((int *), cuDriverGetVersion);
CHECK((Device *, int), cuDeviceGet);
CHECK((char *, int, Device), cuDeviceGetName);
CHECK((CUuuid *, Device), cuDeviceGetUuid_v2);
CHECK((char *, int, Device), cuDeviceGetPCIBusId);
CHECK((size_t *, Device), cuDeviceTotalMem);
CHECK((int *, int, Device), cuDeviceGetAttribute);
CHECK((int *, Device, Device), cuDeviceCanAccessPeer);
CHECK((Context *, Device), cuDevicePrimaryCtxRetain);
CHECK((Device), cuDevicePrimaryCtxRelease);
CHECK((Context), cuCtxSetCurrent);
CHECK((Context *), cuCtxGetCurrent);
CHECK((Device *), cuCtxGetDevice);
CHECK((Context, unsigned), cuCtxEnablePeerAccess);
CHECK((size_t *, const AllocationProperties *, int),
      cuMemGetAllocationGranularity);
CHECK((Address *, size_t, size_t, Address, unsigned long long),
      cuMemAddressReserve);
CHECK((Address, size_t), cuMemAddressFree);
CHECK((MemoryHandle *, size_t, const AllocationProperties *,
       unsigned long long),
      cuMemCreate);
CHECK((MemoryHandle), cuMemRelease);
CHECK((void *, MemoryHandle, int, unsigned long long),
      cuMemExportToShareableHandle);
CHECK((MemoryHandle *, void *, int), cuMemImportFromShareableHandle);
CHECK((Address, size_t, size_t, MemoryHandle, unsigned long long), cuMemMap);
CHECK((Address, size_t), cuMemUnmap);
CHECK((Address, size_t, const AccessDescription *, size_t), cuMemSetAccess);
CHECK((MemoryHandle *, void *), cuMemRetainAllocationHandle);
CHECK((AllocationProperties *, MemoryHandle),
      cuMemGetAllocationPropertiesFromHandle);
CHECK((Address *, size_t *, Address), cuMemGetAddressRange);
CHECK((Address *, size_t), cuMemAlloc);
CHECK((Address), cuMemFree);
CHECK((void **, size_t, unsigned), cuMemHostAlloc);
CHECK((void *), cuMemFreeHost);
CHECK((Address *, void *, unsigned), cuMemHostGetDevicePointer);
CHECK((IpcBytes *, Address), cuIpcGetMemHandle);
CHECK((Address *, IpcBytes, unsigned), cuIpcOpenMemHandle);
CHECK((Address), cuIpcCloseMemHandle);
CHECK((Address, unsigned char, size_t, Stream), cuMemsetD8Async);
CHECK((Address, const void *, size_t, Stream), cuMemcpyHtoDAsync);
CHECK((void *, Address, size_t, Stream), cuMemcpyDtoHAsync);
CHECK((Address, Address, size_t, Stream), cuMemcpyDtoDAsync);
CHECK((Stream *, unsigned, int), cuStreamCreateWithPriority);
CHECK((Stream), cuStreamDestroy);
CHECK((Stream, Context *), cuStreamGetCtx);
CHECK((Stream, unsigned long long *), cuStreamGetId);
CHECK((Stream), cuStreamQuery);
CHECK((Stream, Event, unsigned), cuStreamWaitEvent);
CHECK((Stream, Address, uint32_t, unsigned), cuStreamWaitValue32);
CHECK((Stream, void (*)(void *), void *), cuLaunchHostFunc);
CHECK((Stream, int *), cuStreamIsCapturing);
CHECK((int *), cuThreadExchangeStreamCaptureMode);
CHECK((Event *, unsigned), cuEventCreate);
CHECK((Event), cuEventDestroy);
CHECK((Event, Stream), cuEventRecord);
CHECK((float *, Event, Event), cuEventElapsedTime);
CHECK((Module *, const void *, unsigned, int *, void **), cuModuleLoadDataEx);
CHECK((Module), cuModuleUnload);
CHECK((Function *, Module, const char *), cuModuleGetFunction);
CHECK((Function, int, int), cuFuncSetAttribute);
CHECK((TensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *,
       const uint32_t *, const uint32_t *, int, int, int, int),
      cuTensorMapEncodeTiled);
CHECK((int *, Function, int, size_t),
      cuOccupancyMaxActiveBlocksPerMultiprocessor);
CHECK((Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
       unsigned, Stream, void **, void **),
      cuLaunchKernel);
CHECK((const LaunchSpec *, Function, void **, void **), cuLaunchKernelEx);
CHECK((Stream, int), cuStreamBeginCapture);
CHECK((Stream, Graph *), cuStreamEndCapture);
CHECK((GraphExec *, Graph, unsigned long long), cuGraphInstantiateWithFlags);
CHECK((GraphExec, Stream), cuGraphLaunch);
CHECK((Graph), cuGraphDestroy);
CHECK((GraphExec), cuGraphExecDestroy);
