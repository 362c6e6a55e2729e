// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisWarpGroups.h - Kernels whose warps have different roles -===//

#ifndef IRIS_DIALECT_IRIS_IR_IRISWARPGROUPS_H
#define IRIS_DIALECT_IRIS_IR_IRISWARPGROUPS_H

#include "iris/Dialect/Iris/IR/Iris.h"

namespace mlir::iris {

/// On a kernel: waves that a program has beside its `iris.num_warps`. They take
/// no part in its barriers.
inline constexpr StringLiteral kProducerWarpsAttr = "iris.producer_warps";
/// On a kernel: bytes of workgroup memory that the launch must ask for, beside
/// those of `iris.shared_bytes`.
inline constexpr StringLiteral kDynamicSharedBytesAttr =
    "iris.dynamic_shared_bytes";
/// Unit, on `iris.wait`: a wave waits on its own, beside the program's threads,
/// and goes on whatever happens; `iris.has_failed` tells it. On `iris.trace`: a
/// thread of such a wave tells of it, as of one that loads for the program.
inline constexpr StringLiteral kInWaveAttr = "iris.in_wave";
/// Unit, beside `iris.in_wave`: one lane of the wave comes by, whichever it is.
inline constexpr StringLiteral kInLaneAttr = "iris.in_lane";

} // namespace mlir::iris

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisPipelineOps.h.inc"

#endif // IRIS_DIALECT_IRIS_IR_IRISWARPGROUPS_H
