// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SymmetricHeap.cpp - The symmetric heap of one rank -----------------===//
#include "core/SymmetricHeap.h"

#include "core/Align.h"
#include "core/Contribution.h"

#include <algorithm>
#include <cstring>

using namespace iris::rt;

/// A heap that cannot grow is allocated as a whole, so its default is small.
static constexpr uint64_t defaultShareableBytes = uint64_t(1) << 30;
/// A multiple of every device's huge page size.
static constexpr uint64_t heapAlignment = 2 << 20;
/// Strides of tensor maps are less than this.
static constexpr uint64_t maxStride = uint64_t(1) << 40;
/// Imports on the host are of memory of MemoryPool only.
static constexpr uint64_t maxHostImportBytes = uint64_t(4) << 30;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

namespace {
/// A rank's properties, exchanged before any memory is mapped.
struct Terms {
  uint64_t bytes;
  uint64_t granularity;
  uint64_t canPlace;
  uint64_t explicitBytes;
  uint64_t chunkBytes;
  uint64_t importBytes;
};
static_assert(sizeof(HeapDigest) <= maxContribution, "a digest is one message");
} // namespace

Expected<std::unique_ptr<SymmetricHeap>>
SymmetricHeap::create(Backend &backend, Bootstrap &bootstrap,
                      const HeapOptions &options) {
  bool canPlace = backend.info().canPlaceMappings;
  Terms mine = {options.bytes,      canPlace ? backend.granularity() : 1,
                canPlace,           options.bytes,
                options.chunkBytes, 0};
  if (mine.bytes == 0)
    mine.bytes = canPlace ? std::max(backend.info().memoryBytes, heapAlignment)
                          : defaultShareableBytes;
  if (canPlace)
    mine.importBytes = options.importBytes.value_or(backend.info().memoryBytes);
  IRISRT_ASSIGN_OR_RETURN(auto contributions,
                          bootstrap.allGather(CollectiveTag::create,
                                              toContribution(mine),
                                              options.limit));
  Terms agreed = mine;
  for (uint32_t rank = 0; rank < bootstrap.numRanks(); ++rank) {
    IRISRT_ASSIGN_OR_RETURN(Terms peer,
                            fromContribution<Terms>(contributions[rank], rank));
    if (peer.explicitBytes != mine.explicitBytes)
      return makeStatus(StatusCode::invalidArgument,
                        "rank %u requests a heap of %llu bytes, rank %u one of "
                        "%llu (0: the default)",
                        rank, (unsigned long long)peer.explicitBytes,
                        bootstrap.rank(),
                        (unsigned long long)mine.explicitBytes);
    if (peer.canPlace != mine.canPlace)
      return makeStatus(StatusCode::failedPrecondition,
                        "rank %u and rank %u differ in whether their devices "
                        "can place mappings",
                        rank, bootstrap.rank());
    agreed.bytes = std::min(agreed.bytes, peer.bytes);
    agreed.granularity = std::max(agreed.granularity, peer.granularity);
    agreed.chunkBytes = std::max(agreed.chunkBytes, peer.chunkBytes);
    agreed.importBytes = std::min(agreed.importBytes, peer.importBytes);
  }
  uint64_t unit =
      std::max<uint64_t>(agreed.granularity, HeapAllocator::minAlignment);
  // Known machines have address spaces of 47 bits.
  if (agreed.bytes > (uint64_t(1) << 46) / bootstrap.numRanks())
    return makeStatus(StatusCode::invalidArgument,
                      "%u heaps of %llu bytes do not fit an address space",
                      bootstrap.numRanks(), (unsigned long long)agreed.bytes);
  std::unique_ptr<SymmetricHeap> heap(
      new SymmetricHeap(backend, bootstrap, options, agreed.granularity,
                        alignTo(agreed.bytes, unit)));
  heap->options_.chunkBytes = agreed.chunkBytes;
  if (!options.importBytes && backend.info().memoryKind == IRISRT_MEMORY_HOST)
    agreed.importBytes =
        std::min({agreed.importBytes, agreed.bytes, maxHostImportBytes});
  IRISRT_ASSIGN_OR_RETURN(heap->stream_, backend.createStream());
  IRISRT_RETURN_IF_ERROR(canPlace ? heap->reserve(agreed.importBytes)
                                  : heap->share());
  return heap;
}

SymmetricHeap::SymmetricHeap(Backend &backend, Bootstrap &bootstrap,
                             const HeapOptions &options, uint64_t granularity,
                             uint64_t bytes)
    : backend_(backend), bootstrap_(bootstrap), options_(options),
      granularity_(granularity), log_(bootstrap.rank(), bootstrap.numRanks()),
      allocator_(bytes), bases_(bootstrap.numRanks()) {}

/// Reserves addresses for the allocations of all ranks, and for their imports
/// if there are enough addresses.
Status SymmetricHeap::reserve(uint64_t importBytes) {
  const uint64_t unit = std::max(heapAlignment, granularity_);
  const uint64_t heapStride = alignTo(allocator_.capacity(), unit);
  // Allocations may have a larger stride, where no tensor map is used.
  importBytes = heapStride < maxStride - unit
                    ? std::min(importBytes, maxStride - unit - heapStride)
                    : 0;
  importBytes = importBytes / unit * unit;
  stride_ = heapStride + importBytes;
  Expected<uint64_t> reserved =
      backend_.reserve(stride_ * bootstrap_.numRanks(), unit);
  if (!reserved.ok() && importBytes != 0 &&
      reserved.status().code() != StatusCode::unavailable) {
    log_.info("no memory of the program can be imported: %s",
              reserved.status().message().c_str());
    stride_ = heapStride;
    reserved = backend_.reserve(stride_ * bootstrap_.numRanks(), unit);
  }
  // A smaller heap does not help if the device has failed.
  if (reserved.status().code() == StatusCode::unavailable)
    return reserved.status();
  if (!reserved.ok())
    return makeStatus(reserved.status().code(),
                      "%s; every rank maps the heaps of %u ranks, %llu bytes "
                      "each: reduce them with IRIS_HEAP_SIZE "
                      "(WorldOptions::heapBytes, iris-run --heap), or raise "
                      "the limit on address space (ulimit -v)",
                      reserved.status().message().c_str(),
                      bootstrap_.numRanks(),
                      static_cast<unsigned long long>(stride_));
  reservation_ = *reserved;
  imports_ = ImportTable(heapStride, stride_);
  for (uint32_t rank = 0; rank < bootstrap_.numRanks(); ++rank)
    bases_[rank] = reservation_ + rank * stride_;
  IRISRT_RETURN_IF_ERROR(uploadTable());
  return grow(1, allocator_.digest());
}

/// The fallback: one allocation per rank, at any address.
Status SymmetricHeap::share() {
  uint64_t bytes = allocator_.capacity();
  IRISRT_ASSIGN_OR_RETURN(shareable_, backend_.allocateShareable(bytes));
  if (!backend_.info().memoryStartsZero)
    IRISRT_RETURN_IF_ERROR(backend_.zero(stream_, shareable_, bytes));
  IRISRT_RETURN_IF_ERROR(backend_.synchronize(stream_, options_.limit));
  IRISRT_ASSIGN_OR_RETURN(IpcHandle handle, backend_.shareMemory(shareable_));
  IRISRT_ASSIGN_OR_RETURN(auto contributions,
                          bootstrap_.allGather(CollectiveTag::create,
                                               toContribution(handle),
                                               options_.limit));
  for (uint32_t rank = 0; rank < bootstrap_.numRanks(); ++rank) {
    if (rank == bootstrap_.rank()) {
      bases_[rank] = shareable_;
      continue;
    }
    IRISRT_ASSIGN_OR_RETURN(
        IpcHandle peer, fromContribution<IpcHandle>(contributions[rank], rank));
    Expected<uint64_t> address = backend_.openMemory(peer);
    if (!address.ok())
      return address.status().withContext(
          formatString("cannot map the heap of rank %u", rank));
    bases_[rank] = *address;
    opened_.push_back(*address);
  }
  IRISRT_RETURN_IF_ERROR(uploadTable());
  allocator_.addMapped(bytes);
  return bootstrap_.barrier(CollectiveTag::create, options_.limit);
}

Status SymmetricHeap::uploadTable() {
  uint64_t bytes = bases_.size() * sizeof(uint64_t);
  IRISRT_ASSIGN_OR_RETURN(table_, backend_.allocate(bytes));
  return backend_.writeNow(stream_, table_, bases_.data(), bytes,
                           options_.limit);
}

SymmetricHeap::~SymmetricHeap() {
  const char *why = "a destructor cannot return an error";
  for (const Mapped &mapping : mappings_)
    backend_.unmap(mapping.address, mapping.bytes).ignore(why);
  for (const auto &[offset, mappings] : importMappings_)
    unmapAll(mappings).ignore(why);
  if (reservation_ != 0)
    backend_.unreserve(reservation_, stride_ * bootstrap_.numRanks())
        .ignore(why);
  for (uint64_t address : opened_)
    backend_.closeMemory(address).ignore(why);
  if (shareable_ != 0)
    backend_.freeShareable(shareable_).ignore(why);
  if (table_ != 0)
    backend_.free(table_).ignore(why);
  if (stream_.valid())
    backend_.destroyStream(stream_).ignore(why);
}

//===----------------------------------------------------------------------===//
// Growth
//===----------------------------------------------------------------------===//

Status SymmetricHeap::mapChunk(ChunkHandle chunk, uint32_t rank,
                               uint64_t offset, uint64_t bytes) {
  uint64_t address = bases_[rank] + offset;
  Status status = backend_.map(chunk, address, bytes);
  if (status.ok())
    mappings_.push_back({address, bytes});
  // The mapping keeps the memory alive without the handle.
  Status released = backend_.releaseChunk(chunk);
  return status.ok() ? released : status;
}

/// Maps at least `bytes` more on every rank. `digest` includes the call that
/// needs them. The caller holds callMutex_, or no other thread knows the heap.
Status SymmetricHeap::grow(uint64_t bytes, const HeapDigest &digest) {
  uint64_t offset = allocator_.mapped();
  uint64_t size = alignTo(std::max(bytes, options_.chunkBytes), granularity_);
  size = std::min(size, allocator_.capacity() - offset);

  IRISRT_ASSIGN_OR_RETURN(ChunkHandle own, backend_.createChunk(size));
  Expected<UniqueFd> fd = backend_.exportChunk(own);
  if (!fd.ok()) {
    backend_.releaseChunk(own).ignore("the export's error is returned");
    return fd.status();
  }
  IRISRT_RETURN_IF_ERROR(
      mapChunk(own, bootstrap_.rank(), offset, size)
          .withContext("cannot map this rank's heap memory"));
  // Zero the memory before any peer can see it.
  if (!backend_.info().memoryStartsZero)
    IRISRT_RETURN_IF_ERROR(zeroOwn({{offset, size}}));

  IRISRT_ASSIGN_OR_RETURN(Bootstrap::FdResult result,
                          bootstrap_.exchangeFds(CollectiveTag::grow,
                                                 toContribution(digest),
                                                 fd->get(), options_.limit));
  IRISRT_RETURN_IF_ERROR(agree(result.contributions));
  for (uint32_t rank = 0; rank < bootstrap_.numRanks(); ++rank) {
    if (rank == bootstrap_.rank())
      continue;
    std::string context = formatString("cannot map the heap of rank %u", rank);
    Expected<ChunkHandle> chunk =
        backend_.importChunk(std::move(result.fds[rank]), size);
    if (!chunk.ok())
      return chunk.status().withContext(context);
    IRISRT_RETURN_IF_ERROR(
        mapChunk(*chunk, rank, offset, size).withContext(context));
  }
  // All ranks must have mapped the new memory before any of them uses it.
  IRISRT_RETURN_IF_ERROR(
      bootstrap_.barrier(CollectiveTag::grow, options_.limit));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    allocator_.addMapped(size);
  }
  log_.debug("heap grew by %llu to %llu bytes",
             static_cast<unsigned long long>(size),
             static_cast<unsigned long long>(offset + size));
  return Status::success();
}

Status SymmetricHeap::zeroOwn(const std::vector<HeapRange> &ranges) {
  for (const HeapRange &range : ranges)
    IRISRT_RETURN_IF_ERROR(
        backend_.zero(stream_, base() + range.offset, range.bytes));
  return backend_.synchronize(stream_, options_.limit);
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

Expected<uint64_t> SymmetricHeap::allocate(uint64_t bytes, uint64_t alignment,
                                           bool &isDiverged) {
  std::lock_guard<std::mutex> call(callMutex_);
  auto take = [&] {
    std::lock_guard<std::mutex> lock(mutex_);
    return allocator_.allocate(bytes, alignment);
  };
  isDiverged = false;
  IRISRT_ASSIGN_OR_RETURN(std::optional<uint64_t> offset, take());
  if (!offset) {
    const size_t numMappings = mappings_.size();
    HeapOperation pending = {HeapOperation::allocate,
                             static_cast<uint32_t>(alignment), bytes};
    Status grown = grow(allocator_.missingBytes(bytes, alignment),
                        allocator_.digestWith(pending));
    if (!grown.ok()) {
      // Without peers, a heap that has mapped nothing is as it was.
      isDiverged = bootstrap_.numRanks() > 1 || mappings_.size() != numMappings;
      return grown;
    }
    IRISRT_ASSIGN_OR_RETURN(offset, take());
    if (!offset)
      return makeStatus(StatusCode::internal,
                        "the heap has grown, but the allocation still fails");
  }
  return base() + *offset;
}

Status SymmetricHeap::release(uint64_t address) {
  std::lock_guard<std::mutex> call(callMutex_);
  if (address < base() || address - base() >= allocator_.capacity())
    return makeStatus(StatusCode::invalidArgument,
                      "address 0x%llx is not on the symmetric heap",
                      (unsigned long long)address);
  std::lock_guard<std::mutex> lock(mutex_);
  return allocator_.release(address - base());
}

Status
SymmetricHeap::agree(const std::vector<Bootstrap::Bytes> &contributions) const {
  std::vector<HeapDigest> digests;
  for (uint32_t rank = 0; rank < bootstrap_.numRanks(); ++rank) {
    IRISRT_ASSIGN_OR_RETURN(HeapDigest digest, fromContribution<HeapDigest>(
                                                   contributions[rank], rank));
    digests.push_back(digest);
  }
  return compareDigests(digests);
}

Status SymmetricHeap::compare(CollectiveTag tag) {
  std::lock_guard<std::mutex> call(callMutex_);
  IRISRT_ASSIGN_OR_RETURN(
      auto contributions,
      bootstrap_.allGather(tag, toContribution(allocator_.digest()),
                           options_.limit));
  return agree(contributions);
}

Status SymmetricHeap::recycle() {
  std::lock_guard<std::mutex> call(callMutex_);
  std::vector<HeapRange> ranges = allocator_.quarantine();
  if (ranges.empty())
    return Status::success(); // on all ranks, as they made the same calls
  IRISRT_RETURN_IF_ERROR(zeroOwn(ranges));
  IRISRT_RETURN_IF_ERROR(
      bootstrap_.barrier(CollectiveTag::sync, options_.limit));
  std::lock_guard<std::mutex> lock(mutex_);
  allocator_.recycle();
  return Status::success();
}

bool SymmetricHeap::contains(uint64_t address, uint64_t bytes) const {
  std::optional<uint64_t> offset = offsetOf(address);
  if (!offset)
    return false;
  std::lock_guard<std::mutex> lock(mutex_);
  if (*offset >= allocator_.capacity())
    return imports_.findOffset(*offset, bytes) != nullptr;
  std::optional<HeapRange> block = allocator_.blockAt(*offset);
  return block && bytes <= block->bytes - (*offset - block->offset);
}

std::optional<uint64_t> SymmetricHeap::offsetOf(uint64_t address) const {
  const uint64_t end = std::max(allocator_.capacity(), stride_);
  if (address < base() || address - base() >= end)
    return std::nullopt;
  return address - base();
}

std::optional<HeapRange> SymmetricHeap::allocationOf(uint64_t address) const {
  std::optional<uint64_t> offset = offsetOf(address);
  if (!offset)
    return std::nullopt;
  std::lock_guard<std::mutex> lock(mutex_);
  if (const Import *import = imports_.findOffset(*offset, 1))
    return HeapRange{import->offset, import->bytes};
  return allocator_.allocationAt(*offset);
}

uint64_t SymmetricHeap::usedBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return allocator_.usedBytes();
}
