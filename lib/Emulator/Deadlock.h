// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Deadlock.h - Waves that poll forever ---------------------*- C++ -*-===//
//
// Waves and memory are deterministic. If each wave that can run, alone, comes
// back to where it was with the same state, and none has stored anything nor
// read a clock, then none of them ever ends, in whatever order they run. See
// docs/internals/emulator.md.
#ifndef IRIS_EMULATOR_DEADLOCK_H
#define IRIS_EMULATOR_DEADLOCK_H

#include "Wave.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace mlir::iris::emulator {

class DeadlockSearch {
public:
  /// Executes the next instruction of a wave.
  using Step = llvm::function_ref<llvm::Error(Wave &)>;

  /// Whether nothing has changed for so long that it is worth a search.
  bool isDue(const MachineState &machine, size_t numReady);
  /// Whether `ready`, all waves that do not wait at barriers, loop forever.
  /// They go on meanwhile. No others may start.
  llvm::Expected<bool> search(MachineState &machine,
                              llvm::ArrayRef<Wave *> ready, Step step);
  /// After an attempt without a result: waits twice as long before the next
  /// one, so that all of them together take less time than everything else.
  void postpone(const MachineState &machine) {
    quietSince = machine.executed;
    patience *= 2;
  }

private:
  uint64_t events = 0, quietSince = 0;
  /// Instructions of each wave.
  uint64_t patience = 256;
};

/// Lets a wave that loops forever run one iteration. Returns a line for each
/// load of what other waves may store to: its address, the value, and who
/// stored there last.
llvm::Expected<std::string> describeLoop(Wave &wave, DeadlockSearch::Step step);

/// The waves of a workgroup, some of which wait at a barrier.
std::string describeBarrier(const Workgroup &group);

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_DEADLOCK_H
