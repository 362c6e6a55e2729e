// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of a program's `@main` to calls of the runtime.

#ifndef IRIS_CONVERSION_HOSTPROGRAM_H
#define IRIS_CONVERSION_HOSTPROGRAM_H

#include "iris/Guards/Guards.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

#define GEN_PASS_DECL
#include "iris/Conversion/HostProgramPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/HostProgramPasses.h.inc"

/// Converts `@main` of a module to IrisRtMain of RuntimeABI.h in the LLVM
/// dialect, and removes the kernels.
void buildHostProgramPipeline(OpPassManager &pm, GuardSet guards);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_HOSTPROGRAM_H
