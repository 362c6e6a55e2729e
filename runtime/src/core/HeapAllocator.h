// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HeapAllocator.h - Allocator of symmetric heap offsets ----*- C++ -*-===//
//
// Manages offsets only, so that all ranks that make the same calls get the same
// offsets.
#ifndef IRIS_RT_CORE_HEAPALLOCATOR_H
#define IRIS_RT_CORE_HEAPALLOCATOR_H

#include "iris/rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace iris::rt {

/// A range of the heap.
struct HeapRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// One heap call, for the comparison between ranks.
struct HeapOperation {
  enum Kind : uint32_t { allocate = 1, release = 2 };
  uint32_t kind = allocate;
  uint32_t alignment = 0;
  uint64_t value = 0; ///< requested bytes, or the released offset
};

/// A summary of a rank's heap calls, exchanged to compare the ranks.
struct HeapDigest {
  static constexpr uint32_t window = 32;
  uint64_t hash = 0;
  uint64_t count = 0;
  /// The last calls; call `i` is at index `i % window`.
  HeapOperation last[window];

  void note(const HeapOperation &operation);
};

/// A best-fit allocator with coalescing. A released block is quarantined until
/// `recycle`, because peers may still use it.
class HeapAllocator {
public:
  /// The alignment and size granularity of blocks, so that no two blocks share
  /// a cache line on any target.
  static constexpr uint64_t minAlignment = 256;

  /// Manages offsets from 0 to `capacity`; none of them is mapped yet.
  explicit HeapAllocator(uint64_t capacity) : capacity_(capacity) {}

  /// Adds bytes [mapped, mapped + bytes), which must be mapped and zero.
  void addMapped(uint64_t bytes);
  uint64_t mapped() const { return mapped_; }
  uint64_t capacity() const { return capacity_; }

  /// The offset of a zeroed block; none if more memory must be mapped first
  /// (missingBytes); an error if the heap is full.
  Expected<std::optional<uint64_t>> allocate(uint64_t bytes,
                                             uint64_t alignment);
  /// The number of bytes to map before allocate can succeed.
  uint64_t missingBytes(uint64_t bytes, uint64_t alignment) const;

  /// Puts the block at `offset` into quarantine.
  Status release(uint64_t offset);

  /// The quarantined blocks; adjacent ones are merged.
  std::vector<HeapRange> quarantine() const;
  /// Makes the quarantined blocks available; their bytes must be zero.
  void recycle();

  /// The allocated block that contains `offset`, with its padding.
  std::optional<HeapRange> blockAt(uint64_t offset) const;
  /// The same block, with the bytes that the caller asked for.
  std::optional<HeapRange> allocationAt(uint64_t offset) const;

  uint64_t usedBytes() const { return usedBytes_; }
  size_t numBlocks() const { return used_.size(); }
  const HeapDigest &digest() const { return digest_; }
  /// The digest after a further `operation`.
  HeapDigest digestWith(const HeapOperation &operation) const;

private:
  struct Block {
    uint64_t bytes = 0;          ///< with padding
    uint64_t requestedBytes = 0; ///< without
  };

  /// The entry of used_ that contains `offset`; null if there is none.
  const std::pair<const uint64_t, Block> *findBlock(uint64_t offset) const;
  void addFree(uint64_t offset, uint64_t bytes);
  void removeFree(uint64_t offset, uint64_t bytes);
  Status fullError(uint64_t bytes) const;

  uint64_t capacity_;
  uint64_t mapped_ = 0;
  uint64_t usedBytes_ = 0;
  std::map<uint64_t, uint64_t> free_;              // offset -> bytes
  std::set<std::pair<uint64_t, uint64_t>> bySize_; // (bytes, offset)
  std::map<uint64_t, Block> used_;                 // offset -> block
  std::map<uint64_t, uint64_t> quarantine_;        // offset -> bytes
  HeapDigest digest_;
};

/// Succeeds if all digests are equal; otherwise the error lists each rank's
/// call.
Status compareDigests(const std::vector<HeapDigest> &digests);

} // namespace iris::rt

#endif // IRIS_RT_CORE_HEAPALLOCATOR_H
