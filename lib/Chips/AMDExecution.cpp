// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AMDExecution.cpp - The table of how chips execute ------------------===//

#include "iris/Chips/AMDExecution.h"

using namespace irischips;

static constexpr AMDExecution cdna(std::string_view chip, bool hasFnuzFloats,
                                   CacheControl control,
                                   unsigned writesBackFrom) {
  return {chip,    64,    8,
          true,    false, WaitCounters::VectorAndScalar,
          control, false, writesBackFrom,
          false,   false, hasFnuzFloats};
}

static constexpr AMDExecution rows[] = {
    cdna("gfx90a", false, CacheControl::Bypass, 3),
    cdna("gfx942", true, CacheControl::ScopeBits, 2),
    cdna("gfx950", false, CacheControl::ScopeBits, 2),
    {"gfx1100", 32, 8, false, false, WaitCounters::SeparateStores,
     CacheControl::Bypass, true, 4, true, true, false},
    {"gfx1201", 32, 8, false, true, WaitCounters::PerKind,
     CacheControl::ScopeName, true, 3, true, true, false, true},
};

const AMDExecution *irischips::findExecution(std::string_view chip) {
  for (const AMDExecution &row : rows)
    if (row.chip == chip)
      return &row;
  return nullptr;
}
