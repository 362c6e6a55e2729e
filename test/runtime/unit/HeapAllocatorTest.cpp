// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/HeapAllocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace iris::rt;

/// An allocator with all of its capacity mapped.
static HeapAllocator mappedHeap(uint64_t bytes) {
  HeapAllocator heap(bytes);
  heap.addMapped(bytes);
  return heap;
}

static uint64_t mustAllocate(HeapAllocator &heap, uint64_t bytes,
                             uint64_t alignment = 1) {
  auto offset = heap.allocate(bytes, alignment);
  EXPECT_TRUE(offset.ok()) << offset.status().message();
  EXPECT_TRUE(offset.ok() && offset->has_value());
  return offset.ok() && *offset ? **offset : ~0ull;
}

TEST(HeapAllocator, BlocksAreApartAndAligned) {
  HeapAllocator heap = mappedHeap(1 << 20);
  uint64_t a = mustAllocate(heap, 1);
  uint64_t b = mustAllocate(heap, 0);
  uint64_t c = mustAllocate(heap, 257);
  uint64_t d = mustAllocate(heap, 1, 4096);
  EXPECT_EQ(a, 0u);
  EXPECT_EQ(b, 256u);
  EXPECT_EQ(c, 512u);
  EXPECT_EQ(d % 4096, 0u);
}

TEST(HeapAllocator, FreedBlocksWaitInQuarantine) {
  HeapAllocator heap = mappedHeap(1024);
  uint64_t a = mustAllocate(heap, 512);
  uint64_t b = mustAllocate(heap, 512);
  EXPECT_TRUE(heap.release(a).ok());
  EXPECT_EQ(heap.allocate(512, 1).status().code(), StatusCode::outOfMemory);
  EXPECT_TRUE(heap.release(b).ok());
  ASSERT_EQ(heap.quarantine().size(), 1u); // merged
  EXPECT_EQ(heap.quarantine()[0].bytes, 1024u);
  heap.recycle();
  EXPECT_EQ(mustAllocate(heap, 1024), 0u); // coalesced
}

TEST(HeapAllocator, RefusesWrongFrees) {
  HeapAllocator heap = mappedHeap(4096);
  uint64_t a = mustAllocate(heap, 512);
  EXPECT_EQ(heap.release(a + 256).code(), StatusCode::invalidArgument);
  EXPECT_TRUE(heap.release(a).ok());
  Status twice = heap.release(a);
  EXPECT_EQ(twice.code(), StatusCode::invalidArgument);
  EXPECT_NE(twice.message().find("already freed"), std::string::npos);
}

TEST(HeapAllocator, SaysHowMuchIsMissing) {
  HeapAllocator heap(1 << 20);
  auto none = heap.allocate(1000, 1);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  EXPECT_EQ(heap.missingBytes(1000, 1), 1024u);
  heap.addMapped(512);
  EXPECT_EQ(heap.missingBytes(1000, 1), 512u); // continues the free tail
  heap.addMapped(512);
  EXPECT_EQ(mustAllocate(heap, 1000), 0u);
}

TEST(HeapAllocator, FullHeapSaysSizes) {
  HeapAllocator heap(1 << 20);
  Status full = heap.allocate((1 << 20) + 1, 1).status();
  EXPECT_EQ(full.code(), StatusCode::outOfMemory);
  EXPECT_NE(full.message().find("1048577 bytes requested"), std::string::npos);
  EXPECT_NE(full.message().find("largest free block has 1048576"),
            std::string::npos);
  EXPECT_EQ(heap.allocate(~0ull, 1).status().code(), StatusCode::outOfMemory);
  EXPECT_EQ(heap.allocate(1, 1ull << 63).status().code(),
            StatusCode::outOfMemory);
  EXPECT_EQ(heap.allocate(1, 3).status().code(), StatusCode::invalidArgument);
  EXPECT_EQ(heap.allocate(1, 0).status().code(), StatusCode::invalidArgument);
}

TEST(HeapAllocator, RandomUseKeepsInvariants) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    HeapAllocator heap(4 << 20);
    HeapAllocator twin(4 << 20);
    std::map<uint64_t, uint64_t> live, quarantined;
    auto overlaps = [](const std::map<uint64_t, uint64_t> &blocks,
                       uint64_t offset, uint64_t bytes) {
      auto next = blocks.lower_bound(offset);
      if (next != blocks.end() && next->first < offset + bytes)
        return true;
      return next != blocks.begin() &&
             std::prev(next)->first + std::prev(next)->second > offset;
    };
    for (int step = 0; step < 5000; ++step) {
      unsigned choice = random() % 10;
      if (choice < 6) {
        uint64_t bytes = random() % 30000;
        uint64_t alignment = uint64_t(1) << (random() % 13);
        auto offset = heap.allocate(bytes, alignment);
        auto same = twin.allocate(bytes, alignment);
        ASSERT_EQ(offset.ok(), same.ok());
        if (!offset.ok())
          continue; // full
        ASSERT_EQ(*offset, *same);
        if (!*offset) {
          uint64_t missing = heap.missingBytes(bytes, alignment);
          ASSERT_GT(missing, 0u);
          ASSERT_LE(missing, heap.capacity() - heap.mapped());
          uint64_t grow = std::min(heap.capacity() - heap.mapped(),
                                   std::max<uint64_t>(missing, 65536));
          heap.addMapped(grow);
          twin.addMapped(grow);
          offset = heap.allocate(bytes, alignment);
          same = twin.allocate(bytes, alignment);
          ASSERT_TRUE(offset.ok() && offset->has_value());
          ASSERT_EQ(*offset, *same);
        }
        uint64_t at = **offset;
        ASSERT_EQ(at % std::max<uint64_t>(alignment, 256), 0u);
        ASSERT_LE(at + bytes, heap.mapped());
        ASSERT_FALSE(overlaps(live, at, std::max<uint64_t>(bytes, 256)));
        ASSERT_FALSE(overlaps(quarantined, at, std::max<uint64_t>(bytes, 256)));
        live[at] = std::max<uint64_t>((bytes + 255) / 256 * 256, 256);
      } else if (choice < 9 && !live.empty()) {
        auto victim = std::next(live.begin(), random() % live.size());
        ASSERT_TRUE(heap.release(victim->first).ok());
        ASSERT_TRUE(twin.release(victim->first).ok());
        quarantined.insert(*victim);
        live.erase(victim);
      } else if (choice == 9) {
        heap.recycle();
        twin.recycle();
        quarantined.clear();
      }
    }
    ASSERT_TRUE(compareDigests({heap.digest(), twin.digest()}).ok());
    for (const auto &[offset, bytes] : live)
      ASSERT_TRUE(heap.release(offset).ok());
    heap.recycle();
    EXPECT_EQ(heap.usedBytes(), 0u);
    // All memory is one block again.
    EXPECT_EQ(mustAllocate(heap, heap.mapped()), 0u);
  }
}

TEST(HeapDigest, NamesRanksAndActions) {
  HeapAllocator one = mappedHeap(1 << 20), two = mappedHeap(1 << 20);
  mustAllocate(one, 100);
  mustAllocate(two, 100);
  EXPECT_TRUE(compareDigests({one.digest(), two.digest()}).ok());
  mustAllocate(one, 1000);
  Status shorter = compareDigests({one.digest(), two.digest(), one.digest()});
  EXPECT_EQ(shorter.code(), StatusCode::failedPrecondition);
  EXPECT_NE(shorter.message().find("heap call 2"), std::string::npos)
      << shorter.message();
  mustAllocate(two, 2000);
  Status other = compareDigests({one.digest(), two.digest(), one.digest()});
  EXPECT_NE(other.message().find("rank 0, 2 allocated 1000 bytes"),
            std::string::npos)
      << other.message();
  EXPECT_NE(other.message().find("rank 1 allocated 2000 bytes"),
            std::string::npos);
}

TEST(HeapDigest, FindsOldDifferences) {
  HeapAllocator one = mappedHeap(1 << 20), two = mappedHeap(1 << 20);
  mustAllocate(one, 100);
  mustAllocate(two, 200);
  for (int i = 0; i < 100; ++i) {
    mustAllocate(one, 256);
    mustAllocate(two, 256);
  }
  Status status = compareDigests({one.digest(), two.digest()});
  EXPECT_EQ(status.code(), StatusCode::failedPrecondition);
  EXPECT_NE(status.message().find("more than 32 calls ago"), std::string::npos)
      << status.message();
}
