// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PTX.h - Tensor core and TMA instructions of sm_90 --------*- C++ -*-===//
//
// Barriers in shared memory (mbarriers), TMA copies and tensor core
// instructions, as inline PTX if the nvvm dialect has no suitable op. Shared
// memory addresses are i32.
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

/// Initializes an mbarrier that completes after `count` (i32) arrivals.
void emitBarrierInit(ImplicitLocOpBuilder &b, Value barrier, Value count);
/// Makes initialized mbarriers visible to TMA; a barrier of the threads must
/// follow.
void emitBarrierInitFence(ImplicitLocOpBuilder &b);
/// True (i1) if the phase of `parity` (i32) has completed; waits for a limited
/// time.
Value emitBarrierTry(ImplicitLocOpBuilder &b, Value barrier, Value parity);
void emitBarrierArrive(ImplicitLocOpBuilder &b, Value barrier);
/// Arrives if `condition` (i1) holds.
void emitBarrierArriveIf(ImplicitLocOpBuilder &b, Value barrier,
                         Value condition);
/// Arrives, and adds `bytes` (i32) of copies to the phase's pending count.
void emitBarrierArriveExpect(ImplicitLocOpBuilder &b, Value barrier,
                             Value bytes);

/// Copies a box of `map` (!llvm.ptr) at three coordinates (i32) to shared
/// memory by TMA; the bytes are counted at `barrier`.
void emitTensorCopy(ImplicitLocOpBuilder &b, Value to, Value map, Value barrier,
                    ValueRange coordinates);
/// Proxy fences: order the thread's accesses to global, or shared, memory
/// before later accesses by TMA and tensor cores on its behalf.
void emitGlobalProxyFence(ImplicitLocOpBuilder &b);
void emitSharedProxyFence(ImplicitLocOpBuilder &b);

/// A barrier of a wave's threads that orders their accesses.
void emitWaveBarrier(ImplicitLocOpBuilder &b);
/// True if `value` (i1) is true in all lanes of a converged wave.
Value emitInAllLanes(ImplicitLocOpBuilder &b, Value value);
/// The maximum of `value` (i32, unsigned) over the lanes of a converged wave.
Value emitMaxOfLanes(ImplicitLocOpBuilder &b, Value value);
/// Broadcasts `value` (i32) of the wave's first lane.
Value emitFromFirstLane(ImplicitLocOpBuilder &b, Value value);

/// The constant bits of the wgmma matrix descriptor of an operand.
int64_t getDescriptorBits(const WgmmaOperand &operand, int64_t stageK);
/// Multiplies one stage. `a` and `b` are the warpgroup's descriptors (i64) of
/// the first and the second operand; `accumulator` is a struct of the thread's
/// registers, which count as 0 if `accumulates` (i32) is 0. Asynchronous: one
/// wgmma group.
Value emitWgmma(ImplicitLocOpBuilder &b, const WgmmaPlan &plan, Value a,
                Value bOperand, Value accumulator, Value accumulates);
/// Waits until at most `pending` groups are in flight.
void emitWgmmaWait(ImplicitLocOpBuilder &b, int64_t pending);
/// Waits for all groups; returns the registers for use by other instructions.
Value emitWgmmaResult(ImplicitLocOpBuilder &b, Value accumulator);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_PTX_H
