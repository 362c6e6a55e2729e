// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares GpuTypes.h and GpuApiTable.inc with HIP's own header; compiled if it
// is installed. Nearly everything is checked at compile time, for the installed
// version.
#include "DriverSignatures.h"

// C++ overloads have more than one type.
#define __HIP_DISABLE_CPP_FUNCTIONS__
#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>

using namespace iris::rt::gpu;

SAME(success, hipSuccess);
SAME(errorInvalidValue, hipErrorInvalidValue);
SAME(errorOutOfMemory, hipErrorOutOfMemory);
SAME(errorNoDevice, hipErrorNoDevice);
SAME(errorInvalidDevice, hipErrorInvalidDevice);
SAME(errorNotFound, hipErrorNotFound);
SAME(errorNotReady, hipErrorNotReady);
SAME(errorPeerAccessAlreadyEnabled, hipErrorPeerAccessAlreadyEnabled);
SAME(errorNotSupported, hipErrorNotSupported);
SAME(locationDevice, hipMemLocationTypeDevice);
SAME(allocationPinned, hipMemAllocationTypePinned);
SAME(handlePosixFd, hipMemHandleTypePosixFileDescriptor);
SAME(granularityRecommended, hipMemAllocationGranularityRecommended);
SAME(accessReadWrite, hipMemAccessFlagsProtReadWrite);
SAME(streamNonBlocking, hipStreamNonBlocking);
SAME(captureRelaxed, hipStreamCaptureModeRelaxed);
SAME(eventDefault, hipEventDefault);
SAME(eventDisableTiming, hipEventDisableTiming);
SAME(streamWaitValueEqual, hipStreamWaitValueEq);
SAME(hipMallocFineGrained, hipDeviceMallocFinegrained);
SAME(hipDialect.attributeProcessors, hipDeviceAttributeMultiprocessorCount);
SAME(hipDialect.attributeSharedPerBlock,
     hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME(hipDialect.attributeWarpSize, hipDeviceAttributeWarpSize);
SAME(hipDialect.attributeClock, hipDeviceAttributeClockRate);
SAME(hipDialect.peerRank, hipDevP2PAttrPerformanceRank);
SAME(hipDialect.peerAccess, hipDevP2PAttrAccessSupported);
SAME(hipDialect.peerAtomics, hipDevP2PAttrNativeAtomicSupported);
SAME(hipDialect.hostAllocFlags,
     hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent);
SAME(sizeof(Device), sizeof(hipDevice_t));
SAME(sizeof(Address), sizeof(hipDeviceptr_t));
SAME(sizeof(MemoryHandle), sizeof(hipMemGenericAllocationHandle_t));
SAME(sizeof(IpcBytes), sizeof(hipIpcMemHandle_t));
SAME(sizeof(AccessDescription), sizeof(hipMemAccessDesc));
SAME(offsetof(AccessDescription, flags), offsetof(hipMemAccessDesc, flags));

// HIP 5 had another layout here, and the back end does not use it there.
#if HIP_VERSION_MAJOR >= 6
SAME(ipcLazyPeerAccess, hipIpcMemLazyEnablePeerAccess);
SAME(hipMallocUncached, hipDeviceMallocUncached);
SAME(sizeof(AllocationProperties), sizeof(hipMemAllocationProp));
SAME(offsetof(AllocationProperties, type),
     offsetof(hipMemAllocationProp, type));
SAME(offsetof(AllocationProperties, location),
     offsetof(hipMemAllocationProp, location));
SAME(offsetof(AllocationProperties, compressionType),
     offsetof(hipMemAllocationProp, allocFlags));
#endif
#if HIP_VERSION >= 70200000
SAME(allocationUncached, hipMemAllocationTypeUncached);
#endif

// hipGetDevicePropertiesR0600's version suffix is a macro in some versions.
CHECK((unsigned), hipInit);
CHECK((int *), hipRuntimeGetVersion);
CHECK((int *), hipGetDeviceCount);
CHECK((Device *, int), hipDeviceGet);
CHECK((char *, int, Device), hipDeviceGetName);
CHECK((hipUUID *, Device), hipDeviceGetUuid);
CHECK((char *, int, Device), hipDeviceGetPCIBusId);
CHECK((size_t *, Device), hipDeviceTotalMem);
CHECK((int *, int, Device), hipDeviceGetAttribute);
CHECK((int *, Device, Device), hipDeviceCanAccessPeer);
CHECK((int), hipSetDevice);
CHECK((int, unsigned), hipDeviceEnablePeerAccess);
CHECK((void *, int), hipGetDeviceProperties);
CHECK((size_t *, const AllocationProperties *, int),
      hipMemGetAllocationGranularity);
CHECK((Address *, size_t, size_t, Address, unsigned long long),
      hipMemAddressReserve);
CHECK((Address, size_t), hipMemAddressFree);
CHECK((MemoryHandle *, size_t, const AllocationProperties *,
       unsigned long long),
      hipMemCreate);
CHECK((MemoryHandle), hipMemRelease);
CHECK((void *, MemoryHandle, int, unsigned long long),
      hipMemExportToShareableHandle);
CHECK((MemoryHandle *, void *, int), hipMemImportFromShareableHandle);
CHECK((Address, size_t, size_t, MemoryHandle, unsigned long long), hipMemMap);
CHECK((Address, size_t), hipMemUnmap);
CHECK((Address, size_t, const AccessDescription *, size_t), hipMemSetAccess);
CHECK((MemoryHandle *, void *), hipMemRetainAllocationHandle);
CHECK((AllocationProperties *, MemoryHandle),
      hipMemGetAllocationPropertiesFromHandle);
CHECK((Address *, size_t *, Address), hipMemGetAddressRange);
CHECK((Address *, size_t), hipMalloc);
CHECK((Address *, size_t, unsigned), hipExtMallocWithFlags);
CHECK((Address), hipFree);
CHECK((void **, size_t, unsigned), hipHostMalloc);
CHECK((void *), hipHostFree);
CHECK((Address *, void *, unsigned), hipHostGetDevicePointer);
CHECK((IpcBytes *, Address), hipIpcGetMemHandle);
CHECK((Address *, IpcBytes, unsigned), hipIpcOpenMemHandle);
CHECK((Address), hipIpcCloseMemHandle);
CHECK((Address, unsigned char, size_t, Stream), hipMemsetD8Async);
CHECK((Address, const void *, size_t, Stream), hipMemcpyHtoDAsync);
CHECK((void *, Address, size_t, Stream), hipMemcpyDtoHAsync);
CHECK((Address, Address, size_t, Stream), hipMemcpyDtoDAsync);
CHECK((Stream *, unsigned, int), hipStreamCreateWithPriority);
CHECK((Stream), hipStreamDestroy);
CHECK((Stream), hipStreamQuery);
CHECK((Stream, void (*)(void *), void *), hipLaunchHostFunc);
CHECK((Stream, Event, unsigned), hipStreamWaitEvent);
CHECK((Stream, Address, uint32_t, unsigned, uint32_t), hipStreamWaitValue32);
CHECK((Stream, Device *), hipStreamGetDevice);
CHECK((Stream, int *), hipStreamIsCapturing);
CHECK((int *), hipThreadExchangeStreamCaptureMode);
CHECK((Stream, int *, unsigned long long *), hipStreamGetCaptureInfo);
CHECK((int *), hipGetDevice);
CHECK((Event *, unsigned), hipEventCreateWithFlags);
CHECK((Event), hipEventDestroy);
CHECK((Event, Stream), hipEventRecord);
CHECK((float *, Event, Event), hipEventElapsedTime);
CHECK((Module *, const void *, unsigned, int *, void **), hipModuleLoadDataEx);
CHECK((Module), hipModuleUnload);
CHECK((Function *, Module, const char *), hipModuleGetFunction);
CHECK((int *, Function, int, size_t),
      hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
CHECK((Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
       unsigned, Stream, void **, void **),
      hipModuleLaunchKernel);
CHECK((Stream, int), hipStreamBeginCapture);
CHECK((Stream, Graph *), hipStreamEndCapture);
CHECK((GraphExec *, Graph, unsigned long long), hipGraphInstantiateWithFlags);
CHECK((GraphExec, Stream), hipGraphLaunch);
CHECK((Graph), hipGraphDestroy);
CHECK((GraphExec), hipGraphExecDestroy);

// Macros with casts, which a static_assert does not accept.
TEST(GpuHeaders, HipLaunchParameters) {
  auto pointer = [](uintptr_t value) {
    return reinterpret_cast<void *>(value);
  };
  EXPECT_EQ(HIP_LAUNCH_PARAM_BUFFER_POINTER, pointer(launchParamBuffer));
  EXPECT_EQ(HIP_LAUNCH_PARAM_BUFFER_SIZE, pointer(launchParamSize));
  EXPECT_EQ(HIP_LAUNCH_PARAM_END, pointer(hipDialect.launchParamEnd));
}
