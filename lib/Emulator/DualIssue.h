// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_EMULATOR_DUALISSUE_H
#define IRIS_EMULATOR_DUALISSUE_H

#include "Instruction.h"

namespace mlir::iris::emulator {

/// Two operations in one instruction. The first one writes to a temporary row.
struct DualOperation {
  Instruction first, second;
  /// The result of the first one.
  unsigned result = 0;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_DUALISSUE_H
