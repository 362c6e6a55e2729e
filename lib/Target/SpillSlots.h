// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SPILLSLOTS_H
#define IRIS_TARGET_SPILLSLOTS_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of AMD GPUs that removes stack slots that
/// no instruction accesses.
///
/// LLVM's allocator makes a slot for a value that it spills and keeps it where
/// it then computes the value again in place of every reload. Every thread of
/// the kernel would have scratch memory for nothing.
void removeUnusedSpillSlots(llvm::TargetPassConfig &config);

} // namespace mlir::iris

#endif // IRIS_TARGET_SPILLSLOTS_H
