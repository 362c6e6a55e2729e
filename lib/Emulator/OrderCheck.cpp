// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OrderCheck.h"
#include "Wave.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;
using irischips::CacheControl;

/// The reach that stores need before they are seen in a scope.
static Reach reachFor(const irischips::AMDExecution &execution, Scope scope) {
  unsigned number = unsigned(scope);
  return number >= execution.writesBackFrom ? Reach(number) : kWaited;
}

/// The levels whose caches may have old values of stores in a scope.
static unsigned levelsFor(const irischips::AMDExecution &execution,
                          Scope scope) {
  unsigned levels = execution.hasCachesOfWaves ? kNearLevel : 0;
  if (scope >= Scope::Agent)
    levels |= kAgentLevel;
  // Where none is written back for the system, none is invalidated.
  if (scope == Scope::System &&
      execution.writesBackFrom <= unsigned(Scope::System))
    levels |= kSystemLevel;
  return levels;
}

/// How far an access is coherent by itself.
static Scope coherentScopeOf(const irischips::AMDExecution &execution,
                             const Instruction &instruction, bool isStore) {
  // Where no bit says so, stores are written through to where flags are seen.
  if (isStore && execution.cacheControl == CacheControl::Bypass)
    return Scope::System;
  return instruction.scope;
}

//===----------------------------------------------------------------------===//
// Waves
//===----------------------------------------------------------------------===//

/// Hosts are no waves of any device.
constexpr unsigned kNoDevice = ~0u;

OrderCheck::Host &OrderCheck::hostOf(unsigned device) {
  auto [host, isNew] = hosts.try_emplace(device);
  if (isNew) {
    host->second.index = unsigned(states.size());
    State &state = states.emplace_back();
    state.isRunning = false;
    state.device = kNoDevice;
    state.name = llvm::formatv("the host of device {0}", device);
  }
  return host->second;
}

void OrderCheck::addLaunch(unsigned device, unsigned queue) {
  launches.push_back({device, queue, hostOf(device).knowledge});
}

void OrderCheck::waitForLaunch(unsigned launch) {
  LaunchState &ended = launches[launch];
  hostOf(ended.device).knowledge.join(ended.knowledge, {sets.get()});
  ended.knowledge = {};
}

void OrderCheck::start(Wave &wave) {
  wave.orderIndex = unsigned(states.size());
  State &state = states.emplace_back();
  const Workgroup &group = wave.group;
  state.launch = group.launch;
  state.device = group.device;
  state.execution = &wave.execution;
  numGroups += wave.number == 0;
  state.group = numGroups;
  state.name = llvm::formatv("workgroup ({0}, {1}, {2}), wave {3} of launch "
                             "{4} on device {5}",
                             group.ids[0], group.ids[1], group.ids[2],
                             wave.number, group.launch, group.device);
  const LaunchState &launch = launches[group.launch];
  state.knowledge = launch.knowledge;
  state.knowledge.join(queues[launch.queue], {sets.get()});
  state.fresh.invalidate(state.knowledge, kAllLevels, {sets.get()});
}

void OrderCheck::end(Wave &wave) { reportGuesses(wave, stateOf(wave)); }

void OrderCheck::endLaunch(unsigned launch) {
  Knowledge ended;
  for (unsigned i = 0; i < states.size(); ++i)
    if (State &state = states[i]; state.launch == launch && state.isRunning) {
      ended.join(state.knowledge, {sets.get()});
      ended.advance(i, ~uint32_t(0),
                    {sets.get(), sets ? sets->of(kLaunchEnd) : 0});
      groups.erase(state.group);
      state.isRunning = false;
      state.knowledge = {};
      state.fresh = {};
      state.shared = state.observed = nullptr;
      state.observations.clear();
    }
  queues[launches[launch].queue].join(ended, {sets.get()});
  launches[launch].knowledge = std::move(ended);
}

void OrderCheck::forget(uint64_t address, uint64_t bytes) {
  for (uint64_t word = address & ~uint64_t(3); word < address + bytes;
       word += 4)
    if (auto found = words.find(word); found != words.end())
      llvm::erase_if(found->second, [](const Record &record) {
        return record.instruction != nullptr;
      });
}

OrderCheck::State &OrderCheck::stateOf(const Wave &wave) {
  return states[wave.orderIndex];
}

Scope OrderCheck::neededScope(const State &a, const State &b) const {
  if (a.group == b.group)
    return Scope::Workgroup;
  return a.device == b.device ? Scope::Agent : Scope::System;
}

void OrderCheck::update(Wave &wave, State &state, ReasonFunction reason) {
  const OutstandingAccesses &outstanding = wave.outstanding;
  unsigned self = wave.orderIndex;
  Knowledge &knowledge = state.knowledge;
  bool countsTogether =
      wave.execution.counters == irischips::WaitCounters::VectorAndScalar;
  auto advance = [&](Clock &clock, uint32_t number) {
    clock.advance(self, number,
                  {sets.get(), sets ? reason(clock.reasonFor(self)) : 0});
  };
  advance(knowledge.stores[kWaited],
          outstanding.completedStores(countsTogether ? Counter::Load
                                                     : Counter::Store));
  advance(knowledge.loads, outstanding.completedLoads());
  for (auto [part, number] :
       {std::pair(&state.lds, outstanding.completedShared()),
        std::pair(&state.loadsToLds, outstanding.completedLoadsToShared())})
    if (number > part->number)
      *part = {number, sets ? reason(part->reason) : 0};
  knowledge.shared.advance(
      self, std::min(state.lds.number, state.loadsToLds.number),
      {sets.get(),
       sets ? sets->unite(state.lds.reason, state.loadsToLds.reason) : 0});
  knowledge.issued.advance(self, uint32_t(outstanding.count()));
}

void OrderCheck::wait(Wave &wave, const Instruction &waiter, Counter counter,
                      unsigned allowed) {
  State &state = stateOf(wave);
  // What has completed before is not because of this wait.
  if (sets)
    update(wave, state);
  wave.outstanding.wait(counter, allowed, waiter);
  Reason reason = becauseOf(waiter);
  // A wait for all suffices. Another one leaves out those that complete in any
  // order, for which earlier ones waited.
  update(wave, state, [&](uint32_t before) {
    return allowed == 0 ? reason.set : sets->unite(before, reason.set);
  });
  Knowledge &knowledge = state.knowledge;
  bool countsTogether =
      wave.execution.counters == irischips::WaitCounters::VectorAndScalar;
  if (allowed == 0 &&
      counter == (countsTogether ? Counter::Load : Counter::Store))
    for (unsigned i = 0; i < kNumReaches; ++i) {
      knowledge.stores[i].join(state.writtenBack[i], reason);
      state.writtenBack[i] = {};
    }
  unsigned self = wave.orderIndex;
  uint32_t completed = knowledge.loads[self];
  if (sets)
    reason.set = sets->unite(reason.set, knowledge.loads.reasonFor(self));
  llvm::erase_if(state.observations, [&](const Observation &each) {
    if (each.number > completed)
      return false;
    knowledge.join(
        *each.knowledge,
        {sets.get(), sets ? sets->unite(reason.set, each.reason) : 0});
    return true;
  });
}

void OrderCheck::writeBack(Wave &wave, const Instruction &instruction,
                           Scope scope) {
  Reason reason = becauseOf(instruction);
  State &state = stateOf(wave);
  update(wave, state);
  const Knowledge &knowledge = state.knowledge;
  unsigned self = wave.orderIndex;
  for (unsigned number = unsigned(Scope::Workgroup); number <= unsigned(scope);
       ++number) {
    // The stores before it, and those of other waves that have come as far as
    // the caches that it writes back.
    Clock &target = state.writtenBack[number];
    target.advance(self, knowledge.issued[self], reason);
    for (unsigned i = 0; i < knowledge.issued.size(); ++i)
      if (i != self) {
        Scope other = neededScope(state, states[i]);
        if (unsigned(other) >= number)
          continue;
        const Clock &source = knowledge.stores[reachFor(wave.execution, other)];
        Reason both = reason;
        if (sets)
          both.set = sets->unite(source.reasonFor(i), reason.set);
        target.advance(i, source[i], both);
      }
  }
}

void OrderCheck::invalidate(Wave &wave, const Instruction &instruction,
                            unsigned levels) {
  State &state = stateOf(wave);
  state.fresh.invalidate(state.knowledge, levels, becauseOf(instruction));
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// The caches that all waves of a workgroup share.
constexpr unsigned kSharedLevels = kAgentLevel | kSystemLevel;

void OrderCheck::arrive(Wave &wave, const Instruction &instruction) {
  State &state = stateOf(wave);
  update(wave, state);
  state.barrier = becauseOf(instruction).set;
  reportGuesses(wave, state);
  Group &group = groups[state.group];
  if (group.generation != wave.group.generation) {
    group.released = std::move(group.arrived);
    group.arrived = {};
    group.generation = wave.group.generation;
  }
  Reason reason{sets.get(), state.barrier};
  group.arrived.knowledge.join(state.knowledge, reason);
  group.arrived.fresh.join(state.fresh, kSharedLevels, reason);
}

void OrderCheck::leave(Wave &wave) {
  State &state = stateOf(wave);
  Group &group = groups[state.group];
  // The first wave that goes on, or one that comes after another has arrived at
  // the next barrier.
  const AtBarrier &released =
      group.generation == wave.barrier ? group.arrived : group.released;
  Reason reason{sets.get(), state.barrier};
  state.knowledge.join(released.knowledge, reason);
  state.fresh.join(released.fresh, kSharedLevels, reason);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool OrderCheck::isOrdered(const Wave &wave, const State &state,
                           const Record &record, bool isStore,
                           Scope scope) const {
  const irischips::AMDExecution &execution = wave.execution;
  const Knowledge &knowledge = state.knowledge;
  Scope needed = neededScope(state, states[record.wave]);
  // The waves of a workgroup have one cache, which keeps the order.
  if (needed == Scope::Workgroup && !execution.hasCachesOfWaves)
    return record.number <= knowledge.issued[record.wave];
  if (!record.isStore)
    return record.number <= knowledge.loads[record.wave];
  bool isThrough =
      record.scope >= needed && execution.cacheControl != CacheControl::Bypass;
  Reach reach = isThrough ? kWaited : reachFor(execution, needed);
  if (record.number > knowledge.stores[reach][record.wave])
    return false;
  if (isStore || scope >= needed)
    return true;
  unsigned levels = levelsFor(execution, needed);
  for (unsigned level = 0; level < kNumLevels; ++level)
    if (levels >> level & 1 &&
        record.number > state.fresh.stores[level][reach][record.wave])
      return false;
  return true;
}

uint32_t OrderCheck::reasonOf(const Wave &wave, const State &state,
                              const Record &record,
                              const Instruction &instruction, bool isStore,
                              Scope scope, bool areCoherent) const {
  const irischips::AMDExecution &execution = wave.execution;
  const Knowledge &knowledge = state.knowledge;
  Scope needed = neededScope(state, states[record.wave]);
  uint32_t first = record.instruction ? becauseOf(*record.instruction).set : 0;
  uint32_t second = becauseOf(instruction).set;
  if (areCoherent)
    return sets->unite(first, second);
  if (needed == Scope::Workgroup && !execution.hasCachesOfWaves)
    return knowledge.issued.reasonFor(record.wave);
  if (!record.isStore)
    return knowledge.loads.reasonFor(record.wave);
  bool isThrough =
      record.scope >= needed && execution.cacheControl != CacheControl::Bypass;
  Reach reach = isThrough ? kWaited : reachFor(execution, needed);
  uint32_t set = knowledge.stores[reach].reasonFor(record.wave);
  if (isThrough)
    set = sets->unite(set, first);
  if (isStore)
    return set;
  if (scope >= needed)
    return sets->unite(set, second);
  unsigned levels = levelsFor(execution, needed);
  for (unsigned level = 0; level < kNumLevels; ++level)
    if (levels >> level & 1)
      set = sets->unite(
          set, state.fresh.stores[level][reach].reasonFor(record.wave));
  return set;
}

std::string OrderCheck::explain(const Wave &wave, const State &state,
                                const Record &record, bool isStore) const {
  const Knowledge &knowledge = state.knowledge;
  if (record.number > knowledge.issued[record.wave])
    return "nothing orders them";
  if (!record.isStore)
    return "the load was not waited for before it was known to have been "
           "executed";
  if (record.number > knowledge.stores[kWaited][record.wave])
    return "the store was not waited for";
  Scope needed = neededScope(state, states[record.wave]);
  if (record.number >
      knowledge.stores[reachFor(wave.execution, needed)][record.wave])
    return "the store was not written back far enough";
  return isStore ? "nothing orders them"
                 : "the caches of the load were not invalidated since the "
                   "store was known";
}

void OrderCheck::reportGuesses(Wave &wave, State &state) {
  if (!state.guesses.empty())
    wave.fail(state.guesses.begin()->second);
  state.guesses.clear();
}

std::string OrderCheck::describe(const Record &record, llvm::StringRef who,
                                 llvm::StringRef what, uint64_t address,
                                 bool isStore, llvm::StringRef reason) const {
  const std::string &name = states[record.wave].name;
  const char *does = record.isStore ? "stores" : "loads";
  if (!record.instruction)
    return llvm::formatv("missing order: {0} {1} {2} at {3:x}, which {4} {5}: "
                         "{6}",
                         who, isStore ? "stores" : "loads", what, address, name,
                         does, reason);
  return llvm::formatv(
      "missing order: {0} {1} {2} at {3:x}, which '{4}' at {5:x} of {6} {7}: "
      "{8}",
      who, isStore ? "stores" : "loads", what, address,
      record.instruction->text, uint64_t(record.instruction->position) * 4,
      name, does, reason);
}

/// A bit for each byte of the word at an address that an access covers.
static uint8_t maskOfWord(uint64_t at, uint64_t address, uint64_t bytes) {
  uint64_t first = std::max(address, at) - at;
  uint64_t end = std::min(address + bytes, at + 4) - at;
  return uint8_t(((1 << end) - 1) & ~((1 << first) - 1));
}

void OrderCheck::add(Word &word, Record record) {
  // All that the new access covers is ordered with it, so that who is ordered
  // with it is ordered with them. Loads only stand for those of their wave.
  llvm::erase_if(word, [&](const Record &other) {
    return !(other.mask & ~record.mask) &&
           (record.isStore || (other.wave == record.wave && !other.isStore));
  });
  word.push_back(std::move(record));
}

bool OrderCheck::access(Wave &wave, const Instruction &instruction,
                        uint64_t address, unsigned bytes, bool isStore) {
  State &state = stateOf(wave);
  Scope scope = coherentScopeOf(wave.execution, instruction, isStore);
  bool isCoherent = scope > Scope::Wave;
  uint32_t number = uint32_t(wave.outstanding.count()) + 1;
  if (isStore && isCoherent && state.sharedNumber != number) {
    update(wave, state);
    state.sharedNumber = number;
    state.shared = std::make_shared<const Knowledge>(state.knowledge);
  }
  for (uint64_t at = address & ~uint64_t(3); at < address + bytes; at += 4) {
    uint8_t mask = maskOfWord(at, address, bytes);
    if (instruction.comparesToo)
      state.guesses.erase(at);
    Word &word = words[at];
    SharedKnowledge passed = isStore && isCoherent ? state.shared : nullptr;
    for (const Record &record : word) {
      if (!(record.mask & mask) || record.wave == wave.orderIndex)
        continue;
      // What a flag tells those who load it, also through atomics of others.
      if (record.knowledge && isCoherent &&
          (!isStore || instruction.isAtomic)) {
        Reason reason = becauseOf(*record.instruction);
        if (sets)
          reason.set = sets->unite(reason.set, becauseOf(instruction).set);
        if (state.observed != record.knowledge) {
          state.observations.push_back({number, record.knowledge, reason.set});
          state.observed = record.knowledge;
        }
        if (instruction.isAtomic) {
          auto joined = std::make_shared<Knowledge>(*passed);
          joined->join(*record.knowledge, reason);
          passed = joined;
        }
      }
      if (!isStore && !record.isStore)
        continue;
      Scope needed = neededScope(state, states[record.wave]);
      bool areCoherent = scope >= needed && record.scope >= needed;
      if (areCoherent || isOrdered(wave, state, record, isStore, scope)) {
        if (sets)
          keepOrder(record, instruction.position,
                    reasonOf(wave, state, record, instruction, isStore, scope,
                             areCoherent));
        continue;
      }
      // It stores what others that load it now take for a guess: see below.
      if (instruction.comparesToo && !record.isStore)
        continue;
      std::string text = describe(record, "it", "memory", at, isStore,
                                  explain(wave, state, record, isStore));
      // LLVM's loops of a compare-and-swap begin with a load that is no atomic.
      if (record.isAtomic && !isStore) {
        state.guesses[at] =
            llvm::formatv("{0}\n  by '{1}' at {2:x}", text, instruction.text,
                          uint64_t(instruction.position) * 4);
        continue;
      }
      wave.fail(text);
      return false;
    }
    add(word, {&instruction, wave.orderIndex, number, mask, isStore,
               instruction.isAtomic, scope, std::move(passed)});
  }
  return true;
}

std::string OrderCheck::accessByHost(unsigned device, uint64_t address,
                                     uint64_t bytes, bool isStore) {
  Host &host = hostOf(device);
  Knowledge &knowledge = host.knowledge;
  uint32_t number = ++host.numAccesses;
  for (uint64_t at = address & ~uint64_t(3); at < address + bytes; at += 4) {
    Word &word = words[at];
    uint8_t mask = maskOfWord(at, address, bytes);
    for (const Record &record : word) {
      if (!(record.mask & mask) || record.wave == host.index ||
          (!isStore && !record.isStore))
        continue;
      Reach reach = kToSystem;
      uint32_t reason = 0;
      if (const State &state = states[record.wave]; state.execution) {
        const irischips::AMDExecution &execution = *state.execution;
        bool isThrough = record.scope == Scope::System &&
                         execution.cacheControl != CacheControl::Bypass;
        reach = isThrough ? kWaited : reachFor(execution, Scope::System);
        if (isThrough)
          reason = becauseOf(*record.instruction).set;
      }
      const Clock &known =
          record.isStore ? knowledge.stores[reach] : knowledge.loads;
      if (record.number > known[record.wave])
        return describe(record, "the host", "memory", at, isStore,
                        record.number > knowledge.issued[record.wave]
                            ? "nothing orders them"
                            : "it was not waited for, or not written back");
      if (sets)
        keepOrder(record, kHostAccess,
                  sets->unite(known.reasonFor(record.wave), reason));
    }
    add(word, {nullptr, host.index, number, mask, isStore, /*isAtomic=*/false,
               Scope::Wave, nullptr});
  }
  knowledge.advance(host.index, number);
  return "";
}

bool OrderCheck::accessShared(Wave &wave, const Instruction &instruction,
                              uint32_t address, unsigned bytes, bool isStore) {
  State &state = stateOf(wave);
  Group &group = groups[state.group];
  uint32_t number = uint32_t(wave.outstanding.count()) + 1;
  for (uint32_t at = address & ~3u; at < address + bytes; at += 4) {
    uint8_t mask = maskOfWord(at, address, bytes);
    Word &word = group.lds[at];
    for (const Record &record : word) {
      if (!(record.mask & mask) || record.wave == wave.orderIndex ||
          (!isStore && !record.isStore) ||
          (instruction.isAtomic && record.isAtomic))
        continue;
      if (record.number <= state.knowledge.shared[record.wave]) {
        if (sets)
          keepOrder(record, instruction.position,
                    state.knowledge.shared.reasonFor(record.wave));
        continue;
      }
      wave.fail(
          describe(record, "it", "LDS", at, isStore,
                   record.number <= state.knowledge.issued[record.wave]
                       ? "that access was not waited for before the barrier"
                       : "no barrier is between them"));
      return false;
    }
    add(word, {&instruction, wave.orderIndex, number, mask, isStore,
               instruction.isAtomic, Scope::Wave, nullptr});
  }
  return true;
}
