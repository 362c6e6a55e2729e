// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PTX.h - Instructions of sm_90 that move tiles ------------*- C++ -*-===//
//
// Barriers in shared memory, the copy engine and the tensor cores, as inline
// PTX where the nvvm dialect has no op of the form that is needed. Addresses in
// shared memory are i32.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_PTX_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_PTX_H

#include "WgmmaPlan.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::iris {

/// Inline PTX with side effects; `result` may be null.
Value emitPTX(ImplicitLocOpBuilder &b, Type result, ValueRange operands,
              StringRef text, StringRef constraints);

/// A barrier in shared memory that `count` (i32) arrivals complete.
void emitBarrierInit(ImplicitLocOpBuilder &b, Value barrier, Value count);
/// Makes the barriers known to the copy engine; then threads may meet.
void emitBarrierInitFence(ImplicitLocOpBuilder &b);
/// True (i1) if the phase of `parity` (i32) is over; waits a little for it.
Value emitBarrierTry(ImplicitLocOpBuilder &b, Value barrier, Value parity);
void emitBarrierArrive(ImplicitLocOpBuilder &b, Value barrier);
/// Arrives where `condition` (i1) holds.
void emitBarrierArriveIf(ImplicitLocOpBuilder &b, Value barrier,
                         Value condition);
/// Arrives, and lets the phase wait for `bytes` (i32) more of copies.
void emitBarrierArriveExpect(ImplicitLocOpBuilder &b, Value barrier,
                             Value bytes);

/// Copies a box of `map` (!llvm.ptr) at three coordinates (i32) to shared
/// memory; counts its bytes at `barrier`.
void emitTensorCopy(ImplicitLocOpBuilder &b, Value to, Value map, Value barrier,
                    ValueRange coordinates);
/// What the thread has seen or written in memory, or in shared memory, comes
/// before what the copy engine and the tensor cores do for it next.
void emitGlobalProxyFence(ImplicitLocOpBuilder &b);
void emitSharedProxyFence(ImplicitLocOpBuilder &b);

/// All threads of a wave meet; their accesses are ordered.
void emitWaveBarrier(ImplicitLocOpBuilder &b);
/// `value` (i1) of all lanes of a wave that has met: true if it is in each.
Value emitInAllLanes(ImplicitLocOpBuilder &b, Value value);
/// The largest `value` (i32, unsigned) of the lanes of a wave that has met.
Value emitMostOfLanes(ImplicitLocOpBuilder &b, Value value);
/// `value` (i32) of the wave's first lane, in all of them.
Value emitFromFirstLane(ImplicitLocOpBuilder &b, Value value);

/// The constant part of the tensor cores' description of an operand.
int64_t getDescriptorBits(const WgmmaOperand &operand, int64_t stageK);
/// Multiplies one stage: `a` and `b` are the warpgroup's descriptors (i64) of
/// the instructions' first and second operand,
/// `accumulator` a struct of the thread's registers, which count as 0 where
/// `accumulates` (i32) is 0. Asynchronous, one group.
Value emitWgmma(ImplicitLocOpBuilder &b, const WgmmaPlan &plan, Value a,
                Value bOperand, Value accumulator, Value accumulates);
/// Waits until at most `pending` groups are running.
void emitWgmmaWait(ImplicitLocOpBuilder &b, int64_t pending);
/// Waits for all groups; returns the registers for others to use.
Value emitWgmmaResult(ImplicitLocOpBuilder &b, Value accumulator);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_PTX_H
