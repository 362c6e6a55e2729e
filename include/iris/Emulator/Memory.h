// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - The memory that emulated devices access -------*- C++ -*-===//
//
// Device addresses are addresses of this process. Kernels access only what is
// registered here.
#ifndef IRIS_EMULATOR_MEMORY_H
#define IRIS_EMULATOR_MEMORY_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace mlir::iris::emulator {

/// A registered range of addresses.
struct MemoryRange {
  uint64_t begin = 0, end = 0;
  bool isWritable = false;
  /// For messages: "argument 2", "code of matmul.hsaco".
  std::string name;
};

/// The ranges that kernels may access. The bytes belong to the caller.
class Memory {
public:
  /// Registers `size` bytes, which must not overlap a registered range.
  void add(const void *data, uint64_t size, bool isWritable,
           llvm::StringRef name);
  /// Removes the range that starts at `data`.
  void remove(const void *data);

  /// Whether all of [address, address + size) is in one range that may be
  /// accessed in this way.
  bool contains(uint64_t address, uint64_t size, bool isStore) {
    for (const MemoryRange *range : recent)
      if (range && isIn(*range, address, size, isStore))
        return true;
    return lookUp(address, size, isStore);
  }

  /// The range of an address and the offset in it: "argument 2 + 64".
  std::string nameOf(uint64_t address) const;
  /// Describes an access that `contains` refuses: the nearest range.
  std::string describe(uint64_t address, uint64_t size, bool isStore) const;

private:
  static bool isIn(const MemoryRange &range, uint64_t address, uint64_t size,
                   bool isStore) {
    return address >= range.begin && address < range.end &&
           size <= range.end - address && (range.isWritable || !isStore);
  }
  bool lookUp(uint64_t address, uint64_t size, bool isStore);

  std::map<uint64_t, MemoryRange> ranges;
  /// Some that were accessed recently, or null: a matrix multiplication has
  /// three matrices and its arguments.
  std::array<const MemoryRange *, 4> recent = {};
  unsigned oldest = 0;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_MEMORY_H
