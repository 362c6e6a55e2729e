// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SymmetricHeap.h - The symmetric heap of one rank ---------*- C++ -*-===//
//
// The symmetric heap of one rank: its own memory and, at a fixed distance, that
// of all peers.
//
//   reservation:  | heap of rank 0 | heap of rank 1 | ... | heap of rank n-1 |
//                 ^ base(0)        ^ base(0) + stride
//
// Memory is mapped in chunks on demand, on all ranks together, so addresses
// never change and a context stays valid as long as the world. If mappings
// cannot be placed at fixed addresses, the whole heap is allocated at once and
// the peers' bases come from a table.
//
// Behind the allocations, each rank's heap has addresses at which memory of the
// program is mapped (HeapImport.cpp).
#ifndef IRIS_RT_CORE_SYMMETRICHEAP_H
#define IRIS_RT_CORE_SYMMETRICHEAP_H

#include "backends/Backend.h"
#include "bootstrap/Bootstrap.h"
#include "core/HeapAllocator.h"
#include "core/ImportTable.h"
#include "core/Log.h"

#include <atomic>

namespace iris::rt {

struct ImportTerms;

struct HeapOptions {
  /// Bytes of one rank's heap; 0: the device's memory (with placement) or
  /// 1 GiB (without).
  uint64_t bytes = 0;
  /// The minimum number of bytes mapped at once.
  uint64_t chunkBytes = 64 << 20;
  /// Bytes of addresses for one rank's imports; default: the device's memory,
  /// and on the host what the heap has, at most 4 GiB.
  std::optional<uint64_t> importBytes;
  /// The time limit of every collective step.
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
};

class SymmetricHeap {
public:
  /// Collective.
  static Expected<std::unique_ptr<SymmetricHeap>>
  create(Backend &backend, Bootstrap &bootstrap, const HeapOptions &options);
  ~SymmetricHeap();

  /// Allocates zeroed memory at the same offset on every rank. All ranks make
  /// the same calls in the same order. Collective only when the heap must grow;
  /// other threads may launch and query the heap meanwhile. Sets `isDiverged`
  /// if growth failed halfway, so that the ranks' heaps may differ. A full heap
  /// is the same error on all ranks; a full device of the only rank changes
  /// nothing.
  Expected<uint64_t> allocate(uint64_t bytes, uint64_t alignment,
                              bool &isDiverged);
  /// Releases memory, which is reused after the next recycle().
  Status release(uint64_t address);

  /// Succeeds if all ranks made the same calls. Collective.
  Status compare(CollectiveTag tag);
  /// Zeroes released memory and makes it available again. Collective; all
  /// earlier work of all ranks must be done.
  Status recycle();

  /// Maps memory of the program at the same offset on every rank; returns its
  /// address on this rank's heap. Collective; the same error on all ranks.
  /// Sets `isDiverged` if the communication failed, so that a peer may have
  /// another result.
  Expected<uint64_t> import(uint64_t address, uint64_t bytes, bool &isDiverged);
  /// Fails unless import() returned the address.
  Status checkImported(uint64_t address) const;
  /// Unmaps what import() returned, on this rank alone; no work of this rank
  /// may use it. All ranks make the same calls in the same order.
  Status releaseImport(uint64_t address);
  /// The heap's address of memory that is on the heap or imported; none if it
  /// is neither.
  std::optional<uint64_t> addressOf(uint64_t address, uint64_t bytes) const;

  /// Whether the bytes are within one allocation or import, at addresses of
  /// this rank's heap.
  bool contains(uint64_t address, uint64_t bytes) const;

  /// The heap offset of an address; none outside of this rank's heap.
  std::optional<uint64_t> offsetOf(uint64_t address) const;
  /// The allocation that contains `address` or whose padding does, or the
  /// import.
  std::optional<HeapRange> allocationOf(uint64_t address) const;

  uint64_t base() const { return bases_[bootstrap_.rank()]; }
  uint64_t baseOf(uint32_t rank) const { return bases_[rank]; }
  /// 0 if address translation uses the table.
  uint64_t stride() const { return stride_; }
  uint64_t table() const { return table_; }
  uint64_t bytes() const { return allocator_.capacity(); }
  uint64_t usedBytes() const;

private:
  SymmetricHeap(Backend &backend, Bootstrap &bootstrap,
                const HeapOptions &options, uint64_t granularity,
                uint64_t bytes);

  struct Pieces;
  struct Mapped {
    uint64_t address;
    uint64_t bytes;
  };

  Status reserve(uint64_t importBytes);
  Status share();
  Status grow(uint64_t bytes, const HeapDigest &digest);
  Status mapChunk(ChunkHandle chunk, uint32_t rank, uint64_t offset,
                  uint64_t bytes);
  Status checkImport(uint64_t address, uint64_t bytes) const;
  Status propose(uint64_t address, uint64_t bytes, Pieces &found,
                 ImportTerms &terms) const;
  Status mapPieces(Pieces &found, uint64_t offset,
                   std::vector<Mapped> &mappings, Status &mine);
  Status unmapAll(const std::vector<Mapped> &mappings);
  Status uploadTable();
  Status zeroOwn(const std::vector<HeapRange> &ranges);
  Status agree(const std::vector<Bootstrap::Bytes> &contributions) const;

  Backend &backend_;
  Bootstrap &bootstrap_;
  HeapOptions options_;
  /// The mapping granularity: the largest of all ranks' devices, a power of
  /// two.
  uint64_t granularity_;
  Log log_;
  /// A private stream, so that zeroing does not queue behind a kernel, which
  /// may wait for a rank that is in the same collective call.
  StreamHandle stream_;

  /// Serializes calls that change the heap or compare it across ranks,
  /// including their communication. Taken before mutex_.
  std::mutex callMutex_;
  /// Guards allocator_ and the imports, which change only with both mutexes
  /// held. Never held during communication, because launches take it.
  mutable std::mutex mutex_;
  HeapAllocator allocator_;
  ImportTable imports_;
  std::map<uint64_t, std::vector<Mapped>> importMappings_; // by mappedOffset
  /// Whether there are imports, for calls that ask without the mutex.
  std::atomic<bool> hasImports_{false};
  std::vector<uint64_t> bases_;
  uint64_t stride_ = 0;
  uint64_t table_ = 0;
  uint64_t reservation_ = 0;
  uint64_t shareable_ = 0;
  std::vector<Mapped> mappings_;
  std::vector<uint64_t> opened_;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_SYMMETRICHEAP_H
