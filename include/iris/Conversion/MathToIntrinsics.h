// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_MATHTOINTRINSICS_H
#define IRIS_CONVERSION_MATHTOINTRINSICS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

#define GEN_PASS_DECL
#include "iris/Conversion/MathToIntrinsics.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/MathToIntrinsics.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_MATHTOINTRINSICS_H
