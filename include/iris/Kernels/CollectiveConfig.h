// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveConfig.h - Config of a collective --------------*- C++ -*-===//

#ifndef IRIS_KERNELS_COLLECTIVECONFIG_H
#define IRIS_KERNELS_COLLECTIVECONFIG_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Plan/CollectiveForm.h"

namespace mlir::iris {

using plan::Workspace;

/// The input of a kernel generator: the operation and its config, validated and
/// with all defaults filled in.
struct CollectiveConfig : plan::CollectiveForm {
  CollectiveKind kind;
  std::optional<Reduction> reduction;
  /// The elements' type, and that of the buffers that hold them.
  Type element;
  Type storage;
  int64_t warps = plan::collectiveWarps.defaultValue;
  /// Maximum number of programs of a launch.
  int64_t programs = 1;
  /// XCDs over which the hardware distributes programs round-robin; the remap
  /// assigns neighbouring tiles to one XCD.
  int64_t xcds = plan::collectiveXcds.defaultValue;

  RankedTensorType tileType() const {
    return RankedTensorType::get({tile}, storage);
  }
};

/// Validates the config of `op` and fills in the defaults, which depend on the
/// number of threads of a warp. Invalid entries are reported at `call`, the
/// call for which `op` was created, if there is one.
FailureOr<CollectiveConfig> getConfig(CollectiveOp op, unsigned waveSize,
                                      Operation *call = nullptr);

} // namespace mlir::iris

#endif // IRIS_KERNELS_COLLECTIVECONFIG_H
