// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From tiles to what one thread does.
#ifndef IRIS_CONVERSION_TILETOTHREADS_H
#define IRIS_CONVERSION_TILETOTHREADS_H

#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// On an `scf.if` that chooses the form of an access: its condition is the same
/// in all threads, and its second branch checks everything, so that it is right
/// whether or not the condition holds.
inline constexpr StringLiteral kCheckedFormAttr = "iris.checked_form";

/// On an `scf.for` over a thread's elements of one access.
inline constexpr StringLiteral kElementLoopAttr = "iris.element_loop";

#define GEN_PASS_DECL
#include "iris/Conversion/TileToThreads.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/TileToThreads.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_TILETOTHREADS_H
