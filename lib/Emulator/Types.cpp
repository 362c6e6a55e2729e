// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Types.h"

using namespace mlir::iris::emulator;

template <class T>
static void modify(const Instruction &instruction, T *values) {
  if (instruction.outputScale) {
    T scale = T(std::ldexp(1.0, instruction.outputScale));
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] *= scale;
  }
  if (instruction.clamps)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      T value = values[lane];
      values[lane] = value > 0 ? (value < 1 ? value : T(1)) : T(0);
    }
}

void mlir::iris::emulator::modifyResult(const Instruction &instruction,
                                        float *values) {
  modify(instruction, values);
}
void mlir::iris::emulator::modifyResult(const Instruction &instruction,
                                        double *values) {
  modify(instruction, values);
}
