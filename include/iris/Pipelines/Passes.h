// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that know the whole pipeline.
#ifndef IRIS_PIPELINES_PASSES_H
#define IRIS_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::iris {

#define GEN_PASS_DECL
#include "iris/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Pipelines/Passes.h.inc"

} // namespace mlir::iris

#endif // IRIS_PIPELINES_PASSES_H
