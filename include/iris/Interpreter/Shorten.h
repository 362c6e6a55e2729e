// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shorten.h - A short order with the same error ------------*- C++ -*-===//
#ifndef IRIS_INTERPRETER_SHORTEN_H
#define IRIS_INTERPRETER_SHORTEN_H

#include "iris/Interpreter/Interpreter.h"

namespace mlir::iris {

/// Leaves out steps of an order that ends in an error, one at a time, as long
/// as the program then ends in an error with the same message (whose notes may
/// differ), until it has executed `maxTurns` turns. Returns the order itself if
/// it does not end in an error.
Schedule shorten(ModuleOp module, const InterpreterOptions &options,
                 const Schedule &order, uint64_t maxTurns = 50000);

} // namespace mlir::iris

#endif // IRIS_INTERPRETER_SHORTEN_H
