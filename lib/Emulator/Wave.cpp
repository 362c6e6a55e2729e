// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Wave.h"
#include "Program.h"
#include "iris/Chips/AMDExecution.h"

using namespace mlir::iris::emulator;

Wave::Wave(MachineState &machine, Workgroup &group, const Program &program)
    : machine(machine), group(group), program(program),
      execution(program.code.getExecution()),
      rows(new Row[program.kernel.numVectors + kNumTemporaries]),
      waveSize(program.kernel.waveSize),
      fullMask(waveSize == 64 ? ~uint64_t(0) : 0xFFFFFFFF),
      position(uint32_t(program.kernel.entry / 4)) {
  // What no kernel expects: a register that is used before it is written shows.
  unsigned numRows = program.kernel.numVectors + kNumTemporaries;
  for (unsigned i = 0; i < numRows; ++i)
    std::fill_n(rows[i].lanes, kLanes, 0x7FBADBADu);
  for (unsigned i = 0; i < kNumScalars; ++i)
    scalars[i] = 0xDEAD0000u + i;
  scalars[kNull] = scalars[kNull + 1] = 0;
}

void Wave::expandMask(uint64_t mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    activeRow.lanes[lane] = 0 - uint32_t(mask >> lane & 1);
  expandedMask = mask;
}

void Wave::writeRow(unsigned index, const uint32_t *values) {
  uint32_t *result = row(index);
  if (isFull()) {
    std::memcpy(result, values, sizeof(Row));
    return;
  }
  const uint32_t *active = activeWords();
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] =
        (values[lane] & active[lane]) | (result[lane] & ~active[lane]);
}
