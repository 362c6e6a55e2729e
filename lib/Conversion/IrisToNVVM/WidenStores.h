// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WidenStores.h - Wide stores of accumulators --------------*- C++ -*-===//
//
// The tensor cores leave two neighbours of a row in a thread, and the next ones
// in the next lane: stores of 4 or 8 bytes. Lanes that exchange a part of their
// registers hold 16 bytes in a row each, without shared memory or barriers.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WIDENSTORES_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WIDENSTORES_H

#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Exchanges registers within waves before the tile stores in `root` that would
/// be narrower for it. `lane` is the thread's, i32.
void widenStores(Operation *root, Value lane);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WIDENSTORES_H
