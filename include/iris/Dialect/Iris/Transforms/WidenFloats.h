// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WidenFloats.h - 16-bit floats computed in f32 ------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_WIDENFLOATS_H
#define IRIS_DIALECT_IRIS_TRANSFORMS_WIDENFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::iris {

/// True for f16 and bf16, and vectors of them.
bool isNarrowFloat(Type type);

/// Replaces the elementwise op `op` by the same op on f32: narrow operands are
/// widened, a narrow result is rounded.
///
/// Upstream's passes mark the conversions `contract`, which allows the rounding
/// between two operations to be folded away: a value would then depend on its
/// context.
void computeInF32(Operation *op, RewriterBase &rewriter);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_WIDENFLOATS_H
