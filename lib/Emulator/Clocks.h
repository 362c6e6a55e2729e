// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Clocks.h - What a wave knows of the accesses of others ---*- C++ -*-===//
#ifndef IRIS_EMULATOR_CLOCKS_H
#define IRIS_EMULATOR_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mlir::iris::emulator {

/// Of each wave, by its index, the number of its last access of which something
/// is known. Accesses of a wave are numbered from 1 on.
class Clock {
public:
  uint32_t operator[](unsigned wave) const {
    return wave < times.size() ? times[wave] : 0;
  }
  void advance(unsigned wave, uint32_t time) {
    if (wave >= times.size())
      times.resize(wave + 1);
    times[wave] = std::max(times[wave], time);
  }
  void join(const Clock &other) {
    if (other.times.size() > times.size())
      times.resize(other.times.size());
    for (size_t i = 0; i < other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }
  unsigned size() const { return unsigned(times.size()); }

private:
  std::vector<uint32_t> times;
};

/// How far stores have come: they have been waited for; caches that keep them
/// have been written back to be seen by a workgroup, a device, the system.
enum Reach : unsigned { kWaited, kToWorkgroup, kToAgent, kToSystem };
constexpr unsigned kNumReaches = 4;

/// Caches that keep old values: of a part of a workgroup, of a workgroup or
/// several, of a device.
constexpr unsigned kNearLevel = 1, kAgentLevel = 2, kSystemLevel = 4;
constexpr unsigned kNumLevels = 3, kAllLevels = 7;

/// What a wave, a barrier or the reader of a flag knows.
struct Knowledge {
  /// Stores, by their reach.
  Clock stores[kNumReaches];
  /// Loads, and accesses of LDS, that have completed.
  Clock loads, shared;
  /// Everything that was issued.
  Clock issued;

  void join(const Knowledge &other) {
    for (unsigned i = 0; i < kNumReaches; ++i)
      stores[i].join(other.stores[i]);
    loads.join(other.loads);
    shared.join(other.shared);
    issued.join(other.issued);
  }
  /// All accesses of a wave up to this one have reached everything.
  void advance(unsigned wave, uint32_t time) {
    for (Clock &each : stores)
      each.advance(wave, time);
    loads.advance(wave, time);
    shared.advance(wave, time);
    issued.advance(wave, time);
  }
};

/// What was known of stores when the caches of each level were last
/// invalidated.
struct FreshCaches {
  Clock stores[kNumLevels][kNumReaches];

  /// Adds what is true of caches of these levels elsewhere, which are the same
  /// ones.
  void join(const FreshCaches &other, unsigned levels) {
    forLevels(levels, [&](unsigned level, unsigned reach) {
      stores[level][reach].join(other.stores[level][reach]);
    });
  }
  void invalidate(const Knowledge &knowledge, unsigned levels) {
    forLevels(levels, [&](unsigned level, unsigned reach) {
      stores[level][reach].join(knowledge.stores[reach]);
    });
  }

private:
  template <class Function>
  static void forLevels(unsigned levels, Function function) {
    for (unsigned level = 0; level < kNumLevels; ++level)
      if (levels >> level & 1)
        for (unsigned reach = 0; reach < kNumReaches; ++reach)
          function(level, reach);
  }
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_CLOCKS_H
