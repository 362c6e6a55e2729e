// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of the passes' debug log, LDBG() of llvm/Support/DebugLog.h.
#ifndef IRIS_TOOLS_DEBUGLOG_DEBUGLOG_H
#define IRIS_TOOLS_DEBUGLOG_DEBUGLOG_H

#include "llvm/Support/CommandLine.h"

namespace mlir::iris {

/// Registers `--debug-only`, in builds with assertions; others contain no log.
/// LLVM registers it only if it was built with assertions itself, as most
/// distributions' packages are not.
void registerDebugLogOption(llvm::cl::OptionCategory &category);

} // namespace mlir::iris

#endif // IRIS_TOOLS_DEBUGLOG_DEBUGLOG_H
