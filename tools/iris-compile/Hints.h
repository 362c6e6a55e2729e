// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hints.h - Hints for parser errors ------------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_COMPILE_HINTS_H
#define IRIS_TOOLS_IRIS_COMPILE_HINTS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::iris {

/// Adds a note to a parser error about what the author may have meant: the form
/// of an op, a similar name, the context, the terminator of a kernel. Returns
/// failure, so that another handler prints the error.
LogicalResult addHint(Diagnostic &diagnostic, llvm::SourceMgr &sources);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_HINTS_H
