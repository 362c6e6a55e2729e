// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HeapImport.cpp - Memory of the program on the symmetric heap -------===//
//
// An import maps memory of the program a second time: that of rank r at base(r)
// plus an offset, which is the same on all ranks, on each of them.  So kernels
// reach it as they reach allocations of the heap.  The ranks agree twice: on
// what they will map, before any of them maps it, and on the outcome; after an
// error on one rank no rank keeps a mapping.
#include "core/SymmetricHeap.h"

#include "core/Align.h"
#include "core/Contribution.h"

#include <algorithm>
#include <cstring>

using namespace iris::rt;

/// Each piece is a descriptor on every rank, while the ranks exchange them.
static constexpr size_t maxPieces = 256;

/// What a rank sends before it maps anything.
struct iris::rt::ImportTerms {
  uint64_t bytes = 0;
  /// Bytes from the start of the first piece to the memory.
  uint64_t delta = 0;
  uint64_t numPieces = 0;
  uint64_t mappedBytes = 0;
  /// Of the sizes of the pieces.
  uint64_t hash = 0;
  uint64_t mappedOffset = 0;
};

namespace {
/// A rank's error, or none.
struct Outcome {
  int32_t code = 0;
  char reason[700] = {};

  explicit Outcome(const Status &status = Status::success())
      : code(static_cast<int32_t>(status.code())) {
    std::strncpy(reason, status.message().c_str(), sizeof(reason) - 1);
  }
};

struct ImportProposal {
  ImportTerms terms;
  Outcome outcome;
};
static_assert(sizeof(ImportProposal) <= maxContribution, "one message");
} // namespace

/// The pieces of memory that a rank imports: whole mappings of the program.
/// Gives their handles back.
struct SymmetricHeap::Pieces {
  struct Piece {
    RetainedChunk retained;
    UniqueFd fd;
  };
  explicit Pieces(Backend &backend) : backend(backend) {}
  ~Pieces() {
    for (const Piece &piece : pieces)
      if (piece.retained.chunk.valid())
        backend.releaseChunk(piece.retained.chunk)
            .ignore("a destructor cannot return an error");
  }
  Backend &backend;
  std::vector<Piece> pieces;
};

/// The error of the rank that comes first; the same on all ranks.
static Status firstError(const std::vector<Outcome> &outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (outcomes[rank].code == 0)
      continue;
    std::string reason(
        outcomes[rank].reason,
        ::strnlen(outcomes[rank].reason, sizeof(outcomes[rank].reason)));
    if (outcomes.size() > 1)
      reason = formatString("rank %zu: ", rank) + reason;
    return Status(static_cast<StatusCode>(outcomes[rank].code),
                  std::move(reason));
  }
  return Status::success();
}

static Status compareTerms(const std::vector<ImportTerms> &all) {
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const ImportTerms &first = all[0], &other = all[rank];
    if (other.bytes != first.bytes)
      return makeStatus(StatusCode::failedPrecondition,
                        "the ranks import memory of different sizes: rank 0 "
                        "%llu bytes, rank %zu %llu bytes",
                        static_cast<unsigned long long>(first.bytes), rank,
                        static_cast<unsigned long long>(other.bytes));
    if (other.delta != first.delta)
      return makeStatus(StatusCode::failedPrecondition,
                        "the memory starts %llu bytes into its allocation on "
                        "rank 0, and %llu on rank %zu; expected the same",
                        static_cast<unsigned long long>(first.delta),
                        static_cast<unsigned long long>(other.delta), rank);
    if (other.numPieces != first.numPieces || other.hash != first.hash)
      return makeStatus(StatusCode::failedPrecondition,
                        "the memory is in %llu allocations of %llu bytes on "
                        "rank 0, and in %llu of %llu bytes on rank %zu; "
                        "expected the same sizes",
                        static_cast<unsigned long long>(first.numPieces),
                        static_cast<unsigned long long>(first.mappedBytes),
                        static_cast<unsigned long long>(other.numPieces),
                        static_cast<unsigned long long>(other.mappedBytes),
                        rank);
    if (other.mappedOffset != first.mappedOffset)
      return makeStatus(StatusCode::failedPrecondition,
                        "rank 0 and rank %zu have released other imports; "
                        "expected the same calls of import and release",
                        rank);
  }
  return Status::success();
}

/// Fails if no memory, or not this one, can be imported.
Status SymmetricHeap::checkImport(uint64_t address, uint64_t bytes) const {
  if (bytes == 0 || address == 0 || address + bytes < address)
    return makeStatus(StatusCode::invalidArgument,
                      "cannot import %llu bytes at 0x%llx",
                      static_cast<unsigned long long>(bytes),
                      static_cast<unsigned long long>(address));
  if (stride_ == 0)
    return Status(StatusCode::unavailable,
                  "the device cannot map memory at a chosen address "
                  "(World::translation() is 'table'), so that memory of the "
                  "program cannot join the heap; allocate with "
                  "World::allocate");
  if (imports_.capacity() == 0)
    return Status(StatusCode::unavailable,
                  "no addresses are reserved for imports "
                  "(WorldOptions::importBytes, IRIS_IMPORT_SIZE)");
  const uint64_t end = reservation_ + stride_ * bootstrap_.numRanks();
  if (address < end && reservation_ < address + bytes)
    return makeStatus(StatusCode::invalidArgument,
                      "the memory at 0x%llx is already on the symmetric heap",
                      static_cast<unsigned long long>(address));
  std::lock_guard<std::mutex> lock(mutex_);
  if (const Import *other = imports_.findOverlap(address, bytes))
    return makeStatus(StatusCode::invalidArgument,
                      "%llu bytes at 0x%llx overlap memory that is imported "
                      "already, %llu bytes at 0x%llx",
                      static_cast<unsigned long long>(bytes),
                      static_cast<unsigned long long>(address),
                      static_cast<unsigned long long>(other->bytes),
                      static_cast<unsigned long long>(other->address));
  return Status::success();
}

/// Finds the pieces, and space for them.
Status SymmetricHeap::propose(uint64_t address, uint64_t bytes, Pieces &found,
                              ImportTerms &terms) const {
  IRISRT_RETURN_IF_ERROR(checkImport(address, bytes));
  terms.bytes = bytes;
  uint64_t at = address;
  while (at < address + bytes) {
    if (found.pieces.size() == maxPieces)
      return makeStatus(StatusCode::unavailable,
                        "%llu bytes at 0x%llx are in more than %zu "
                        "allocations; import fewer of them at once",
                        static_cast<unsigned long long>(bytes),
                        static_cast<unsigned long long>(address), maxPieces);
    IRISRT_ASSIGN_OR_RETURN(RetainedChunk chunk, backend_.retainChunk(at));
    found.pieces.push_back({chunk, UniqueFd()});
    if (at == address)
      terms.delta = address - chunk.address;
    else if (chunk.address != at)
      return makeStatus(StatusCode::internal,
                        "the allocation at 0x%llx starts at 0x%llx",
                        static_cast<unsigned long long>(at),
                        static_cast<unsigned long long>(chunk.address));
    if (chunk.bytes == 0 || chunk.bytes % granularity_ != 0)
      return makeStatus(StatusCode::invalidArgument,
                        "the allocation at 0x%llx has %llu bytes; expected a "
                        "multiple of %llu, the granularity of mappings",
                        static_cast<unsigned long long>(chunk.address),
                        static_cast<unsigned long long>(chunk.bytes),
                        static_cast<unsigned long long>(granularity_));
    IRISRT_ASSIGN_OR_RETURN(found.pieces.back().fd,
                            backend_.exportChunk(chunk.chunk));
    terms.hash = (terms.hash ^ chunk.bytes) * 0x9e3779b97f4a7c15ull;
    terms.mappedBytes += chunk.bytes;
    at = chunk.address + chunk.bytes;
  }
  terms.numPieces = found.pieces.size();
  std::lock_guard<std::mutex> lock(mutex_);
  std::optional<uint64_t> space = imports_.findSpace(terms.mappedBytes);
  if (!space)
    return makeStatus(StatusCode::outOfMemory,
                      "no addresses are left for an import of %llu bytes; %llu "
                      "are reserved in total (WorldOptions::importBytes, "
                      "IRIS_IMPORT_SIZE)",
                      static_cast<unsigned long long>(terms.mappedBytes),
                      static_cast<unsigned long long>(imports_.capacity()));
  terms.mappedOffset = *space;
  return Status::success();
}

/// Exchanges the pieces and maps those of all ranks. An error of this rank goes
/// to `mine`, and does not end the exchange, which peers wait for.
Status SymmetricHeap::mapPieces(Pieces &found, uint64_t offset,
                                std::vector<Mapped> &mappings, Status &mine) {
  auto mapAt = [&](ChunkHandle chunk, uint32_t rank, uint64_t bytes) {
    const uint64_t address = bases_[rank] + offset;
    Status status = backend_.map(chunk, address, bytes);
    if (status.ok())
      mappings.push_back({address, bytes});
    // The mapping keeps the memory alive without the handle.
    Status released = backend_.releaseChunk(chunk);
    return status.ok() ? released : status;
  };
  for (Pieces::Piece &piece : found.pieces) {
    const uint64_t bytes = piece.retained.bytes;
    IRISRT_ASSIGN_OR_RETURN(
        Bootstrap::FdResult result,
        bootstrap_.exchangeFds(CollectiveTag::import, toContribution(bytes),
                               piece.fd.get(), options_.limit));
    piece.fd = UniqueFd();
    for (uint32_t rank = 0; rank < bootstrap_.numRanks() && mine.ok(); ++rank) {
      if (rank == bootstrap_.rank()) {
        mine = mapAt(std::exchange(piece.retained.chunk, ChunkHandle()), rank,
                     bytes);
        continue;
      }
      Expected<ChunkHandle> chunk =
          backend_.importChunk(std::move(result.fds[rank]), bytes);
      mine = chunk.ok() ? mapAt(*chunk, rank, bytes) : chunk.status();
      if (!mine.ok())
        mine = mine.withContext(
            formatString("cannot map the memory of rank %u", rank));
    }
    offset += bytes;
  }
  return Status::success();
}

Status SymmetricHeap::unmapAll(const std::vector<Mapped> &mappings) {
  Status status;
  for (const Mapped &mapping : mappings) {
    Status unmapped = backend_.unmap(mapping.address, mapping.bytes);
    if (status.ok())
      status = unmapped;
  }
  return status;
}

Expected<uint64_t> SymmetricHeap::import(uint64_t address, uint64_t bytes,
                                         bool &isDiverged) {
  std::lock_guard<std::mutex> call(callMutex_);
  isDiverged = true; // the errors of communication
  Pieces found(backend_);
  ImportProposal mine;
  mine.outcome = Outcome(propose(address, bytes, found, mine.terms));
  IRISRT_ASSIGN_OR_RETURN(auto contributions,
                          bootstrap_.allGather(CollectiveTag::import,
                                               toContribution(mine),
                                               options_.limit));
  std::vector<Outcome> outcomes;
  std::vector<ImportTerms> terms;
  for (uint32_t rank = 0; rank < bootstrap_.numRanks(); ++rank) {
    IRISRT_ASSIGN_OR_RETURN(
        ImportProposal each,
        fromContribution<ImportProposal>(contributions[rank], rank));
    outcomes.push_back(each.outcome);
    terms.push_back(each.terms);
  }
  Status agreed = firstError(outcomes);
  if (agreed.ok())
    agreed = compareTerms(terms);
  if (!agreed.ok()) {
    isDiverged = false;
    return agreed;
  }

  std::vector<Mapped> mappings;
  Status mapped;
  Status exchanged =
      mapPieces(found, mine.terms.mappedOffset, mappings, mapped);
  std::vector<Bootstrap::Bytes> ends;
  if (exchanged.ok()) {
    // All ranks must have mapped the memory before any of them uses it.
    Expected<std::vector<Bootstrap::Bytes>> all = bootstrap_.allGather(
        CollectiveTag::import, toContribution(Outcome(mapped)), options_.limit);
    exchanged = all.status();
    if (all.ok())
      ends = all.take();
  }
  outcomes.clear();
  for (uint32_t rank = 0; rank < ends.size() && exchanged.ok(); ++rank) {
    Expected<Outcome> each = fromContribution<Outcome>(ends[rank], rank);
    exchanged = each.status();
    if (each.ok())
      outcomes.push_back(*each);
  }
  if (exchanged.ok()) {
    isDiverged = false;
    exchanged = firstError(outcomes);
  }
  if (!exchanged.ok()) {
    unmapAll(mappings).ignore("the first error is reported");
    return exchanged;
  }
  Import import;
  import.address = address;
  import.bytes = bytes;
  import.mappedOffset = mine.terms.mappedOffset;
  import.mappedBytes = mine.terms.mappedBytes;
  import.offset = import.mappedOffset + mine.terms.delta;
  std::lock_guard<std::mutex> lock(mutex_);
  imports_.add(import);
  importMappings_[import.mappedOffset] = std::move(mappings);
  hasImports_.store(true, std::memory_order_release);
  return base() + import.offset;
}

static Status notImported(uint64_t address) {
  return makeStatus(StatusCode::invalidArgument,
                    "0x%llx is not what World::import returned, or was "
                    "released",
                    static_cast<unsigned long long>(address));
}

Status SymmetricHeap::checkImported(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t offset = address - base();
  const Import *import =
      address < base() ? nullptr : imports_.findOffset(offset, 1);
  if (import && import->offset == offset)
    return Status::success();
  return notImported(address);
}

Status SymmetricHeap::releaseImport(uint64_t address) {
  std::lock_guard<std::mutex> call(callMutex_);
  std::vector<Mapped> mappings;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::optional<Import> removed;
    if (address >= base())
      removed = imports_.remove(address - base());
    if (!removed)
      return notImported(address);
    mappings = std::move(importMappings_[removed->mappedOffset]);
    importMappings_.erase(removed->mappedOffset);
    hasImports_.store(!imports_.isEmpty(), std::memory_order_release);
  }
  return unmapAll(mappings);
}

std::optional<uint64_t> SymmetricHeap::addressOf(uint64_t address,
                                                 uint64_t bytes) const {
  if (contains(address, bytes))
    return address;
  if (!hasImports_.load(std::memory_order_acquire))
    return std::nullopt;
  std::lock_guard<std::mutex> lock(mutex_);
  const Import *import = imports_.findAddress(address, bytes);
  if (!import)
    return std::nullopt;
  return base() + import->offset + (address - import->address);
}
