// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisWarpGroups.h - Warp specialization of kernels --------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_IR_IRISWARPGROUPS_H
#define IRIS_DIALECT_IRIS_IR_IRISWARPGROUPS_H

#include "iris/Dialect/Iris/IR/Iris.h"

namespace mlir::iris {

/// Attribute of a kernel: the number of waves in addition to its
/// `iris.num_warps`. They do not take part in the program's barriers.
inline constexpr StringLiteral kProducerWarpsAttr = "iris.producer_warps";
/// Attribute of a kernel: bytes of dynamic workgroup memory of the launch, in
/// addition to `iris.shared_bytes`.
inline constexpr StringLiteral kDynamicSharedBytesAttr =
    "iris.dynamic_shared_bytes";
/// Unit attribute of `iris.wait`: a single wave waits, independently of the
/// program's other threads, and continues even if the wait fails;
/// `iris.has_failed` reports the failure. On `iris.trace`: the event is
/// recorded by a thread of such a wave, and marked as belonging to a producer.
inline constexpr StringLiteral kInWaveAttr = "iris.in_wave";
/// Unit attribute, together with `iris.in_wave`: a single lane of the wave
/// executes the op.
inline constexpr StringLiteral kInLaneAttr = "iris.in_lane";

} // namespace mlir::iris

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisPipelineOps.h.inc"

#endif // IRIS_DIALECT_IRIS_IR_IRISWARPGROUPS_H
