// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuTypes.h - Types and constants of the driver APIs ------*- C++ -*-===//
//
// The types and constants of the HIP and CUDA driver APIs that the back end
// uses, from their public documentation, so that no vendor header is needed.
// Where the two APIs agree (mostly, as HIP mirrors CUDA), there is one name;
// where they differ, there is a field of GpuDialect.
// test/runtime/unit/GpuHeaders*.cpp compare the definitions with the vendors'
// headers if those are installed.
#ifndef IRIS_RT_BACKENDS_GPU_GPUTYPES_H
#define IRIS_RT_BACKENDS_GPU_GPUTYPES_H

#include <cstddef>
#include <cstdint>

namespace iris::rt::gpu {

/// CUresult or hipError_t. The values below are equal in both.
using Result = int;
constexpr Result success = 0;
constexpr Result errorInvalidValue = 1;
constexpr Result errorOutOfMemory = 2;
constexpr Result errorNoDevice = 100;
constexpr Result errorInvalidDevice = 101;
constexpr Result errorNotFound = 500;
constexpr Result errorNotReady = 600;
constexpr Result errorPeerAccessAlreadyEnabled = 704;
constexpr Result errorNotSupported = 801;

/// Device addresses: CUdeviceptr is an integer of this size; hipDeviceptr_t is
/// a pointer, which x86-64 passes in the same way.
using Address = uint64_t;
using Device = int;
using Context = void *;
using Stream = void *;
using Event = void *;
using Module = void *;
using Function = void *;
using Graph = void *;
using GraphExec = void *;
/// CUmemGenericAllocationHandle (an integer) or hipMemGenericAllocationHandle_t
/// (a pointer).
using MemoryHandle = uint64_t;

/// CUmemLocation / hipMemLocation.
struct MemoryLocation {
  int32_t type;
  int32_t id;
};
constexpr int32_t locationDevice = 1;

/// CUmemAllocationProp / hipMemAllocationProp (HIP 6 and later; HIP 5 has
/// another layout, and the back end does not use it there).
struct AllocationProperties {
  int32_t type;
  int32_t requestedHandleTypes;
  MemoryLocation location;
  void *win32HandleMetaData;
  uint8_t compressionType;
  uint8_t gpuDirectRdmaCapable;
  uint16_t usage;
  uint8_t reserved[4];
};
static_assert(sizeof(AllocationProperties) == 32, "layout of the APIs");
constexpr int32_t allocationPinned = 1;
/// HIP only, since 7.2.
constexpr int32_t allocationUncached = 0x40000000;
constexpr int32_t handlePosixFd = 1;
constexpr int32_t granularityRecommended = 1;

/// CUmemAccessDesc / hipMemAccessDesc.
struct AccessDescription {
  MemoryLocation location;
  int32_t flags;
};
static_assert(sizeof(AccessDescription) == 12, "layout of the APIs");
constexpr int32_t accessReadWrite = 3;

/// CUipcMemHandle / hipIpcMemHandle_t, passed by value.
struct IpcBytes {
  char bytes[64];
};
constexpr unsigned ipcLazyPeerAccess = 1;

/// CUtensorMap.
struct alignas(128) TensorMap {
  uint64_t words[16];
};
static_assert(sizeof(TensorMap) == 128, "layout of the API");
/// CUtensorMapDataType, for the element types of tensor cores.
constexpr int tensorMapU8 = 0;
constexpr int tensorMapF16 = 6;
constexpr int tensorMapF32 = 7;
constexpr int tensorMapBF16 = 9;
/// CUtensorMapSwizzle, for rows of 32, 64 and 128 bytes.
constexpr int tensorMapSwizzle32 = 1;
constexpr int tensorMapSwizzle64 = 2;
constexpr int tensorMapSwizzle128 = 3;
/// CUtensorMapL2promotion, for fetches of 256 bytes.
constexpr int tensorMapPromote256 = 3;

constexpr unsigned streamNonBlocking = 1;
/// Stream priorities; lower numbers have higher priority. Drivers clamp them to
/// the supported range.
constexpr int streamOrdinary = 0;
constexpr int streamHighPriority = -1;
constexpr int captureRelaxed = 2;
/// CU_STREAM_WAIT_VALUE_EQ, hipStreamWaitValueEq.
constexpr unsigned streamWaitValueEqual = 1;
/// Events for elapsedMs, and those that only order streams, which cost less.
constexpr unsigned eventDefault = 0;
constexpr unsigned eventDisableTiming = 2;
/// cudaStreamPerThread, hipStreamPerThread: another stream on each thread.
constexpr uintptr_t streamPerThread = 2;

/// hsa_amd_pointer_info_t of ROCr, up to the last member that is read. ROCr
/// fills at most `size` bytes.
struct PointerInfo {
  uint32_t size;
  int32_t type;
  void *agentBase;
  void *hostBase;
  size_t bytes;
  void *userData;
  uint64_t owner;
  uint32_t globalFlags;
  bool isRegistered;
};
static_assert(sizeof(PointerInfo) == 56, "layout of the API");
constexpr int32_t pointerUnknown = 0;
/// hsa_amd_memory_pool_global_flag_t; the first one denotes uncached memory
/// here.
constexpr uint32_t memoryFlagUncached = 1;
constexpr uint32_t memoryFlagFineGrained = 2;
constexpr uint32_t memoryFlagCoarseGrained = 4;
constexpr uint32_t memoryFlagExtendedScope = 8;

/// hipExtMallocWithFlags.
constexpr unsigned hipMallocFineGrained = 1;
constexpr unsigned hipMallocUncached = 3;

/// Options of cuModuleLoadDataEx that collect the messages of the PTX compiler.
constexpr int jitErrorLogBuffer = 5;
constexpr int jitErrorLogBufferBytes = 6;
/// Its option that keeps the line tables of PTX.
constexpr int jitGenerateLineInfo = 13;

/// CUDA only: the maximum dynamic shared memory, if more than 48 KiB.
constexpr int functionMaxDynamicShared = 8;

/// Differing constants of HIP and CUDA.
struct GpuDialect {
  /// Device attributes.
  int attributeProcessors;
  int attributeSharedPerBlock;
  int attributeWarpSize;
  /// In kHz.
  int attributeClock;
  /// The memory's clock, in kHz, with two transfers each, and the bits of one.
  /// 0: HIP gives the clock of the memory's controller, which is another
  /// fraction of the rate for every kind of memory.
  int attributeMemoryClock, attributeMemoryBits;
  /// Attributes of a link to a peer.
  int peerRank, peerAccess, peerAtomics;
  /// Terminates the list of launch options; the other two are 1 and 2 in both.
  uintptr_t launchParamEnd;
  /// Flags for pinned host memory that is coherent with devices.
  unsigned hostAllocFlags;
  /// The default stream of a device, which null means (CU_STREAM_LEGACY).
  /// Older versions of HIP have no other name for it than null.
  uintptr_t defaultStream;
};
/// CUlaunchAttribute.
struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  int value = 0;
  char rest[60] = {};
};
/// Programmatic stream serialization: 1 lets the kernel be launched before the
/// one in front of it has ended.
constexpr int launchAttributeDependent = 6;

/// CUlaunchConfig.
struct LaunchSpec {
  unsigned grid[3];
  unsigned workgroup[3];
  unsigned dynamicSharedBytes;
  Stream stream;
  const LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// The first version of CUDA whose graphs have such launches (12.3).
constexpr int dependentLaunchVersion = 12030;

constexpr uintptr_t launchParamBuffer = 1;
constexpr uintptr_t launchParamSize = 2;

constexpr GpuDialect cudaDialect = {
    /*attributeProcessors=*/16,
    // The maximum that a kernel can opt in to.
    /*attributeSharedPerBlock=*/97,
    /*attributeWarpSize=*/10,
    /*attributeClock=*/13,
    /*attributeMemoryClock=*/36,
    /*attributeMemoryBits=*/37,
    /*peerRank=*/1,
    /*peerAccess=*/2,
    /*peerAtomics=*/3,
    /*launchParamEnd=*/0,
    /*hostAllocFlags=*/0x1 | 0x2, // portable, device-mapped
    /*defaultStream=*/1,
};
constexpr int cudaAttributeCapabilityMajor = 75;
constexpr int cudaAttributeCapabilityMinor = 76;
constexpr int cudaAttributePosixFdHandles = 103;
constexpr int cudaAttributeVirtualMemory = 102;

constexpr GpuDialect hipDialect = {
    /*attributeProcessors=*/63,
    /*attributeSharedPerBlock=*/74,
    /*attributeWarpSize=*/87,
    /*attributeClock=*/5,
    /*attributeMemoryClock=*/0,
    /*attributeMemoryBits=*/0,
    /*peerRank=*/0,
    /*peerAccess=*/1,
    /*peerAtomics=*/2,
    /*launchParamEnd=*/3,
    /*hostAllocFlags=*/0x1 | 0x2 | 0x40000000, // ..., coherent
    /*defaultStream=*/0,
};

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_GPUTYPES_H
