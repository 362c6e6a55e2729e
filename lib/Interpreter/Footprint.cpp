// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Footprint.cpp - What a synchronizing op accesses -------------------===//
#include "Footprint.h"

using namespace mlir;
using namespace mlir::iris::interp;

static bool overlap(const Touch &a, const Touch &b) {
  return a.allocation == b.allocation && a.rank == b.rank && a.begin < b.end &&
         b.begin < a.end;
}

bool mlir::iris::interp::conflict(const Footprint &a, const Footprint &b) {
  for (const Touch &one : a)
    for (const Touch &other : b)
      if ((one.writes || other.writes) && overlap(one, other))
        return true;
  return false;
}

Footprint mlir::iris::interp::footprintOf(const Awaited &awaited) {
  Footprint result;
  for (int64_t byte : awaited.bytes)
    result.push_back({awaited.copy->number,
                      awaited.copy->rank,
                      byte,
                      byte + awaited.width,
                      false,
                      {}});
  return result;
}

bool mlir::iris::interp::mayHoldBefore(const Awaited &awaited,
                                       const Footprint &op) {
  for (int64_t byte : awaited.bytes) {
    // The first write has the bytes before all of the op's.
    const auto *write = llvm::find_if(op, [&](const Touch &touch) {
      return touch.writes && touch.allocation == awaited.copy->number &&
             touch.rank == awaited.copy->rank && touch.begin <= byte &&
             touch.end >= byte + awaited.width;
    });
    if (write == op.end())
      continue; // not all of the flag: it may hold
    uint64_t bits = 0;
    for (int64_t i = 0; i < awaited.width; ++i)
      bits |= uint64_t(write->before[byte - write->begin + i]) << (8 * i);
    if (!awaited.holds(bits))
      return false;
  }
  return true;
}

Touch mlir::iris::interp::placeOf(unsigned rank) {
  return {/*allocation=*/-1, rank, 0, 1, /*writes=*/true, {0}};
}
