// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveConfig.h - How a collective is done ------------*- C++ -*-===//

#ifndef IRIS_KERNELS_COLLECTIVECONFIG_H
#define IRIS_KERNELS_COLLECTIVECONFIG_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Plan/CollectiveForm.h"

namespace mlir::iris {

using plan::Workspace;

/// What a kernel generator is told: the operation and its config, checked and
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
  /// Chiplets that programs go to in round-robin order; neighbouring tiles go
  /// to one chiplet.
  int64_t xcds = plan::collectiveXcds.defaultValue;

  RankedTensorType tileType() const {
    return RankedTensorType::get({tile}, storage);
  }
};

/// Validates the config of `op` and fills in the defaults. Invalid entries are
/// reported at `call`, the call for which `op` was created, if there is one.
FailureOr<CollectiveConfig> getConfig(CollectiveOp op,
                                      Operation *call = nullptr);

} // namespace mlir::iris

#endif // IRIS_KERNELS_COLLECTIVECONFIG_H
