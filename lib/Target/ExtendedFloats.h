// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_EXTENDEDFLOATS_H
#define IRIS_TARGET_EXTENDEDFLOATS_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of AMD GPUs that keeps sign extensions
/// and arithmetic shifts whose result a float instruction reads.
///
/// SIPeepholeSDWA of LLVM 22.1.8 makes them an operand of their user that is a
/// sign-extended byte or half. The bit that asks for the sign is the one that
/// negates a float: a float instruction reads the byte or half without its
/// sign, or its negative. The result is copied through a second register, which
/// that pass does not look through.
void keepExtendedFloats(llvm::TargetPassConfig &config);

} // namespace mlir::iris

#endif // IRIS_TARGET_EXTENDEDFLOATS_H
