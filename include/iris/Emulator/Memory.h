// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - The memory that emulated devices access -------*- C++ -*-===//
//
// Device addresses are addresses of this process. Kernels access only what is
// registered here.
#ifndef IRIS_EMULATOR_MEMORY_H
#define IRIS_EMULATOR_MEMORY_H

#include "llvm/ADT/StringRef.h"
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
    if (address >= last.begin && address < last.end &&
        size <= last.end - address && (last.isWritable || !isStore))
      return true;
    return lookUp(address, size, isStore);
  }

  /// Describes an access that `contains` refuses: the nearest range.
  std::string describe(uint64_t address, uint64_t size, bool isStore) const;

private:
  bool lookUp(uint64_t address, uint64_t size, bool isStore);

  std::map<uint64_t, MemoryRange> ranges;
  /// The range that was accessed last.
  MemoryRange last;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_MEMORY_H
