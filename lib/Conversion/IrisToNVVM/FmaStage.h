// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FmaStage.h - Matmuls without tensor cores ----------------*- C++ -*-===//
//
// Exact f32 matmuls: tensor cores would round the operands. Threads hold the
// same elements of the result as for a tensor core instruction, and read the
// operand tiles from the ring, four values of k at a time.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_FMASTAGE_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_FMASTAGE_H

#include "WgmmaPlan.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// Adds one stage to `accumulator`, a struct of the thread's registers. `a` and
/// `bPart` (i32) are the addresses of the warpgroup's rows and columns; `lane`
/// and `warp` are the thread's, i32.
Value emitFmaStage(ImplicitLocOpBuilder &b, const WgmmaPlan &plan, Value a,
                   Value bPart, Value lane, Value warp, Value accumulator);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_FMASTAGE_H
