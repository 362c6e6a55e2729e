// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Deadlock.h"
#include "Access.h"
#include "Lines.h"
#include "Parse.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::Expected;

/// Without one of these, all loads of the same addresses have the same values.
static uint64_t countEvents(const MachineState &machine) {
  return machine.stores + machine.history.countLateStores() +
         machine.clockReads;
}

namespace {

/// What decides, with memory, what a wave does from now on.
class WaveSnapshot {
public:
  explicit WaveSnapshot(Wave &wave)
      : words(wordsOf(wave)), scratch(wave.scratch),
        outstanding(wave.outstanding) {
    for (unsigned i = 0; i < wave.program.kernel.numVectors; ++i)
      rows.append(wave.row(i), wave.row(i) + wave.waveSize);
  }

  bool isStateOf(Wave &wave) const {
    if (words != wordsOf(wave) || !outstanding.areLike(wave.outstanding) ||
        scratch != wave.scratch)
      return false;
    for (unsigned i = 0; i < wave.program.kernel.numVectors; ++i)
      if (std::memcmp(&rows[i * wave.waveSize], wave.row(i),
                      wave.waveSize * sizeof(uint32_t)) != 0)
        return false;
    return true;
  }

private:
  using Words = std::array<uint64_t, kNumScalars + 6>;

  static Words wordsOf(const Wave &wave) {
    Words words{wave.position, wave.scc, wave.mode, wave.barrier,
                // A wave may signal a barrier without waiting for it.
                wave.group.generation, wave.group.numSignaled};
    std::copy_n(wave.scalars, kNumScalars, words.begin() + 6);
    return words;
  }

  Words words;
  /// Vector registers. The temporary ones do not outlive an instruction.
  llvm::SmallVector<uint32_t, 0> rows;
  std::vector<uint8_t> scratch;
  OutstandingAccesses outstanding;
};

/// Runs a wave until it is back in its state.
class Iteration {
public:
  Iteration(Wave &wave, DeadlockSearch::Step step) : wave(wave), step(step) {}

  /// Whether it comes back, without an event, after at most so many
  /// instructions. Calls a function after each instruction.
  template <class Function>
  Expected<bool> run(uint64_t most, Function visit) {
    WaveSnapshot snapshot(wave);
    uint64_t events = countEvents(wave.machine);
    uint32_t start = wave.position;
    for (uint64_t count = 0; count < most; ++count) {
      uint64_t issued = wave.outstanding.count();
      if (Error error = step(wave))
        return std::move(error);
      if (wave.status != WaveStatus::Running ||
          countEvents(wave.machine) != events)
        return false;
      visit(wave.outstanding.count() != issued);
      if (wave.position == start && snapshot.isStateOf(wave))
        return true;
    }
    return false;
  }

private:
  Wave &wave;
  DeadlockSearch::Step step;
};

} // namespace

bool DeadlockSearch::isDue(const MachineState &machine, size_t numReady) {
  if (uint64_t now = countEvents(machine); now != events) {
    events = now;
    quietSince = machine.executed;
  }
  return machine.executed - quietSince > patience * numReady;
}

/// A hash of the registers that the last access has written.
static uint64_t hashOfLast(Wave &wave, uint64_t hash) {
  RegisterRange range = wave.outstanding.registersOfLast();
  for (unsigned i = range.first; i < range.first + range.count; ++i)
    if (i >= kFirstRowBit) {
      const uint32_t *row = wave.row(i - kFirstRowBit);
      hash = llvm::hash_combine(
          hash, llvm::hash_combine_range(row, row + wave.waveSize));
    } else {
      hash = llvm::hash_combine(hash, wave.scalars[i]);
    }
  return hash;
}

Expected<bool> DeadlockSearch::search(MachineState &machine,
                                      llvm::ArrayRef<Wave *> ready, Step step) {
  // Those first that have not slept for long: they compute.
  llvm::SmallVector<Wave *> waves(ready);
  llvm::stable_sort(waves, [](const Wave *a, const Wave *b) {
    return a->sinceSleep > b->sinceSleep;
  });
  // An iteration may invalidate caches, so that the next one sees other values;
  // this happens once for each address. If all waves load in the second round
  // what they loaded in the first one, they always do.
  llvm::SmallVector<uint64_t> hashes(waves.size());
  for (unsigned round = 0; round < 2; ++round)
    for (auto [wave, first] : llvm::zip(waves, hashes)) {
      uint64_t hash = 0;
      auto visit = [&, wave = wave](bool isAccess) {
        hash = llvm::hash_combine(hash, wave->position);
        if (isAccess)
          hash = hashOfLast(*wave, hash);
      };
      Expected<bool> comesBack =
          Iteration(*wave, step).run(std::max<uint64_t>(4096, patience), visit);
      if (!comesBack)
        return comesBack;
      if (!*comesBack || (round && hash != first)) {
        postpone(machine);
        return false;
      }
      first = hash;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

namespace {

/// What a lane loads.
struct LaneLoad {
  bool isShared;
  uint64_t address;
  /// -1: scalar.
  int lane;
  /// Among the registers of the result.
  unsigned firstRegister = 0;
  /// Another address of the lane has the other half of them.
  bool hasTwin = false;
};

} // namespace

static std::vector<LaneLoad> loadsOf(Wave &wave,
                                     const Instruction &instruction) {
  std::vector<LaneLoad> loads;
  llvm::StringRef text = instruction.text;
  auto startsWith = [&](std::initializer_list<llvm::StringRef> prefixes) {
    return llvm::any_of(prefixes,
                        [&](auto each) { return text.starts_with(each); });
  };
  if (startsWith({"s_load"})) {
    uint64_t address = wave.scalar64(instruction.sources[0].index) +
                       uint64_t(instruction.offset);
    if (instruction.sources[1].kind != Operand::None)
      address += readScalar<uint32_t>(wave, instruction.sources[1]);
    loads.push_back({false, address, -1});
  } else if (startsWith({"ds_read", "ds_load"}) ||
             (instruction.isAtomic && startsWith({"ds_"}))) {
    const uint32_t *addresses = wave.row(instruction.sources[0].index);
    bool hasTwo = startsWith({"ds_read2", "ds_load_2addr"});
    forLanes(wave.exec(), [&](unsigned lane) {
      uint32_t address = addresses[lane];
      if (!hasTwo) {
        loads.push_back(
            {true, address + uint32_t(instruction.offset), int(lane)});
        return;
      }
      loads.push_back({true, address + instruction.detail, int(lane), 0, true});
      loads.push_back({true, address + instruction.detail2, int(lane),
                       instruction.result.count / 2u, true});
    });
  } else if (startsWith({"global_load", "flat_load", "buffer_load"}) ||
             instruction.isAtomic) {
    LaneAddresses lanes;
    computeAddresses(wave, instruction, lanes);
    forLanes(lanes.active, [&](unsigned lane) {
      uint64_t address = lanes.addresses[lane];
      if (instruction.space == Space::Buffer && !lanes.available[lane])
        return;
      bool isShared =
          instruction.space == Space::Flat && address >> 32 == kSharedAperture;
      loads.push_back(
          {isShared, isShared ? uint32_t(address) : address, int(lane)});
    });
  }
  return loads;
}

/// Whether another wave could change what it loads.
static bool isShared(Wave &wave, const LaneLoad &load) {
  return load.isShared ||
         wave.machine.memory.contains(load.address, 1, /*isStore=*/true);
}

/// What the last access has loaded: a word of a lane, or of a scalar load.
static uint32_t loadedWord(Wave &wave, const LaneLoad &load, unsigned word) {
  RegisterRange range = wave.outstanding.registersOfLast();
  unsigned number = range.first + load.firstRegister + word;
  return number >= kFirstRowBit ? wave.row(number - kFirstRowBit)[load.lane]
                                : wave.scalars[number];
}

/// Up to four words of it. Where a load has two addresses, of its own one.
static std::string describeValue(Wave &wave, const LaneLoad &load) {
  unsigned count = wave.outstanding.registersOfLast().count;
  if (load.hasTwin)
    count /= 2;
  std::string text;
  for (unsigned i = 0; i < std::min(count, 4u); ++i)
    text += llvm::formatv("{0}{1:x}", i ? ", " : "", loadedWord(wave, load, i));
  return text;
}

/// Says so if a cache has shown an old value. A part of a word is not compared.
static std::string describeStale(Wave &wave, const Instruction &instruction,
                                 const LaneLoad &load) {
  llvm::StringRef name = ParsedInstruction(instruction.text).name;
  if (!wave.cache || load.isShared ||
      !wave.machine.memory.contains(load.address, 4, /*isStore=*/false) ||
      !(name.contains("_load_dword") || name.contains("_load_b")))
    return "";
  uint32_t word;
  std::memcpy(&word, reinterpret_cast<const void *>(load.address),
              sizeof(word));
  return word == loadedWord(wave, load, 0)
             ? ""
             : llvm::formatv(", but memory has {0:x}", word).str();
}

static std::string describeLastStore(Wave &wave, const LaneLoad &load) {
  const LastStores &stores = wave.machine.lastStores;
  const Workgroup &group = wave.group;
  const StoreRecord *record = stores.find([&](const StoreRecord &each) {
    return each.covers(load.address) && each.isShared == load.isShared &&
           (!load.isShared || (each.launch == group.launch &&
                               std::equal(each.ids, each.ids + 3, group.ids)));
  });
  if (!record)
    return stores.hasAll() ? "no wave has stored to it"
                           : llvm::formatv("none of the last {0} stores of "
                                           "waves was to it",
                                           stores.countKept())
                                 .str();
  return llvm::formatv(
      "{0} launch {1}, workgroup ({2}, {3}, {4}), wave {5}: {6}",
      record->end - record->begin <= 16
          ? "last stored by"
          : llvm::formatv("last stored to, among {0} bytes around it, by",
                          record->end - record->begin)
                .str(),
      record->launch, record->ids[0], record->ids[1], record->ids[2],
      record->wave,
      describeInstruction(*record->program, *record->instruction));
}

Expected<std::string>
mlir::iris::emulator::describeLoop(Wave &wave, DeadlockSearch::Step step) {
  constexpr size_t kMostLoads = 4;
  std::set<std::pair<bool, uint64_t>> seen;
  std::string text;
  const Instruction *instruction = nullptr;
  std::vector<LaneLoad> loads;
  auto prepare = [&] {
    llvm::ArrayRef<const Instruction *> table = wave.program.getTable();
    instruction = wave.position < table.size() ? table[wave.position] : nullptr;
    loads.clear();
    if (instruction)
      loads = loadsOf(wave, *instruction);
  };
  prepare();
  Expected<bool> comesBack =
      Iteration(wave, step).run(~uint64_t(0), [&](bool isAccess) {
        if (isAccess && wave.outstanding.registersOfLast().count)
          for (const LaneLoad &load : loads)
            if (isShared(wave, load) &&
                seen.insert({load.isShared, load.address}).second &&
                seen.size() <= kMostLoads)
              text += llvm::formatv(
                  "\n    {0} loads {1} from {2}{3}; {4}",
                  describeInstruction(wave.program, *instruction),
                  describeValue(wave, load),
                  load.isShared ? llvm::formatv("LDS + {0}", load.address).str()
                                : wave.machine.memory.nameOf(load.address),
                  describeStale(wave, *instruction, load),
                  describeLastStore(wave, load));
        prepare();
      });
  if (!comesBack)
    return comesBack.takeError();
  if (seen.size() > kMostLoads)
    text += llvm::formatv("\n    and from {0} other addresses",
                          seen.size() - kMostLoads);
  if (seen.empty())
    text = "\n    loads nothing that another wave could change";
  return text;
}

std::string mlir::iris::emulator::describeBarrier(const Workgroup &group) {
  std::string waits;
  llvm::SmallVector<std::string> polls, ended;
  unsigned count = 0;
  for (const std::unique_ptr<Wave> &wave : group.waves) {
    if (wave->status == WaveStatus::AtBarrier) {
      waits += llvm::formatv("{0}wave {1} at {2:x}{3}", count++ ? ", " : ": ",
                             wave->number, uint64_t(wave->position) * 4,
                             describeLine(wave->program, wave->position));
      continue;
    }
    (wave->status == WaveStatus::Done ? ended : polls)
        .push_back(std::to_string(wave->number));
  }
  std::string text = llvm::formatv("{0} of {1} waves wait at a barrier", count,
                                   group.waves.size())
                         .str() +
                     waits;
  for (auto [numbers, what] :
       {std::pair(&polls, "loop"), std::pair(&ended, "have ended")})
    if (!numbers->empty())
      text += "; waves that " + std::string(what) + ": " +
              llvm::join(*numbers, ", ");
  return text;
}
