// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChipTable.h - What is known about each chip --------------*- C++ -*-===//
//
// One row for each GPU that Iris compiles for. The rows are the only code that
// knows chips by name: the compiler and the runtime ask for a property, never
// for a name, and utils/check-dependencies.py rejects names elsewhere.
// docs/internals/adding-a-chip.md says how to add a row.
//
// Neither LLVM nor the runtime here: both are above this library.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_CHIPS_CHIPTABLE_H
#define IRIS_CHIPS_CHIPTABLE_H

#include "iris/Chips/MatrixInstruction.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace irischips {

enum class ChipVendor { AMD, NVIDIA };

/// Properties of AMD GPUs.
struct AMDChipInfo {
  /// The `aux` operands of buffer loads and stores that reach memory which all
  /// agents of the system see, as relaxed atomics of system scope do.
  uint32_t systemLoadBits = 0, systemStoreBits = 0;
  /// The last word of a raw buffer resource of 32-bit elements without bounds
  /// check.
  uint32_t bufferFlags = 0;
  /// True if buffer loads past the end of the resource give 0.
  bool buffersCheckBounds = false;
  /// True if a release of the whole program needs waits that LLVM's fences do
  /// not emit: all waves of a workgroup share one L1, so that LLVM's workgroup
  /// fence does not wait for global stores.
  bool needsReleaseWaits = false;
  /// True if lanes half a wave apart can exchange registers
  /// (v_permlane32_swap).
  bool hasPermlane32Swap = false;
  /// Widest load from global memory straight to LDS, in bytes; 0 if there is
  /// none worth using.
  unsigned directLoadBytes = 0;
  MatrixUnit matrix{};
};

/// Properties of NVIDIA GPUs.
struct NVIDIAChipInfo {
  /// True if there is `atom.add.noftz.bf16`; otherwise it is a loop.
  bool hasBF16AtomicAdd = false;
  /// True if there are warpgroup matrix instructions and the tensor memory
  /// accelerator (TMA) of Hopper. Without them matmuls use `mma.sync`.
  bool hasWgmma = false;
  /// True if `mma.sync` multiplies f8E4M3FN and f8E5M2.
  bool hasFloat8Mma = false;
  /// True if there is programmatic dependent launch (`griddepcontrol`).
  bool hasDependentLaunch = false;
};

/// One GPU. Rows live as long as the process.
struct ChipInfo {
  /// The name that users type, LLVM's name of the processor, and the `arch` of
  /// a package: "gfx942", "sm_90a".
  std::string_view name;
  ChipVendor vendor;
  /// GPUs with this chip, for people.
  std::string_view gpus;
  /// LLVM's subtarget features beyond what the processor implies.
  std::string_view llvmFeatures;
  /// Threads that execute in step.
  unsigned waveSize;
  /// Bytes of shared memory (LDS) of a program: declared by the kernel, and at
  /// most, when the launch asks for it.
  unsigned staticSharedBytes, maxSharedBytes;
  AMDChipInfo amd{};
  NVIDIAChipInfo nvidia{};

  bool isAMD() const { return vendor == ChipVendor::AMD; }
};

/// Every chip, first class ones first.
Array<ChipInfo> getKnownChips();

/// The chip called `name`; null if there is none.
const ChipInfo *findChip(std::string_view name);

/// "unknown target 'NAME'; expected one of gfx942, ..., host".
std::string describeUnknownTarget(std::string_view name);

} // namespace irischips

#endif // IRIS_CHIPS_CHIPTABLE_H
