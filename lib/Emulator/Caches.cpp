// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Caches.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include <cstring>

using namespace mlir::iris::emulator;

static uint64_t lineOf(uint64_t address) {
  return address & ~uint64_t(kLineBytes - 1);
}

/// A bit for each byte of an access, which does not cross the line's end.
static uint64_t maskOf(uint64_t address, unsigned bytes) {
  uint64_t ones = bytes == 64 ? ~uint64_t(0) : (uint64_t(1) << bytes) - 1;
  return ones << (address % kLineBytes);
}

/// Calls function(address, bytes, offset) for the part in each line.
template <class Function>
static void forLines(uint64_t address, uint64_t bytes, Function function) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t part =
        std::min(bytes - done, kLineBytes - (address + done) % kLineBytes);
    function(address + done, unsigned(part), done);
    done += part;
  }
}

static uint8_t *memoryAt(uint64_t address) {
  return reinterpret_cast<uint8_t *>(address);
}

//===----------------------------------------------------------------------===//
// History
//===----------------------------------------------------------------------===//

void MemoryHistory::keep(uint64_t address, uint64_t bytes) {
  forLines(address, bytes, [&](uint64_t part, unsigned, uint64_t) {
    std::vector<Version> &versions = lines[lineOf(part)];
    // Nothing sees the changes since the last time apart.
    if (!versions.empty() && versions.back().time == now)
      return;
    Version &version = versions.emplace_back();
    version.time = now;
    std::memcpy(version.bytes.data(), memoryAt(lineOf(part)), kLineBytes);
  });
}

void MemoryHistory::store(uint64_t address, const uint8_t *data,
                          uint64_t bytes) {
  if (std::memcmp(memoryAt(address), data, bytes) == 0)
    return;
  ++numLateStores;
  keep(address, bytes);
  std::memcpy(memoryAt(address), data, bytes);
}

LineBytes MemoryHistory::read(uint64_t line, uint64_t time) const {
  if (auto found = lines.find(line); found != lines.end())
    for (const Version &version : found->second)
      if (version.time >= time)
        return version.bytes;
  LineBytes bytes;
  std::memcpy(bytes.data(), memoryAt(line), kLineBytes);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

void Cache::fill(Line &line, uint64_t address) {
  if (line.valid == ~uint64_t(0))
    return;
  LineBytes bytes = history.read(address, time);
  for (unsigned i = 0; i < kLineBytes; ++i)
    if (!(line.valid >> i & 1))
      line.bytes[i] = bytes[i];
  line.valid = ~uint64_t(0);
}

void Cache::put(uint64_t address, unsigned bytes, const uint8_t *data,
                bool isDirty) {
  forLines(address, bytes, [&](uint64_t part, unsigned size, uint64_t offset) {
    Line &line = lines[lineOf(part)];
    uint64_t mask = maskOf(part, size);
    std::memcpy(line.bytes.data() + part % kLineBytes, data + offset, size);
    line.valid |= mask;
    line.dirty = isDirty ? line.dirty | mask : line.dirty & ~mask;
  });
}

void Cache::load(uint64_t address, unsigned bytes, Scope scope,
                 uint8_t *result) {
  if (scope >= coherentScope) {
    publish(address, bytes);
    std::memcpy(result, memoryAt(address), bytes);
    adopt(address, bytes);
    return;
  }
  forLines(address, bytes, [&](uint64_t part, unsigned size, uint64_t offset) {
    Line &line = lines[lineOf(part)];
    if (maskOf(part, size) & ~line.valid)
      fill(line, lineOf(part));
    std::memcpy(result + offset, line.bytes.data() + part % kLineBytes, size);
  });
}

void Cache::store(uint64_t address, unsigned bytes, Scope scope,
                  const uint8_t *data, StoreIssue issue) {
  if (writesThrough) {
    put(address, bytes, data, /*isDirty=*/false);
    Store &store = stores.emplace_back();
    store.address = address;
    store.issue = issue;
    store.size = uint8_t(bytes);
    std::memcpy(store.data.data(), data, bytes);
    return;
  }
  if (scope < coherentScope) {
    put(address, bytes, data, /*isDirty=*/true);
    return;
  }
  history.keep(address, bytes);
  std::memcpy(memoryAt(address), data, bytes);
  put(address, bytes, data, /*isDirty=*/false);
}

void Cache::writeBack(Line &line, uint64_t address, uint64_t mask) {
  mask &= line.dirty;
  if (!mask)
    return;
  for (uint64_t rest = mask; rest; rest &= rest - 1) {
    unsigned i = unsigned(__builtin_ctzll(rest));
    history.store(address + i, &line.bytes[i], 1);
  }
  line.dirty &= ~mask;
}

void Cache::complete(const Store &store) {
  if (store.size)
    history.store(store.address, store.data.data(), store.size);
}

void Cache::publish(uint64_t address, unsigned bytes) {
  if (writesThrough) {
    // Stores complete in order: up to the last one to these bytes.
    size_t count = 0;
    for (size_t i = 0; i < stores.size(); ++i)
      if (stores[i].address < address + bytes &&
          address < stores[i].address + stores[i].size)
        count = i + 1;
    for (; count; --count) {
      complete(stores.front());
      stores.pop_front();
    }
    return;
  }
  forLines(address, bytes, [&](uint64_t part, unsigned size, uint64_t) {
    if (auto found = lines.find(lineOf(part)); found != lines.end())
      writeBack(found->second, found->first, maskOf(part, size));
  });
}

void Cache::adopt(uint64_t address, unsigned bytes) {
  put(address, bytes, memoryAt(address), /*isDirty=*/false);
}

void Cache::writeBack() {
  for (const Store &store : stores)
    complete(store);
  stores.clear();
  for (auto &[address, line] : lines)
    writeBack(line, address, ~uint64_t(0));
}

void Cache::invalidate() {
  time = history.next();
  llvm::SmallVector<uint64_t> clean;
  for (auto &[address, line] : lines) {
    line.valid = line.dirty;
    if (!line.dirty)
      clean.push_back(address);
  }
  for (uint64_t address : clean)
    lines.erase(address);
  for (const Store &store : stores)
    put(store.address, store.size, store.data.data(), /*isDirty=*/false);
}

void Cache::drain(const void *wave, uint64_t allowed) {
  if (stores.empty())
    return;
  // From the last one on. Stores to a line complete in order, whichever wave
  // they are of.
  llvm::BitVector completes(unsigned(stores.size()));
  llvm::DenseSet<uint64_t> completed;
  std::optional<uint64_t> later;
  uint64_t count = 0;
  for (unsigned i = completes.size(); i-- > 0;) {
    const Store &store = stores[i];
    bool isDone = false;
    if (store.issue.wave == wave) {
      count += later != store.issue.number;
      later = store.issue.number;
      isDone = count > allowed;
    }
    if (store.size) {
      uint64_t first = lineOf(store.address);
      uint64_t last = lineOf(store.address + store.size - 1);
      isDone |= completed.contains(first) || completed.contains(last);
      if (isDone) {
        completed.insert(first);
        completed.insert(last);
      }
    }
    completes[i] = isDone;
  }
  for (unsigned i : completes.set_bits())
    complete(stores[i]);
  std::deque<Store> kept;
  for (unsigned i = 0; i < completes.size(); ++i)
    if (!completes[i])
      kept.push_back(stores[i]);
  stores = std::move(kept);
}
