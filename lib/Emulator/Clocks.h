// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Clocks.h - What a wave knows of the accesses of others ---*- C++ -*-===//
#ifndef IRIS_EMULATOR_CLOCKS_H
#define IRIS_EMULATOR_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace mlir::iris::emulator {

/// Sets of instructions, by their positions. Each has a number, by which two
/// are compared at once; 0 is the empty one.
class InstructionSets {
public:
  uint32_t unite(uint32_t a, uint32_t b) {
    if (a == b || b == 0)
      return a;
    if (a == 0)
      return b;
    auto [known, isNew] = unions.try_emplace({a, b}, 0);
    if (isNew) {
      std::vector<uint32_t> all;
      std::set_union(sets[a].begin(), sets[a].end(), sets[b].begin(),
                     sets[b].end(), std::back_inserter(all));
      known->second = numberOf(std::move(all));
    }
    return known->second;
  }
  uint32_t of(uint32_t position) {
    auto [known, isNew] = single.try_emplace(position, 0);
    if (isNew)
      known->second = numberOf({position});
    return known->second;
  }
  const std::vector<uint32_t> &get(uint32_t number) const {
    return sets[number];
  }

private:
  uint32_t numberOf(std::vector<uint32_t> set) {
    auto [known, isNew] = numbers.try_emplace(set, uint32_t(sets.size()));
    if (isNew)
      sets.push_back(std::move(set));
    return known->second;
  }

  std::vector<std::vector<uint32_t>> sets{{}};
  std::map<std::vector<uint32_t>, uint32_t> numbers;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> unions;
  std::map<uint32_t, uint32_t> single;
};

/// The set of instructions because of which something is known. Without
/// explanations, `sets` is null.
struct Reason {
  InstructionSets *sets = nullptr;
  uint32_t set = 0;
};

/// Of each wave, by its index, the number of its last access of which something
/// is known. Accesses of a wave are numbered from 1 on.
class Clock {
public:
  uint32_t operator[](unsigned wave) const {
    return wave < times.size() ? times[wave] : 0;
  }
  void advance(unsigned wave, uint32_t time, Reason reason = {}) {
    if (wave >= times.size())
      times.resize(wave + 1);
    if (time > times[wave])
      setReason(wave, reason, reason.set);
    times[wave] = std::max(times[wave], time);
  }
  /// What `other` knows is known here for its reasons and `reason`.
  void join(const Clock &other, Reason reason = {}) {
    if (other.times.size() > times.size())
      times.resize(other.times.size());
    if (reason.sets)
      for (unsigned i = 0; i < other.times.size(); ++i)
        if (other.times[i] > times[i])
          setReason(i, reason,
                    reason.sets->unite(other.reasonFor(i), reason.set));
    for (size_t i = 0; i < other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }
  /// The set of instructions because of which the number for a wave, and so
  /// each smaller one, is known: the first that were enough.
  uint32_t reasonFor(unsigned wave) const {
    return wave < reasons.size() ? reasons[wave] : 0;
  }
  unsigned size() const { return unsigned(times.size()); }

private:
  void setReason(unsigned wave, Reason reason, uint32_t set) {
    if (!reason.sets)
      return;
    reasons.resize(std::max(reasons.size(), times.size()));
    reasons[wave] = set;
  }

  std::vector<uint32_t> times;
  /// Sets of instructions; empty without explanations.
  std::vector<uint32_t> reasons;
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

  void join(const Knowledge &other, Reason reason = {}) {
    for (unsigned i = 0; i < kNumReaches; ++i)
      stores[i].join(other.stores[i], reason);
    loads.join(other.loads, reason);
    shared.join(other.shared, reason);
    issued.join(other.issued, reason);
  }
  /// All accesses of a wave up to this one have reached everything.
  void advance(unsigned wave, uint32_t time, Reason reason = {}) {
    for (Clock &each : stores)
      each.advance(wave, time, reason);
    loads.advance(wave, time, reason);
    shared.advance(wave, time, reason);
    issued.advance(wave, time, reason);
  }
};

/// What was known of stores when the caches of each level were last
/// invalidated.
struct FreshCaches {
  Clock stores[kNumLevels][kNumReaches];

  /// Adds what is true of caches of these levels elsewhere, which are the same
  /// ones.
  void join(const FreshCaches &other, unsigned levels, Reason reason = {}) {
    forLevels(levels, [&](unsigned level, unsigned reach) {
      stores[level][reach].join(other.stores[level][reach], reason);
    });
  }
  void invalidate(const Knowledge &knowledge, unsigned levels,
                  Reason reason = {}) {
    forLevels(levels, [&](unsigned level, unsigned reach) {
      stores[level][reach].join(knowledge.stores[reach], reason);
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
