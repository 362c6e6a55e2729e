// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a device's clock runs to the host's.
#ifndef IRIS_RT_TRACE_CLOCK_H
#define IRIS_RT_TRACE_CLOCK_H

#include <cstdint>
#include <optional>

namespace iris::rt {

/// A moment on both clocks.
struct ClockSample {
  uint64_t ticks = 0; ///< of the device
  double hostUs = 0;  ///< the middle of what the host knows
  double errorUs = 0; ///< at most so far off
};

/// The host's time of a device's ticks: a line through one or two samples.
class ClockLine {
public:
  ClockLine() = default;
  /// Two samples far enough apart also say how fast the device's clock runs;
  /// else it is taken to run at `hz`.
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
