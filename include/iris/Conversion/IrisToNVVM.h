// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTONVVM_H
#define IRIS_CONVERSION_IRISTONVVM_H

#include "iris/Conversion/TargetInfo.h"

namespace mlir::iris {

/// An NVIDIA GPU (sm_80, sm_90a, sm_100a); null for other names.
std::unique_ptr<TargetInfo> createNVVMTargetInfo(StringRef name);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_IRISTONVVM_H
