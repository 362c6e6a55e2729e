// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul is expected to take, alone and with what moves.
//
//   matmul   start + waves * (k-blocks * time of a block + time of a tile)
//
// Waves are the tiles that the busiest program computes one after another: what
// decides for small matrices, where few large tiles leave processors idle.  A
// block takes as long as its multiplications, or as loading its operand tiles.
//
//   fused     matmul + bytes / rate + barriers, less what overlaps
//   unfused   matmul + the collective, as its own model has it + a launch
//
// docs/internals/cost-model.md describes the model.
#ifndef IRIS_RT_CCL_MATMULMODEL_H
#define IRIS_RT_CCL_MATMULMODEL_H

#include "iris/ccl/MatmulSelector.h"

namespace iris::ccl {

/// Rows, columns and k-block of a tile, and the warps that compute it.
struct TileShape {
  int64_t m, n, kBytes, warps;
};

/// A kind of processors.  Times are microseconds, rates are per microsecond
/// (bytes: 1000 = 1 GB/s; operations: 1e6 = 1 TFLOP/s).
struct ProcessorModel {
  /// Where the numbers come from.
  const char *source;
  /// Programs that compute at once; 0 in a config: as many as fit.
  int64_t processors;
  /// Operations of one processor on 16-bit elements, and of all together, which
  /// power limits; 0: as many times as much.
  double operations, operationsOfAll;
  /// The share of the latter that tiles reach whose columns are no power of
  /// two; 0: such tiles take as long as the next power of two.
  double nonPow2Efficiency;
  /// How many more the power allows on bf16, whose matmuls take less of it.
  double bfloat;
  /// How much faster 8-bit ones are, and how much slower f32.
  double narrow, wide;
  /// How the times of multiplying and of loading that go on beside each other
  /// become one: the power of a power mean; the larger, the nearer to the
  /// longest of them.
  double overlap;
  /// What each split of k costs beside its share of the additions.
  double split;
  /// Bytes of operand tiles that one processor loads, and that all do at once.
  double operandTiles, deviceLoadRate;
  /// Memory of the device.
  double memory;
  /// What each k-block and each tile costs beside that.
  double block, tile;
  /// From the start of a kernel to its first tile.
  double start;
  /// Bytes that a program moves to or from peers, and that it adds up in own
  /// memory.
  double mover, adder;
  /// What a program that adds up a tile of all members needs beside that: it
  /// waits for their flags, and for what it has asked for.
  double turn;
  /// What of the shorter of matmul and transfer comes on top of the longer
  /// one: 0 where they overlap, 1 where they do not.  For tiles that move when
  /// they are finished, and for parts that are multiplied when they have come.
  double storeOverlapLoss, fetchOverlapLoss;
  /// Raising a flag after a release, waiting for one that is there.
  double raise, await;
  /// Bytes that copy engines bring beside a kernel, what each copy with its
  /// flag costs, and the first, and a wait for tiles of the kernel; 0: they are
  /// taken only by name.
  double engines, copy, engineStart, engineWait;
  /// What of the shorter of matmul and copies comes on top of the longer one.
  double copyOverlapLoss;
  /// Copies, or a stream's waits for words, are kernels of their own: they do
  /// not go on beside a kernel that has all processors and waits for them.
  bool copiesNeedProcessors;
  int64_t xcds;
  /// Tiles to choose from.
  std::vector<TileShape> tiles;
  /// Programs that move, k-blocks to a flag, and rows of tiles to a copy, to
  /// choose from.
  std::vector<int64_t> commPrograms, kPerFlag, copiedGroups;
};

const ProcessorModel &processorModelOf(rt::DeviceKind device,
                                       const std::string &target);

/// k-blocks of a tile shape for elements of that type.
int64_t tileKOf(const TileShape &tile, DType element);

/// Tiles that one rank multiplies, of the config's shape.
uint64_t tilesOf(MatmulKind kind, const MatmulProblem &problem,
                 const MatmulConfig &config, uint64_t groupSize);

/// The estimate of one complete config; an error where it cannot be done.
rt::Expected<MatmulEstimate> estimate(const MatmulTuningKey &tuningKey,
                                      const MatmulConfig &config);
/// The same with other numbers than the library's, for fitting them.
rt::Expected<MatmulEstimate> estimate(const ProcessorModel &chip,
                                      const MatmulTuningKey &tuningKey,
                                      const MatmulConfig &config);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULMODEL_H
