// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Wave.h"
#include "InitCheck.h"
#include "Program.h"
#include "Registers.h"
#include "iris/Chips/AMDExecution.h"

using namespace mlir::iris::emulator;

Wave::Wave(MachineState &machine, Workgroup &group, Program &program)
    : machine(machine), group(group), program(program),
      execution(program.code.getExecution()),
      rows(new Row[program.kernel.numVectors + kNumTemporaries]),
      waveSize(program.kernel.waveSize),
      fullMask(waveSize == 64 ? ~uint64_t(0) : 0xFFFFFFFF),
      position(uint32_t(program.kernel.entry / 4)) {
  // What no kernel expects: a register that is used before it is written shows.
  unsigned numRows = program.kernel.numVectors + kNumTemporaries;
  for (unsigned i = 0; i < numRows; ++i)
    std::fill_n(rows[i].lanes, kLanes, kInitialVector);
  for (unsigned i = 0; i < kNumScalars; ++i)
    scalars[i] = initialScalar(i);
  scalars[kNull] = scalars[kNull + 1] = 0;
}

Wave::~Wave() = default;

void Wave::expandMask(uint64_t mask) {
  // The bit of each lane in its half of the mask.
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t bit = 1u << lane % 32;
    uint32_t half = lane < 32 ? uint32_t(mask) : uint32_t(mask >> 32);
    activeRow.lanes[lane] = half & bit ? ~0u : 0;
  }
  expandedMask = mask;
}

void Wave::mergeRow(unsigned index, const uint32_t *values) {
  uint32_t *result = row(index);
  const uint32_t *active = activeWords();
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] =
        (values[lane] & active[lane]) | (result[lane] & ~active[lane]);
}
