// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/Clock.h"

#include <algorithm>
#include <cmath>

using namespace iris::rt;

/// Clocks differ by some parts in a million: samples closer than this, in us,
/// say less about it than their own error.
static constexpr double minDistanceUs = 100e3;
/// More than any clock is off: something was read wrong.
static constexpr double mostDrift = 1e-3;

ClockLine::ClockLine(const std::optional<ClockSample> &first,
                     const ClockSample &last, double hz)
    : ticks_(last.ticks), hostUs_(last.hostUs), usPerTick_(1e6 / hz),
      errorUs_(last.errorUs) {
  if (!first || last.hostUs - first->hostUs < minDistanceUs ||
      last.ticks <= first->ticks)
    return;
  double measured = (last.hostUs - first->hostUs) /
                    static_cast<double>(last.ticks - first->ticks);
  if (std::abs(measured / usPerTick_ - 1) > mostDrift)
    return;
  usPerTick_ = measured;
  errorUs_ = std::max(errorUs_, first->errorUs);
}

double ClockLine::toHostUs(uint64_t ticks) const {
  // Signed, so that times before the sample come before it.
  auto distance = static_cast<int64_t>(ticks - ticks_);
  return hostUs_ + static_cast<double>(distance) * usPerTick_;
}
