// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AMDExecution.h - How AMD GPUs execute machine code -------*- C++ -*-===//
//
// What the emulator has to know about a chip beyond its instructions. As in
// ChipTable.h, the rows are the only code that knows chips by name.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_CHIPS_AMDEXECUTION_H
#define IRIS_CHIPS_AMDEXECUTION_H

#include <string_view>

namespace irischips {

/// How outstanding memory accesses are counted.
enum class WaitCounters {
  /// vmcnt for loads and stores, lgkmcnt.
  VectorAndScalar,
  /// As above, and vscnt for stores.
  SeparateStores,
  /// A counter for each of loads, stores, LDS and scalar loads, with an
  /// instruction for each.
  PerKind,
};

/// How instructions name the caches that they bypass, write back or drop.
enum class CacheControl {
  /// glc: only that a load bypasses the nearest cache, which stores write
  /// through.
  Bypass,
  /// sc0 and sc1.
  ScopeBits,
  /// scope:SCOPE_...
  ScopeName,
};

/// A row for each chip whose code the emulator executes.
struct AMDExecution {
  std::string_view chip;
  /// Lanes of a wave in code of Iris.
  unsigned waveSize;
  /// Vector registers are allocated in multiples of this.
  unsigned vectorGranule;
  /// Whether a kernel's descriptor says where accumulation registers start.
  bool hasAccumulatorOffset;
  /// Whether a program's indices are in trap registers.
  bool hasIdsInTrapRegisters;
  WaitCounters counters;
  CacheControl cacheControl;
  /// Whether the waves of a workgroup may have different caches.
  bool hasCachesOfWaves;
  /// The first scope whose release writes caches back, by the memory model in
  /// LLVM's AMDGPUUsage: 1 workgroup, 2 agent, 3 system, 4 none. For smaller
  /// ones it is enough to wait, since stores are written through.
  unsigned writesBackFrom;
  /// Whether 16-bit operations keep the upper half of their result's register.
  bool keepsUpperHalf;
  /// Whether v_cmpx writes EXEC alone.
  bool comparesIntoExecAlone;
  /// Whether 8-bit floats are the variants with one zero.
  bool hasFnuzFloats;
  /// Of WMMA: whether the halves of a wave have different values of k, and
  /// consecutive rows of the result; or the same ones, and alternate rows.
  bool splitsMatrixDepth = false;
};

/// The row of a chip, or null.
const AMDExecution *findExecution(std::string_view chip);

} // namespace irischips

#endif // IRIS_CHIPS_AMDEXECUTION_H
