// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The predicted time of a matmul without communication.
//
//   time = launch + waves * time of a tile
//   time of a tile = k-steps * time of a k-step + overhead + epilogue store
//
// A wave is one tile per compute program. The number of waves is rounded up
// (wave quantization): with few large tiles, the last wave leaves processors
// idle. A k-step is limited by matrix instructions or by global-to-shared
// copies of operand tiles; the launch as a whole also by device memory and by
// the peak rate that power allows.
#ifndef IRIS_RT_CCL_MATMULTIME_H
#define IRIS_RT_CCL_MATMULTIME_H

#include "ccl/DeviceModel.h"

namespace iris::ccl {

/// What one rank computes in a launch.
struct MatmulWork {
  /// Rows and columns of the result, and the length of one shard of k.
  uint64_t m = 0, n = 0, k = 0;
  /// Shards of k that are added up.
  uint64_t kShards = 1;
  /// Output tiles of the config's shape.
  uint64_t tiles = 0;
  DType element = DType::f16, result = DType::f16;
};

/// The programs that compute the tiles.
struct ComputePrograms {
  /// Programs that compute concurrently.
  double count = 1;
  /// Tiles that communication programs compute in addition, in total.
  double commProgramTiles = 0;
};

struct MatmulTime {
  /// Tiles that each compute program computes, one after another.
  double waves = 1;
  /// Microseconds of one tile.
  double tileUs = 0;
  /// Microseconds of the launch.
  double us = 0;
};

MatmulTime matmulTimeOf(const ProcessorModel &chip, const MatmulConfig &config,
                        const MatmulWork &work,
                        const ComputePrograms &programs);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULTIME_H
