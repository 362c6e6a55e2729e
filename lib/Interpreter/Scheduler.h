// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scheduler.h - Which program takes the next steps ---------*- C++ -*-===//
#ifndef IRIS_LIB_INTERPRETER_SCHEDULER_H
#define IRIS_LIB_INTERPRETER_SCHEDULER_H

#include "iris/Interpreter/Interpreter.h"
#include <memory>

namespace mlir::iris::interp {

class Program;
class World;

/// Before which ops another program may be taken.
enum class Point : uint8_t {
  None,
  Access,   ///< an access that other programs may see, a fence, a loop
  Volatile, ///< the same, if the access is volatile
  Sync,     ///< an atomic, a signal, a packet: never blocks
  Wait,     ///< a wait or the load of a packet: goes on only when it holds
  End,      ///< the end of a program, where another one waits for its place
};

/// SplitMix64 (public domain): every seed has a sequence of its own.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();

private:
  uint64_t state;
};

class Scheduler {
public:
  virtual ~Scheduler() = default;

  /// Takes a program out of those that can go on; null ends the execution: no
  /// program is left, or the scheduler has abandoned it.
  virtual Program *pick(World &world, std::vector<Program *> &runnable) = 0;
  /// Whether only Sync, Wait and End are scheduling points.
  virtual bool syncsOnly() const { return false; }
  /// The program has executed the first op of its turn.
  virtual void began(Program &) {}
  /// Whether the execution ended for another reason than the program's.
  virtual bool isAbandoned() const { return false; }
};

/// The scheduler that the options name.
std::unique_ptr<Scheduler> makeScheduler(const InterpreterOptions &options);

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_SCHEDULER_H
