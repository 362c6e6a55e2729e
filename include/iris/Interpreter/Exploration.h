// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exploration.h - All orders of a program, up to equivalence -*- C++ -*-=//
//
// Executes a program once for each class of orders that differ only in the
// order of ops that do not conflict.
#ifndef IRIS_INTERPRETER_EXPLORATION_H
#define IRIS_INTERPRETER_EXPLORATION_H

#include "iris/Interpreter/Interpreter.h"

namespace mlir::iris {

/// How one execution ended.
struct ExecutionEnd {
  /// In a deadlock.
  bool deadlocked = false;
  /// With another error: a race, for example.
  bool failed = false;
  /// Before a loop around atomics ended (InterpreterOptions::maxSpins).
  bool cutOff = false;
  /// Of an execution without an error.
  std::vector<RankChecks> checks;
};

struct ExplorationOptions {
  /// Executions after which the exploration stops.
  uint64_t maxExecutions = 100000;
  /// Called at the end of each execution; the exploration stops if it returns
  /// false, or after an error of the program if it is null.
  std::function<bool(const ExecutionEnd &)> atEnd;
};

struct Exploration {
  /// Executions, no two of which are equivalent.
  uint64_t executions = 0;
  /// Executions that were abandoned, because they began as others had.
  uint64_t abandoned = 0;
  /// Of the executions: those in which a loop was cut off.
  uint64_t cutOff = 0;
  /// The most synchronizing ops of one execution.
  uint64_t mostOps = 0;
  /// Whether there is no other execution.
  bool complete = false;
  /// Of the last execution.
  Schedule last;
  ExecutionEnd end;
};

/// Explores the program with the race checker. The error of an execution is a
/// diagnostic, as in `interpret`. Fails if the program cannot be executed at
/// all, or does not repeat itself.
FailureOr<Exploration> explore(ModuleOp module,
                               const InterpreterOptions &options,
                               const ExplorationOptions &exploration);

} // namespace mlir::iris

#endif // IRIS_INTERPRETER_EXPLORATION_H
