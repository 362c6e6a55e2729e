// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Split.h - A folder of packages from one input ------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_COMPILE_SPLIT_H
#define IRIS_TOOLS_IRIS_COMPILE_SPLIT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::iris {

/// A part of an input, between lines `// -----`.
struct InputPart {
  llvm::StringRef text;
  /// The first line of the part in the input, from 1.
  unsigned line = 1;
};

/// The parts that hold more than blanks and comments.
llvm::SmallVector<InputPart> splitInput(llvm::StringRef input);

/// Creates the folder, and its parents. Neither its group nor others may write
/// to it, whatever the umask is: the runtime executes what is in it.
llvm::Error createFolder(llvm::StringRef path);

/// Calls `work` for all numbers below `count`, in `jobs` processes, which stop
/// at their first failure.
/// \return whether all calls succeeded
bool runInProcesses(unsigned jobs, size_t count,
                    llvm::function_ref<bool(size_t)> work);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_SPLIT_H
