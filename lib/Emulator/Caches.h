// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Caches.h - Memory as a device, workgroup or wave sees it -*- C++ -*-===//
//
// As late as the memory model allows: a cache has the contents that memory had
// when it was last invalidated, and keeps stores until they are written back,
// or until their wave waits for them. See docs/internals/emulator.md.
#ifndef IRIS_EMULATOR_CACHES_H
#define IRIS_EMULATOR_CACHES_H

#include "Instruction.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <deque>
#include <vector>

namespace mlir::iris::emulator {

constexpr unsigned kLineBytes = 64;
using LineBytes = std::array<uint8_t, kLineBytes>;

/// What memory held at earlier times, for as long as a cache may still show it.
class MemoryHistory {
public:
  /// A new time. Caches that are invalidated now see memory as it is now.
  uint64_t next() { return ++now; }
  /// Call this before memory changes.
  void keep(uint64_t address, uint64_t bytes);
  /// The line at this address, as it was at a time.
  LineBytes read(uint64_t line, uint64_t time) const;
  /// Copies a late store to memory, and counts it if it changes something.
  void store(uint64_t address, const uint8_t *data, uint64_t bytes);
  uint64_t countLateStores() const { return numLateStores; }
  /// Forgets everything: there are no caches.
  void clear() { lines.clear(); }

private:
  /// The contents before the first change after a time.
  struct Version {
    uint64_t time;
    LineBytes bytes;
  };
  uint64_t now = 0, numLateStores = 0;
  llvm::DenseMap<uint64_t, std::vector<Version>> lines;
};

/// The instruction that stores.
struct StoreIssue {
  /// Its wave; only compared.
  const void *wave;
  uint64_t number;
};

/// Accesses of scopes below `coherentScope` stay here.
class Cache {
public:
  Cache(MemoryHistory &history, Scope coherentScope, bool writesThrough)
      : coherentScope(coherentScope), writesThrough(writesThrough),
        history(history), time(history.next()) {}

  void load(uint64_t address, unsigned bytes, Scope scope, uint8_t *result);
  void store(uint64_t address, unsigned bytes, Scope scope, const uint8_t *data,
             StoreIssue issue);
  /// Lets function(uint8_t *) change bytes: in memory if the scope is coherent.
  template <class Function>
  void update(uint64_t address, unsigned bytes, Scope scope, StoreIssue issue,
              Function function) {
    if (scope >= coherentScope) {
      publish(address, bytes);
      history.keep(address, bytes);
      function(reinterpret_cast<uint8_t *>(address));
      adopt(address, bytes);
      return;
    }
    alignas(8) uint8_t copy[8];
    load(address, bytes, scope, copy);
    function(copy);
    store(address, bytes, scope, copy, issue);
  }

  /// Writes all stores to memory.
  void writeBack();
  /// Forgets all but stores that memory does not have yet.
  void invalidate();
  /// Where stores are written through: writes those of all instructions of the
  /// wave but the last `allowed` ones, and older ones to the same lines.
  void drain(const void *wave, uint64_t allowed);
  /// An access that is counted like a store, and has completed.
  void countStore(StoreIssue issue) {
    if (writesThrough)
      stores.push_back({0, issue, 0, {}});
  }

  const Scope coherentScope;
  /// Stores are in memory when their wave waits for them, in place of a
  /// write-back.
  const bool writesThrough;

private:
  struct Line {
    /// A bit for each byte.
    uint64_t valid = 0, dirty = 0;
    LineBytes bytes;
  };
  /// A store that its wave has not waited for.
  struct Store {
    uint64_t address;
    StoreIssue issue;
    uint8_t size;
    std::array<uint8_t, 16> data;
  };

  void fill(Line &line, uint64_t address);
  void put(uint64_t address, unsigned bytes, const uint8_t *data, bool isDirty);
  void writeBack(Line &line, uint64_t address, uint64_t mask);
  void complete(const Store &store);
  /// Makes the stores of this cache to these bytes visible.
  void publish(uint64_t address, unsigned bytes);
  /// Sees these bytes as they are in memory.
  void adopt(uint64_t address, unsigned bytes);

  MemoryHistory &history;
  /// Lines that are not here are as they were at this time.
  uint64_t time;
  llvm::DenseMap<uint64_t, Line> lines;
  std::deque<Store> stores;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_CACHES_H
