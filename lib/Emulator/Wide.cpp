// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Wide.h"
#include "iris/Emulator/Emulator.h"

using namespace mlir::iris::emulator;

static unsigned mostBytes = 64;

void mlir::iris::emulator::limitVectors(unsigned bytes) { mostBytes = bytes; }

bool mlir::iris::emulator::hasWideVectors() {
#if defined(__x86_64__)
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("popcnt");
  return has && mostBytes >= 32;
#else
  return false;
#endif
}

bool mlir::iris::emulator::hasWidestVectors() {
#if defined(__x86_64__)
  static const bool has =
      hasWideVectors() && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has && mostBytes >= 64;
#else
  return false;
#endif
}
