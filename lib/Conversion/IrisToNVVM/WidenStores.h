// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WidenStores.h - Wide stores of accumulators --------------*- C++ -*-===//
//
// Tensor cores leave two consecutive elements of a row in a thread, and the
// next two in the next lane: stores of 4 or 8 bytes. Lanes exchange some of
// their registers by shuffles, without shared memory or barriers, and then
// store 16 contiguous bytes each.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WIDENSTORES_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WIDENSTORES_H

#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Exchanges registers within waves before the tile stores in `root` that
/// become wider by it. `lane` is the thread's, i32.
void widenStores(Operation *root, Value lane);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WIDENSTORES_H
