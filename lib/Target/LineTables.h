// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Debug scopes of a module in the LLVM dialect, from which LLVM writes line
// tables: DWARF, or `.loc` in PTX.
#ifndef IRIS_TARGET_LINETABLES_H
#define IRIS_TARGET_LINETABLES_H

#include "iris/Target/TargetRegistry.h"
#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Gives every function of `module`, a `gpu.module` or a top-level module, a
/// debug scope, and every operation in it one position in a file. Functions
/// whose location names no file have no lines.
void addLineTables(Operation *module, TargetKind kind, bool isOptimized);

} // namespace mlir::iris

#endif // IRIS_TARGET_LINETABLES_H
