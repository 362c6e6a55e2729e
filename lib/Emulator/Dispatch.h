// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dispatch.h - Workgroups of a launch ----------------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_DISPATCH_H
#define IRIS_EMULATOR_DISPATCH_H

#include "Program.h"
#include "Wave.h"
#include "iris/Emulator/Emulator.h"

namespace mlir::iris::emulator {

/// A launch that runs: what the command processor of a device would do.
class Dispatch {
public:
  /// `deviceCache` is null if devices have none.
  Dispatch(MachineState &machine, const Launch &launch, unsigned number,
           Program &program, Caches cacheKind, Cache *deviceCache);
  ~Dispatch();

  bool hasMoreGroups() const { return nextGroup < numGroups; }
  uint64_t countMoreGroups() const { return numGroups - nextGroup; }
  unsigned countWavesOfGroup() const;
  /// The next workgroup, with the registers of its waves as the kernel expects
  /// them.
  std::unique_ptr<Workgroup> startGroup();
  /// What the end of the kernel does: its stores become visible.
  void writeBack();

  const Launch &launch;
  Program &program;
  /// Workgroups that have started and not ended.
  unsigned numRunning = 0;
  /// Those that may run at the same time.
  unsigned mostRunning = 0;

private:
  void initialize(Wave &wave, unsigned firstThread) const;
  Cache *makeCache(Scope coherentScope, bool writesThrough);

  MachineState &machine;
  Caches cacheKind;
  Cache *deviceCache;
  /// Of workgroups or waves.
  std::vector<std::unique_ptr<Cache>> caches;
  unsigned number;
  uint64_t nextGroup = 0, numGroups;
  /// What the kernel reads: its arguments, and the packet of the launch.
  std::vector<uint8_t> arguments;
  std::array<uint8_t, 64> packet{};
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_DISPATCH_H
