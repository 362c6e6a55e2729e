// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Execution.h - One order of all programs ------------------*- C++ -*-===//
//
// Executes the traces of a world in one order that a device may take, and
// collects what is wrong in it. A program whose trace is not complete stops at
// its end, and one whose flag has an unknown value stops at the wait: what has
// been executed up to then is the beginning of an execution that exists.
#ifndef IRIS_LIB_SYNCCHECK_EXECUTION_H
#define IRIS_LIB_SYNCCHECK_EXECUTION_H

#include "Clocks.h"
#include "Contents.h"
#include "World.h"

#include <deque>
#include <map>

namespace mlir::iris::sync {

/// A program that is being executed.
struct Program {
  const Trace *trace = nullptr;
  unsigned rank = 0;
  /// The number of the launch in the stream of the rank.
  unsigned item = 0;
  unsigned thread = 0;
  /// The linear block index.
  int64_t block = 0;
  /// The next event.
  size_t next = 0;
  /// Which barrier of its block it waits in; 0: none.
  size_t barrier = 0;
  /// What waits saw, by the number of the event.
  std::map<size_t, Scalar> seen;

  const Event &event(size_t number) const { return trace->events[number]; }
  bool isAtEnd() const { return next == trace->events.size(); }
};

/// An event of a program.
struct Executed {
  const Program *program = nullptr;
  size_t number = 0;

  const Event &event() const { return program->event(number); }
};

/// A store and a read of a common element, by programs of different ranks, that
/// nothing orders.
struct Conflict {
  Executed store, read;
  /// Whether they were ordered if no op were relaxed or had a narrow scope.
  bool isMeantOrdered = false;
};

/// A flag that is read although the scope of the read or of the write leaves
/// the other one out.
struct NarrowAccess {
  Executed read, write;
};

/// Which program goes on.
enum class Order {
  /// Each one as far as it can, lower ranks first.
  Ascending,
  /// Each one as far as it can, higher ranks first.
  Descending,
  /// All of them, one event at a time.
  Alternating,
};

class Execution {
public:
  Execution(const World &world, Order order);

  /// Executes as far as possible.
  void run();

  const World &getWorld() const { return world; }
  ArrayRef<Conflict> getConflicts() const { return conflicts; }
  ArrayRef<NarrowAccess> getNarrowAccesses() const { return narrow; }
  const std::deque<Program> &getPrograms() const { return programs; }

  /// The programs that can never go on, although all that the world executes is
  /// known.
  SmallVector<const Program *> getStuck() const;
  /// Visits the events of all programs, each with its program, null if that has
  /// not begun, and whether it is still to be executed.
  void forEachEvent(
      llvm::function_ref<void(const Event &, const Program *, bool)> visit)
      const;
  /// Whether the program's next event is a wait or barrier that does not hold.
  static bool isBlocked(const Program &program);
  /// Whether a write of `value` to a flag ends the wait; nothing if that is not
  /// known.
  static std::optional<bool> satisfies(const Event &wait, Scalar value);

private:
  using FlagKey = std::tuple<int, unsigned, SmallVector<int64_t, 2>>;
  struct Writer {
    Executed write;
    unsigned thread, rank;
    uint32_t step;
  };
  struct Flag {
    Scalar value;
    int64_t bytes = 0;
    /// The last write, and the read-modify-writes after it.
    std::vector<Release> releases;
    std::vector<Writer> writers;
  };
  struct PlainAccess {
    Executed access;
    unsigned thread;
    uint32_t step;
  };
  struct Barriers {
    /// Of each rank, what came before each of its barriers.
    std::map<unsigned, std::vector<Past>> arrived;
  };
  struct Stream {
    size_t item = 0;
    bool isStarted = false;
    std::vector<Program *> programs;
    Past past;
  };

  void createContents();
  Flag *findFlag(const Event &event);
  bool advanceStream(unsigned rank);
  void startLaunch(unsigned rank);
  bool finishTogether(unsigned rank);
  bool runProgram(Program &program);
  bool execute(Program &program);

  void executeAccess(Program &program, const Event &event);
  void overwrite(const Event &event);
  void forgetFlags(int root, std::optional<unsigned> rank);
  void forgetPackets(const Event &event);
  void executePacketStore(const Event &event);
  bool executePacketLoad(const Event &event);
  void executeSignal(Program &program, const Event &event);
  bool executeWait(Program &program, const Event &event);
  bool executeAtomic(Program &program, const Event &event);
  bool executeBarrier(Program &program, const Event &event);
  void executeFence(Program &program, const Event &event);

  Release release(Program &program, const Event &event);
  void acquire(Program &program, const Event &event, const Flag &flag);
  void write(Program &program, const Event &event, Flag &flag, Scalar value,
             bool isUpdate);
  void checkScopes(Program &program, const Event &event, const Flag &flag);

  const World &world;
  Order order;
  std::deque<Program> programs;
  std::vector<Stream> streams;
  std::map<std::pair<unsigned, int64_t>, unsigned> threadNumbers;
  std::vector<Thread> threads;
  std::map<FlagKey, Flag> flags;
  /// Flags of packets, by buffer and rank. Packets order nothing.
  std::map<std::pair<int, unsigned>, Contents> packets;
  std::map<std::pair<int, unsigned>, std::vector<PlainAccess>> accesses;
  /// By state and block.
  std::map<std::pair<int, int64_t>, Barriers> barriers;
  std::vector<Conflict> conflicts;
  std::vector<NarrowAccess> narrow;
  /// Whether a wait could not be decided.
  bool isUndecided = false;
};

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_EXECUTION_H
