// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hints.h - Hints for parser errors ------------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_COMPILE_HINTS_H
#define IRIS_TOOLS_IRIS_COMPILE_HINTS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::iris {

/// Adds a note to parser errors that a missing context may have caused: the
/// parser then expects a comma after the first operand, does not know '%ctx',
/// or finds it as an argument of a function after the one that uses it.
LogicalResult hintAtContext(Diagnostic &diagnostic, llvm::SourceMgr &sources);

/// Adds a note to the parser's error for an op without a dialect: only
/// functions of the func dialect may leave it out.
LogicalResult hintAtDialect(Diagnostic &diagnostic);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_HINTS_H
