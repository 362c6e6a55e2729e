// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulPipeline.h - Operand tiles on their way to the tensor cores -===//
//
// A ring of slots in shared memory, each with two barriers: producers wait for
// `empty`, fill the slot and complete `full`; consumers wait for `full`,
// multiply and complete `empty`. Both roles go round it in step, over all
// matmuls of the kernel: where they are is in two variables of each thread,
// which LLVM turns into registers.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_MATMULPIPELINE_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_MATMULPIPELINE_H

#include "PTX.h"

namespace mlir::iris {

/// A place in the ring: the slot, and the parity of the round, i32 each.
struct PipelineState {
  Value slot, phase;
};

/// The ring of one kernel, at one point of it.
class MatmulPipeline {
public:
  /// Dynamic shared memory of a ring.
  static int64_t getBytes(int64_t stages, int64_t slotBytes);

  /// Declares the ring's memory and variables at the kernel's entry, where `b`
  /// stands.
  MatmulPipeline(ImplicitLocOpBuilder &b, Operation *symbolTable,
                 int64_t stages, int64_t slotBytes);

  /// In one thread: makes the barriers. `producers` (i32) warps fill a slot,
  /// `consumerWarps` empty it.
  void emitInit(ImplicitLocOpBuilder &b, Value producers,
                int64_t consumerWarps) const;

  PipelineState loadState(ImplicitLocOpBuilder &b) const;
  void storeState(ImplicitLocOpBuilder &b, const PipelineState &place) const;
  PipelineState advance(ImplicitLocOpBuilder &b,
                        const PipelineState &place) const;
  /// `count` (i32) places further.
  PipelineState skip(ImplicitLocOpBuilder &b, const PipelineState &place,
                     Value count) const;
  Value getSlotBefore(ImplicitLocOpBuilder &b, Value slot) const;

  /// Addresses in shared memory, i32.
  Value getSlotAddress(ImplicitLocOpBuilder &b, Value slot) const;
  Value getFull(ImplicitLocOpBuilder &b, Value slot) const;
  Value getEmpty(ImplicitLocOpBuilder &b, Value slot) const;
  /// A barrier that all consumers complete where producers wait for them, and
  /// one that all producers complete when they have: with nothing to multiply
  /// in between, consumers would come to the next producer fence before that.
  Value getFenceBarrier(ImplicitLocOpBuilder &b) const;
  Value getTaken(ImplicitLocOpBuilder &b) const;

  /// Waits until the phase of `parity` is over: true (i1). With `waits` it may
  /// also end, for some lanes, because a wait of the program has failed: false.
  static Value emitWait(ImplicitLocOpBuilder &b, Value barrier, Value parity,
                        bool waits);

  /// Consumers tell producers that they are here; one lane of each warp has
  /// `isFirstLane` (i1).
  void emitProducerFenceArrive(ImplicitLocOpBuilder &b, Value isFirstLane,
                               bool waits) const;
  /// What emitWait returns.
  Value emitProducerFenceWait(ImplicitLocOpBuilder &b, Value isFirstLane,
                              bool waits) const;

  /// Producers that have given up leave the ring alone from then on. Each lane
  /// knows for itself: a wave that goes on together tells all of them.
  void emitGiveUpUnless(ImplicitLocOpBuilder &b, Value goesOn) const;
  /// True (i1) in a lane that has not given up.
  Value emitGoesOn(ImplicitLocOpBuilder &b) const;

  int64_t getStages() const { return stages; }

private:
  /// Parity of the producer fence that the thread comes to; the next one's from
  /// then on.
  Value emitNextFencePhase(ImplicitLocOpBuilder &b) const;
  Value getBarrier(ImplicitLocOpBuilder &b, Value slot, int64_t first) const;

  int64_t stages, slotBytes;
  Value base;
  Value slotVariable, phaseVariable, fencePhaseVariable, givenUpVariable;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_MATMULPIPELINE_H
