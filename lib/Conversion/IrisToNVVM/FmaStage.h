// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FmaStage.h - Products without tensor cores ---------------*- C++ -*-===//
//
// f32 by f32 exactly: tensor cores would round the factors. Threads hold the
// results that they would have held for an instruction of the tensor cores, and
// read the operand tiles from the ring, four values of k at a time.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_FMASTAGE_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_FMASTAGE_H

#include "WgmmaPlan.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// Adds one stage to `accumulator`, a struct of the thread's registers. `a` and
/// `bPart` (i32) are where the warpgroup's rows and columns begin; `lane` and
/// `warp` are the thread's, i32.
Value emitFmaStage(ImplicitLocOpBuilder &b, const WgmmaPlan &plan, Value a,
                   Value bPart, Value lane, Value warp, Value accumulator);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_FMASTAGE_H
