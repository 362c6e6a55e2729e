// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OrderCheck.h - Accesses that nothing orders --------------*- C++ -*-===//
//
// Finds two accesses of different waves to the same bytes, one of them a store,
// where the memory model lets the second one see either side of the first one:
// a barrier, a wait, a write-back, an invalidation, or a cache bit is missing.
// It follows what each wave knows of all others, whatever their order in this
// execution. See docs/internals/emulator.md.
#ifndef IRIS_EMULATOR_ORDERCHECK_H
#define IRIS_EMULATOR_ORDERCHECK_H

#include "Clocks.h"
#include "Instruction.h"
#include "Waits.h"
#include "iris/Chips/AMDExecution.h"
#include "iris/Emulator/Emulator.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace mlir::iris::emulator {

class OrderCheck {
public:
  /// `explains`: whether to keep what orders accesses.
  explicit OrderCheck(bool explains) {
    if (explains)
      sets = std::make_unique<InstructionSets>();
  }

  /// The host of a device adds a launch, whose number is the next one, to a
  /// queue. The launch knows what the host knows now.
  void addLaunch(unsigned device, unsigned queue);
  /// A wave starts: it knows what its launch knows, and all that launches did
  /// which were before it in its queue.
  void start(Wave &wave);
  /// All waves of a launch have ended.
  void endLaunch(unsigned launch);
  /// The host of the launch's device sees that the launch has ended.
  void waitForLaunch(unsigned launch);
  /// An access of the host of a device, which knows what launches knew that it
  /// has seen end. Returns what nothing orders with it, or nothing.
  /// Kernels' accesses to these bytes have to be ordered with it from now on.
  std::string accessByHost(unsigned device, uint64_t address, uint64_t bytes,
                           bool isStore);
  /// Something else than a kernel changes these bytes.
  void forget(uint64_t address, uint64_t bytes);

  /// An access of a lane; false, with an error of the wave, if an access of
  /// another wave is not ordered with it.
  bool access(Wave &wave, const Instruction &instruction, uint64_t address,
              unsigned bytes, bool isStore);
  /// The same for LDS.
  bool accessShared(Wave &wave, const Instruction &instruction,
                    uint32_t address, unsigned bytes, bool isStore);

  /// Waits until at most `allowed` accesses of a counter are outstanding.
  void wait(Wave &wave, const Instruction &waiter, Counter counter,
            unsigned allowed);
  /// Instructions for caches; `levels` has a bit for each one that is
  /// invalidated (Clocks.h).
  void writeBack(Wave &wave, const Instruction &instruction, Scope scope);
  void invalidate(Wave &wave, const Instruction &instruction, unsigned levels);
  /// The end of a wave.
  void end(Wave &wave);
  /// A wave arrives at the barrier of its workgroup; goes on after it.
  void arrive(Wave &wave, const Instruction &instruction);
  void leave(Wave &wave);

  /// Calls a function with an `OrderedAccesses` for each order that was found.
  template <class Function>
  void forEachOrder(Function function) const {
    for (const auto &[key, count] : orders) {
      auto [first, second, set] = key;
      function(OrderedAccesses{first, second, sets->get(set), count});
    }
  }

private:
  using SharedKnowledge = std::shared_ptr<const Knowledge>;

  /// The latest access of a wave, or of a host, to bytes of a word.
  struct Record {
    /// Null: of a host.
    const Instruction *instruction;
    uint32_t wave, number;
    uint8_t mask;
    bool isStore, isAtomic;
    /// How far it is coherent by itself.
    Scope scope;
    /// Of a store: what its wave knew, for who sees it.
    SharedKnowledge knowledge;
  };
  using Word = llvm::SmallVector<Record, 1>;

  /// A load of a flag that has not been waited for.
  struct Observation {
    uint32_t number;
    SharedKnowledge knowledge;
    /// The set of the flag's store and load.
    uint32_t reason;
  };

  struct State {
    bool isRunning = true;
    /// What reports say of it.
    std::string name;
    unsigned launch = 0, device = 0, group = 0;
    const irischips::AMDExecution *execution = nullptr;
    Knowledge knowledge;
    FreshCaches fresh;
    /// Write-backs that have not been waited for, by reach.
    Clock writtenBack[kNumReaches];
    std::vector<Observation> observations;
    /// A copy of the knowledge, for the store of this number.
    SharedKnowledge shared;
    uint32_t sharedNumber = 0;
    /// The set of the barrier at which it has arrived.
    uint32_t barrier = 0;
    /// Up to which number accesses of LDS, and loads to it, have completed, and
    /// the set of waits for them.
    struct Completed {
      uint32_t number = 0, reason = 0;
    } lds, loadsToLds;
    /// Loads of atomics' results that nothing orders, by address, with the
    /// report: the wave compares them by an atomic before it relies on them.
    std::map<uint64_t, std::string> guesses;
    /// The last one that was observed: those who poll see it again.
    SharedKnowledge observed;
  };

  /// What waves know that have arrived at a barrier, and at the one before.
  struct AtBarrier {
    Knowledge knowledge;
    FreshCaches fresh;
  };
  struct Group {
    AtBarrier arrived, released;
    uint64_t generation = 0;
    llvm::DenseMap<uint32_t, Word> lds;
  };

  State &stateOf(const Wave &wave);
  Scope neededScope(const State &a, const State &b) const;
  /// Brings what the wave knows of itself up to date; `reason` is what made
  /// accesses complete since it was called last.
  using ReasonFunction = llvm::function_ref<uint32_t(uint32_t before)>;
  void update(Wave &wave, State &state, ReasonFunction reason);
  void update(Wave &wave, State &state) {
    update(wave, state, [](uint32_t before) { return before; });
  }
  Reason becauseOf(const Instruction &instruction) const {
    return {sets.get(), sets ? sets->of(instruction.position) : 0};
  }
  /// The set of instructions that order a record and an access: where
  /// `isOrdered` is true or, if `areCoherent`, the two themselves.
  uint32_t reasonOf(const Wave &wave, const State &state, const Record &record,
                    const Instruction &instruction, bool isStore, Scope scope,
                    bool areCoherent) const;
  void keepOrder(const Record &record, uint32_t second, uint32_t set) {
    ++orders[{record.instruction ? record.instruction->position : kHostAccess,
              second, set}];
  }
  /// Whether a wave may rely on the order of a record and its own access.
  bool isOrdered(const Wave &wave, const State &state, const Record &record,
                 bool isStore, Scope scope) const;
  bool isSharedOrdered(const State &state, const Record &record) const;
  std::string explain(const Wave &wave, const State &state,
                      const Record &record, bool isStore) const;
  std::string describe(const Record &record, llvm::StringRef who,
                       llvm::StringRef what, uint64_t address, bool isStore,
                       llvm::StringRef reason) const;
  /// Reports loads that no atomic has compared.
  void reportGuesses(Wave &wave, State &state);
  void add(Word &word, Record record);

  struct LaunchState {
    unsigned device, queue;
    /// What its host knew when it was added; what its waves knew at the end,
    /// until the host has seen it.
    Knowledge knowledge;
  };

  /// Null if nothing is to be explained.
  std::unique_ptr<InstructionSets> sets;
  /// First and second access, and the set that orders them.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> orders;
  std::vector<State> states;
  /// By number. A launch begins without what caches had, and its end writes all
  /// caches of its device back.
  std::vector<LaunchState> launches;
  /// What launches of each queue knew that have ended.
  std::map<unsigned, Knowledge> queues;
  /// The host of a device, in a process of its own. Its accesses are numbered
  /// as those of waves.
  struct Host {
    unsigned index = 0;
    uint32_t numAccesses = 0;
    Knowledge knowledge;
  };
  Host &hostOf(unsigned device);
  std::map<unsigned, Host> hosts;
  llvm::DenseMap<uint64_t, Word> words;
  /// By number.
  std::map<unsigned, Group> groups;
  unsigned numGroups = 0;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_ORDERCHECK_H
