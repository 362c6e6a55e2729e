// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contents.cpp - Integers in memory ----------------------------------===//
#include "Contents.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

void Contents::cut(Bytes bytes) {
  auto it = cells.lower_bound(bytes.from);
  if (it != cells.begin() && std::prev(it)->second.to > bytes.from)
    --it;
  while (it != cells.end() && it->first < bytes.to) {
    auto [from, cell] = *it;
    it = cells.erase(it);
    if (from < bytes.from)
      cells[from] = {bytes.from, cell.value};
    if (cell.to > bytes.to)
      it = cells.try_emplace(bytes.to, cell).first;
  }
}

void Contents::store(Bytes bytes, Scalar value) {
  if (bytes.from >= bytes.to)
    return;
  cut(bytes);
  // Stores of unknown values are many, and side by side.
  if (!value.isKnown()) {
    auto next = cells.find(bytes.to);
    if (next != cells.end() && !next->second.value.isKnown()) {
      bytes.to = next->second.to;
      cells.erase(next);
    }
    auto it = cells.lower_bound(bytes.from);
    if (it != cells.begin()) {
      auto last = std::prev(it);
      if (last->second.to == bytes.from && !last->second.value.isKnown()) {
        last->second.to = bytes.to;
        return;
      }
    }
  }
  cells[bytes.from] = {bytes.to, value};
}

void Contents::forget() {
  cells.clear();
  isForgotten = true;
}

Contents::Cells::const_iterator Contents::findFirst(int64_t from) const {
  auto it = cells.upper_bound(from);
  return it != cells.begin() && std::prev(it)->second.to > from ? std::prev(it)
                                                                : it;
}

Scalar Contents::load(Bytes bytes, Scalar initial) const {
  if (isForgotten)
    initial = Scalar();
  auto it = findFirst(bytes.from);
  if (it == cells.end() || it->first >= bytes.to)
    return initial;
  return it->first == bytes.from && it->second.to == bytes.to ? it->second.value
                                                              : Scalar();
}

/// Whether two scalars are equal; nothing if that is not known.
static std::optional<bool> areEqual(Scalar a, Scalar b) {
  if (a.isKnown() && a == b)
    return true;
  if (a.number && b.number && a.number.getType() == b.number.getType())
    return false;
  return std::nullopt;
}

std::optional<bool> Contents::have(Bytes bytes, Scalar value,
                                   Scalar initial) const {
  if (isForgotten)
    initial = Scalar();
  std::optional<bool> all = true;
  auto add = [&](Scalar part) {
    std::optional<bool> isEqual = areEqual(part, value);
    if (all != false && isEqual != true)
      all = isEqual;
  };
  auto it = findFirst(bytes.from);
  int64_t at = bytes.from;
  for (; it != cells.end() && it->first < bytes.to; ++it) {
    if (it->first > at)
      add(initial);
    add(it->second.value);
    at = it->second.to;
  }
  if (at < bytes.to)
    add(initial);
  return all;
}
