// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MmaMatmul.h - The matmul loop of mma.sync ----------------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_MMAMATMUL_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_MMAMATMUL_H

#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/MatmulTarget.h"

namespace mlir::iris {

/// `mma.sync` on `chip`, which outlives the result.
std::unique_ptr<MatmulTarget> createMmaMatmulTarget(const ChipInfo &chip);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_MMAMATMUL_H
