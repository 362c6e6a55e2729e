// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchedKernel.h - The kernel of a launch ----------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_IR_LAUNCHEDKERNEL_H
#define IRIS_DIALECT_IRIS_IR_LAUNCHEDKERNEL_H

#include "iris/Dialect/Iris/IR/Iris.h"

namespace mlir::iris {

/// Reports a launch whose kernel is not in its module. For sources: passes
/// lower kernels to other functions, or remove them.
LogicalResult verifyLaunchedKernel(LaunchOp op);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_IR_LAUNCHEDKERNEL_H
