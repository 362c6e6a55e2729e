// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Deadline.h - Time limits ---------------------------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_DEADLINE_H
#define IRIS_RT_CORE_DEADLINE_H

#include <algorithm>
#include <chrono>

namespace iris::rt {

class Deadline {
public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(std::chrono::nanoseconds limit)
      // The bound keeps the addition from overflowing.
      : at_(Clock::now() + std::min<std::chrono::nanoseconds>(
                               limit, std::chrono::hours(24 * 365))) {}

  bool passed() const { return Clock::now() >= at_; }
  Clock::time_point time() const { return at_; }
  std::chrono::nanoseconds remaining() const {
    return std::max(std::chrono::nanoseconds(0), at_ - Clock::now());
  }
  /// The timeout for poll(2) in milliseconds: rounded up, at most `cap`.
  int pollMs(int cap) const {
    auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                  remaining() + std::chrono::microseconds(999))
                  .count();
    return static_cast<int>(std::min<long long>(ms, cap));
  }

private:
  Clock::time_point at_;
};

/// Converts seconds to a duration.
inline std::chrono::nanoseconds secondsOf(double seconds) {
  return std::chrono::nanoseconds(
      static_cast<int64_t>(std::min(seconds, 3e8) * 1e9));
}

} // namespace iris::rt

#endif // IRIS_RT_CORE_DEADLINE_H
