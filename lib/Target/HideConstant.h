// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_HIDECONSTANT_H
#define IRIS_TARGET_HIDECONSTANT_H

#include "llvm/IR/IRBuilder.h"

namespace mlir::iris {

/// The value of `bits` as `type`, a number or a vector of them, that code
/// generation for AMD GPUs does not know: a readfirstlane of it, which is
/// folded only after instruction selection.
llvm::Value *hideConstant(llvm::IRBuilder<> &b, llvm::Type *type,
                          const llvm::APInt &bits);

} // namespace mlir::iris

#endif // IRIS_TARGET_HIDECONSTANT_H
