// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Wide.h - Handlers for the host's widest vectors ----------*- C++ -*-===//
//
// The build is for any host of its architecture. Loops over lanes take most of
// the time, so that their handlers are compiled twice: also for AVX2 and FMA.
// Those of matrix multiplications are compiled for AVX-512, too. All roundings
// are the same.
#ifndef IRIS_EMULATOR_WIDE_H
#define IRIS_EMULATOR_WIDE_H

#include "Instruction.h"
#include "llvm/Support/Compiler.h"

#if defined(__x86_64__)
#define IRIS_WIDE __attribute__((target("avx2,bmi,bmi2,fma,popcnt")))
#define IRIS_WIDEST                                                            \
  __attribute__((                                                              \
      target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,fma,popcnt")))
#else
#define IRIS_WIDE
#define IRIS_WIDEST
#endif

/// Few hosts execute these: they are compiled for a short build.
#define IRIS_RARE __attribute__((cold))

/// What is compiled for its caller's instructions. Functions that a body of
/// `widest` calls for each lane or each row are marked with it.
#define IRIS_INLINE LLVM_ATTRIBUTE_ALWAYS_INLINE

/// Before a loop over lanes: registers of different numbers do not overlap, so
/// that no lane reads what another one writes.
#if defined(__clang__)
#define IRIS_EACH_LANE _Pragma("clang loop vectorize(assume_safety)")
#else
#define IRIS_EACH_LANE _Pragma("GCC ivdep")
#endif

namespace mlir::iris::emulator {

/// Whether the host has the instructions of `IRIS_WIDE` functions, and
/// `limitVectors` allows them.
bool hasWideVectors();
/// The same of `IRIS_WIDEST`.
bool hasWidestVectors();

/// The handler that calls Body::run, which is marked with IRIS_INLINE.
/// Plain::run is what hosts without these instructions execute.
template <class Body, class Plain = Body>
Handler widestOf() {
  Handler wide = [](Wave &wave, const Instruction &instruction)
                     IRIS_WIDE { Body::run(wave, instruction); };
  Handler plain = [](Wave &wave, const Instruction &instruction)
                      IRIS_RARE { Plain::run(wave, instruction); };
  return hasWideVectors() ? wide : plain;
}

/// A function as a body.
template <Handler function>
struct FunctionBody {
  IRIS_INLINE static void run(Wave &wave, const Instruction &instruction) {
    function(wave, instruction);
  }
};

/// As above, of functions.
template <Handler body, Handler plainBody = body>
Handler widest() {
  return widestOf<FunctionBody<body>, FunctionBody<plainBody>>();
}

/// As `widest`, where bodies have a size of vectors: `wideBody` one of 32
/// bytes, `widestBody` one of 64.
template <Handler wideBody, Handler widestBody>
Handler widestOfSizes() {
  Handler widestHandler = [](Wave &wave, const Instruction &instruction)
                              IRIS_WIDEST { widestBody(wave, instruction); };
  return hasWidestVectors() ? widestHandler : widest<wideBody>();
}

/// Calls function(lane) for the lanes of a mask.
template <class Function>
IRIS_INLINE void forLanes(uint64_t mask, Function function) {
  for (; mask; mask &= mask - 1)
    function(unsigned(__builtin_ctzll(mask)));
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_WIDE_H
