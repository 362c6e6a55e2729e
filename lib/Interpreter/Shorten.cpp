// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shorten.cpp - A short order with the same error --------------------===//
#include "iris/Interpreter/Shorten.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::iris;

/// Executes the order as far as its steps can be taken. Returns the message of
/// the error and sets `taken`; an empty text without an error.
static std::string errorOf(ModuleOp module, InterpreterOptions options,
                           const Schedule &order, Schedule &taken) {
  std::string message;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (message.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          message = diagnostic.str();
        return success();
      });
  options.replay = &order;
  options.replayLoosely = true;
  options.taken = &taken;
  options.picture = nullptr;
  options.atSync = nullptr;
  (void)interpret(module, options);
  return message;
}

Schedule mlir::iris::shorten(ModuleOp module, const InterpreterOptions &options,
                             const Schedule &order, uint64_t maxTurns) {
  Schedule best, taken;
  const std::string wanted = errorOf(module, options, order, best);
  if (wanted.empty())
    return order;
  uint64_t turns = best.numTurns();
  // From the end: what an error does not need often comes late.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = best.steps.size(); n-- > 0;) {
      if (turns >= maxTurns)
        break;
      Schedule shorter = best;
      shorter.steps.erase(shorter.steps.begin() + n);
      const std::string error = errorOf(module, options, shorter, taken);
      turns += taken.numTurns();
      if (error != wanted || taken.numTurns() >= best.numTurns())
        continue;
      best = taken;
      n = std::min(n, best.steps.size());
      changed = true;
    }
    changed &= turns < maxTurns;
  }
  best.program = order.program;
  return best;
}
