// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Interpreter.h - The meaning of programs, executed --------*- C++ -*-===//
//
// Executes the portable kernel language as written: `@main` on every rank, and
// the kernels that it launches, op by op, in one process and in an order that a
// seed determines. It shares nothing with the passes, the conversions and the
// code generators that it checks, except for the dialects.
#ifndef IRIS_INTERPRETER_INTERPRETER_H
#define IRIS_INTERPRETER_INTERPRETER_H

#include "iris/Interpreter/Picture.h"
#include "iris/Interpreter/Schedule.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir::iris {

/// A live buffer of the symmetric heap on one rank.
struct BufferSnapshot {
  /// The number of the allocation, from 0, in program order, without
  /// workspaces (`iris.alloc ... workspace`).
  uint64_t number;
  unsigned rank;
  /// The `iris.alloc`.
  Operation *alloc;
  Type element;
  ArrayRef<int64_t> sizes;
  ArrayRef<uint8_t> bytes;
  /// For every byte, whether the program determines it: it has neither poison
  /// nor the state of a barrier.
  std::vector<bool> defined;
};

/// The buffers of all ranks, without workspaces, when all have met in an
/// `iris.sync`.
struct SyncSnapshot {
  /// Syncs are numbered from 0.
  uint64_t number;
  /// The `iris.sync`; null at the end of `@main`.
  Operation *op;
  /// By allocation, then by rank.
  std::vector<BufferSnapshot> buffers;
};

struct InterpreterOptions {
  unsigned numRanks = 1;
  /// Determines the order in which programs take steps.
  uint64_t seed = 0;
  /// Whether the order is one of random priorities (PCT), which change at
  /// `priorityChanges` of the `expectedTurns` turns, and not a uniform one.
  bool priorities = false;
  unsigned priorityChanges = 0;
  uint64_t expectedTurns = 0;
  /// An order to repeat; null: a random one.
  const Schedule *replay = nullptr;
  /// Whether steps of it that cannot be taken are left out, and an order that
  /// ends before the program, without an error, is a silent failure.
  bool replayLoosely = false;
  /// Set to the order that was taken, also after an error. May be null.
  Schedule *taken = nullptr;
  /// Programs of a device that run at once, the first ones of a launch first;
  /// another one starts when one ends. 0: all of a launch.
  uint64_t resident = 0;
  /// What the execution did is added to it, if races are checked. May be null.
  Picture *picture = nullptr;
  /// Of an exploration: iterations of a loop (`scf.while`) around atomics,
  /// after which a program takes no more steps.
  uint64_t maxSpins = 8;
  /// Bytes of a rank's symmetric heap.
  uint64_t heapBytes = uint64_t(1) << 30;
  /// Whether accesses that no synchronization orders are errors (data races).
  bool checkRaces = false;
  /// Called at every `iris.sync` and at the end of `@main`; failure ends the
  /// run. May be null.
  std::function<LogicalResult(const SyncSnapshot &)> atSync;
};

/// The checks (`iris.expect_eq`) of one rank.
struct RankChecks {
  uint64_t checked = 0;
  uint64_t failed = 0;
  /// A description of the first failed one.
  std::string first;
};

/// Executes `@main` on all ranks. Returns the checks of each. An error of the
/// program (poison that is used, an access out of bounds, a read of memory that
/// was not written, a deadlock, a data race if they are checked, an op that the
/// interpreter does not execute) is a diagnostic at the op, and failure.
FailureOr<std::vector<RankChecks>> interpret(ModuleOp module,
                                             const InterpreterOptions &options);

} // namespace mlir::iris

#endif // IRIS_INTERPRETER_INTERPRETER_H
