// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collectives.h - What is known of each collective ---------*- C++ -*-===//
//
// The tables of Collectives.def, for the compiler, the runtime and the tools.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_COLLECTIVES_H
#define IRIS_PLAN_COLLECTIVES_H

#include "iris/Plan/VariantRows.h"
#include "iris/Plan/Workspace.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace irisplan {

enum class CollectiveKind : int32_t {
#define IRIS_COLLECTIVE(Name, ...) Name,
#include "iris/Plan/Collectives.def"
};

/// The arguments of a call in addition to the buffers, their number of elements
/// and their type.
enum class Signature : uint8_t {
  move,         ///< nothing
  reduce,       ///< a reduction
  rootedMove,   ///< a root
  rootedReduce, ///< a reduction and a root
  send,         ///< an input alone, and a peer
  recv,         ///< an output alone, and a peer
  barrier,      ///< no buffers
  gatherV,      ///< counts and offsets of the output's chunks
  exchangeV,    ///< the same of the input's chunks as well
};

/// The number of chunks of a buffer: one for each member of the group (`all`),
/// one, or none if there is no such buffer.
enum class Chunks : uint8_t { none, one, all };

/// Only the root has the buffer, or all members.
inline constexpr bool onlyOnRoot = true, onAllMembers = false;

struct Buffer {
  Chunks chunks = Chunks::none;
  bool isOnlyOnRoot = false;
  /// Tables in device memory have the count and the offset of each chunk.
  bool hasCounts = false;
};
/// For `Buffer::hasCounts`.
inline constexpr bool withCounts = true;

/// Traits of a variant.
enum Trait : uint32_t {
  /// On the symmetric heap, the output may be the input, as the operation
  /// defines it. Staged forms always work in place, unless there are counts.
  inPlace = 1 << 0,
  /// Data and flag travel in one store.
  packets = 1 << 1,
  /// Tiles go to slots in the receivers' workspaces.
  slots = 1 << 2,
  /// No peer accesses the buffers, so they need not be on the heap: the staged
  /// form is the same kernel.
  anywhere = 1 << 3,
  /// There is no staged form.
  heapOnly = 1 << 4,
  /// The copy engines move the data between two barriers: there is no kernel.
  copyEngine = 1 << 5,
  /// Sums are rounded at each addition, and the order of additions differs
  /// between runs.
  anyOrder = 1 << 6,
  /// The selector never chooses it for buffers on the heap.
  onlyByName = 1 << 7,
  /// A tile is reduced by its owner, which sends the result to all members.
  twoShot = 1 << 8,
  /// Inputs, but not results, go to slots in the receivers' workspaces.
  inputSlots = 1 << 9,
  /// Each program of a launch has two slots of its own in the scratch.
  programSlots = 1 << 10,
  /// Runs any sends and receives at once, in slots and in packets: the same
  /// kernel for both directions, whose arguments Transfers.h has.
  grouped = 1 << 11,
};

struct Variant {
  std::string_view name;
  uint32_t traits = 0;
  CollectiveKind kind = CollectiveKind::AllGather;

  constexpr bool has(Trait trait) const { return (traits & trait) != 0; }
  constexpr bool hasKernel() const { return !has(copyEngine); }
  constexpr bool hasStagedForm() const { return !has(heapOnly); }
};

/// The variants of all collectives, in the order of Collectives.def.
inline constexpr Variant variants[] = {
#define IRIS_VARIANT(Name, variant, Generator, Staged, Terms, traits)          \
  {variant, traits, CollectiveKind::Name},
#include "iris/Plan/Collectives.def"
};

/// The index of one of `variants`, for tables with an entry for each of them.
constexpr size_t getIndex(const Variant &variant) {
  return static_cast<size_t>(&variant - variants);
}

struct Collective {
  /// The maximum number of variants.
  static constexpr int maxVariants = 10;

  CollectiveKind kind;
  Signature signature;
  /// "all_gather".
  std::string_view name;
  /// The op in MLIR that calls it, "gather_to"; "" if there is none.
  std::string_view mnemonic;
  Buffer in, out;
  /// The first one is the default.
  RowsOf<Variant> variants;

  constexpr const Variant *begin() const { return variants.first; }
  constexpr const Variant *end() const { return variants.last; }

  /// Whether elements are combined.
  constexpr bool reduces() const {
    return signature == Signature::reduce ||
           signature == Signature::rootedReduce;
  }
  /// Whether a member is the root.
  constexpr bool hasRoot() const {
    return signature == Signature::rootedMove ||
           signature == Signature::rootedReduce;
  }
  /// Whether two members alone call it.
  constexpr bool isPointToPoint() const {
    return signature == Signature::send || signature == Signature::recv;
  }
  constexpr bool hasBuffers() const {
    return in.chunks != Chunks::none || out.chunks != Chunks::none;
  }
  /// Whether chunks have counts in device memory.
  constexpr bool hasCounts() const { return in.hasCounts || out.hasCounts; }
  /// Kernel arguments for them: counts and offsets of each such buffer.
  constexpr unsigned numTables() const {
    return 2 * in.hasCounts + 2 * out.hasCounts;
  }
  /// Whether the elements can be split into several calls: no buffer has a
  /// chunk for every member.
  constexpr bool isDivisible() const {
    return hasBuffers() && in.chunks != Chunks::all &&
           out.chunks != Chunks::all;
  }
  /// In place, the smaller buffer is a chunk of the larger one: the root's, or
  /// that of each member.
  constexpr bool isChunkInPlace() const {
    return !hasCounts() && in.chunks != out.chunks &&
           in.chunks != Chunks::none && out.chunks != Chunks::none;
  }
  /// Whether peers access the input, which every member has; otherwise they
  /// access the output.
  constexpr bool sharesInput() const {
    return out.isOnlyOnRoot || out.chunks == Chunks::none || reduces();
  }
  /// Whether the shared buffer is at the same offset of every member's heap.
  /// Otherwise its location is announced, or no other rank accesses it.
  constexpr bool isAtSameOffset() const {
    return !isPointToPoint() && !(hasRoot() && isChunkInPlace());
  }
  /// Most programs of a launch that the workspace has flags for, in a group of
  /// `members`.
  constexpr int64_t maxPrograms(int64_t members) const {
    return isPointToPoint() ? Workspace::fifoPrograms(members)
           : hasCounts()    ? Workspace::programsOf(members) / 2
                            : Workspace::programsOf(members);
  }

  /// The variant of that name; null if there is none.
  constexpr const Variant *find(std::string_view variant) const {
    for (const Variant &each : *this)
      if (each.name == variant)
        return &each;
    return nullptr;
  }
};

/// All collectives, in the order of CollectiveKind.
inline constexpr Collective collectives[] = {
#define IRIS_COLLECTIVE(Name, name, NAME, text, signature, ...)                \
  {CollectiveKind::Name, Signature::signature, text, __VA_ARGS__,              \
   findRows(variants, CollectiveKind::Name)},
#include "iris/Plan/Collectives.def"
};

static_assert(areRowsComplete(collectives, variants, Collective::maxVariants),
              "expected 1 to maxVariants consecutive variants of each kind");

constexpr const Collective &getCollective(CollectiveKind kind) {
  return collectives[static_cast<int32_t>(kind)];
}

/// The same for a number from outside; null if it is no kind.
constexpr const Collective *findCollective(int32_t kind) {
  return kind >= 0 && kind < static_cast<int32_t>(std::size(collectives))
             ? &collectives[kind]
             : nullptr;
}

/// The table as JSON, for tests and benchmarks in other languages.
std::string listCollectivesAsJson();

} // namespace irisplan

#endif // IRIS_PLAN_COLLECTIVES_H
