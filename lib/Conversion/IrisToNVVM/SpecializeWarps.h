// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SpecializeWarps.h - Warp specialization ------------------*- C++ -*-===//
//
// A kernel with matmuls runs in two kinds of warps. *Consumers*, the program's
// own warps, do everything except loading operand tiles. *Producers*,
// additional warps, only load operand tiles. Both execute the same matmuls in
// the same order, because producers run a slice of the kernel: its control
// flow, and the scalars on which control flow and the addresses of matmuls
// depend.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_SPECIALIZEWARPS_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_SPECIALIZEWARPS_H

#include "ProducerMiss.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// Reduces `block`, a copy of a kernel's body, to the producers' slice. Matmuls
/// remain, without users. Returns what producers cannot repeat, if there is
/// any; then the block is unusable.
std::optional<ProducerMiss> sliceForProducers(Block &block);

/// Inserts an `iris.producer_fence` before a matmul of `function`, or a scalar
/// load on which one depends, that may read what the program has written or
/// waited for since the last fence. The fence is placed before the outermost
/// enclosing loop or branch that does not itself write or wait.
void placeProducerFences(FunctionOpInterface function);

/// Checks that a region of `op` contains only ops that a single wave can
/// execute.
LogicalResult verifyProducerRegion(tile::MatmulOp op);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_SPECIALIZEWARPS_H
