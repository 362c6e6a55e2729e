// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Access.h - Addresses of vector memory accesses -----------*- C++ -*-===//
//
// An instruction that accesses memory has these operands: the address or offset
// (source 0), the base or descriptor (1), the data (2), the scalar offset of a
// buffer (3).
#ifndef IRIS_EMULATOR_ACCESS_H
#define IRIS_EMULATOR_ACCESS_H

#include "Scalars.h"

namespace mlir::iris::emulator {

/// The addresses of an access, lane by lane.
struct LaneAddresses {
  uint64_t addresses[kLanes];
  /// Lanes that access memory.
  uint64_t active;
  /// Of a buffer: the bytes up to its end, from each address.
  uint64_t available[kLanes];
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
};

/// The bytes at an address of one lane, which may also be in LDS or in scratch.
Location resolve(Wave &wave, const Instruction &instruction, unsigned lane,
                 uint64_t address, unsigned bytes, bool isStore);

/// Loads and stores the bytes of one lane; false after an error.
bool loadBytes(Wave &wave, const Instruction &instruction, unsigned lane,
               uint64_t address, unsigned bytes, void *result);
bool storeBytes(Wave &wave, const Instruction &instruction, unsigned lane,
                uint64_t address, unsigned bytes, const void *data);

/// The scope that the modifiers of an instruction name.
Scope scopeOf(const InstructionBuilder &builder, bool isAtomic);

/// Reads the operands of an access; their positions in the assembly are
/// negative where there are none.
llvm::Error buildAccess(InstructionBuilder &builder, Space space, int result,
                        unsigned resultWords, int address, int data,
                        unsigned dataWords, int base);

/// Whether all bytes of an access are in one range of coherent memory, so that
/// no lane has to be looked at.
bool isInOneRange(Wave &wave, const Instruction &instruction,
                  const LaneAddresses &lanes, unsigned bytes, bool isStore);

/// Records an access, whose result has this many registers, as outstanding.
void issueAccess(Wave &wave, const Instruction &instruction, bool isLoad,
                 unsigned resultWords);

/// Calls function(lane) for the lanes of a mask.
template <class Function>
inline void forLanes(uint64_t mask, Function function) {
  for (; mask; mask &= mask - 1)
    function(unsigned(__builtin_ctzll(mask)));
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
