// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Deadlock.cpp - Who waits for whom ----------------------------------===//
//
// When no program can go on, each one waits for others: the report follows one
// that could end the wait, from program to program, until it comes to one for
// the second time, or to one that takes no more steps.
#include "Machine.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

namespace {

/// A program, or one of the front launch of a rank that has no place, or a rank
/// that runs nothing.
struct Waiter {
  unsigned rank = 0;
  Program *program = nullptr;
  /// Of a program without a place: its linear block index; else -1.
  int64_t notResident = -1;

  bool operator==(const Waiter &other) const {
    return rank == other.rank && program == other.program &&
           notResident == other.notResident;
  }
};

class WaitGraph {
public:
  explicit WaitGraph(World &world) : world(world) {}

  /// The text of the path from the first program.
  std::string describe();

private:
  Program *find(unsigned rank, bool isMain, int64_t block = -1) const;
  const StreamItem *front(unsigned rank) const;
  /// A program of the rank that could do what the waiter needs: that with the
  /// same block index, another one, or the rank's `@main`, which could launch
  /// one.
  Waiter programOf(unsigned rank, const Program &waiter) const;
  std::optional<Waiter> next(const Waiter &waiter) const;
  std::optional<Waiter> nextOfMain(const Program &main) const;
  Waiter anyOther(const Program &waiter) const;
  std::string name(const Waiter &waiter) const;

  World &world;
};

} // namespace

Program *WaitGraph::find(unsigned rank, bool isMain, int64_t block) const {
  for (const std::unique_ptr<Program> &program : world.livePrograms())
    if (program->rank == rank && program->isMain == isMain &&
        (block < 0 || program->linearBlock() == block))
      return program.get();
  return nullptr;
}

const StreamItem *WaitGraph::front(unsigned rank) const {
  const std::deque<StreamItem> &stream = world.ranks[rank].stream;
  return stream.empty() ? nullptr : &stream.front();
}

Waiter WaitGraph::programOf(unsigned rank, const Program &waiter) const {
  const StreamItem *item = front(rank);
  const int64_t block = waiter.linearBlock();
  if (item && item->kernel) {
    Program *same = find(rank, false, block);
    if (same && same != &waiter)
      return {rank, same};
    if (block >= item->numStarted && block < item->numPrograms())
      return {rank, nullptr, block};
    // The others of its own launch, those without a place first.
    if (item->numStarted < item->numPrograms())
      return {rank, nullptr, item->numStarted};
    for (const std::unique_ptr<Program> &program : world.livePrograms())
      if (program->rank == rank && !program->isMain && program.get() != &waiter)
        return {rank, program.get()};
  }
  return {rank, find(rank, /*isMain=*/true)};
}

/// Who could set a flag that no rank in particular owes: a program without a
/// place, a program of another rank, or any other one.
Waiter WaitGraph::anyOther(const Program &waiter) const {
  for (unsigned n = 0; n < world.ranks.size(); ++n) {
    unsigned rank = (waiter.rank + n) % world.ranks.size();
    const StreamItem *item = front(rank);
    if (item && item->kernel && item->numStarted < item->numPrograms())
      return {rank, nullptr, item->numStarted};
  }
  for (unsigned n = 1; n <= world.ranks.size(); ++n) {
    unsigned rank = (waiter.rank + n) % world.ranks.size();
    Waiter other = programOf(rank, waiter);
    if (other.program && !other.program->isMain)
      return other;
  }
  // No program is left; a rank could launch one.
  for (unsigned n = 1; n <= world.ranks.size(); ++n) {
    unsigned rank = (waiter.rank + n) % world.ranks.size();
    if (Program *main = find(rank, /*isMain=*/true))
      return {rank, main};
  }
  return {waiter.rank};
}

std::optional<Waiter> WaitGraph::nextOfMain(const Program &main) const {
  if (!world.ranks[main.rank].stream.empty()) {
    const StreamItem &item = world.ranks[main.rank].stream.front();
    if (item.kernel)
      return Waiter{main.rank, find(main.rank, /*isMain=*/false)};
    for (unsigned rank : item.group) {
      const StreamItem *other = front(rank);
      if (other && other->kernel)
        return Waiter{rank, find(rank, /*isMain=*/false)};
      if (!other)
        return Waiter{rank, find(rank, /*isMain=*/true)};
    }
    return std::nullopt; // their collectives differ
  }
  for (unsigned rank = 0; rank < world.ranks.size(); ++rank)
    if (!world.ranks[rank].atSync)
      return Waiter{rank, find(rank, /*isMain=*/true)};
  return std::nullopt;
}

std::optional<Waiter> WaitGraph::next(const Waiter &waiter) const {
  if (waiter.notResident >= 0) // for the end of one that runs
    return Waiter{waiter.rank, find(waiter.rank, /*isMain=*/false)};
  if (!waiter.program)
    return std::nullopt;
  const Program &program = *waiter.program;
  if (program.isMain)
    return nextOfMain(program);
  if (program.waitsForRanks.empty())
    return anyOther(program);
  return programOf(program.waitsForRanks.front(), program);
}

std::string WaitGraph::name(const Waiter &waiter) const {
  if (waiter.notResident >= 0) {
    Program program(world, waiter.rank);
    const StreamItem *item = front(waiter.rank);
    program.block = item->blockOf(waiter.notResident);
    return program.position() + ", which is not resident";
  }
  if (!waiter.program)
    return "rank " + std::to_string(waiter.rank) + ", which has ended";
  return waiter.program->isMain ? waiter.program->describe()
                                : waiter.program->position();
}

std::string WaitGraph::describe() {
  constexpr size_t most = 64;
  Program *start = nullptr;
  for (const std::unique_ptr<Program> &program : world.livePrograms())
    if (!program->isMain &&
        (!start || std::make_pair(program->rank, program->linearBlock()) <
                       std::make_pair(start->rank, start->linearBlock())))
      start = program.get();
  if (!start)
    return {};
  std::vector<Waiter> path{{start->rank, start}};
  size_t first = 0;
  bool isCycle = false;
  while (path.size() < most) {
    std::optional<Waiter> other = next(path.back());
    if (!other)
      break;
    auto found = llvm::find(path, *other);
    isCycle = found != path.end();
    first = isCycle ? found - path.begin() : 0;
    path.push_back(*other);
    if (isCycle)
      break;
  }
  std::string text = isCycle ? "a cycle of waits: "
                             : "the waits end at one that cannot go on: ";
  for (size_t n = first; n < path.size(); ++n)
    text += (n == first ? "" : " -> ") + name(path[n]);
  return text;
}

std::string mlir::iris::interp::describeWaiting(World &world) {
  return WaitGraph(world).describe();
}

/// Adds what each program waits for, or that it polls; the first ones of many.
static void notePrograms(InFlightDiagnostic &diagnostic,
                         ArrayRef<std::unique_ptr<Program>> programs) {
  constexpr size_t most = 16;
  for (auto [n, program] : llvm::enumerate(programs)) {
    if (n == most) {
      diagnostic.attachNote()
          << "and " << programs.size() - most << " other programs";
      break;
    }
    diagnostic.attachNote(program->current()->getLoc())
        << program->describe() << ": '" << program->current()->getName() << "' "
        << (program->waitsFor.empty() ? "polls"
                                      : "waits for " + program->waitsFor);
  }
}

void World::reportDeadlock() {
  deadlocked = true;
  // An exploration stops before waits, which then have not said what for.
  for (std::unique_ptr<Program> &program : programs)
    if (program->atWait)
      (void)canGoOn(*program);
  if (recorder) {
    recorder->setTitle("a deadlock: no program can go on");
    for (std::unique_ptr<Program> &program : programs)
      if (!program->isMain)
        recorder->markBlocked(*program);
  }
  // A program of a kernel, if any: the cause is there.
  Operation *first = nullptr;
  for (Rank &rank : ranks)
    if (!rank.stream.empty())
      first = rank.stream.front().op;
  for (std::unique_ptr<Program> &program : llvm::reverse(programs))
    if (!first || !program->isMain)
      first = program->current();
  InFlightDiagnostic diagnostic =
      report(first, "waits forever: no program can go on");
  notePrograms(diagnostic, programs);
  for (auto [rank, owner] : llvm::enumerate(ranks)) {
    if (owner.stream.empty())
      continue;
    const StreamItem &item = owner.stream.front();
    if (!item.kernel)
      diagnostic.attachNote(item.op->getLoc())
          << "rank " << rank << ": '" << item.op->getName()
          << "' waits for the other ranks of its group";
    else if (item.numStarted < item.numPrograms())
      diagnostic.attachNote(item.op->getLoc())
          << "rank " << rank << ": " << item.numPrograms() - item.numStarted
          << " of " << item.numPrograms()
          << " programs are not resident: " << options.resident
          << " run at once, and the next one starts when one ends";
  }
  if (std::string waits = describeWaiting(*this); !waits.empty())
    diagnostic.attachNote() << waits;
}

void World::reportPolling() {
  deadlocked = true;
  if (recorder)
    recorder->setTitle("a deadlock: programs poll what no program changes");
  Operation *op = runnable.empty() ? programs.front()->current()
                                   : runnable.front()->current();
  InFlightDiagnostic diagnostic =
      report(op, "polls forever: no program changes memory any more");
  notePrograms(diagnostic, programs);
}
