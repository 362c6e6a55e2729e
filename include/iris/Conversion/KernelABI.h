// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_KERNELABI_H
#define IRIS_CONVERSION_KERNELABI_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// Attribute of a kernel: the number of the first parameter that is a tensor
/// map. All later parameters are tensor maps too.
inline constexpr StringLiteral kFirstMapParameterAttr =
    "iris.first_map_parameter";

#define GEN_PASS_DECL
#include "iris/Conversion/KernelABI.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/KernelABI.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_KERNELABI_H
