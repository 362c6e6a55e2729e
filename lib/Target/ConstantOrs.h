// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_CONSTANTORS_H
#define IRIS_TARGET_CONSTANTORS_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of AMD GPUs that makes `x | -1` of 32
/// bits the constant -1.
///
/// SIFoldOperands of LLVM 22.1.8 (`tryConstantFoldOp`) makes it x: it removes
/// the constant in place of x. Instruction selection leaves such an operation
/// where the constant is half of an i64 that comes from another block.
void foldConstantOrs(llvm::TargetPassConfig &config);

} // namespace mlir::iris

#endif // IRIS_TARGET_CONSTANTORS_H
