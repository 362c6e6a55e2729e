// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandFunctions.h - Functions as arithmetic --------------*- C++ -*-===//

#ifndef IRIS_LIB_DIALECT_IRIS_TRANSFORMS_EXPANDFUNCTIONS_H
#define IRIS_LIB_DIALECT_IRIS_TRANSFORMS_EXPANDFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::iris {

/// Patterns for `math.exp`, `exp2`, `log`, `log2` and `powf` on f32. Upstream's
/// take denormals for 0 and lose up to 7 bits where the result is large.
void populateExpandExponentialsPatterns(RewritePatternSet &patterns);

/// Patterns for `math.sin`, `cos`, `atan`, `atan2` and `cbrt` on f32.
/// Upstream's have no correct digit in parts of the range: near 0, far from 0,
/// at axes.
void populateExpandTrigonometryPatterns(RewritePatternSet &patterns);

} // namespace mlir::iris

#endif // IRIS_LIB_DIALECT_IRIS_TRANSFORMS_EXPANDFUNCTIONS_H
