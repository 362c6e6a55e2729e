// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Access.h - Addresses of vector memory accesses -----------*- C++ -*-===//
//
// An instruction that accesses memory has these operands: the address or offset
// (source 0), the base or descriptor (1), the data (2), the scalar offset of a
// buffer (3).
#ifndef IRIS_EMULATOR_ACCESS_H
#define IRIS_EMULATOR_ACCESS_H

#include "Scalars.h"
#include "Types.h"

namespace mlir::iris::emulator {

/// The addresses of an access, lane by lane.
struct LaneAddresses {
  uint64_t addresses[kLanes];
  /// Lanes that access memory.
  uint64_t active;
  /// Of a buffer: the bytes up to its end, from each address.
  uint64_t available[kLanes];
  /// The least and the greatest address of active lanes, where `isInOneRange`
  /// has looked at them: the first one is not greater.
  uint64_t least = ~uint64_t(0), most = 0;
};

/// Computes the addresses of all active lanes.
void computeAddresses(Wave &wave, const Instruction &instruction,
                      LaneAddresses &result);

/// Where the bytes of one lane are.
struct Location {
  /// Null, with an error of the wave, if they may not be accessed.
  uint8_t *data = nullptr;
  /// Null if they are not in memory, or not in memory that a cache has.
  Cache *cache = nullptr;
  /// What checks the order of accesses to them; null if nothing does.
  OrderCheck *order = nullptr;
};

/// The bytes at an address of one lane, which may also be in LDS or in scratch.
Location resolve(Wave &wave, const Instruction &instruction, unsigned lane,
                 uint64_t address, unsigned bytes, bool isStore);

/// Loads and stores the bytes of one lane; false after an error.
bool loadBytes(Wave &wave, const Instruction &instruction, unsigned lane,
               uint64_t address, unsigned bytes, void *result);
bool storeBytes(Wave &wave, const Instruction &instruction, unsigned lane,
                uint64_t address, unsigned bytes, const void *data);

/// Counts and records what a wave stores between two addresses, or offsets in
/// LDS.
inline void recordStore(Wave &wave, const Instruction &instruction,
                        uint64_t begin, uint64_t end, bool isShared) {
  ++wave.machine.stores;
  const Workgroup &group = wave.group;
  wave.machine.lastStores.add() = {
      &wave.program, &instruction, begin,
      end,           group.launch, {group.ids[0], group.ids[1], group.ids[2]},
      wave.number,   isShared};
}
/// The same of all active lanes, each of which stores so many bytes; nothing
/// for scratch, which no other wave reads.
void recordStores(Wave &wave, const Instruction &instruction,
                  const LaneAddresses &lanes, unsigned bytes);

/// The scope that the modifiers of an instruction name.
Scope scopeOf(const InstructionBuilder &builder, bool isAtomic);

/// Reads the operands of an access; their positions in the assembly are
/// negative where there are none.
llvm::Error buildAccess(InstructionBuilder &builder, Space space, int result,
                        unsigned resultWords, int address, int data,
                        unsigned dataWords, int base);

/// Records an access, whose result has this many registers or goes to LDS, as
/// outstanding.
void issueAccess(Wave &wave, const Instruction &instruction, bool isLoad,
                 unsigned resultWords, bool isToShared = false);

/// A raw buffer: the descriptor has the base in its first 48 bits, and the
/// bytes in its third word. Offsets beyond them access nothing. A swizzled one
/// is scratch, all of whose offsets are looked at later.
IRIS_INLINE void computeBufferAddresses(Wave &wave,
                                        const Instruction &instruction,
                                        LaneAddresses &result) {
  const uint32_t *descriptor = wave.scalars + instruction.sources[1].index;
  uint64_t base = descriptor[0] | uint64_t(descriptor[1] & 0xFFFF) << 32;
  const bool isScratch = descriptor[1] == kSwizzledBuffer;
  if (isScratch) {
    base = descriptor[0] | uint64_t(kPrivateAperture) << 32;
  } else if (descriptor[1] >> 16) {
    wave.fail("the emulator does not know buffers with a stride");
    result.active = 0;
    return;
  }
  uint32_t extra = readScalar<uint32_t>(wave, instruction.sources[3]);
  uint64_t size = descriptor[2] > extra ? descriptor[2] - extra : 0;
  static constexpr Row none = {};
  const Operand &address = instruction.sources[0];
  const uint32_t *offsets =
      address.kind == Operand::Vector ? wave.row(address.index) : none.lanes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t offset = uint32_t(instruction.offset) + offsets[lane];
    result.addresses[lane] = base + extra + offset;
    result.available[lane] = isScratch       ? ~uint64_t(0)
                             : offset < size ? size - offset
                                             : 0;
  }
}

/// `computeAddresses`, compiled for its caller's instructions.
IRIS_INLINE void computeAddressesHere(Wave &wave,
                                      const Instruction &instruction,
                                      LaneAddresses &result) {
  result.active = wave.exec();
  Space space = instruction.space;
  if (space == Space::Buffer) {
    computeBufferAddresses(wave, instruction, result);
    return;
  }
  const Operand &address = instruction.sources[0];
  const Operand &base = instruction.sources[1];
  uint64_t shared = uint64_t(instruction.offset);
  if (base.kind != Operand::None)
    shared += space == Space::Scratch ? readScalar<uint32_t>(wave, base)
                                      : readScalar<uint64_t>(wave, base);
  if (address.kind == Operand::None) {
    std::fill_n(result.addresses, kLanes, shared);
    return;
  }
  const uint32_t *low = wave.row(address.index);
  if (address.count == 1) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result.addresses[lane] = shared + low[lane];
    return;
  }
  const uint32_t *high = wave.row(address.index + 1);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result.addresses[lane] = shared + (low[lane] | uint64_t(high[lane]) << 32);
}

/// Whether all bytes of an access are in one range of coherent memory, so that
/// no lane has to be looked at.
IRIS_INLINE bool isInOneRange(Wave &wave, const Instruction &instruction,
                              LaneAddresses &lanes, unsigned bytes,
                              bool isStore) {
  if (!lanes.active || wave.isWatched || instruction.space == Space::Scratch)
    return false;
  bool isBuffer = instruction.space == Space::Buffer;
  uint64_t &least = lanes.least, &most = lanes.most;
  uint64_t available = ~uint64_t(0);
  if (wave.isFull()) {
    // Of integers with a sign, which vectors of the host compare.
    int64_t low = INT64_MAX, high = INT64_MIN, left = INT64_MAX;
    for (unsigned lane = 0; lane < wave.waveSize; ++lane) {
      int64_t address = int64_t(lanes.addresses[lane]);
      low = std::min(low, address);
      high = std::max(high, address);
    }
    if (low < 0)
      return false;
    if (isBuffer)
      for (unsigned lane = 0; lane < wave.waveSize; ++lane)
        left = std::min(left, int64_t(lanes.available[lane]));
    least = uint64_t(low), most = uint64_t(high), available = uint64_t(left);
  } else {
    forLanes(lanes.active, [&](unsigned lane) {
      least = std::min(least, lanes.addresses[lane]);
      most = std::max(most, lanes.addresses[lane]);
      if (isBuffer)
        available = std::min(available, lanes.available[lane]);
    });
  }
  // Flat addresses of LDS and of scratch are far above those of memory.
  return available >= bytes && most - least < uint64_t(1) << 40 &&
         wave.machine.memory.contains(least, most - least + bytes, isStore);
}

/// `detail` of accesses to less than a register.
constexpr unsigned kSigned = 1, kHalf = 2, kHigh = 4;

/// The register after a load of 1 or 2 bytes.
inline uint32_t mergePart(uint32_t old, uint32_t value, unsigned bytes,
                          unsigned flags) {
  if (flags & kSigned)
    value = bytes == 1 ? uint32_t(int8_t(value)) : uint32_t(int16_t(value));
  if (flags & kHigh)
    return (old & 0xFFFF) | value << 16;
  return flags & kHalf ? (old & 0xFFFF0000) | (value & 0xFFFF) : value;
}

/// A value of one lane, which is in consecutive registers.
template <class T>
inline T readLane(Wave &wave, unsigned row, unsigned lane) {
  uint32_t words[sizeof(T) / 4];
  for (unsigned i = 0; i < sizeof(T) / 4; ++i)
    words[i] = wave.row(row + i)[lane];
  T value;
  std::memcpy(&value, words, sizeof(T));
  return value;
}
template <class T>
inline void writeLane(Wave &wave, unsigned row, unsigned lane, T value) {
  uint32_t words[sizeof(T) / 4];
  std::memcpy(words, &value, sizeof(T));
  for (unsigned i = 0; i < sizeof(T) / 4; ++i)
    wave.row(row + i)[lane] = words[i];
}

void addAtomics(InstructionTable &table);

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_ACCESS_H
