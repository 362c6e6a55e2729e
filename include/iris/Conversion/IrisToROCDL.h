// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTOROCDL_H
#define IRIS_CONVERSION_IRISTOROCDL_H

#include "iris/Conversion/MatmulTarget.h"
#include "iris/Conversion/TargetInfo.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// The AMD GPU called `name`; null for other names.
std::unique_ptr<TargetInfo> createROCDLTargetInfo(StringRef name);

/// Adds the ROCDL dialect, for those that need none of its operations: the
/// header of these takes ten seconds to compile.
void registerROCDLDialect(DialectRegistry &registry);

/// Its matrix instructions.
std::unique_ptr<MatmulTarget> createROCDLMatmulTarget(StringRef name);

#define GEN_PASS_DECL
#include "iris/Conversion/IrisToROCDL.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/IrisToROCDL.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_IRISTOROCDL_H
