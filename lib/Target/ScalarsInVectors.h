// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_SCALARSINVECTORS_H
#define IRIS_TARGET_SCALARSINVECTORS_H

#include "llvm/ADT/StringMap.h"

#include <utility>

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace mlir::iris {

/// Registers that a kernel spills.
struct Spills {
  unsigned scalars = 0, vectors = 0;

  bool operator<(const Spills &other) const {
    return std::pair(vectors, scalars) <
           std::pair(other.vectors, other.scalars);
  }
};

/// The share of the allocator's scalar registers that `keepScalarsInVectors`
/// leaves unused in each kernel, in 24ths.
using ScalarMargins = llvm::StringMap<unsigned>;
/// The first margin to try.
inline constexpr unsigned kFirstMargin = 1;

/// Adds a pass to the code generation of AMD GPUs that copies scalars to vector
/// registers where a kernel of `margins` uses too many scalar registers. If it
/// `predicts`, kernels that certainly spill are added with `kFirstMargin`.
///
/// A scalar in a vector register takes a whole one, which kernels of
/// collectives have many of; a spilled one takes a lane. In return,
/// instructions on vectors read it there, a condition takes one register, and
/// values whose copies are in few or rarely executed blocks are taken first.
void keepScalarsInVectors(llvm::TargetPassConfig &config,
                          ScalarMargins &margins, bool predicts);

/// Adds a pass that counts the registers that kernels spill.
void countSpills(llvm::TargetPassConfig &config,
                 llvm::StringMap<Spills> &spills);

} // namespace mlir::iris

#endif // IRIS_TARGET_SCALARSINVECTORS_H
