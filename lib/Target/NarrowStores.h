// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_NARROWSTORES_H
#define IRIS_TARGET_NARROWSTORES_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of NVIDIA GPUs that copies registers of
/// which a store writes the low bits only.
///
/// LLVM 22 writes bits of a float with a store that is narrower than its
/// register: `st.b32 [a], %rd`. ptxas 13.0 takes the type of the register from
/// the instruction that computed it. If that is a float, the store converts the
/// number to an integer (F2I), although PTX says that the upper bits are
/// dropped. The result of `mov.b64` has no such type, and costs nothing in the
/// machine code.
void copyNarrowlyStored(llvm::TargetPassConfig &config);

} // namespace mlir::iris

#endif // IRIS_TARGET_NARROWSTORES_H
