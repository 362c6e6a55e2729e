// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChipTable.cpp - The table of chips ---------------------------------===//

#include "iris/Chips/ChipTable.h"

#include "AMDMatrixUnits.h"

using namespace irischips;

//===----------------------------------------------------------------------===//
// AMD
//===----------------------------------------------------------------------===//

static constexpr unsigned kKiB = 1 << 10;

// Bits of the `aux` operand. gfx9 and gfx11: bit 0 is glc, or sc0 from gfx942
// on, and bit 4 is sc1; stores without them write through on gfx90a and
// gfx1100. gfx12: bits 3 and 4 are the scope.
static constexpr uint32_t kGLC = 1 << 0;
static constexpr uint32_t kSC0 = 1 << 0, kSC1 = 1 << 4;
static constexpr uint32_t kScopeSystem = 3 << 3;

// The last word of a buffer resource: data format 7, element size 4. From
// gfx10 on bit 24 is reserved as 1, and 2 in bits 28 and 29 checks no offsets.
static constexpr uint32_t kBufferFlags = (7 << 12) | (4 << 15);
static constexpr uint32_t kBufferFlagsGFX10 =
    kBufferFlags | (1 << 24) | (2u << 28);

static constexpr AMDChipInfo getGFX90A() {
  AMDChipInfo chip;
  chip.systemLoadBits = kGLC;
  chip.bufferFlags = kBufferFlags;
  chip.buffersCheckBounds = true;
  chip.needsReleaseWaits = true;
  chip.matrix = {gfx90aInstructions, 4, 4, mfmaRows};
  return chip;
}

static constexpr AMDChipInfo getGFX942() {
  AMDChipInfo chip = getGFX90A();
  chip.systemLoadBits = chip.systemStoreBits = kSC0 | kSC1;
  chip.matrix.instructions = gfx942Instructions;
  return chip;
}

static constexpr AMDChipInfo getGFX950() {
  AMDChipInfo chip = getGFX942();
  chip.hasPermlane32Swap = true;
  chip.directLoadBytes = 16;
  chip.matrix.instructions = gfx950Instructions;
  return chip;
}

static constexpr AMDChipInfo getGFX1100() {
  AMDChipInfo chip;
  chip.systemLoadBits = kGLC;
  chip.bufferFlags = kBufferFlagsGFX10;
  chip.matrix = {gfx1100Instructions, 1, 8, gfx11Rows};
  return chip;
}

static constexpr AMDChipInfo getGFX1201() {
  AMDChipInfo chip;
  chip.systemLoadBits = chip.systemStoreBits = kScopeSystem;
  chip.bufferFlags = kBufferFlagsGFX10;
  chip.matrix = {gfx1201Instructions, 2, 8, gfx12Rows};
  return chip;
}

static constexpr AMDChipInfo getGFX1250() {
  AMDChipInfo chip = getGFX1201();
  // Buffer resources have no format and no flags but a type of 4 bits, 0 for a
  // buffer, since the number of records has 45 bits.
  chip.bufferFlags = 0;
  chip.matrix.instructions = gfx1250Instructions;
  return chip;
}

//===----------------------------------------------------------------------===//
// NVIDIA
//===----------------------------------------------------------------------===//

static constexpr NVIDIAChipInfo getAda() {
  NVIDIAChipInfo chip;
  chip.hasFloat8Mma = true;
  return chip;
}

static constexpr NVIDIAChipInfo getHopper() {
  NVIDIAChipInfo chip;
  chip.hasBF16AtomicAdd = chip.hasWgmma = chip.hasFloat8Mma = true;
  chip.hasDependentLaunch = true;
  return chip;
}

static constexpr NVIDIAChipInfo getBlackwell() {
  NVIDIAChipInfo chip;
  chip.hasBF16AtomicAdd = chip.hasFloat8Mma = chip.hasDependentLaunch = true;
  return chip;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

// With this feature, which gfx11 has by default, LLVM 22.1.8 allocates halves
// of registers, and its selection confuses them with whole ones: an i16 that
// becomes a part of 64 bits is copied as if it had 64 bits, which ends as a
// v_mov_b32 of no register. The assembly printer crashes on it; in an object
// file it reads any register.
static constexpr std::string_view kNoRealTrue16 = "-real-true16";

// PTX versions are the lowest that have what the chip's lowering uses: 8.1
// (CUDA 12.1) is the first with multimem, 8.6 (CUDA 12.7) with sm_100a.
static constexpr ChipInfo chips[] = {
    {"gfx942", ChipVendor::AMD, "AMD Instinct MI300A, MI300X, MI325X", "", 64,
     64 * kKiB, 64 * kKiB, getGFX942()},
    {"gfx950", ChipVendor::AMD, "AMD Instinct MI350X, MI355X", "", 64,
     160 * kKiB, 160 * kKiB, getGFX950()},
    {"gfx90a", ChipVendor::AMD, "AMD Instinct MI210, MI250, MI250X", "", 64,
     64 * kKiB, 64 * kKiB, getGFX90A()},
    {"gfx1100", ChipVendor::AMD, "AMD Radeon RX 7900, PRO W7900", kNoRealTrue16,
     32, 64 * kKiB, 64 * kKiB, getGFX1100()},
    {"gfx1201", ChipVendor::AMD, "AMD Radeon RX 9070, AI PRO R9700", "", 32,
     64 * kKiB, 64 * kKiB, getGFX1201()},
    {"gfx1250", ChipVendor::AMD, "AMD Instinct MI400 series", "", 32,
     320 * kKiB, 320 * kKiB, getGFX1250()},
    {"sm_90a",
     ChipVendor::NVIDIA,
     "NVIDIA H100, H200",
     "+ptx81",
     32,
     48 * kKiB,
     227 * kKiB,
     {},
     getHopper()},
    {"sm_80",
     ChipVendor::NVIDIA,
     "NVIDIA A100",
     "+ptx81",
     32,
     48 * kKiB,
     163 * kKiB,
     {},
     {}},
    // The instructions of sm_80, and less shared memory.
    {"sm_86",
     ChipVendor::NVIDIA,
     "NVIDIA A10, A40, RTX 30 series",
     "+ptx81",
     32,
     48 * kKiB,
     99 * kKiB,
     {},
     {}},
    {"sm_89",
     ChipVendor::NVIDIA,
     "NVIDIA L4, L40, RTX 40 series",
     "+ptx84",
     32,
     48 * kKiB,
     99 * kKiB,
     {},
     getAda()},
    {"sm_100a",
     ChipVendor::NVIDIA,
     "NVIDIA B200",
     "+ptx86",
     32,
     48 * kKiB,
     227 * kKiB,
     {},
     getBlackwell()},
    {"sm_103a",
     ChipVendor::NVIDIA,
     "NVIDIA B300",
     "+ptx88",
     32,
     48 * kKiB,
     227 * kKiB,
     {},
     getBlackwell()},
    // No tensor memory, and less shared memory, than sm_100a.
    {"sm_120",
     ChipVendor::NVIDIA,
     "NVIDIA RTX 50 series, RTX PRO 6000",
     "+ptx87",
     32,
     48 * kKiB,
     99 * kKiB,
     {},
     getBlackwell()},
};

Array<ChipInfo> irischips::getKnownChips() { return chips; }

const ChipInfo *irischips::findChip(std::string_view name) {
  for (const ChipInfo &chip : chips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

std::string irischips::describeUnknownTarget(std::string_view name) {
  std::string text =
      "unknown target '" + std::string(name) + "'; expected one of ";
  for (const ChipInfo &chip : chips)
    text += std::string(chip.name) + ", ";
  return text + "host";
}
