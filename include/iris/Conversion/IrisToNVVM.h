// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTONVVM_H
#define IRIS_CONVERSION_IRISTONVVM_H

#include "iris/Conversion/MatmulTarget.h"
#include "iris/Conversion/TargetInfo.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// An NVIDIA GPU (sm_80, sm_90a, sm_100a); null for other names.
std::unique_ptr<TargetInfo> createNVVMTargetInfo(StringRef name);

/// Its matrix instructions; null for other names, and for GPUs without the
/// instructions of sm_90a.
std::unique_ptr<MatmulTarget> createNVVMMatmulTarget(StringRef name);

#define GEN_PASS_DECL
#include "iris/Conversion/IrisToNVVM.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/IrisToNVVM.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_IRISTONVVM_H
