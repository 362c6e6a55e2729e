// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SCALARCONDITIONS_H
#define IRIS_TARGET_SCALARCONDITIONS_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of AMD GPUs that keeps scalar conditions
/// (SCC) of comparisons of vectors.
///
/// SIPreEmitPeephole of LLVM 22.1.8 (`optimizeVccBranch`) removes
/// `vcc = s_and exec, vcc` between a comparison and a branch, as the branch
/// reads vcc only, also where a later selection reads the SCC of the `s_and`.
/// Such an `s_and` is written twice: LLVM removes none of the two.
void keepScalarConditions(llvm::TargetPassConfig &config);

} // namespace mlir::iris

#endif // IRIS_TARGET_SCALARCONDITIONS_H
