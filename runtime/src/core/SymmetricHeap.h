// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symmetric heap of one rank: its own memory, and that of all peers mapped
// beside it.
//
//   reservation:  | heap of rank 0 | heap of rank 1 | ... | heap of rank n-1 |
//                 ^ base(0)        ^ base(0) + stride
//
// Memory is mapped in chunks as it is needed, on all ranks together, so
// addresses never move and a context stays valid for the world's life.  Where
// mappings cannot be placed, the whole heap is allocated at once and peers'
// bases come from a table.
#ifndef IRIS_RT_CORE_SYMMETRICHEAP_H
#define IRIS_RT_CORE_SYMMETRICHEAP_H

#include "backends/Backend.h"
#include "bootstrap/Bootstrap.h"
#include "core/HeapAllocator.h"
#include "core/Log.h"

namespace iris::rt {

struct HeapOptions {
  /// Bytes of one rank's heap; 0: the device's memory (with placement) or
  /// 1 GiB (without).
  uint64_t bytes = 0;
  /// Least number of bytes mapped at once.
  uint64_t chunkBytes = 64 << 20;
  /// Bound of every collective step.
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
};

class SymmetricHeap {
public:
  /// Collective.
  static Expected<std::unique_ptr<SymmetricHeap>>
  create(Backend &backend, Bootstrap &bootstrap, const HeapOptions &options);
  ~SymmetricHeap();

  /// Zeroed memory, at the same offset on every rank.  All ranks make the same
  /// calls in the same order; it is collective only when memory runs short.
  /// Meanwhile other threads may launch and ask what the heap contains.
  /// `atOdds` becomes true when it failed half way, so that the ranks' heaps
  /// may differ now; a full heap is the same on all of them.
  Expected<uint64_t> allocate(uint64_t bytes, uint64_t alignment, bool &atOdds);
  /// Gives memory back; it is reused after the next recycle().
  Status release(uint64_t address);

  /// Success when all ranks made the same calls.  Collective.
  Status compare(CollectiveTag tag);
  /// Zeroes what was freed and makes it available again.  Collective; every
  /// rank's earlier work must be done.
  Status recycle();

  /// Whether the bytes lie within one allocation of the own heap.
  bool contains(uint64_t address, uint64_t bytes) const;

  /// The heap offset of the allocation that holds `address`.
  std::optional<uint64_t> allocationOf(uint64_t address) const;

  uint64_t base() const { return bases_[bootstrap_.rank()]; }
  uint64_t baseOf(uint32_t rank) const { return bases_[rank]; }
  /// 0 where translation goes through the table.
  uint64_t stride() const { return stride_; }
  uint64_t table() const { return table_; }
  uint64_t bytes() const { return allocator_.capacity(); }
  uint64_t usedBytes() const;

private:
  SymmetricHeap(Backend &backend, Bootstrap &bootstrap,
                const HeapOptions &options, uint64_t granularity,
                uint64_t bytes);

  Status reserve();
  Status share();
  Status grow(uint64_t bytes, const HeapDigest &digest);
  Status mapChunk(ChunkHandle chunk, uint32_t rank, uint64_t offset,
                  uint64_t bytes);
  Status uploadTable();
  Status zeroOwn(const std::vector<HeapRange> &ranges);
  Status agree(const std::vector<Bootstrap::Bytes> &parts) const;

  Backend &backend_;
  Bootstrap &bootstrap_;
  HeapOptions options_;
  /// Of mappings: the largest of all ranks' devices, in powers of two.
  uint64_t granularity_;
  Log log_;
  /// Of the heap's own, so that no kernel is before what it zeroes: one may
  /// wait for a rank that is in the same call as this one.
  StreamHandle stream_;

  /// Held for all of a call that changes the heap or compares it with those of
  /// other ranks, also while ranks wait for each other: such calls come one
  /// after another.  Taken before mutex_.
  std::mutex callMutex_;
  /// Guards allocator_, which changes with both held and is never locked while
  /// ranks wait for each other: launches look there.
  mutable std::mutex mutex_;
  HeapAllocator allocator_;
  std::vector<uint64_t> bases_;
  uint64_t stride_ = 0;
  uint64_t table_ = 0;
  uint64_t reservation_ = 0;
  uint64_t shareable_ = 0;
  struct Mapped {
    uint64_t address;
    uint64_t bytes;
  };
  std::vector<Mapped> mappings_;
  std::vector<uint64_t> opened_;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_SYMMETRICHEAP_H
