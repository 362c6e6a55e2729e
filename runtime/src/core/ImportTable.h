// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportTable.h - Imports of the symmetric heap ------------*- C++ -*-===//
//
// Where memory of the program is mapped a second time, behind the allocations
// of the heap. Manages numbers only, so that all ranks that make the same calls
// get the same offsets.
#ifndef IRIS_RT_CORE_IMPORTTABLE_H
#define IRIS_RT_CORE_IMPORTTABLE_H

#include <cstdint>
#include <map>
#include <optional>

namespace iris::rt {

/// Memory of the program on the heap.
struct Import {
  /// The program's address on this rank.
  uint64_t address = 0;
  uint64_t bytes = 0;
  /// The heap offset of what is mapped, which starts before the memory if that
  /// starts inside of its allocation.
  uint64_t mappedOffset = 0;
  uint64_t mappedBytes = 0;
  /// The heap offset of the memory.
  uint64_t offset = 0;
};

/// The imports of one rank.
class ImportTable {
public:
  ImportTable() = default;
  /// Manages heap offsets from `begin` to `end`.
  ImportTable(uint64_t begin, uint64_t end) : begin_(begin), end_(end) {}

  uint64_t capacity() const { return end_ - begin_; }
  bool isEmpty() const { return byOffset_.empty(); }

  /// The lowest offset of free space; none if there is not enough.
  std::optional<uint64_t> findSpace(uint64_t mappedBytes) const;
  void add(const Import &import);
  /// Removes the import at this offset of its memory; none if there is none.
  std::optional<Import> remove(uint64_t offset);

  /// The import that shares an address of the program; null if there is none.
  const Import *findOverlap(uint64_t address, uint64_t bytes) const;
  /// The import that has all of the bytes at an address of the program.
  const Import *findAddress(uint64_t address, uint64_t bytes) const;
  /// The import that has all of the bytes at an offset of the heap.
  const Import *findOffset(uint64_t offset, uint64_t bytes) const;

private:
  uint64_t begin_ = 0, end_ = 0;
  std::map<uint64_t, Import> byOffset_;          // by mappedOffset
  std::map<uint64_t, const Import *> byAddress_; // of the program
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_IMPORTTABLE_H
