// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisChecks.h - Checks in debug mode ----------------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_IR_IRISCHECKS_H
#define IRIS_DIALECT_IRIS_IR_IRISCHECKS_H

#include "iris/Dialect/Iris/IR/Iris.h"

namespace mlir::iris {

/// Unit attribute of kernels that check their accesses (iris-insert-checks).
inline constexpr StringLiteral kDebugAttr = "iris.debug";

} // namespace mlir::iris

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisCheckOps.h.inc"

#endif // IRIS_DIALECT_IRIS_IR_IRISCHECKS_H
