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

/// `value`, integers or floats, by an `xor` with a hidden 0, which disappears
/// after instruction selection. Not an `or`, which keeps the ones of a
/// constant, and of which instruction selection takes bytes from either
/// operand.
llvm::Value *hideValue(llvm::IRBuilder<> &b, llvm::Value *value);

} // namespace mlir::iris

#endif // IRIS_TARGET_HIDECONSTANT_H
