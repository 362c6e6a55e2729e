// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Clock.cpp - Device time to host time -------------------------------===//
#include "trace/Clock.h"

#include <algorithm>
#include <cmath>

using namespace iris::rt;

/// The minimum distance of two samples, in us. Clock rates differ by a few
/// parts per million, which closer samples cannot measure.
static constexpr double minDistanceUs = 100e3;
/// A larger difference of the clock rates indicates an invalid sample.
static constexpr double maxDrift = 1e-3;

ClockLine::ClockLine(const std::optional<ClockSample> &first,
                     const ClockSample &last, double hz)
    : ticks_(last.ticks), hostUs_(last.hostUs), usPerTick_(1e6 / hz),
      errorUs_(last.errorUs) {
  if (!first || last.hostUs - first->hostUs < minDistanceUs ||
      last.ticks <= first->ticks)
    return;
  double measured = (last.hostUs - first->hostUs) /
                    static_cast<double>(last.ticks - first->ticks);
  if (std::abs(measured / usPerTick_ - 1) > maxDrift)
    return;
  usPerTick_ = measured;
  errorUs_ = std::max(errorUs_, first->errorUs);
}

double ClockLine::toHostUs(uint64_t ticks) const {
  // Signed, because the time may be before the sample.
  auto distance = static_cast<int64_t>(ticks - ticks_);
  return hostUs_ + static_cast<double>(distance) * usPerTick_;
}
