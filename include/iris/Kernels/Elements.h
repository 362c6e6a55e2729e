// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elements.h - Arithmetic of reductions --------------------*- C++ -*-===//

#ifndef IRIS_KERNELS_ELEMENTS_H
#define IRIS_KERNELS_ELEMENTS_H

#include "iris/Kernels/KernelBuilder.h"

namespace mlir::iris {

/// A tile of the buffers' type in the type that reductions work in: f32 for
/// f16, bf16 and the f8 types, else the elements' own.
Value widen(KernelBuilder &k, Value tile);
/// The reverse: rounds to nearest even; f8 saturates.
Value narrow(KernelBuilder &k, Value tile);
/// Combines two wide tiles.
Value combine(KernelBuilder &k, Value a, Value b);
/// What is left to do when all members are combined: avg divides.
Value conclude(KernelBuilder &k, Value tile);

/// The reduction, over the members of the group, of the tiles that `load`
/// gives, narrowed. The order begins at another member in each program, so that
/// links share the load, and is the same on every rank: all compute the same
/// bits.
Value reduceMembers(KernelBuilder &k,
                    llvm::function_ref<Value(Value member)> load);
/// The reduction of `tile` and load(i), i = 1 .. size - 1, in this order.
Value reduceWith(KernelBuilder &k, Value tile,
                 llvm::function_ref<Value(Value i)> load);

/// Stores the reduction of all members' `from` to the own `to`.
void storeReduced(KernelBuilder &k, Value from, Value to, Value length);
/// The same for what members have stored to their slots, for rounds of
/// `forBufferedRounds`.
KernelBuilder::TileBody storeReducedSlots(KernelBuilder &k, Value to,
                                          Value length);

/// The reduction of the tiles that the members send to neighbouring slots, from
/// `slot` on, narrowed.
Value reducePackets(KernelBuilder &k, Value slot);

/// A tile of zeros of the buffers' type.
Value zeroTile(KernelBuilder &k);

} // namespace mlir::iris

#endif // IRIS_KERNELS_ELEMENTS_H
