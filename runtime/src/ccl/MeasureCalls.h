// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeasureCalls.h - Times of calls that do the same ---------*- C++ -*-===//
//
// Measures calls that compute the same on the device, so that the fastest one
// can be taken. All ranks measure together and get the same times.
//
//   trial    each call runs once untimed, which loads code and reserves memory,
//            and then a few times. Calls that take much longer than the best
//            one are tried again, because the device's clocks rise during the
//            first trials, and if they still do they are not measured further.
//   rounds   a round is one sample of each remaining call; the order rotates.
//            A sample is one replay of a graph of several calls. The times are
//            medians of the samples, so that a drift of clocks and power
//            affects all calls alike.
//
// A sample is a graph's replay, and not calls in sequence, because the host's
// time would hide the device's: eager calls of small problems take as long as
// the host needs to enqueue them, whichever kernel runs. Where the device
// cannot capture, a sample is calls in sequence.
//
// The time limit covers all of that, without what compiles and loads kernels.
// Whether another call or round fits into it is decided by the greatest elapsed
// time of all ranks.
#ifndef IRIS_RT_CCL_MEASURECALLS_H
#define IRIS_RT_CCL_MEASURECALLS_H

#include "ccl/Agreement.h"
#include "iris/rt/World.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iris::ccl {

/// The clock of a measurement. Tests replace it.
class TuningClock {
public:
  virtual ~TuningClock();
  /// Milliseconds since any fixed time.
  virtual double nowMs();
  /// The time to record for a sample of a call.
  /// \param call the index of the call
  /// \param us the measured time of one call
  virtual double sampleUs(size_t call, double us);
};

/// A call to measure.
struct MeasuredCall {
  /// Enqueues the call.
  std::function<rt::Status(rt::Stream stream)> run;
  /// A prediction, for calls that were not tried yet.
  double expectedUs = 0;
};

/// How long and how often calls are measured.
struct MeasureLimits {
  double totalMs = 100;
  uint32_t maxRounds = 9;
};

/// What a level of IRIS_TUNE means.
struct TuneLimits {
  /// How many of the most promising calls are measured.
  size_t candidates;
  MeasureLimits measure;
};

/// The times of calls, equal on all ranks.
struct MeasuredTimes {
  /// The time of each call on the slowest rank; infinite if it was not measured
  /// or is much slower than the best one.
  std::vector<double> us;
  /// The same of the trials, of a few calls each; infinite only for calls that
  /// were not tried.
  std::vector<double> trialUs;
  /// Calls that were tried, samples of each that was not dropped, and
  /// milliseconds that everything took.
  size_t tried = 0;
  uint32_t rounds = 0;
  double spentMs = 0;

  /// The first call whose time is within 1 % of the least, so that equally good
  /// calls are not chosen by chance; none if no call was measured.
  std::optional<size_t> best() const;
};

/// Collective over the group of the agreement.
rt::Expected<MeasuredTimes> measureCalls(rt::World &world, Agreement agreement,
                                         const std::vector<MeasuredCall> &calls,
                                         const MeasureLimits &limits,
                                         TuningClock &clock);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MEASURECALLS_H
