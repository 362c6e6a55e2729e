// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Output.h - Output files ----------------------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_COMPILE_OUTPUT_H
#define IRIS_TOOLS_IRIS_COMPILE_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::iris {

/// Checks before the compilation that `path` can take the output: fails for
/// binary output to a terminal, or a directory.
llvm::Error checkOutput(llvm::StringRef path, bool binary);

/// Writes `bytes` to the file `path`, or to standard output for "-". Replaces a
/// file atomically.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef bytes);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_OUTPUT_H
