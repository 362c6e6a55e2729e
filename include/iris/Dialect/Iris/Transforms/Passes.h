// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_H
#define IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

#define GEN_PASS_DECL
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_H
