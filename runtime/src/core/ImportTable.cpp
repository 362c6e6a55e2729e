// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ImportTable.cpp - Imports of the symmetric heap --------------------===//
#include "core/ImportTable.h"

#include <iterator>

using namespace iris::rt;

std::optional<uint64_t> ImportTable::findSpace(uint64_t mappedBytes) const {
  uint64_t free = begin_;
  for (const auto &[offset, import] : byOffset_) {
    if (offset - free >= mappedBytes)
      return free;
    free = offset + import.mappedBytes;
  }
  if (end_ - free >= mappedBytes)
    return free;
  return std::nullopt;
}

void ImportTable::add(const Import &import) {
  const Import &added = byOffset_[import.mappedOffset] = import;
  byAddress_[import.address] = &added;
}

std::optional<Import> ImportTable::remove(uint64_t offset) {
  const Import *found = findOffset(offset, 1);
  if (!found || found->offset != offset)
    return std::nullopt;
  const Import removed = *found;
  byAddress_.erase(removed.address);
  byOffset_.erase(removed.mappedOffset);
  return removed;
}

const Import *ImportTable::findOverlap(uint64_t address, uint64_t bytes) const {
  // Imports do not overlap, so the last one that starts before the end decides.
  auto after = byAddress_.lower_bound(address + bytes);
  if (after == byAddress_.begin())
    return nullptr;
  const Import *import = std::prev(after)->second;
  return address < import->address + import->bytes ? import : nullptr;
}

const Import *ImportTable::findAddress(uint64_t address, uint64_t bytes) const {
  auto after = byAddress_.upper_bound(address);
  if (after == byAddress_.begin())
    return nullptr;
  const Import *import = std::prev(after)->second;
  const uint64_t inside = address - import->address;
  return inside < import->bytes && bytes <= import->bytes - inside ? import
                                                                   : nullptr;
}

const Import *ImportTable::findOffset(uint64_t offset, uint64_t bytes) const {
  auto after = byOffset_.upper_bound(offset);
  if (after == byOffset_.begin())
    return nullptr;
  const Import &import = std::prev(after)->second;
  if (offset < import.offset)
    return nullptr;
  const uint64_t inside = offset - import.offset;
  return inside < import.bytes && bytes <= import.bytes - inside ? &import
                                                                 : nullptr;
}
