// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A clock of measurements that does not depend on the machine.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CCL_NOISYCLOCK_H
#define IRIS_TEST_RUNTIME_SUPPORT_CCL_NOISYCLOCK_H

#include "ccl/MeasureCalls.h"

#include <csignal>
#include <cstdint>
#include <vector>

namespace iris::rt::test {

/// Call i takes us[i] microseconds, plus up to `noise` of it, which differs
/// between samples and between ranks. Time passes only while calls run.
class NoisyClock : public ccl::TuningClock {
public:
  NoisyClock(uint32_t rank, std::vector<double> us, double noise)
      : us_(std::move(us)), noise_(noise),
        state_((rank + 1) * 0x9e3779b97f4a7c15ull) {}

  double nowMs() override { return nowMs_; }

  double sampleUs(size_t call, double) override {
    state_ = (state_ ^ (state_ >> 31)) * 0xbf58476d1ce4e5b9ull + call + 1;
    double random = static_cast<double>(state_ >> 40) / (1 << 24);
    double us = us_[call % us_.size()] * (1 + noise_ * random);
    ++samples;
    nowMs_ += us / 1e3;
    return us;
  }

  uint32_t samples = 0;

private:
  std::vector<double> us_;
  double noise_;
  uint64_t state_;
  double nowMs_ = 0;
};

/// The first samples take four times as long, as on a device whose clocks are
/// low after it was idle.
class ColdClock : public NoisyClock {
public:
  ColdClock(uint32_t rank, std::vector<double> us, uint32_t coldSamples)
      : NoisyClock(rank, std::move(us), 0), coldSamples_(coldSamples) {}
  double sampleUs(size_t call, double us) override {
    const bool isCold = samples < coldSamples_;
    return NoisyClock::sampleUs(call, us) * (isCold ? 4 : 1);
  }

private:
  uint32_t coldSamples_;
};

/// The process ends at the fifth sample.
class DeadlyClock : public NoisyClock {
public:
  using NoisyClock::NoisyClock;
  double sampleUs(size_t call, double us) override {
    if (samples == 4)
      ::raise(SIGKILL);
    return NoisyClock::sampleUs(call, us);
  }
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_CCL_NOISYCLOCK_H
