// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Races.h - Accesses that nothing orders -------------------*- C++ -*-===//
//
// Data races by vector clocks (happens-before), with the memory model of
// docs/internals/memory-model.md. A race is reported if the order of the steps
// that the interpreter took does not order two accesses; the steps themselves
// need not show it.
#ifndef IRIS_LIB_INTERPRETER_RACES_H
#define IRIS_LIB_INTERPRETER_RACES_H

#include "Memory.h"
#include "Recorder.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::iris::interp {

class Program;
class World;

/// Of every thread, how many of its steps came before.
class VectorClock {
public:
  bool covers(uint32_t thread, uint32_t step) const {
    return thread < steps.size() && steps[thread] >= step;
  }
  void set(uint32_t thread, uint32_t step) {
    if (thread >= steps.size())
      steps.resize(thread + 1, 0);
    steps[thread] = step;
  }
  void join(const VectorClock &other);
  /// Whether all that `other` has is in this one.
  bool covers(const VectorClock &other) const;

private:
  SmallVector<uint32_t, 8> steps;
};

/// What comes before a point of an execution.
struct Past {
  /// By the memory model.
  VectorClock clock;
  /// By the order of the synchronizing ops that conflict; only an exploration
  /// needs it.
  VectorClock order;

  void join(const Past &other) {
    clock.join(other.clock);
    order.join(other.order);
  }
};

/// The number of a thread, by rank and linear block index (-1: `@main`).
using ThreadNumbers = std::map<std::pair<unsigned, int64_t>, uint32_t>;

/// Sees the accesses of synchronizing ops.
class SyncObserver {
public:
  virtual ~SyncObserver() = default;
  /// Called before the access.
  virtual void touch(const Allocation::Copy &copy, int64_t byte, int64_t bytes,
                     bool writes) = 0;
};

/// How an access takes part in the memory model.
enum class AccessClass : uint8_t {
  Plain,
  Atomic, ///< of an atomic op, a signal or a wait
  Packet, ///< of a packet, whose flag orders its payload
};

/// What a program's accesses are at the moment.
struct AccessKind {
  AccessClass what = AccessClass::Plain;
  Scope scope = Scope::Sys;
};

/// What a release made visible, and to whom.
struct Release {
  VectorClock clock;
  Scope scope = Scope::Sys;
  uint32_t thread = 0;
  unsigned rank = 0;
  /// Of a picture: the op.
  MarkNumber mark = 0;
};

/// The position of a program, or of a rank's `@main`, in the order of all
/// steps. Programs with one number on one rank run one after another, and are
/// one thread.
struct Thread {
  uint32_t number = 0, step = 1;
  VectorClock clock;
  /// Of an exploration, as in Past.
  VectorClock order;
  AccessKind kind;
  /// Whether it has accessed anything since its last signal: signals in a row
  /// are one release.
  bool accessed = true;
  Release lastSignal;
  /// Of the last fence that releases; relaxed accesses after it publish it.
  std::optional<Release> fence;
  /// What relaxed accesses saw; a fence that acquires makes it visible.
  std::vector<Release> seen;
};

/// The accesses to one copy of an allocation.
struct Shadow {
  struct Access {
    uint32_t thread, step;
    AccessKind kind;
    unsigned rank;
    /// Of a picture.
    MarkNumber mark;
    Operation *op;
  };
  /// Those that no later access of the same bytes is ordered behind.
  struct Cell {
    SmallVector<Access, 1> writes, reads;
  };
  struct Page {
    static constexpr int64_t bytes = 4096;
    /// Bytes of a cell: a word, or a byte once a smaller access was made.
    int64_t grain = 4;
    std::vector<Cell> cells = std::vector<Cell>(bytes / 4);
  };
  /// Those that were accessed, by the number of the page.
  llvm::DenseMap<int64_t, std::unique_ptr<Page>> pages;
  /// By the byte of a flag or of an atomic's element: the last release, and
  /// those of the read-modify-writes after it.
  std::map<int64_t, std::vector<Release>> releases;
};

class Races {
public:
  /// `numbers` are used and added to; null: numbers of its own.
  Races(World &world, ThreadNumbers *numbers)
      : world(world), numbers(numbers ? *numbers : ownNumbers) {}

  /// Sees the accesses that are recorded; may be null.
  SyncObserver *observer = nullptr;
  /// Accesses are not recorded.
  bool paused = false;

  //===--- Programs and streams ---===//
  void startMain(Program &main);
  /// The clock of a launch or call by `@main`.
  Past enqueue(Program &main);
  void startProgram(Program &program, const Past &launch);
  void endProgram(Program &program);
  /// A collective is ordered behind all earlier work of its members, and
  /// before all later one. Its own accesses are not recorded.
  void runCollective(ArrayRef<unsigned> members, ArrayRef<const Past *> calls);
  /// `@main` has reached a sync, and has left it.
  void arriveAtSync(Program &main);
  void leaveSync(Program &main);

  //===--- Accesses ---===//
  /// Records an access and reports a race with an earlier one.
  void access(Program &program, Allocation::Copy &copy, int64_t byte,
              int64_t bytes, bool writes);

  //===--- Synchronization ---===//
  /// A store or, if it `modifies`, a read-modify-write of a flag, before its
  /// access.
  void release(Program &program, Allocation::Copy &copy, int64_t byte,
               MemSemantic sem, Scope scope, bool modifies, bool isSignal);
  /// A load of a flag whose value was taken.
  void acquire(Program &program, Allocation::Copy &copy, int64_t byte,
               MemSemantic sem, Scope scope);
  void fence(Program &program, MemSemantic sem, Scope scope);
  /// A program's arrival at a barrier with the clock of the others.
  void arrive(Program &program, Past &others);
  void leave(Program &program, const Past &others);

private:
  /// The number of the thread `block` of a rank; -1 is `@main`.
  uint32_t numberOf(unsigned rank, int64_t block);
  static void advance(Thread &thread);
  /// The number of the op that the program executes, if a picture is made.
  MarkNumber markOf(Program &program) const;
  /// The program's op comes after a release.
  void follow(const Release &release, Program &program);
  /// Records an access to one cell.
  /// \return false after a race
  bool record(Program &program, Shadow::Cell &cell, const Shadow::Access &mine,
              bool writes);
  void report(Program &program, bool writes, const Shadow::Access &earlier,
              bool wrote);

  World &world;
  ThreadNumbers ownNumbers, &numbers;
  /// By thread: its last step, and what it is.
  std::vector<uint32_t> lastSteps;
  std::vector<std::string> names;
  /// By rank: the end of the stream's work so far.
  std::map<unsigned, Past> streams;
  Past atSync, afterSync;
  /// Of the access that is recorded, for the report.
  const Allocation::Copy *accessed = nullptr;
  int64_t firstByte = 0, numBytes = 0;
};

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_RACES_H
