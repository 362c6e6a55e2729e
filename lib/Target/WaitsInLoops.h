// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_WAITSINLOOPS_H
#define IRIS_TARGET_WAITSINLOOPS_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of AMD GPUs that keeps the waits of
/// fences in loops.
///
/// SIMemoryLegalizer expands a fence to "soft" waits, which SIInsertWaitcnts of
/// LLVM 22.1.8 removes where no access is under way. It visits the blocks of a
/// loop a second time with what is under way at the loop's end, but a wait that
/// the first visit has removed is gone by then: where the stores of one
/// iteration come before a fence at the head of the next one, nothing waits for
/// them. So between the two passes the soft waits in loops become ordinary
/// ones, which are kept.
void keepWaitsInLoops(llvm::TargetPassConfig &config);

} // namespace mlir::iris

#endif // IRIS_TARGET_WAITSINLOOPS_H
