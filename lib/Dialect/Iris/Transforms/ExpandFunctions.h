// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandFunctions.h - Expansions of math functions ---------*- C++ -*-===//

#ifndef IRIS_LIB_DIALECT_IRIS_TRANSFORMS_EXPANDFUNCTIONS_H
#define IRIS_LIB_DIALECT_IRIS_TRANSFORMS_EXPANDFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::iris {

/// Patterns for `math.exp`, `exp2`, `log`, `log2` and `powf` on f32. Upstream's
/// patterns flush denormals to 0 and lose up to 7 bits for large results.
void populateExpandExponentialsPatterns(RewritePatternSet &patterns);

/// Patterns for `math.sin`, `cos`, `atan`, `atan2` and `cbrt` on f32.
/// Upstream's patterns have no correct digit in parts of the range: near 0, far
/// from 0, and on the axes.
void populateExpandTrigonometryPatterns(RewritePatternSet &patterns);

} // namespace mlir::iris

#endif // IRIS_LIB_DIALECT_IRIS_TRANSFORMS_EXPANDFUNCTIONS_H
