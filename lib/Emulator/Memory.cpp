// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Emulator/Memory.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;

void Memory::add(const void *data, uint64_t size, bool isWritable,
                 llvm::StringRef name) {
  uint64_t begin = reinterpret_cast<uintptr_t>(data);
  recent = {};
  ranges[begin] = MemoryRange{begin, begin + size, isWritable, name.str()};
}

void Memory::remove(const void *data) {
  recent = {};
  ranges.erase(reinterpret_cast<uintptr_t>(data));
}

bool Memory::lookUp(uint64_t address, uint64_t size, bool isStore) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin())
    return false;
  const MemoryRange &range = std::prev(next)->second;
  if (!isIn(range, address, size, isStore))
    return false;
  recent[oldest] = &range;
  oldest = (oldest + 1) % recent.size();
  return true;
}

std::string Memory::nameOf(uint64_t address) const {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin() || address >= std::prev(next)->second.end)
    return llvm::formatv("{0:x}", address);
  const MemoryRange &range = std::prev(next)->second;
  return llvm::formatv("{0} + {1}", range.name, address - range.begin);
}

std::string Memory::describe(uint64_t address, uint64_t size,
                             bool isStore) const {
  auto next = ranges.upper_bound(address);
  const MemoryRange *below =
      next == ranges.begin() ? nullptr : &std::prev(next)->second;
  if (below && address < below->end && size <= below->end - address)
    return llvm::formatv("{0}, which is read-only", below->name);
  const MemoryRange *above = next == ranges.end() ? nullptr : &next->second;
  if (above && (!below || above->begin - address < address - below->end))
    return llvm::formatv("{0:x}, {1} bytes before {2}", address,
                         above->begin - address, above->name);
  if (below && address < below->end)
    return llvm::formatv("{0:x}, across the end of {1}", address, below->name);
  if (below)
    return llvm::formatv("{0:x}, {1} bytes after the end of {2}", address,
                         address - below->end, below->name);
  return llvm::formatv("{0:x}; no memory is registered", address);
}
