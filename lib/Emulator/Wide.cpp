// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Wide.h"
#include "iris/Emulator/Emulator.h"

using namespace mlir::iris::emulator;

static bool denied = false;

void mlir::iris::emulator::denyWideVectors() { denied = true; }

bool mlir::iris::emulator::hasWideVectors() {
#if defined(__x86_64__)
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("popcnt");
  return has && !denied;
#else
  return false;
#endif
}
