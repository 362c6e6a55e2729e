// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaMatmul.h - The matmul loop of WGMMA -----------------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAMATMUL_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAMATMUL_H

#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/MatmulTarget.h"

namespace mlir::iris {

/// Warpgroup matrix instructions on `chip`, which outlives the result.
std::unique_ptr<MatmulTarget> createWgmmaMatmulTarget(const ChipInfo &chip);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WGMMAMATMUL_H
