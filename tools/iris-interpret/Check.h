// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.h - Data races and deadlocks -----------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_INTERPRET_CHECK_H
#define IRIS_TOOLS_IRIS_INTERPRET_CHECK_H

#include "iris/Interpreter/Interpreter.h"

namespace iristools {

struct CheckOptions {
  /// The tool that messages name.
  std::string tool;
  /// Random orders to try, from the seed on.
  uint64_t numSchedules = 10;
  /// Explores all orders, at most so many executions.
  bool exhaust = false;
  uint64_t maxExecutions = 100000;
  /// The file of an order to repeat; empty: none.
  std::string replay;
  /// Files of the order that failed, and of its picture (.svg, or .json for
  /// ui.perfetto.dev); empty: none.
  std::string saveSchedule, draw;
  /// The hash of the program's text.
  uint64_t program = 0;
  /// Tests only: print how each execution of an exploration ended, and go on
  /// after errors.
  bool printEnds = false;
};

/// Looks for data races and deadlocks, and prints what was found. `printChecks`
/// prints the program's own checks that failed.
/// \return the exit status
int check(mlir::ModuleOp module, mlir::iris::InterpreterOptions options,
          const CheckOptions &checkOptions,
          const std::function<void(llvm::ArrayRef<mlir::iris::RankChecks>)>
              &printChecks);

} // namespace iristools

#endif // IRIS_TOOLS_IRIS_INTERPRET_CHECK_H
