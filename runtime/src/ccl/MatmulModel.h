// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The predicted time of a matmul with its communication. MatmulTime.h has the
// matmul alone.
//
//   fused     matmul + bytes / bandwidth + barriers - overlap
//   unfused   matmul + the collective by its own model (CostModel.h)
//
// docs/internals/cost-model.md describes the model.
#ifndef IRIS_RT_CCL_MATMULMODEL_H
#define IRIS_RT_CCL_MATMULMODEL_H

#include "ccl/DeviceModel.h"
#include "iris/ccl/MatmulSelector.h"

namespace iris::ccl {

/// Elements of a k-step of a tile shape, for operands of that type.
int64_t tileKOf(const TileShape &tile, DType element);

/// Output tiles of the config's shape that one rank computes.
uint64_t tilesOf(const MatmulProblem &problem, const MatmulConfig &config,
                 uint64_t groupSize);

/// Predicts the time of a complete config. Fails if no kernel supports it.
rt::Expected<MatmulEstimate> estimate(const MatmulTuningKey &tuningKey,
                                      const MatmulConfig &config);
/// The same with the constants of `chip`, for fitting them.
rt::Expected<MatmulEstimate> estimate(const ProcessorModel &chip,
                                      const MatmulTuningKey &tuningKey,
                                      const MatmulConfig &config);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULMODEL_H
