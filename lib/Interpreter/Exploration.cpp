// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exploration.cpp - All orders of a program --------------------------===//
#include "iris/Interpreter/Exploration.h"

#include "Explorer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

static ExecutionEnd endOf(World &world, bool succeeded) {
  ExecutionEnd end;
  end.deadlocked = world.deadlocked;
  end.failed = !succeeded && !world.deadlocked;
  end.cutOff = world.numCutOff != 0;
  if (succeeded)
    for (Rank &rank : world.ranks)
      end.checks.push_back(std::move(rank.checks));
  return end;
}

/// Whether the program is right, as far as this execution tells.
static bool isRight(const ExecutionEnd &end) {
  return !end.deadlocked && !end.failed &&
         llvm::all_of(end.checks,
                      [](const RankChecks &rank) { return rank.failed == 0; });
}

FailureOr<Exploration>
mlir::iris::explore(ModuleOp module, const InterpreterOptions &given,
                    const ExplorationOptions &exploration) {
  if (failed(checkMain(module)))
    return failure();
  Exploration result;
  InterpreterOptions options = given;
  options.checkRaces = true;
  options.taken = &result.last;
  Explorer explorer;
  bool goesOn = true;
  while (goesOn && result.executions < exploration.maxExecutions) {
    explorer.start();
    World world(module, options, explorer, &explorer.numbers);
    world.races->observer = &explorer;
    const bool succeeded = mlir::succeeded(world.run());
    if (explorer.hasDiverged())
      return emitError(module.getLoc(),
                       "the program does not repeat its steps; an exploration "
                       "needs that");
    if (explorer.isAbandoned()) {
      ++result.abandoned;
    } else {
      ++result.executions;
      result.cutOff += world.numCutOff != 0;
      result.mostOps = std::max(result.mostOps, explorer.numEvents());
      result.end = endOf(world, succeeded);
      if (exploration.atEnd ? !exploration.atEnd(result.end)
                            : !isRight(result.end))
        return result;
    }
    goesOn = explorer.finish(world);
  }
  result.complete = !goesOn;
  return result;
}
