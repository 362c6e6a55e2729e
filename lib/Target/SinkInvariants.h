// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SINKINVARIANTS_H
#define IRIS_TARGET_SINKINVARIANTS_H

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/OptBisect.h"

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Adds a pass to the code generation of AMD GPUs that computes cheap values
/// again where the outer loops of `kernels` use them, in place of in front of
/// the loops.
///
/// LLVM hoists all invariants out of the loop over tiles: offsets and
/// conditions of each access. They take registers throughout the main loop
/// within, where most kernels have few to spare, although they are only used in
/// front of it and in the epilogue, once a tile. Nothing is moved into loops
/// that multiply matrices, or into small ones.
void sinkInvariants(llvm::TargetPassConfig &config,
                    const llvm::StringSet<> &kernels);

/// Keeps LLVM from hoisting the values out of the loops of `kernels` again: the
/// gate of the context during code generation.
class HoistingGate final : public llvm::OptPassGate {
public:
  explicit HoistingGate(const llvm::StringSet<> &kernels) : kernels(kernels) {}

  bool isEnabled() const override;
  bool shouldRunPass(llvm::StringRef pass,
                     llvm::StringRef description) const override;

private:
  const llvm::StringSet<> &kernels;
};

} // namespace mlir::iris

#endif // IRIS_TARGET_SINKINVARIANTS_H
