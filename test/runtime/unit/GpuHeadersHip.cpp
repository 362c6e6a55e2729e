// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares GpuTypes.h with HIP's own header; compiled where that is installed.
// Nearly everything is checked at compile time, for the version that is
// installed.
#include "backends/gpu/GpuTypes.h"

#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>

using namespace iris::rt::gpu;

#define SAME(ours, theirs)                                                     \
  static_assert(static_cast<long long>(ours) ==                                \
                    static_cast<long long>(theirs),                            \
                #ours " differs from " #theirs)

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
SAME(streamWaitValueEqual, hipStreamWaitValueEq);
SAME(hipMallocFineGrained, hipDeviceMallocFinegrained);
SAME(hipDialect.attributeProcessors, hipDeviceAttributeMultiprocessorCount);
SAME(hipDialect.attributeSharedPerBlock,
     hipDeviceAttributeMaxSharedMemoryPerBlock);
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

// Macros with casts, which a static_assert does not take.
TEST(GpuHeaders, HipLaunchParameters) {
  auto pointer = [](uintptr_t value) {
    return reinterpret_cast<void *>(value);
  };
  EXPECT_EQ(HIP_LAUNCH_PARAM_BUFFER_POINTER, pointer(launchParamBuffer));
  EXPECT_EQ(HIP_LAUNCH_PARAM_BUFFER_SIZE, pointer(launchParamSize));
  EXPECT_EQ(HIP_LAUNCH_PARAM_END, pointer(hipDialect.launchParamEnd));
}
