// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of the symmetric heap are in use: pure bookkeeping over offsets,
// so that every rank that makes the same calls gets the same answers.
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

/// One call, for the comparison between ranks.
struct HeapOperation {
  enum Kind : uint32_t { allocate = 1, release = 2 };
  uint32_t kind = allocate;
  uint32_t alignment = 0;
  uint64_t value = 0; ///< bytes asked for, or the offset given back
};

/// What a rank tells the others about its calls so far.
struct HeapDigest {
  static constexpr uint32_t window = 32;
  uint64_t hash = 0;
  uint64_t count = 0;
  /// The last calls; number `i` is at `i % window`.
  HeapOperation last[window];

  void note(const HeapOperation &operation);
};

/// Best fit with coalescing.  A block given back is quarantined until
/// `recycle`, because other ranks may still use it.
class HeapAllocator {
public:
  /// Blocks start at, and are padded to, multiples of this: no two of them
  /// share a cache line of any target.
  static constexpr uint64_t minAlignment = 256;

  /// Offsets from 0 to `capacity`, of which nothing is mapped yet.
  explicit HeapAllocator(uint64_t capacity) : capacity_(capacity) {}

  /// Bytes [mapped, mapped + bytes) have become usable and are zero.
  void addMapped(uint64_t bytes);
  uint64_t mapped() const { return mapped_; }
  uint64_t capacity() const { return capacity_; }

  /// The offset of a block of zeroed bytes; nothing when more memory must be
  /// mapped first (missingBytes); the error of a full heap.
  Expected<std::optional<uint64_t>> allocate(uint64_t bytes,
                                             uint64_t alignment);
  /// How many bytes must be mapped before allocate can succeed.
  uint64_t missingBytes(uint64_t bytes, uint64_t alignment) const;

  /// Puts the block at `offset` into quarantine.
  Status release(uint64_t offset);

  /// Blocks in quarantine, merged where they touch.
  std::vector<HeapRange> quarantine() const;
  /// Makes them available again; their bytes must be zero by now.
  void recycle();

  /// The block that holds `offset`, if one that is in use does.
  std::optional<HeapRange> blockAt(uint64_t offset) const;

  uint64_t usedBytes() const { return usedBytes_; }
  size_t numBlocks() const { return used_.size(); }
  const HeapDigest &digest() const { return digest_; }
  /// The digest as it will be after `operation`.
  HeapDigest digestWith(const HeapOperation &operation) const;

private:
  struct Block {
    uint64_t bytes = 0;
  };

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

/// Success when all digests agree; otherwise an error that says which ranks
/// did what.
Status compareDigests(const std::vector<HeapDigest> &digests);

} // namespace iris::rt

#endif // IRIS_RT_CORE_HEAPALLOCATOR_H
