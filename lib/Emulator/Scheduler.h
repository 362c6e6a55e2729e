// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scheduler.h - Which waves run next -----------------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_SCHEDULER_H
#define IRIS_EMULATOR_SCHEDULER_H

#include "Wave.h"
#include "iris/Emulator/Emulator.h"
#include <limits>
#include <random>

namespace mlir::iris::emulator {

/// A wave, and the most instructions that it executes before others run.
struct Burst {
  Wave *wave;
  uint64_t count;
};

/// Chooses waves as a schedule and a seed say.
class Scheduler {
public:
  Scheduler(Schedule schedule, uint64_t seed)
      : schedule(schedule), seed(seed), random(seed) {}

  /// How many workgroups of a launch start at once: not all, where the order is
  /// random. The registers of 32 waves stay in a cache of the host, and some
  /// programs run before others start, as on a device.
  unsigned countAtFirst(unsigned wavesOfGroup) const {
    return schedule == Schedule::Random
               ? std::max(1u, kWavesAtFirst / wavesOfGroup)
               : std::numeric_limits<unsigned>::max();
  }
  /// Whether another one starts now, although those before it have not ended.
  bool startsAnother() { return random() % kTurnsOfStart == 0; }
  /// The speed of a new workgroup, and the keys of its waves.
  void start(Workgroup &group);
  /// A wave leaves a barrier.
  void release(Wave &wave);
  /// What runs next, of waves that can; `executed` are the instructions so far.
  void choose(llvm::ArrayRef<Wave *> ready, uint64_t executed,
              std::vector<Burst> &bursts);

private:
  static constexpr unsigned kWavesAtFirst = 32, kTurnsOfStart = 16;
  using Key = std::array<int64_t, 4>;

  /// Of schedules that choose one wave: the least key runs.
  Key keyOf(const Wave &wave) const;
  Burst chooseOne(llvm::ArrayRef<Wave *> ready);
  uint64_t hashOf(uint64_t a, uint64_t b) const;

  Schedule schedule;
  uint64_t seed;
  std::mt19937_64 random;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_SCHEDULER_H
