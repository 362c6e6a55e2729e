// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WidenFloats.h - 16-bit floats computed in f32 ------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_WIDENFLOATS_H
#define IRIS_DIALECT_IRIS_TRANSFORMS_WIDENFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::iris {

/// True for f16 and bf16, and vectors of them.
bool isNarrowFloat(Type type);

/// Replaces `op`, which works element by element, by the same on f32: narrow
/// operands are widened, a narrow result is rounded.
///
/// Upstream's passes for this mark the conversions `contract`, which lets the
/// rounding between two operations be folded away: a value would then depend
/// on what surrounds it.
void computeInF32(Operation *op, RewriterBase &rewriter);

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_WIDENFLOATS_H
