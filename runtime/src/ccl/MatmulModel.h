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

#include "ccl/DeviceModel.h"
#include "iris/ccl/MatmulSelector.h"

namespace iris::ccl {

/// k-blocks of a tile shape for elements of that type.
int64_t tileKOf(const TileShape &tile, DType element);

/// Tiles that one rank multiplies, of the config's shape.
uint64_t tilesOf(const MatmulProblem &problem, const MatmulConfig &config,
                 uint64_t groupSize);

/// The estimate of one complete config; an error where it cannot be done.
rt::Expected<MatmulEstimate> estimate(const MatmulTuningKey &tuningKey,
                                      const MatmulConfig &config);
/// The same with other numbers than the library's, for fitting them.
rt::Expected<MatmulEstimate> estimate(const ProcessorModel &chip,
                                      const MatmulTuningKey &tuningKey,
                                      const MatmulConfig &config);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULMODEL_H
