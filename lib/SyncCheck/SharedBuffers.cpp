// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedBuffers.cpp - Buffers whose contents depend on the order -----===//
//
// All loads whose values are known are compared with all stores. If none of the
// stores may come in between, there is no order in which a program reads
// something else, and so none in which it does something else.
#include "SharedBuffers.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

namespace {
/// A program of a launch.
struct Place {
  unsigned rank;
  size_t item;
  size_t program;

  bool operator==(const Place &other) const {
    return rank == other.rank && item == other.item && program == other.program;
  }
  /// Whether it is the same one, or the stream of their rank executes one of
  /// them before the other.
  bool isInOrderWith(const Place &other) const {
    return rank == other.rank &&
           (item != other.item || program == other.program);
  }
};

/// The elements of a buffer of a rank that programs have read, and with whose
/// values they go on.
class KnownReads {
public:
  void add(Bytes bytes, const Place &place) {
    elements.emplace(bytes.from, Element{bytes.to, place});
    mostBytes = std::max(mostBytes, bytes.to - bytes.from);
    if (places.empty() || !(places.back() == place))
      places.push_back(place);
  }
  /// Whether a store by a program may change what another one has read.
  bool mayDependOn(Bytes stored, const Place &place) const {
    for (auto it = elements.upper_bound(stored.from - mostBytes);
         it != elements.end() && it->first < stored.to; ++it)
      if (it->second.to > stored.from && !place.isInOrderWith(it->second.place))
        return true;
    return false;
  }
  /// The same of a store to elements that are not known.
  bool mayDependOn(const Place &place) const {
    return llvm::any_of(
        places, [&](const Place &read) { return !place.isInOrderWith(read); });
  }

private:
  struct Element {
    int64_t to;
    Place place;
  };

  /// By the first byte.
  std::multimap<int64_t, Element> elements;
  /// Of the largest element.
  int64_t mostBytes = 0;
  /// Of all these reads, in their order.
  std::vector<Place> places;
};
} // namespace

static void forEachEvent(const World &world,
                         llvm::function_ref<void(const Event &, Place)> visit) {
  for (auto [rank, stream] : llvm::enumerate(world.streams))
    for (auto [item, each] : llvm::enumerate(stream))
      for (auto [number, trace] : llvm::enumerate(each.programs))
        for (const Event &event : trace.events)
          visit(event, {unsigned(rank), item, number});
}

BufferSet mlir::iris::sync::findSharedBuffers(const World &world) {
  std::map<std::pair<int, unsigned>, KnownReads> reads;
  forEachEvent(world, [&](const Event &event, Place place) {
    if (event.kind == Event::Kind::Access && !event.writes &&
        event.value.isKnown())
      reads[{event.buffer.root, *event.buffer.rank}].add(*event.getBytes(),
                                                         place);
  });
  BufferSet shared;
  forEachEvent(world, [&](const Event &event, Place place) {
    if (!event.writes)
      return;
    std::optional<Bytes> bytes = event.getBytes();
    for (const auto &[key, each] : reads)
      if ((event.buffer.root == Buffer::kUnknown ||
           event.buffer.root == key.first) &&
          event.buffer.rank.value_or(key.second) == key.second &&
          (bytes ? each.mayDependOn(*bytes, place) : each.mayDependOn(place)))
        shared.insert(key.first);
  });
  return shared;
}
