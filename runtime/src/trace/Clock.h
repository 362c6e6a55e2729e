// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Clock.h - Device time to host time -----------------------*- C++ -*-===//
#ifndef IRIS_RT_TRACE_CLOCK_H
#define IRIS_RT_TRACE_CLOCK_H

#include <cstdint>
#include <optional>

namespace iris::rt {

/// The same instant on both clocks.
struct ClockSample {
  uint64_t ticks = 0; ///< device clock
  double hostUs = 0;  ///< host clock; the middle of the possible range
  double errorUs = 0; ///< maximum error of hostUs
};

/// Converts a device's ticks to host time, by a line through one or two
/// samples.
class ClockLine {
public:
  ClockLine() = default;
  /// Two samples that are far enough apart determine the rate of the device's
  /// clock; otherwise it is assumed to be `hz`.
  ClockLine(const std::optional<ClockSample> &first, const ClockSample &last,
            double hz);

  double toHostUs(uint64_t ticks) const;
  double errorUs() const { return errorUs_; }

private:
  uint64_t ticks_ = 0;
  double hostUs_ = 0;
  double usPerTick_ = 1e-3;
  double errorUs_ = 0;
};

} // namespace iris::rt

#endif // IRIS_RT_TRACE_CLOCK_H
