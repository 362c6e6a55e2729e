// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HeapAllocator.cpp - Allocator of symmetric heap offsets ------------===//
#include "core/HeapAllocator.h"

#include "core/Align.h"

#include <algorithm>
#include <string>

using namespace iris::rt;

static unsigned long long number(uint64_t value) { return value; }

/// The size of a block for a request: a nonzero multiple of minAlignment.
static uint64_t paddedSize(uint64_t bytes) {
  return std::max(alignTo(bytes, HeapAllocator::minAlignment),
                  HeapAllocator::minAlignment);
}

//===----------------------------------------------------------------------===//
// Free blocks
//===----------------------------------------------------------------------===//

void HeapAllocator::removeFree(uint64_t offset, uint64_t bytes) {
  free_.erase(offset);
  bySize_.erase({bytes, offset});
}

/// Adds a free range and merges it with adjacent ones.
void HeapAllocator::addFree(uint64_t offset, uint64_t bytes) {
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + bytes == next->first) {
    uint64_t nextBytes = next->second;
    removeFree(next->first, nextBytes);
    bytes += nextBytes;
  }
  auto after = free_.lower_bound(offset);
  if (after != free_.begin()) {
    auto previous = std::prev(after);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      removeFree(offset, previous->second);
    }
  }
  free_[offset] = bytes;
  bySize_.insert({bytes, offset});
}

void HeapAllocator::addMapped(uint64_t bytes) {
  uint64_t at = mapped_;
  mapped_ += bytes;
  addFree(at, bytes);
}

//===----------------------------------------------------------------------===//
// Allocate and release
//===----------------------------------------------------------------------===//

Status HeapAllocator::fullError(uint64_t bytes) const {
  uint64_t quarantined = 0, largest = 0;
  for (const auto &[offset, size] : quarantine_)
    quarantined += size;
  if (!bySize_.empty())
    largest = bySize_.rbegin()->first;
  // Unmapped space extends the last free block.
  uint64_t tail = capacity_ - mapped_;
  if (!free_.empty()) {
    auto last = std::prev(free_.end());
    if (last->first + last->second == mapped_)
      tail += last->second;
  }
  largest = std::max(largest, tail);
  return makeStatus(
      StatusCode::outOfMemory,
      "the symmetric heap is full: %llu bytes requested, but of its %llu bytes "
      "%llu are in use by %zu allocations and %llu wait for the next sync; the "
      "largest free block has %llu bytes",
      number(bytes), number(capacity_), number(usedBytes_), used_.size(),
      number(quarantined), number(largest));
}

Expected<std::optional<uint64_t>> HeapAllocator::allocate(uint64_t bytes,
                                                          uint64_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "alignment %llu is not a power of two",
                      number(alignment));
  if (bytes > capacity_ || alignment > capacity_)
    return fullError(bytes);
  uint64_t align = std::max(alignment, minAlignment);
  uint64_t size = paddedSize(bytes);
  // Best fit; among equal sizes, the lowest offset.
  for (auto it = bySize_.lower_bound({size, 0}); it != bySize_.end(); ++it) {
    auto [blockBytes, offset] = *it;
    uint64_t start = alignTo(offset, align);
    if (start - offset > blockBytes - size)
      continue;
    removeFree(offset, blockBytes);
    if (start != offset)
      addFree(offset, start - offset);
    if (start + size != offset + blockBytes)
      addFree(start + size, offset + blockBytes - start - size);
    used_[start] = Block{size, bytes};
    usedBytes_ += size;
    digest_.note(
        {HeapOperation::allocate, static_cast<uint32_t>(alignment), bytes});
    return std::optional<uint64_t>(start);
  }
  if (missingBytes(bytes, alignment) > capacity_ - mapped_)
    return fullError(bytes);
  return std::optional<uint64_t>();
}

uint64_t HeapAllocator::missingBytes(uint64_t bytes, uint64_t alignment) const {
  uint64_t align = std::max(alignment, minAlignment);
  uint64_t start = mapped_;
  if (!free_.empty()) {
    auto last = std::prev(free_.end());
    if (last->first + last->second == mapped_)
      start = last->first;
  }
  uint64_t end = alignTo(start, align) + paddedSize(bytes);
  return end > mapped_ ? end - mapped_ : 0;
}

Status HeapAllocator::release(uint64_t offset) {
  auto found = used_.find(offset);
  if (found == used_.end()) {
    if (quarantine_.count(offset) != 0)
      return makeStatus(StatusCode::invalidArgument,
                        "the allocation at heap offset %llu was already freed",
                        number(offset));
    return makeStatus(StatusCode::invalidArgument,
                      "no allocation starts at heap offset %llu",
                      number(offset));
  }
  quarantine_[offset] = found->second.bytes;
  usedBytes_ -= found->second.bytes;
  used_.erase(found);
  digest_.note({HeapOperation::release, 0, offset});
  return Status::success();
}

std::vector<HeapRange> HeapAllocator::quarantine() const {
  std::vector<HeapRange> ranges;
  for (const auto &[offset, bytes] : quarantine_) {
    if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == offset)
      ranges.back().bytes += bytes;
    else
      ranges.push_back({offset, bytes});
  }
  return ranges;
}

void HeapAllocator::recycle() {
  for (const auto &[offset, bytes] : quarantine_)
    addFree(offset, bytes);
  quarantine_.clear();
}

const std::pair<const uint64_t, HeapAllocator::Block> *
HeapAllocator::findBlock(uint64_t offset) const {
  auto after = used_.upper_bound(offset);
  if (after == used_.begin())
    return nullptr;
  auto block = std::prev(after);
  return offset - block->first < block->second.bytes ? &*block : nullptr;
}

std::optional<HeapRange> HeapAllocator::blockAt(uint64_t offset) const {
  const auto *block = findBlock(offset);
  if (!block)
    return std::nullopt;
  return HeapRange{block->first, block->second.bytes};
}

std::optional<HeapRange> HeapAllocator::allocationAt(uint64_t offset) const {
  const auto *block = findBlock(offset);
  if (!block)
    return std::nullopt;
  return HeapRange{block->first, block->second.requestedBytes};
}

//===----------------------------------------------------------------------===//
// Comparison between ranks
//===----------------------------------------------------------------------===//

void HeapDigest::note(const HeapOperation &operation) {
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  mix(operation.kind);
  mix(operation.alignment);
  mix(operation.value);
  last[count % window] = operation;
  ++count;
}

HeapDigest HeapAllocator::digestWith(const HeapOperation &operation) const {
  HeapDigest digest = digest_;
  digest.note(operation);
  return digest;
}

/// Describes heap call `index` of a rank; none if it has left the window.
static std::optional<std::string> describe(const HeapDigest &digest,
                                           uint64_t index) {
  if (index >= digest.count)
    return std::string("stopped after " + std::to_string(digest.count) +
                       " calls");
  if (digest.count - index > HeapDigest::window)
    return std::nullopt;
  const HeapOperation &operation = digest.last[index % HeapDigest::window];
  if (operation.kind == HeapOperation::release)
    return formatString("freed the block at offset %llu",
                        number(operation.value));
  return formatString("allocated %llu bytes (alignment %u)",
                      number(operation.value), operation.alignment);
}

Status iris::rt::compareDigests(const std::vector<HeapDigest> &digests) {
  bool equal = true;
  uint64_t longest = 0;
  for (const HeapDigest &digest : digests) {
    equal = equal && digest.hash == digests[0].hash &&
            digest.count == digests[0].count;
    longest = std::max(longest, digest.count);
  }
  if (equal)
    return Status::success();

  // Find the first call in the window in which the ranks differ.
  uint64_t from =
      longest > HeapDigest::window ? longest - HeapDigest::window : 0;
  for (uint64_t index = from; index < longest; ++index) {
    // Group the ranks by their action.
    std::map<std::string, std::string> ranksByAction;
    bool known = true;
    for (size_t rank = 0; rank < digests.size() && known; ++rank) {
      std::optional<std::string> action = describe(digests[rank], index);
      known = action.has_value();
      if (!known)
        break;
      std::string &ranks = ranksByAction[*action];
      ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    }
    if (!known || ranksByAction.size() < 2)
      continue;
    std::string text;
    for (const auto &[action, ranks] : ranksByAction)
      text += (text.empty() ? "rank " : "; rank ") + ranks + " " + action;
    return makeStatus(StatusCode::failedPrecondition,
                      "the ranks used the symmetric heap differently; heap "
                      "call %llu: %s",
                      number(index + 1), text.c_str());
  }
  std::string counts;
  for (size_t rank = 0; rank < digests.size(); ++rank)
    counts +=
        (rank == 0 ? "" : ", ") +
        formatString("rank %zu made %llu", rank, number(digests[rank].count));
  return makeStatus(StatusCode::failedPrecondition,
                    "the ranks used the symmetric heap differently, more than "
                    "%u calls ago; heap calls: %s",
                    HeapDigest::window, counts.c_str());
}
