// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AMDExecution.cpp - The table of how chips execute ------------------===//

#include "iris/Chips/AMDExecution.h"

using namespace irischips;

static constexpr AMDExecution cdna(std::string_view chip, bool hasFnuzFloats) {
  return {chip,  64,    8,
          true,  false, WaitCounters::VectorAndScalar,
          false, false, hasFnuzFloats};
}

static constexpr AMDExecution rows[] = {
    cdna("gfx90a", false),
    cdna("gfx942", true),
    cdna("gfx950", false),
    {"gfx1100", 32, 8, false, false, WaitCounters::SeparateStores, true, true,
     false},
    {"gfx1201", 32, 8, false, true, WaitCounters::PerKind, true, true, false,
     true},
};

const AMDExecution *irischips::findExecution(std::string_view chip) {
  for (const AMDExecution &row : rows)
    if (row.chip == chip)
      return &row;
  return nullptr;
}
