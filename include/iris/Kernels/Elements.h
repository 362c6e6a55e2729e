// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elements.h - Arithmetic of reductions --------------------*- C++ -*-===//

#ifndef IRIS_KERNELS_ELEMENTS_H
#define IRIS_KERNELS_ELEMENTS_H

#include "iris/Kernels/KernelBuilder.h"

namespace mlir::iris {

/// Converts a tile from the buffers' element type to the type used for
/// arithmetic: f32 for f16, bf16 and the f8 types, otherwise the same type.
Value widen(KernelBuilder &k, Value tile);
/// The inverse of `widen`: rounds to nearest even; f8 saturates.
Value narrow(KernelBuilder &k, Value tile);
/// Applies the reduction to two widened tiles.
Value combine(KernelBuilder &k, Value a, Value b);
/// The step after all members are combined: avg divides by the group size.
Value conclude(KernelBuilder &k, Value tile);

/// Reduces load(member) over all members of the group and narrows the result.
/// Each program starts at a different member to spread the load over the links.
/// The order is the same on every rank, so all ranks compute the same bits.
Value reduceMembers(KernelBuilder &k,
                    llvm::function_ref<Value(Value member)> load);
/// Reduces `tile` and load(i), i = 1 .. size - 1, in this order.
Value reduceWith(KernelBuilder &k, Value tile,
                 llvm::function_ref<Value(Value i)> load);

/// Stores the reduction of all members' `from` to this rank's `to`.
void storeReduced(KernelBuilder &k, Value from, Value to, Value length);
/// As `storeReduced`, but for the tiles that members stored to their slots;
/// used in rounds of `forBufferedRounds`.
KernelBuilder::TileBody storeReducedSlots(KernelBuilder &k, Value to,
                                          Value length);

/// Reduces the tiles that the members send to consecutive slots starting at
/// `slot`, and narrows the result.
Value reducePackets(KernelBuilder &k, Value slot);

/// A tile of zeros of the buffers' element type.
Value zeroTile(KernelBuilder &k);

} // namespace mlir::iris

#endif // IRIS_KERNELS_ELEMENTS_H
