// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Wave.h - The state of waves and workgroups ---------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_WAVE_H
#define IRIS_EMULATOR_WAVE_H

#include "Caches.h"
#include "Instruction.h"
#include "LastStores.h"
#include "OrderCheck.h"
#include "Waits.h"
#include "Wide.h"
#include "iris/Chips/AMDExecution.h"
#include "iris/Emulator/Memory.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Twine.h"
#include <cstring>
#include <memory>
#include <vector>

namespace mlir::iris::emulator {

class Program;
struct InitState;
struct Workgroup;

/// Why a wave does not continue with its next instruction.
enum class WaveStatus : uint8_t { Running, Yields, AtBarrier, Done, Failed };

/// What the waves of a machine share.
struct MachineState {
  Memory &memory;
  /// Instructions of all waves.
  uint64_t executed = 0;
  /// The clock of s_memtime and s_memrealtime, or null: one tick for each
  /// instruction.
  uint64_t (*clock)() = nullptr;
  /// Counts stores to memory or LDS, and atomics that change it: no wave that
  /// polls can go on without one.
  uint64_t stores = 0;
  LastStores lastStores = {};
  uint64_t clockReads = 0;
  MemoryHistory history = {};
  /// Checks the order of accesses; null if nothing does.
  std::unique_ptr<OrderCheck> order = nullptr;
  /// Whether nothing may depend on registers and LDS that were not written.
  bool checksInit = false;

  /// Whether each lane's accesses to LDS have to be looked at.
  bool watchesShared() const { return order || checksInit; }
};

struct Workgroup {
  unsigned launch = 0, device = 0;
  /// How often its waves do not run although they could, in percent.
  unsigned laziness = 0;
  uint32_t ids[3] = {0, 0, 0};
  std::vector<uint8_t> lds;
  /// The bytes of it that have values, if that is checked.
  llvm::BitVector ldsWritten;
  std::vector<std::unique_ptr<Wave>> waves;
  /// Waves that have not ended, and those of them that have signaled the
  /// barrier.
  unsigned numLive = 0, numSignaled = 0;
  /// Completed barriers.
  uint64_t generation = 0;
};

class Wave {
public:
  Wave(MachineState &machine, Workgroup &group, Program &program);
  ~Wave();

  // Registers ----------------------------------------------------------------

  uint32_t *row(unsigned index) { return rows[index].lanes; }
  /// Waves of 32 lanes ignore the upper word.
  uint64_t exec() const { return scalar64(kExec) & fullMask; }
  uint64_t scalar64(unsigned index) const {
    return scalars[index] | uint64_t(scalars[index + 1]) << 32;
  }
  void setScalar64(unsigned index, uint64_t value) {
    scalars[index] = uint32_t(value);
    scalars[index + 1] = uint32_t(value >> 32);
  }
  /// A lane mask: two registers, or one in waves of 32 lanes.
  uint64_t laneMask(unsigned index) const {
    return waveSize == 64 ? scalar64(index) : scalars[index];
  }
  void setLaneMask(unsigned index, uint64_t mask) {
    scalars[index] = uint32_t(mask);
    if (waveSize == 64)
      scalars[index + 1] = uint32_t(mask >> 32);
  }
  /// A word for each lane: all bits if it is active, none otherwise.
  const uint32_t *activeWords() {
    uint64_t mask = exec();
    if (mask != expandedMask)
      expandMask(mask);
    return activeRow.lanes;
  }
  /// Whether M0 is added to the numbers of vector registers.
  bool isIndexing() const { return mode & kIndexMode; }
  /// What is added in that mode.
  RegisterOffsets getOffsets() const {
    uint32_t m0 = scalars[kM0], offset = m0 & 0xFF;
    auto at = [&](unsigned bit) { return m0 >> bit & 1 ? offset : 0; };
    return {at(15), at(12), at(13), at(14)};
  }
  /// Whether all lanes of the wave are active.
  bool isFull() const { return exec() == fullMask; }

  /// Writes a vector register in the active lanes.
  IRIS_INLINE void writeRow(unsigned index, const uint32_t *values) {
    if (isFull())
      std::memcpy(row(index), values, sizeof(Row));
    else
      mergeRow(index, values);
  }
  /// The same where some lanes are not active.
  void mergeRow(unsigned index, const uint32_t *values);

  // Waits --------------------------------------------------------------------

  /// Waits until at most `allowed` accesses of a counter are outstanding.
  void wait(Counter counter, unsigned allowed, const Instruction &waiter) {
    if (machine.order)
      machine.order->wait(*this, waiter, counter, allowed);
    else
      outstanding.wait(counter, allowed, waiter);
  }
  void waitForStores(unsigned allowed, const Instruction &waiter) {
    wait(Counter::Store, allowed, waiter);
    if (cache)
      cache->drain(this, allowed);
  }
  /// Completes stores that no instruction waits for.
  void completeStores() {
    if (cache)
      cache->drain(this, 0);
  }

  // Errors -------------------------------------------------------------------

  /// Ends the wave with an error.
  void fail(const llvm::Twine &message) {
    if (status != WaveStatus::Failed)
      error = message.str();
    status = WaveStatus::Failed;
  }

  MachineState &machine;
  Workgroup &group;
  Program &program;
  const irischips::AMDExecution &execution;
  std::unique_ptr<Row[]> rows;
  unsigned waveSize;
  uint64_t fullMask;

  uint32_t scalars[kNumScalars] = {};
  uint32_t scc = 0;
  /// FP_ROUND, FP_DENORM, ... as s_getreg reads them.
  uint32_t mode = 0;
  /// The next instruction, in words from the start of the code.
  uint32_t position = 0;
  /// The number in its workgroup.
  unsigned number = 0;
  WaveStatus status = WaveStatus::Running;
  /// The barrier that the wave has signaled and may wait for.
  uint64_t barrier = 0;
  OutstandingAccesses outstanding;
  /// Which of its registers have values, if that is checked.
  std::unique_ptr<InitState> init;
  /// Slept when it ran last: it polls.
  bool isAsleep = false;
  /// Instructions since it slept; many if it never has.
  uint64_t sinceSleep = uint64_t(1) << 32;
  /// Random; see Scheduler.
  uint32_t orderKey = 0;
  std::string error;
  /// What the wave sees of memory; null if it is coherent.
  Cache *cache = nullptr;
  /// Whether each lane's accesses to memory have to be looked at: there are
  /// caches, or a check of their order.
  bool isWatched = false;
  /// Its number in the check.
  unsigned orderIndex = 0;
  /// Scratch of all lanes, one lane after the other.
  std::vector<uint8_t> scratch;
  uint32_t scratchBytes = 0;

private:
  void expandMask(uint64_t mask);

  uint64_t expandedMask = 0;
  Row activeRow = {};
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_WAVE_H
