// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_KERNELS_PASSES_H
#define IRIS_KERNELS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

#define GEN_PASS_DECL
#include "iris/Kernels/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Kernels/Passes.h.inc"

} // namespace mlir::iris

#endif // IRIS_KERNELS_PASSES_H
