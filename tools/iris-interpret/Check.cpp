// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.cpp - Data races and deadlocks -------------------------------===//
#include "Check.h"

#include "iris/Interpreter/Exploration.h"
#include "iris/Interpreter/Shorten.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace iristools;
using namespace mlir;
using namespace mlir::iris;

using PrintChecks = std::function<void(ArrayRef<RankChecks>)>;

namespace {

class Checker {
public:
  Checker(ModuleOp module, InterpreterOptions options,
          const CheckOptions &check, const PrintChecks &printChecks)
      : module(module), options(std::move(options)), check(check),
        printChecks(printChecks) {
    this->options.checkRaces = true;
    this->options.taken = &taken;
  }

  int runRandom();
  int runReplay();
  int runExhaust();

private:
  /// Executes one order.
  /// \return whether the program is right in it
  bool runOne();
  /// Repeats the order that was taken, and writes the picture, if one is asked
  /// for; says where it and the schedule are.
  void keep(bool alwaysSave);
  void draw();
  raw_ostream &errs() { return llvm::errs() << check.tool << ": "; }
  std::string where() const {
    std::string text = std::to_string(options.numRanks) +
                       (options.numRanks == 1 ? " rank" : " ranks");
    if (options.resident != 0)
      text += ", " + std::to_string(options.resident) +
              (options.resident == 1 ? " program" : " programs") +
              " of a device at once";
    return text + ": ";
  }

  ModuleOp module;
  InterpreterOptions options;
  const CheckOptions &check;
  const PrintChecks &printChecks;
  Schedule taken;
};

} // namespace

static bool haveFailed(ArrayRef<RankChecks> checks) {
  return llvm::any_of(checks,
                      [](const RankChecks &rank) { return rank.failed != 0; });
}

bool Checker::runOne() {
  FailureOr<std::vector<RankChecks>> checks = interpret(module, options);
  if (succeeded(checks) && haveFailed(*checks))
    printChecks(*checks);
  return succeeded(checks) && !haveFailed(*checks);
}

//===----------------------------------------------------------------------===//
// Random orders
//===----------------------------------------------------------------------===//

int Checker::runRandom() {
  const uint64_t first = options.seed, count = check.numSchedules;
  auto fail = [&](uint64_t n) {
    errs() << "FAILED: order " << n + 1 << " of " << count
           << "; --schedule-seed=" << options.seed << " repeats it\n";
    if (!check.draw.empty() || !check.saveSchedule.empty())
      taken = shorten(module, options, taken);
    keep(/*alwaysSave=*/false);
    return 1;
  };
  // The order of seed 0 measures how many turns there are.
  if (first != 0 && (count > 1 || first % 2 != 0)) {
    options.seed = 0;
    if (!runOne())
      return fail(0);
    options.expectedTurns = taken.numTurns();
  }
  for (uint64_t n = 0; n < count; ++n) {
    // Every second order is one of priorities, with up to 3 changes.
    options.seed = first + n;
    options.priorities = options.seed % 2 != 0;
    options.priorityChanges = options.seed / 2 % 4;
    if (!runOne())
      return fail(n);
    if (options.seed == 0)
      options.expectedTurns = taken.numTurns();
  }
  llvm::outs() << check.tool << ": " << where()
               << "no data race and no deadlock in " << count
               << (count == 1 ? " order\n" : " orders\n");
  return 0;
}

//===----------------------------------------------------------------------===//
// One order
//===----------------------------------------------------------------------===//

int Checker::runReplay() {
  std::string error;
  FailureOr<Schedule> schedule = readSchedule(check.replay, error);
  if (failed(schedule)) {
    errs() << "--replay: " << error << "\n";
    return 1;
  }
  if (schedule->program != check.program) {
    errs() << "--replay: '" << check.replay
           << "' is of another program, or of an older text of it\n";
    return 1;
  }
  options.numRanks = schedule->numRanks;
  options.resident = schedule->resident;
  options.replay = &*schedule;
  const bool isRight = runOne();
  draw();
  if (isRight)
    llvm::outs() << check.tool << ": " << where()
                 << "no data race and no deadlock in the order of "
                 << check.replay << "\n";
  else
    errs() << "FAILED in the order of " << check.replay << "\n";
  return !isRight;
}

//===----------------------------------------------------------------------===//
// All orders
//===----------------------------------------------------------------------===//

static std::string plural(uint64_t n, StringRef what) {
  return std::to_string(n) + " " + what.str() + (n == 1 ? "" : "s");
}

/// The buffers of all ranks at the end of `@main`, in hexadecimal digits.
static std::string endState(const SyncSnapshot &sync) {
  std::string text;
  for (const BufferSnapshot &buffer : sync.buffers)
    text += " " + std::to_string(buffer.number) + "@" +
            std::to_string(buffer.rank) + "=" + llvm::toHex(buffer.bytes);
  return text;
}

int Checker::runExhaust() {
  ExplorationOptions exploration;
  exploration.maxExecutions = check.maxExecutions;
  std::string state;
  // The report is that of a shorter order.
  std::vector<Diagnostic> reports;
  std::optional<ScopedDiagnosticHandler> keepReports;
  keepReports.emplace(module.getContext(), [&](Diagnostic &diagnostic) {
    if (!check.printEnds)
      reports.push_back(std::move(diagnostic));
    return success();
  });
  if (check.printEnds) {
    options.atSync = [&](const SyncSnapshot &sync) {
      if (!sync.op)
        state = endState(sync);
      return success();
    };
    exploration.atEnd = [&](const ExecutionEnd &end) {
      llvm::outs() << "end:"
                   << (end.deadlocked ? " deadlock"
                       : end.failed   ? " error"
                       : end.cutOff   ? " cut off"
                                      : state.c_str())
                   << "\n";
      return true;
    };
  }
  FailureOr<Exploration> result = explore(module, options, exploration);
  keepReports.reset();
  auto showReports = [&] {
    for (Diagnostic &report : reports)
      module.getContext()->getDiagEngine().emit(std::move(report));
  };
  if (failed(result)) {
    showReports();
    return 1;
  }
  taken = std::move(result->last);
  const bool failedChecks = haveFailed(result->end.checks);
  if (!check.printEnds &&
      (result->end.failed || result->end.deadlocked || failedChecks)) {
    if (failedChecks) {
      printChecks(result->end.checks);
    } else {
      const Schedule order = shorten(module, options, taken);
      options.replay = &order;
      if (runOne()) // not the order's own error: that of the exploration
        showReports();
      options.replay = nullptr;
    }
    errs() << "FAILED: execution " << result->executions << "\n";
    keep(/*alwaysSave=*/true);
    return 1;
  }
  llvm::outs() << check.tool << ": " << where()
               << "no data race and no deadlock in "
               << (result->complete && result->cutOff == 0 ? "any order: " : "")
               << plural(result->executions, "execution") << " of up to "
               << plural(result->mostOps, "synchronizing op");
  if (result->abandoned != 0)
    llvm::outs() << ", " << result->abandoned << " more not completed";
  llvm::outs() << "\n";
  if (result->cutOff != 0)
    llvm::outs() << check.tool << ": bounded: in "
                 << plural(result->cutOff, "execution")
                 << ", a loop around atomics was cut off after "
                 << options.maxSpins << " iterations; orders in which it "
                 << "repeats more often were not executed. A wait has no such "
                    "bound\n";
  if (!result->complete)
    llvm::outs() << check.tool
                 << ": bounded: there are more executions than "
                    "--max-executions="
                 << check.maxExecutions << "\n";
  return 0;
}

//===----------------------------------------------------------------------===//
// What remains of a failure
//===----------------------------------------------------------------------===//

void Checker::draw() {
  if (check.draw.empty())
    return;
  Picture picture;
  InterpreterOptions again = options;
  const Schedule order = taken;
  again.replay = &order;
  again.taken = nullptr;
  again.atSync = nullptr;
  again.picture = &picture;
  {
    // The error was reported.
    ScopedDiagnosticHandler silence(module.getContext(),
                                    [](Diagnostic &) { return success(); });
    (void)interpret(module, again);
  }
  std::error_code code;
  llvm::raw_fd_ostream os(check.draw, code);
  if (!code) {
    os << (StringRef(check.draw).ends_with(".json") ? drawTrace(picture)
                                                    : drawImage(picture));
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    errs() << "--draw: cannot write '" << check.draw << "': " << code.message()
           << "\n";
  else
    errs() << "the order is drawn in " << check.draw << "\n";
}

void Checker::keep(bool alwaysSave) {
  draw();
  std::string path = check.saveSchedule;
  if (path.empty()) {
    if (!alwaysSave)
      return;
    llvm::SmallString<128> temporary;
    int descriptor = -1;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile(
            "iris-check", "schedule", descriptor, temporary)) {
      errs() << "cannot make a file for the order: " << code.message() << "\n";
      return;
    }
    llvm::sys::fs::closeFile(descriptor);
    path = temporary.str().str();
  }
  taken.program = check.program;
  std::string error;
  if (failed(writeSchedule(path, taken, error)))
    errs() << error << "\n";
  else
    errs() << "--replay=" << path << " repeats the order\n";
}

int iristools::check(ModuleOp module, InterpreterOptions options,
                     const CheckOptions &checkOptions,
                     const PrintChecks &printChecks) {
  Checker checker(module, std::move(options), checkOptions, printChecks);
  if (!checkOptions.replay.empty())
    return checker.runReplay();
  return checkOptions.exhaust ? checker.runExhaust() : checker.runRandom();
}
