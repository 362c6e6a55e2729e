// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scheduler.cpp - Random orders, and one that is given ---------------===//
#include "Scheduler.h"

#include "Machine.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

uint64_t Random::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static Program *take(std::vector<Program *> &runnable, size_t n) {
  Program *program = runnable[n];
  std::swap(runnable[n], runnable.back());
  runnable.pop_back();
  return program;
}

namespace {

/// Any program, with equal probability, for about four scheduling points.
class UniformScheduler : public Scheduler {
public:
  explicit UniformScheduler(uint64_t seed) : random(seed) {}

  Program *pick(World &, std::vector<Program *> &runnable) override {
    if (runnable.empty())
      return nullptr;
    // A program that can go on is the last one.
    const bool goesOn = runnable.back() == last && random.next() % 4 != 0;
    last = take(runnable,
                goesOn ? runnable.size() - 1 : random.next() % runnable.size());
    return last;
  }

private:
  Random random;
  Program *last = nullptr;
};

/// Priorities (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized
/// Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010): the
/// program with the highest priority runs, and at a few random turns the one
/// that runs gets a priority below all others. A fault that takes d orderings
/// of n programs' k turns is found with a probability of at least
/// 1 / (n * k^(d - 1)), d being one more than the changes.
class PriorityScheduler : public Scheduler {
public:
  explicit PriorityScheduler(const InterpreterOptions &options)
      : random(options.seed) {
    uint64_t expected = std::max<uint64_t>(options.expectedTurns, 1);
    for (unsigned n = 0; n < options.priorityChanges; ++n)
      changes.push_back(random.next() % expected);
    llvm::sort(changes);
    patience = std::max<uint64_t>(expected, 1000);
  }

  Program *pick(World &, std::vector<Program *> &runnable) override {
    if (runnable.empty())
      return nullptr;
    size_t best = 0;
    for (auto [n, program] : llvm::enumerate(runnable)) {
      if (program->priority == 0)
        program->priority = random.next() / 2 + firstPriority;
      if (program->priority > runnable[best]->priority)
        best = n;
    }
    Program *program = runnable[best];
    const bool changes = atChange();
    row = program == last ? row + 1 : 0;
    last = program;
    // A loop that waits by hand would keep all others from what it waits for.
    if ((changes || row > patience) && runnable.size() > 1) {
      program->priority = --lowest;
      row = 0;
      return pick(runnable);
    }
    return take(runnable, best);
  }

private:
  static constexpr uint64_t firstPriority = uint64_t(1) << 62;

  bool atChange() {
    const bool reached = next < changes.size() && turn >= changes[next];
    next += reached;
    ++turn;
    return reached;
  }
  static Program *pick(std::vector<Program *> &runnable) {
    auto *best = std::max_element(
        runnable.data(), runnable.data() + runnable.size(),
        [](Program *a, Program *b) { return a->priority < b->priority; });
    return take(runnable, best - runnable.data());
  }

  Random random;
  /// The turns before which a priority changes, in order.
  SmallVector<uint64_t> changes;
  size_t next = 0;
  uint64_t turn = 0, row = 0, patience, lowest = firstPriority;
  Program *last = nullptr;
};

/// The order of a schedule.
class ReplayScheduler : public Scheduler {
public:
  ReplayScheduler(const Schedule &schedule, bool loosely)
      : schedule(schedule), loosely(loosely) {}

  Program *pick(World &world, std::vector<Program *> &runnable) override {
    for (; step < schedule.steps.size(); nextStep()) {
      const ProgramId &wanted = schedule.steps[step].program;
      auto found = llvm::find_if(
          runnable, [&](Program *program) { return program->id() == wanted; });
      if (found != runnable.end() && canTake(world, **found)) {
        if (++turn == schedule.steps[step].turns)
          nextStep();
        return take(runnable, found - runnable.begin());
      }
      if (loosely)
        continue;
      fail(world, "has step " + std::to_string(step + 1) +
                      ", whose program cannot go on");
      return nullptr;
    }
    // The schedule ends where the error was, or where all were blocked.
    if (!world.failed && !llvm::all_of(runnable, [&](Program *program) {
          return isBlocked(world, *program);
        }))
      fail(world, "ends before the program does");
    return nullptr;
  }
  bool syncsOnly() const override { return schedule.syncsOnly; }
  bool isAbandoned() const override { return abandoned; }

private:
  void nextStep() { ++step, turn = 0; }
  /// Whether it waits for a flag; of an exploration, which does not try waits
  /// that do not hold.
  static bool isBlocked(World &world, Program &program) {
    const bool blocked = program.atWait && !world.canGoOn(program);
    program.waitsFor.clear();
    return blocked;
  }
  bool canTake(World &world, Program &program) const {
    return !schedule.syncsOnly || !isBlocked(world, program);
  }
  void fail(World &world, const std::string &what) {
    abandoned = true;
    if (loosely)
      return;
    emitError(world.module.getLoc())
        << "the schedule " << what << "; it is of another program or version";
  }

  const Schedule &schedule;
  const bool loosely;
  size_t step = 0;
  uint64_t turn = 0;
  bool abandoned = false;
};

} // namespace

std::unique_ptr<Scheduler>
mlir::iris::interp::makeScheduler(const InterpreterOptions &options) {
  if (options.replay)
    return std::make_unique<ReplayScheduler>(*options.replay,
                                             options.replayLoosely);
  if (options.priorities)
    return std::make_unique<PriorityScheduler>(options);
  return std::make_unique<UniformScheduler>(options.seed);
}
