// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SHORTSHIFTS_H
#define IRIS_TARGET_SHORTSHIFTS_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of AMD GPUs that keeps arithmetic shifts
/// of 16 bits by 8 as they are.
///
/// SIPeepholeSDWA of LLVM 22.1.8 replaces such a shift by an operand of its
/// user that is a sign-extended byte. That has 32 bits, where the shift clears
/// the upper half of its register, which a user of 32 bits relies on. The shift
/// amount is copied through a second register, which that pass does not look
/// through; SIFoldOperands undoes it later.
void keepShortShifts(llvm::TargetPassConfig &config);

} // namespace mlir::iris

#endif // IRIS_TARGET_SHORTSHIFTS_H
