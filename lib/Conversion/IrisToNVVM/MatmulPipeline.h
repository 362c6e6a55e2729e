// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulPipeline.h - Ring of operand tiles -----------------*- C++ -*-===//
//
// A ring of slots in shared memory, each with two mbarriers: producers wait for
// `empty`, fill the slot and complete `full`; consumers wait for `full`,
// multiply and complete `empty`. Both kinds of warps use the slots in the same
// order, over all matmuls of the kernel. Each thread keeps its position in two
// variables, which LLVM promotes to registers.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_MATMULPIPELINE_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_MATMULPIPELINE_H

#include "PTX.h"

namespace mlir::iris {

/// A position in the ring: the slot, and the parity of the pass, i32 each.
struct PipelineState {
  Value slot, phase;
};

/// The ring of one kernel.
class MatmulPipeline {
public:
  /// Bytes of dynamic shared memory of a ring.
  static int64_t getBytes(int64_t stages, int64_t slotBytes);

  /// Declares the ring's memory and variables; `b` must be at the kernel's
  /// entry.
  MatmulPipeline(ImplicitLocOpBuilder &b, Operation *symbolTable,
                 int64_t stages, int64_t slotBytes);

  /// In one thread: initializes the barriers. `producers` (i32) warps fill a
  /// slot, `consumerWarps` release it.
  void emitInit(ImplicitLocOpBuilder &b, Value producers,
                int64_t consumerWarps) const;

  PipelineState loadState(ImplicitLocOpBuilder &b) const;
  void storeState(ImplicitLocOpBuilder &b, const PipelineState &state) const;
  PipelineState advance(ImplicitLocOpBuilder &b,
                        const PipelineState &state) const;
  /// Advances the state by `count` (i32) slots.
  PipelineState skip(ImplicitLocOpBuilder &b, const PipelineState &state,
                     Value count) const;
  Value getSlotBefore(ImplicitLocOpBuilder &b, Value slot) const;

  /// Addresses in shared memory, i32.
  Value getSlotAddress(ImplicitLocOpBuilder &b, Value slot) const;
  Value getFull(ImplicitLocOpBuilder &b, Value slot) const;
  Value getEmpty(ImplicitLocOpBuilder &b, Value slot) const;
  /// A producer fence uses two barriers. Consumers complete the first one, for
  /// which producers wait; producers complete the second one after that wait.
  /// Without the second one, consumers with nothing to multiply in between
  /// could arrive at the next producer fence before producers have waited for
  /// this one.
  Value getFenceBarrier(ImplicitLocOpBuilder &b) const;
  Value getFencePassedBarrier(ImplicitLocOpBuilder &b) const;

  /// Waits until the phase of `parity` has completed and returns true (i1).
  /// With `waits` it may also return false in some lanes, because a wait of the
  /// program has failed.
  static Value emitWait(ImplicitLocOpBuilder &b, Value barrier, Value parity,
                        bool waits);

  /// Consumers arrive at the producer fence; one lane of each warp has
  /// `isFirstLane` (i1).
  void emitProducerFenceArrive(ImplicitLocOpBuilder &b, Value isFirstLane,
                               bool waits) const;
  /// Producers wait for the consumers; returns the result of emitWait.
  Value emitProducerFenceWait(ImplicitLocOpBuilder &b, Value isFirstLane,
                              bool waits) const;

  /// Producers that abort do not access the ring any more. The flag is per
  /// lane: a wave that must stay converged sets it in all its lanes.
  void emitAbortUnless(ImplicitLocOpBuilder &b, Value continues) const;
  /// True (i1) in lanes that have not aborted.
  Value emitContinues(ImplicitLocOpBuilder &b) const;

  int64_t getStages() const { return stages; }

private:
  /// Returns the parity of the thread's current producer fence, and flips it
  /// for the next one.
  Value emitNextFencePhase(ImplicitLocOpBuilder &b) const;
  Value getBarrier(ImplicitLocOpBuilder &b, Value slot, int64_t first) const;

  int64_t stages, slotBytes;
  Value base;
  Value slotVariable, phaseVariable, fencePhaseVariable, abortedVariable;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_MATMULPIPELINE_H
