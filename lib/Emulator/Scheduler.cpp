// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Scheduler.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::iris::emulator;

/// As far as a wave goes that never sleeps and waits for nothing.
constexpr uint64_t kFar = 100000;

/// Whether a schedule runs a wave until it sleeps, waits or ends before it
/// chooses the next one.
static bool choosesOne(Schedule schedule) {
  return schedule >= Schedule::First;
}

uint64_t Scheduler::hashOf(uint64_t a, uint64_t b) const {
  uint64_t key = (a * 131 + b) * 7919 + seed * 104729;
  key = (key ^ key >> 15) * 0x9E3779B97F4A7C15u;
  return key ^ key >> 32;
}

void Scheduler::start(Workgroup &group) {
  if (schedule == Schedule::Random) {
    static constexpr unsigned percent[] = {0, 0, 50, 90};
    group.laziness = percent[random() % 4];
  }
  if (choosesOne(schedule))
    for (const std::unique_ptr<Wave> &wave : group.waves)
      wave->orderKey = uint32_t(random());
}

void Scheduler::release(Wave &wave) {
  if (schedule == Schedule::Shuffled || schedule == Schedule::LeaderFirst)
    wave.orderKey = uint32_t(random());
}

Scheduler::Key Scheduler::keyOf(const Wave &wave) const {
  const Workgroup &group = wave.group;
  int64_t device = group.device, index = group.ids[0], number = wave.number;
  switch (schedule) {
  case Schedule::First:
    return {device, index, number};
  case Schedule::Last:
    return {-device, -index, -number};
  case Schedule::LeaderLast:
    return {number == 0, device, index, number};
  case Schedule::LeaderFirst:
    return {number != 0, wave.orderKey};
  case Schedule::Starved: {
    uint64_t victim = hashOf(device, index) % 8 % group.waves.size();
    return {uint64_t(number) == victim, wave.orderKey};
  }
  case Schedule::Crossed:
    return {device % 2 ? -number : number, device, index};
  default:
    return {wave.orderKey};
  }
}

Burst Scheduler::chooseOne(llvm::ArrayRef<Wave *> ready) {
  // Once all are asleep, all are awake again.
  auto isAwake = [](const Wave *wave) { return !wave->isAsleep; };
  if (llvm::none_of(ready, isAwake))
    for (Wave *wave : ready)
      wave->isAsleep = false;
  llvm::SmallVector<Wave *> awake(llvm::make_filter_range(ready, isAwake));
  if (schedule == Schedule::Bursts) {
    static constexpr uint64_t counts[] = {1, 4, 16, 64, 256, 1024};
    Wave *wave = awake[random() % awake.size()];
    return {wave, counts[random() % 6]};
  }
  Wave *least = *llvm::min_element(
      awake, [&](Wave *a, Wave *b) { return keyOf(*a) < keyOf(*b); });
  return {least, kFar};
}

void Scheduler::choose(llvm::ArrayRef<Wave *> ready, uint64_t executed,
                       std::vector<Burst> &bursts) {
  bursts.clear();
  if (choosesOne(schedule)) {
    bursts.push_back(chooseOne(ready));
    return;
  }
  llvm::SmallVector<Wave *> waves(ready);
  if (schedule != Schedule::RoundRobin)
    std::shuffle(waves.begin(), waves.end(), random);
  if (schedule == Schedule::Behind && waves.size() > 1) {
    // With a new choice of the last ones each time, all would run equally: the
    // order is that of a hash that changes seldom.
    uint64_t epoch = executed >> 16;
    auto rank = [&](const Wave *wave) {
      return hashOf(wave->group.launch * 131 + wave->group.ids[0],
                    wave->number + epoch * 7919);
    };
    llvm::sort(waves,
               [&](const Wave *a, const Wave *b) { return rank(a) < rank(b); });
    waves.resize((waves.size() + 1) / 2);
  }
  for (Wave *wave : waves) {
    if (wave->group.laziness && random() % 100 < wave->group.laziness)
      continue;
    uint64_t count = schedule == Schedule::Random       ? 1 + random() % 64
                     : schedule == Schedule::RoundRobin ? 1
                                                        : kFar;
    bursts.push_back({wave, count});
  }
}
