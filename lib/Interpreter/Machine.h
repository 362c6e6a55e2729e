// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.h - Programs, ranks and the world ----------------*- C++ -*-===//
//
// Every program (and every rank's `@main`) is an explicit stack of frames, so
// that the scheduler can stop it before any op and take it up later.
#ifndef IRIS_LIB_INTERPRETER_MACHINE_H
#define IRIS_LIB_INTERPRETER_MACHINE_H

#include "Memory.h"
#include "Races.h"
#include "Recorder.h"
#include "Scheduler.h"

#include "iris/Interpreter/Interpreter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>

namespace mlir::iris::interp {

/// What a program does after an op.
enum class Step {
  Next,     ///< goes on behind the op of the innermost frame
  Jump,     ///< has set the position itself
  Blocked,  ///< tries the op again when what it waits for has changed
  Finished, ///< has returned
};

struct MatmulSums;

/// The execution of one region or function body.
struct Frame {
  /// The op that entered the region; null for a program's function.
  Operation *owner = nullptr;
  Block *block = nullptr;
  Block::iterator position;
  /// Of a loop: iterations that are left, and the number of this one.
  uint64_t remaining = 0, iteration = 0;
  /// Of an `scf.while`: the program's atomics when it began.
  uint64_t atomics = 0;
  /// Of an `scf.while`: the program's synchronizing ops and its changes of
  /// memory when the iteration began.
  uint64_t syncs = 0, changes = 0;
  /// Of a loop: the induction variable's bits and its step.
  uint64_t value = 0, step = 0;
  /// Of a matmul: the partial sums of the k-blocks so far.
  std::shared_ptr<MatmulSums> sums;
};

class World;
struct Rank;

/// What an atomic of one element saw.
struct Polled {
  Operation *op = nullptr;
  Allocation::Copy *copy = nullptr;
  int64_t byte = 0, bytes = 0;
  uint64_t bits = 0;
};

class Program {
public:
  Program(World &world, unsigned rank) : world(world), rank(rank) {}

  World &world;
  unsigned rank;
  /// The function that it executes.
  Operation *function = nullptr;
  bool isMain = false;
  std::array<int64_t, 3> block = {0, 0, 0}, grid = {1, 1, 1};
  /// The number of its launch; -1 of `@main`.
  int64_t launch = -1;
  /// The ranks of the launch's group; empty if there is none.
  llvm::SmallVector<unsigned> group;
  std::vector<Frame> frames;
  /// Of an op that was tried and waits: what it has done so far.
  uint64_t progress = 0;
  /// What a blocked program waits for, and whose programs may end that: ranks,
  /// or any if there are none.
  std::string waitsFor;
  SmallVector<unsigned, 2> waitsForRanks;
  Allocation::Copy *watched = nullptr;
  bool finished = false, failed = false;
  /// Of the race checker.
  Thread thread;
  /// It has stopped before an op that others may see; before a wait.
  bool atPoint = false, atWait = false;
  /// Of a scheduler by priorities; 0: none yet.
  uint64_t priority = 0;
  /// Atomics and all synchronizing ops that it has executed, and how often it
  /// has changed memory or met others in a barrier.
  uint64_t numAtomics = 0, numSyncs = 0, numChanges = 0;
  /// Its last atomic.
  Polled polled;
  /// An iteration of a loop had `polled` as its only effect, so that the next
  /// one is the same until that changes.
  bool spins = false;

  /// Places a program that executes nothing at a call in `@main`, for errors.
  void placeAt(Operation *call);

  ProgramId id() const { return {rank, launch, isMain ? 0 : linearBlock()}; }
  Operation *current() { return &*frames.back().position; }
  int64_t linearBlock() const {
    return (block[2] * grid[1] + block[1]) * grid[0] + block[0];
  }

  //===--- Values ---===//
  const Datum &get(Value value);
  void set(Value value, Datum datum) {
    values[value.getAsOpaquePointer()] = std::move(datum);
  }
  /// A scalar that decides an address, a branch or the like: poison is an
  /// error.
  Element scalar(Value value);
  int64_t index(Value value);
  bool flag(Value value) { return scalar(value).bits & 1; }
  SmallVector<int64_t> indices(ValueRange values);
  const Buffer &buffer(Value value);
  /// Static and dynamic sizes, offsets or strides.
  SmallVector<int64_t> mixed(ArrayRef<int64_t> statics, ValueRange dynamics);

  //===--- Control flow ---===//
  Step enter(Operation *owner, Block *block, ArrayRef<Datum> arguments);
  /// Ends the innermost frame and sets the results of the op that entered it.
  Step leave(ArrayRef<Datum> results);
  /// Sets block arguments and continues there.
  Step jump(Block *block, ArrayRef<Datum> arguments);
  SmallVector<Datum> getAll(ValueRange values);

  //===--- Memory ---===//
  /// The byte of an element in its copy; an error outside of the memory.
  int64_t locate(const Buffer &buffer, Kind element, ArrayRef<int64_t> at);
  static bool isInside(const Buffer &buffer, ArrayRef<int64_t> at);
  /// The element at `at`, which has to be inside of the buffer.
  Element load(const Buffer &buffer, Kind element, ArrayRef<int64_t> at);
  void store(const Buffer &buffer, Kind element, ArrayRef<int64_t> at,
             Element value);
  Element loadByte(Allocation::Copy &copy, int64_t byte, int64_t bytes,
                   unsigned width);
  void storeByte(Allocation::Copy &copy, int64_t byte, int64_t bytes,
                 Element value);
  /// `rank`'s copy; an error if there is none.
  Buffer translate(const Buffer &buffer, int64_t rank);
  /// Checks the indices of an access to one element.
  bool checkInside(const Buffer &buffer, ArrayRef<int64_t> at);

  //===--- Waiting ---===//
  /// The program waits until `copy` (of any buffer: null) changes, which
  /// programs of `ranks` may do, or any.
  Step waitFor(Allocation::Copy *copy, std::string what,
               ArrayRef<unsigned> ranks = {});
  /// The program takes no more steps: its loop around atomics has repeated as
  /// often as an exploration allows.
  Step cutOff();

  //===--- Errors ---===//
  /// Reports the first error of a run at `op`; the program then ends. Callers
  /// may go on with any value until their op ends.
  void error(Operation *op, const Twine &message, Operation *poison = nullptr);
  void error(const Twine &message) { error(current(), message); }
  /// Whether `e` is a value; else the use of poison is an error.
  bool requireValue(Element e);
  /// "rank 1, program (0, 0, 0)", and the same with " of @kernel".
  std::string position() const;
  std::string describe() const;

private:
  std::unordered_map<void *, Datum> values;
};

/// An entry of a rank's stream: programs of a kernel, or a collective.
struct StreamItem {
  Operation *op = nullptr;
  std::vector<Datum> arguments;
  std::array<int64_t, 3> grid = {1, 1, 1};
  llvm::SmallVector<unsigned> group;
  /// The kernel; null for a collective.
  gpu::GPUFuncOp kernel;
  /// Of a collective: executes it, for all members at once, which are in the
  /// order of the group.
  void (*collective)(World &, ArrayRef<StreamItem *>) = nullptr;
  unsigned rank = 0;
  bool started = false;
  /// Of a kernel: the number of the launch, and the programs that have started,
  /// in linear order.
  int64_t launch = -1, numStarted = 0;
  /// Of the race checker: when `@main` called it.
  Past called;

  int64_t numPrograms() const { return grid[0] * grid[1] * grid[2]; }
  /// The block index of a program by its linear one.
  std::array<int64_t, 3> blockOf(int64_t n) const {
    return {n % grid[0], n / grid[0] % grid[1], n / grid[0] / grid[1]};
  }
};

struct Rank {
  std::deque<StreamItem> stream;
  /// Programs of the stream's first item that run.
  uint64_t running = 0;
  uint64_t numAllocations = 0;
  int64_t numLaunches = 0;
  bool atSync = false, mainEnded = false;
  RankChecks checks;
};

using Handler = Step (*)(Program &, Operation *);

/// A program's barriers, by state and group: arrivals, by the ranks of the
/// program's peers.
struct BarrierState {
  uint64_t arrived = 0;
  uint64_t generation = 0;
  /// Of the race checker: of those that have arrived, and of the last
  /// generation.
  Past arriving, left;
  /// Of a picture: the ops of both.
  SmallVector<MarkNumber> arrivingMarks, leftMarks;
};

class World {
public:
  /// `numbers` are kept from one execution to the next; may be null.
  World(ModuleOp module, const InterpreterOptions &options,
        Scheduler &scheduler, ThreadNumbers *numbers = nullptr);
  /// Executes `@main` on all ranks. An execution that the scheduler abandons
  /// is a success.
  LogicalResult run();

  ModuleOp module;
  const InterpreterOptions &options;
  std::vector<Rank> ranks;
  bool failed = false;
  /// Whether `canGoOn` executes a wait.
  bool probing = false;
  /// Programs that `cutOff` has stopped.
  uint64_t numCutOff = 0;
  /// Whether the execution ended in a deadlock.
  bool deadlocked = false;
  /// Turns since memory changed, or a program ended.
  uint64_t idleTurns = 0;
  uint64_t generation = 0, numAtSync = 0, numSyncs = 0;
  /// By the state's allocation and byte, the program's block and its group.
  std::map<std::tuple<int64_t, int64_t, int64_t, std::vector<unsigned>>,
           BarrierState>
      barriers;
  std::vector<std::shared_ptr<Allocation>> heap;
  /// Those of the heap, by address.
  std::map<int64_t, std::weak_ptr<Allocation>> byAddress;
  /// Null unless races are checked.
  std::unique_ptr<Races> races;
  /// Null unless a picture is made.
  std::unique_ptr<Recorder> recorder;
  uint64_t nextAddress = 1 << 20, heapUsed = 0, numBuffers = 0;

  /// The allocation number `number` of `bytes` bytes, which the first rank that
  /// asks for it makes for all.
  std::shared_ptr<Allocation> allocate(Program &program, int64_t bytes,
                                       ArrayRef<int64_t> sizes);
  std::shared_ptr<Allocation> makeMemory(int64_t number, int64_t bytes,
                                         unsigned copies, bool zeroed);
  /// The allocation of the symmetric heap that has all of `bytes` bytes at
  /// `address`, which is the same on all ranks; null if none has. Those that
  /// are freed are found as long as a launch keeps them.
  std::shared_ptr<Allocation> allocationAt(int64_t address,
                                           int64_t bytes) const;
  void free(Program &program, const Buffer &buffer);
  void enqueue(Program &main, StreamItem item);
  /// Wakes the programs that wait for the copy, or for anything else (null).
  void wake(Allocation::Copy *copy);
  Step sync(Program &program);
  void add(StringRef name, Handler handler, Point point = Point::None) {
    ops[OperationName(name, module.getContext()).getAsOpaquePointer()] = {
        handler, point};
  }
  /// Whether the wait that the program has stopped before holds. Otherwise
  /// `waitsFor` says what it waits for; the caller clears it, unless it ends
  /// the execution.
  bool canGoOn(Program &program);
  /// The limit of a loop around atomics; 0: there is none.
  uint64_t maxSpins() const {
    return scheduler.syncsOnly() ? options.maxSpins : 0;
  }
  ArrayRef<std::unique_ptr<Program>> livePrograms() const { return programs; }
  InFlightDiagnostic report(Operation *op, const Twine &message);

private:
  struct OpEntry {
    Handler handler = nullptr;
    Point point = Point::None;
  };
  void pump(unsigned rank);
  /// Starts programs of the first item of the rank's stream, as many as the
  /// device has places for. `before` has ended and left its place, or is null.
  void startPrograms(unsigned rank, Program *before);
  void tryCollective(unsigned rank);
  bool isPoint(const OpEntry &entry, Program &program);
  /// The program stops before `op`.
  void stopBefore(const OpEntry &entry, Program &program);
  void takeTurn(Program &program);
  void execute(Program &program);
  /// A program has ended.
  void end(Program &program);
  void reportDeadlock();
  /// Programs only poll what no program changes.
  void reportPolling();
  /// Calls options.atSync, if there is one, when all ranks have met in `sync`.
  LogicalResult showBuffers(Operation *sync);
  void startMain(unsigned rank);

  Scheduler &scheduler;
  llvm::DenseMap<void *, OpEntry> ops;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<Program *> runnable;
};

/// Prints an error if the module has no `@main` to execute.
LogicalResult checkMain(ModuleOp module);

/// Who waits for whom in a deadlock: a cycle, or a chain that ends at a program
/// that has ended, was never launched or is not resident.
std::string describeWaiting(World &world);
/// What a program that has stopped before a wait, before the load of a packet,
/// or before an atomic that it polls waits for: `holds` of the bits of each
/// flag.
struct Awaited {
  Allocation::Copy *copy = nullptr;
  SmallVector<int64_t> bytes;
  int64_t width = 0;
  std::function<bool(uint64_t)> holds;
};
/// Of the op that the program has stopped before; nothing if it accesses no
/// flag.
std::optional<Awaited> awaitedBy(Program &program);
/// Whether an access of a tile is volatile.
bool isVolatile(Operation *op);

//===----------------------------------------------------------------------===//
// Ops, one file per dialect
//===----------------------------------------------------------------------===//

void addArithOps(World &world);
void addMathOps(World &world);
void addControlFlowOps(World &world);
void addAffineOps(World &world);
void addMemRefOps(World &world);
void addVectorOps(World &world);
void addTileOps(World &world);
void addMatmulOp(World &world);
void addIrisAccessOps(World &world);
void addIrisSyncOps(World &world);
void addHostOps(World &world);
void addCollectiveOps(World &world);
void addMatmulCalls(World &world);

/// Computes the elements of the op's only result one by one from those of its
/// operands. An element that is poison in an operand is poison in the result.
using ElementFn = llvm::function_ref<Element(ArrayRef<Element>)>;
Step mapElements(Program &program, Operation *op, ElementFn fn);

/// Reads the window of `type`'s shape at `offsets`; elements outside of the
/// buffer, or masked out, are `other`.
llvm::SmallVector<Element, 1> loadWindow(Program &program, const Buffer &buffer,
                                         Kind element, ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> offsets,
                                         Element other);
void storeWindow(Program &program, const Buffer &buffer, Kind element,
                 ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets,
                 ArrayRef<Element> values, const Datum *mask = nullptr);

/// "file.mlir:12:5".
std::string locationText(Location location);

/// The ranks of the program's group: the world, if the launch has none and the
/// world has at most kMaxGroup ranks.
SmallVector<unsigned> groupOf(const Program &program);

/// The ranks of a call's group: by default all.
SmallVector<unsigned> membersOf(const World &world, DenseI32ArrayAttr group);
/// Checks that the rank has freed no buffer among the arguments.
bool checkArguments(Program &program, ArrayRef<Datum> arguments);

/// Enqueues a call that `run` executes for all members of the group at once.
Step enqueueCall(Program &program, Operation *op, ArrayRef<Datum> arguments,
                 DenseI32ArrayAttr group,
                 void (*run)(World &, ArrayRef<StreamItem *>));

/// `tile.gather` and `tile.scatter`; `mask` and `other` may be null.
llvm::SmallVector<Element, 1> gatherElements(Program &program,
                                             const Buffer &buffer, Kind element,
                                             ValueRange indices, Value mask,
                                             Value other);
void scatterElements(Program &program, const Buffer &buffer, Value value,
                     ValueRange indices, Value mask);

/// The integer or float minimum and maximum, and sums and the like, of
/// reductions and atomics.
enum class Combine { Add, Sub, Mul, Min, Max, UMin, UMax, And, Or, Xor, Xchg };
Element combine(Combine combine, Kind kind, Element a, Element b);

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_MACHINE_H
