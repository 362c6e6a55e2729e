// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Atomics.cpp - Vector atomics on memory -----------------------------===//
//
// Lanes access memory one after the other, from the first one on.
#include "Access.h"
#include "AtomicOps.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

/// Replaces a value by a function of it, and returns it. The address is a
/// multiple of its size. Sets `changes` if that is another value.
template <class T, class Function>
static T updateAtomically(uint8_t *memory, bool &changes, Function function) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  auto *word = reinterpret_cast<Bits *>(memory);
  Bits old = __atomic_load_n(word, __ATOMIC_SEQ_CST), updated;
  do
    updated = bitCast<Bits>(function(bitCast<T>(old)));
  while (!__atomic_compare_exchange_n(word, &old, updated, /*weak=*/false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  changes |= updated != old;
  return bitCast<T>(old);
}

/// `detail`: whether the result is the value before.
template <class T, class Combine>
static void runAtomic(Wave &wave, const Instruction &instruction,
                      const Combine &combine) {
  constexpr unsigned words = sizeof(T) / 4;
  LaneAddresses lanes;
  computeAddresses(wave, instruction, lanes);
  unsigned data = instruction.sources[2].index;
  bool returns = instruction.detail;
  bool comparesToo = instruction.detail2, changes = false;
  forLanes(lanes.active, [&](unsigned lane) {
    if (instruction.space == Space::Buffer && lanes.available[lane] < sizeof(T))
      return;
    uint64_t address = lanes.addresses[lane];
    if (address % sizeof(T)) {
      wave.fail("lane " + llvm::Twine(lane) + " updates " +
                llvm::Twine(unsigned(sizeof(T))) +
                " bytes at an address that is not a multiple of them");
      return;
    }
    Location location =
        resolve(wave, instruction, lane, address, sizeof(T), /*isStore=*/true);
    if (!location.data ||
        (location.order &&
         !location.order->access(wave, instruction, address, sizeof(T),
                                 /*isStore=*/true)))
      return;
    T old;
    auto update = [&](uint8_t *memory) {
      // Other processes update the same memory.
      old = updateAtomically<T>(memory, changes, [&](T before) {
        return combine(before, readLane<T>(wave, data, lane),
                       comparesToo ? readLane<T>(wave, data + words, lane)
                                   : T());
      });
    };
    if (location.cache)
      location.cache->update(address, sizeof(T), instruction.scope,
                             {&wave, wave.machine.executed}, update);
    else
      update(location.data);
    if (returns)
      writeLane(wave, instruction.result.index, lane, old);
  });
  if (wave.cache && !returns)
    wave.cache->countStore({&wave, wave.machine.executed});
  // Otherwise no wave that polls goes on because of it.
  if (changes)
    recordStores(wave, instruction, lanes, sizeof(T));
  issueAccess(wave, instruction, returns, returns ? words : 0);
}

void mlir::iris::emulator::addAtomics(InstructionTable &table) {
  forAtomics([&](StringRef old, StringRef name, bool compares, auto type,
                 auto combine) {
    using T = decltype(type);
    using Combine = decltype(combine);
    static Combine stateless = combine;
    Handler run = [](Wave &wave, const Instruction &instruction) {
      runAtomic<T>(wave, instruction, stateless);
    };
    constexpr unsigned words = sizeof(T) / 4;
    unsigned dataWords = compares ? 2 * words : words;
    for (auto [prefix, space] :
         {std::pair<StringRef, Space>{"global_atomic_", Space::Global},
          {"flat_atomic_", Space::Flat},
          {"buffer_atomic_", Space::Buffer}}) {
      auto build = [=, space = space](InstructionBuilder &builder) -> Error {
        Instruction &instruction = builder.instruction;
        instruction.run = run;
        instruction.isAtomic = true;
        instruction.comparesToo = compares;
        instruction.detail2 = compares;
        if (space == Space::Buffer) {
          if (Error error = builder.expectOperands(4))
            return error;
          instruction.detail =
              builder.parsed.has("sc0") || builder.parsed.has("glc") ||
              builder.parsed.getText("th").value_or("").contains("RETURN");
          if (Error error =
                  buildAccess(builder, space, instruction.detail ? 0 : -1,
                              words, 1, 0, dataWords, 2))
            return error;
          instruction.scope = scopeOf(builder, /*isAtomic=*/true);
          return Error::success();
        }
        unsigned least = space == Space::Flat ? 2 : 3;
        instruction.detail = builder.numOperands() == least + 1;
        if (Error error = builder.expectOperands(least + instruction.detail))
          return error;
        int first = int(instruction.detail);
        if (Error error = buildAccess(builder, space, first ? 0 : -1, words,
                                      first, first + 1, dataWords,
                                      space == Space::Flat ? -1 : first + 2))
          return error;
        instruction.scope = scopeOf(builder, /*isAtomic=*/true);
        return Error::success();
      };
      if (!old.empty())
        table.add((prefix + old).str(), build);
      table.add((prefix + name).str(), build);
    }
  });
}
