// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emulator.h - Executes code objects of AMD GPUs -----------*- C++ -*-===//
//
// Executes kernels instruction by instruction, with the waves of all workgroups
// of all launches in an order that a seed determines. It says nothing about
// speed. See docs/internals/emulator.md.
#ifndef IRIS_EMULATOR_EMULATOR_H
#define IRIS_EMULATOR_EMULATOR_H

#include "iris/Emulator/CodeObject.h"
#include "iris/Emulator/Memory.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::iris::emulator {

using Dimensions = std::array<uint32_t, 3>;

/// A kernel on a device.
struct Launch {
  const CodeObject *code = nullptr;
  const Kernel *kernel = nullptr;
  /// Workgroups, and threads of each.
  Dimensions groups{1, 1, 1}, threads{1, 1, 1};
  /// All arguments as the kernel expects them in memory: see packArguments.
  std::vector<uint8_t> arguments;
  /// LDS of a workgroup beyond what the kernel has.
  uint32_t extraLdsBytes = 0;
  /// Launches of one queue run one after the other.
  unsigned queue = 0;
  unsigned device = 0;
};

/// The order in which waves run.
enum class Schedule {
  /// A random wave for a random number of instructions. Workgroups start one
  /// after the other, those that others wait for at once.
  Random,
  /// Each wave for one instruction.
  RoundRobin,
  /// Each wave as far as it can go without others, in random order.
  Ahead,
  /// As before, where some waves only run if no other one can.
  Behind,
  // One wave runs until it sleeps, waits at a barrier or ends; then the next
  // one is chosen of those that are not asleep.
  /// The first one, of the first workgroup, of the first device.
  First,
  Last,
  /// The first waves of workgroups only if no other one can.
  LeaderLast,
  LeaderFirst,
  /// In random order, which changes at barriers.
  Shuffled,
  /// One wave of each workgroup only if no other one can.
  Starved,
  /// Any one, for up to 1024 instructions.
  Bursts,
  /// In one order on devices of even numbers, in the reverse one on others.
  Crossed,
};

/// What memory is not coherent with: accesses that name a smaller scope use the
/// cache of their device, workgroup or wave. A compute unit's is that of a
/// workgroup, too, and written through.
enum class Caches { None, Device, Workgroup, Wave, ComputeUnit };

/// The registers of the wave that errors have: none, those of the instruction,
/// or all that have changed.
enum class Registers { None, Operands, All };

struct RunOptions {
  Schedule schedule = Schedule::Random;
  Caches caches = Caches::None;
  /// Whether accesses of different waves to the same bytes that nothing orders,
  /// by the memory model of the chip, are errors (OrderCheck.h).
  bool checksOrder = false;
  /// Whether the check keeps what orders accesses, for `forEachOrder`.
  bool explainsOrder = false;
  /// Whether it is an error if an address, a branch, the active lanes or a
  /// store depends on registers or LDS that nothing has written.
  bool checksInit = false;
  /// Gets a line for each instruction that is executed; null for none.
  llvm::raw_ostream *trace = nullptr;
  /// Only of the workgroup with these numbers.
  std::optional<Dimensions> tracedGroup;
  /// Positions, in words. The first wave that reaches one ends the run with an
  /// error that has all its registers.
  std::vector<uint32_t> breakpoints;
  Registers registersOfErrors = Registers::None;
  uint64_t seed = 0;
  /// Instructions of all waves together.
  uint64_t budget = uint64_t(1) << 40;
  /// The most workgroups of a launch that run at the same time.
  unsigned residentGroups = 1024;
  /// Positions, in words, of instructions that do nothing: to see whether a
  /// barrier, a wait or a cache operation is necessary.
  std::vector<uint32_t> removed;
  /// What kernels read as the time; without it, instructions.
  uint64_t (*clock)() = nullptr;
};

struct RunStatistics {
  uint64_t instructions = 0;
  /// Executions of each mnemonic.
  std::map<std::string, uint64_t> executions;
};

/// An instruction of a kernel.
struct ExecutedInstruction {
  const Kernel &kernel;
  /// In words from the start of the code.
  uint32_t position;
  /// Its assembly.
  llvm::StringRef text;
  uint64_t executions;
  /// Of a wait: the loads, stores, accesses of LDS and scalar loads that
  /// completed there.
  std::array<uint64_t, 4> completed;
};

/// What stands for the position of an access of a host, and of the end of a
/// launch.
constexpr uint32_t kHostAccess = ~uint32_t(0) - 1, kLaunchEnd = ~uint32_t(0);

/// Accesses of different waves or hosts to the same bytes, one of them a store,
/// and instructions that suffice to order them: barriers, waits, write-backs,
/// invalidations, accesses of flags, and the accesses themselves where they are
/// coherent. Others may suffice as well.
struct OrderedAccesses {
  /// Positions of instructions, in words from the start of the code.
  uint32_t first, second;
  llvm::ArrayRef<uint32_t> by;
  /// How often they were found to be ordered so.
  uint64_t count;
};

/// The argument block: `values` for the arguments that are not hidden, in
/// order, each of the argument's size; the hidden ones from the launch.
llvm::Expected<std::vector<uint8_t>>
packArguments(const Kernel &kernel, llvm::ArrayRef<std::vector<uint8_t>> values,
              const Launch &launch);

/// Devices that execute launches. An error of a kernel (an access out of
/// bounds, a missing wait, an instruction that the emulator does not know, a
/// deadlock) says where; nothing can be executed after one.
class Emulator {
public:
  /// Kernels access `memory`, which outlives the emulator.
  Emulator(Memory &memory, const RunOptions &options);
  ~Emulator();

  /// Adds a launch, and returns its number. The code outlives the emulator.
  llvm::Expected<unsigned> launch(Launch launch);
  /// Executes about this many instructions, or less if all launches end before.
  /// If `stopsIfAllWait`, also less if all waves poll memory and sleep. With a
  /// limit, or `stopsIfAllWait`, something else may change memory afterwards,
  /// so that waves which poll are no deadlock.
  llvm::Error advance(uint64_t instructions, bool stopsIfAllWait = false);
  /// Executes all launches to their end.
  llvm::Error finish();
  /// Whether a launch has ended. If so, the host of its device has waited for
  /// it: accesses of this host and of its later launches are after it.
  bool isDone(unsigned launch);
  /// Whether all launches have ended.
  bool isIdle() const;
  RunStatistics getStatistics() const;
  /// Calls a function for each instruction that was executed.
  using ExecutionFunction =
      llvm::function_ref<void(const ExecutedInstruction &)>;
  void forEachExecuted(ExecutionFunction function) const;
  /// Calls a function for all accesses that the check found to be ordered; for
  /// none if `RunOptions::explainsOrder` is not set.
  using OrderFunction = llvm::function_ref<void(const OrderedAccesses &)>;
  void forEachOrder(OrderFunction function) const;
  /// An error if the order is checked, and nothing orders kernels' accesses to
  /// these bytes with an access of the host of a device. Each device has a host
  /// of its own, as ranks have. It knows what launches knew for which `isDone`
  /// was true. Later accesses of kernels are checked against it, too.
  llvm::Error checkHostAccess(unsigned device, const void *data, uint64_t bytes,
                              bool isStore);
  /// Call this before something else than a kernel changes memory: caches keep
  /// what it held.
  void willChange(const void *data, uint64_t bytes);
  /// Stores, and atomics that changed memory, so far: if there are none, waves
  /// may wait for memory that something else writes.
  uint64_t countStores() const;

private:
  class Machine;
  std::unique_ptr<Machine> machine;
};

/// Why the emulator cannot execute some instructions of a code object's
/// kernels; nothing if it knows all of them.
llvm::Expected<std::vector<std::string>> listUnknown(const CodeObject &code);

/// The positions, in words, that `text` names for `RunOptions::breakpoints`: an
/// address of the code, as errors have it (0x2010), or the first instructions
/// of a source line (12, kernels.mlir:12). An error if there are none.
llvm::Expected<std::vector<uint32_t>> findPositions(const CodeObject &code,
                                                    llvm::StringRef text);

/// Executes what hosts execute whose vectors have at most this many bytes: 32,
/// those with AVX2 and FMA; 64, with AVX-512; fewer, all others. For tests:
/// results are the same. Call this before anything else.
void limitVectors(unsigned bytes);

/// The mnemonics that the emulator knows.
std::vector<std::string> listInstructions();

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_EMULATOR_H
