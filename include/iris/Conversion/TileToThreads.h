// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of tiles to per-thread code.
#ifndef IRIS_CONVERSION_TILETOTHREADS_H
#define IRIS_CONVERSION_TILETOTHREADS_H

#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// On an `scf.if` that selects the form of an access. The condition is uniform;
/// the else branch checks everything, so it is correct whether or not the
/// condition holds.
inline constexpr StringLiteral kCheckedFormAttr = "iris.checked_form";

/// On an `scf.for` over a thread's elements of one access.
inline constexpr StringLiteral kElementLoopAttr = "iris.element_loop";

#define GEN_PASS_DECL
#include "iris/Conversion/TileToThreads.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/TileToThreads.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_TILETOTHREADS_H
