// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Footprint.cpp - What a synchronizing op accesses -------------------===//
#include "Footprint.h"

#include <tuple>

using namespace mlir;
using namespace mlir::iris::interp;

template <typename T>
static auto positionOf(const T &access) {
  return std::make_tuple(access.allocation, access.rank, access.begin);
}

Footprint::Footprint(ArrayRef<Touch> touches) {
  // In order of the bytes; of the same bytes, the first access last, so that
  // what it found stays.
  std::vector<const Touch *> sorted;
  for (const Touch &touch : llvm::reverse(touches))
    sorted.push_back(&touch);
  llvm::stable_sort(sorted, [](const Touch *a, const Touch *b) {
    return positionOf(*a) < positionOf(*b);
  });
  for (const Touch *touch : sorted) {
    Spans &spans = touch->writes ? writes : reads;
    if (spans.empty() || spans.back().allocation != touch->allocation ||
        spans.back().rank != touch->rank || spans.back().end < touch->begin)
      spans.push_back(
          {touch->allocation, touch->rank, touch->begin, touch->begin, {}});
    Span &span = spans.back();
    span.end = std::max(span.end, touch->end);
    if (!touch->writes)
      continue;
    span.before.resize(span.end - span.begin);
    for (int64_t byte = touch->begin; byte < touch->end; ++byte)
      span.before[byte - span.begin] =
          static_cast<uint8_t>(touch->before >> (8 * (byte - touch->begin)));
  }
}

static std::vector<Touch> touchesOf(const Awaited &awaited) {
  std::vector<Touch> touches;
  for (int64_t byte : awaited.bytes)
    touches.push_back({awaited.copy->number, awaited.copy->rank, byte,
                       byte + awaited.width, /*writes=*/false, 0});
  return touches;
}

Footprint::Footprint(const Awaited &awaited) : Footprint(touchesOf(awaited)) {}

bool Footprint::overlap(const Spans &a, const Spans &b) {
  for (auto one = a.begin(), other = b.begin();
       one != a.end() && other != b.end();) {
    if (one->allocation == other->allocation && one->rank == other->rank &&
        one->begin < other->end && other->begin < one->end)
      return true;
    if (std::make_tuple(one->allocation, one->rank, one->end) <
        std::make_tuple(other->allocation, other->rank, other->end))
      ++one;
    else
      ++other;
  }
  return false;
}

bool Footprint::conflictsWith(const Footprint &other) const {
  return overlap(writes, other.writes) || overlap(writes, other.reads) ||
         overlap(reads, other.writes);
}

bool Footprint::mayHoldBefore(const Awaited &awaited) const {
  for (int64_t byte : awaited.bytes) {
    const auto span = llvm::find_if(writes, [&](const Span &span) {
      return span.allocation == awaited.copy->number &&
             span.rank == awaited.copy->rank && span.begin <= byte &&
             span.end >= byte + awaited.width;
    });
    if (span == writes.end())
      continue; // not all of the flag: it may hold
    uint64_t bits = 0;
    for (int64_t i = 0; i < awaited.width; ++i)
      bits |= uint64_t(span->before[byte - span->begin + i]) << (8 * i);
    if (!awaited.holds(bits))
      return false;
  }
  return true;
}

Touch mlir::iris::interp::slotOf(unsigned rank) {
  return {/*allocation=*/-1, rank, 0, 1, /*writes=*/true, 0};
}
