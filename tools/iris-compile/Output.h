// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TOOLS_IRIS_COMPILE_OUTPUT_H
#define IRIS_TOOLS_IRIS_COMPILE_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::iris {

/// Why `path` cannot take the output, before any work is done: binary output to
/// a terminal, a directory. Success otherwise.
llvm::Error checkOutput(llvm::StringRef path, bool binary);

/// Writes `bytes` to the file `path`, or to standard output for "-". A file is
/// either replaced as a whole or left as it was.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef bytes);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_OUTPUT_H
