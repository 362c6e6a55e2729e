// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveTuner.h - Measured choice of collectives -------*- C++ -*-===//
//
// Measures kernels of collectives at a few sizes, when a communicator is
// created or prepares an operation, and keeps the times on disk
// (TunedChoices.h). docs/guides/tuning.md describes it for users.
//
// The first rank of the group reads what is kept, finds out which kernels are
// compiled, and sends the plan to the others; every later decision follows from
// numbers that are exchanged. Ranks outside of the group take part in the
// allocation of the buffers, which is collective over the world.
#ifndef IRIS_RT_CCL_COLLECTIVETUNER_H
#define IRIS_RT_CCL_COLLECTIVETUNER_H

#include "ccl/MeasureCalls.h"
#include "ccl/MeasuredCollective.h"
#include "iris/ccl/Communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace iris::ccl {

/// What is measured, and for how long.
struct CollectiveTuneRequest {
  rt::TuneLevel level = rt::TuneLevel::off;
  double limitMs = 0;
  std::shared_ptr<TuningClock> clock;

  /// Completes the caller's request.
  static CollectiveTuneRequest from(const CollectiveTuning &tuning);
};

/// Which calls are measured.
struct CollectiveTuneScope {
  std::vector<Op> ops;
  /// The types of reductions; the first one of which kernels are compiled is
  /// measured. The others only move bytes.
  std::vector<DType> dtypes;
  /// For buffers on the heap, and for others.
  bool onHeap = true, elsewhere = true;

  /// All operations that can be measured.
  static CollectiveTuneScope all();
  /// Whether an operation has buffers of one length and involves all ranks.
  static bool canMeasure(Op op);
};

/// What is known of an operation.
struct TunedCollective {
  enum class Source { none, kept, measured };
  Source source = Source::none;
  /// Without a source, only the operation and the placement.
  MeasuredCollective measured;
  /// Why there is no source.
  std::string why;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COLLECTIVETUNER_H
