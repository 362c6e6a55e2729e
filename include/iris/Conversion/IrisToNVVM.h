// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTONVVM_H
#define IRIS_CONVERSION_IRISTONVVM_H

#include "iris/Conversion/MatmulTarget.h"
#include "iris/Conversion/TargetInfo.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// The NVIDIA GPU called `name`; null for other names.
std::unique_ptr<TargetInfo> createNVVMTargetInfo(StringRef name);

/// Adds the NVVM dialect, for those that need none of its operations: the
/// header of these takes ten seconds to compile.
void registerNVVMDialect(DialectRegistry &registry);

/// Its matrix instructions: WGMMA where the chip has them, otherwise
/// `mma.sync`. Null for other names.
std::unique_ptr<MatmulTarget> createNVVMMatmulTarget(StringRef name);

#define GEN_PASS_DECL
#include "iris/Conversion/IrisToNVVM.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/IrisToNVVM.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_IRISTONVVM_H
