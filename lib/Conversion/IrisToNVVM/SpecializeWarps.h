// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SpecializeWarps.h - A kernel for two kinds of warps ------*- C++ -*-===//
//
// A kernel with matmuls runs in two roles: *consumers*, the program's own
// warps, do everything but load operand tiles; *producers*, some more warps, do
// nothing else. Both come by the same matmuls in the same order, because the
// producers run a slice of the kernel: its control flow, and the scalars that
// it and the matmuls' places depend on.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_SPECIALIZEWARPS_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_SPECIALIZEWARPS_H

#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// Reduces `block`, a copy of a kernel's body, to the producers' slice. Matmuls
/// stay, without users; reports matmuls whose place depends on what only
/// consumers have.
LogicalResult sliceForProducers(Block &block);

/// Puts an `iris.producer_fence` wherever a matmul of `function`, or a load of
/// a scalar that one depends on, may read what the program has written, or
/// waited for, since the last one: in front of the outermost loop or branch
/// around it that does not do so itself.
void placeProducerFences(FunctionOpInterface function);

/// Checks that a region of `op` does what one wave can do alone.
LogicalResult verifyProducerRegion(tile::MatmulOp op);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_SPECIALIZEWARPS_H
