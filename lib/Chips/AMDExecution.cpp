// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AMDExecution.cpp - The table of how chips execute ------------------===//

#include "iris/Chips/AMDExecution.h"

using namespace irischips;

static constexpr AMDExecution cdna(std::string_view chip, bool hasFnuzFloats,
                                   CacheControl control) {
  return {
      chip,    64,    8,     true,  false,        WaitCounters::VectorAndScalar,
      control, false, false, false, hasFnuzFloats};
}

static constexpr AMDExecution rows[] = {
    cdna("gfx90a", false, CacheControl::Bypass),
    cdna("gfx942", true, CacheControl::ScopeBits),
    cdna("gfx950", false, CacheControl::ScopeBits),
    {"gfx1100", 32, 8, false, false, WaitCounters::SeparateStores,
     CacheControl::Bypass, true, true, true, false},
    {"gfx1201", 32, 8, false, true, WaitCounters::PerKind,
     CacheControl::ScopeName, true, true, true, false, true},
};

const AMDExecution *irischips::findExecution(std::string_view chip) {
  for (const AMDExecution &row : rows)
    if (row.chip == chip)
      return &row;
  return nullptr;
}
