// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of tile matmuls to matrix instructions.
#ifndef IRIS_CONVERSION_MATMUL_H
#define IRIS_CONVERSION_MATMUL_H

#include "mlir/Pass/Pass.h"

namespace mlir::iris {

#define GEN_PASS_DECL
#include "iris/Conversion/Matmul.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/Matmul.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_MATMUL_H
